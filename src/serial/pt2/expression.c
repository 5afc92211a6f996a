#include "serial/pt2/expression.h"

#include <assert.h>

enum { MAX_DEPTH = 64, MAX_TEXT = 20000, MAX_NAME = 300, MAX_PARTS = 1000 /* counted as often as they are written */ };

typedef struct Reader {
  Pt2Builder *b;
  Arena *arena;
  Str text;
  size_t at;
  uint32_t depth;
  bool is_guard;
} Reader;

static _Noreturn void fail(const Reader *r) {
  pt2_fail(r->b, ERROR_DATA, "a size is written in a way that wick can't read: '" STR_FMT "'", PT2_SHORT(r->text));
}
static int peek(Reader *r) {
  while (r->at < r->text.length && r->text.data[r->at] == ' ') r->at++;
  return r->at < r->text.length ? (unsigned char)r->text.data[r->at] : 0;
}
static bool take(Reader *r, const char *word) {
  peek(r);
  size_t length = strlen(word);
  if (r->text.length - r->at < length || memcmp(r->text.data + r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}
static void need(Reader *r, const char *word) {
  if (!take(r, word)) fail(r);
}

static Expression *make(Reader *r, ExpressionKind kind, uint32_t count, const Expression *const *parts) {
  uint32_t size = 1;
  for (uint32_t i = 0; i < count; i++) size += parts[i]->size;
  if (size > MAX_PARTS) fail(r);
  Expression *e = ARENA_NEW(r->arena, Expression);
  const Expression **copy = ARENA_ARRAY(r->arena, const Expression *, count + 1);
  for (uint32_t i = 0; i < count; i++) copy[i] = parts[i];
  *e = (Expression){.kind = kind, .count = count, .size = size, .parts = copy};
  return e;
}
static const Expression *make_int(Reader *r, int64_t number) {
  Expression *e = make(r, EXPRESSION_INT, 0, NULL);
  e->number = number;
  return e;
}
static const Expression *make_symbol(Reader *r, Str name) {
  Expression *e = make(r, EXPRESSION_SYMBOL, 0, NULL);
  e->symbol = (Str){arena_strndup(r->arena, name.data, name.length), name.length};
  return e;
}
static const Expression *make_pair(Reader *r, ExpressionKind kind, const Expression *left, const Expression *right) {
  return make(r, kind, 2, (const Expression *[]){left, right});
}
static const Expression *negate(Reader *r, const Expression *e) {
  bool is_plain = e->kind == EXPRESSION_INT && e->number != INT64_MIN;
  return is_plain ? make_int(r, -e->number) : make_pair(r, EXPRESSION_PRODUCT, make_int(r, -1), e);
}

static const Expression *read_either(Reader *r);
static const Expression *read_sum(Reader *r);
static const Expression *read_power(Reader *r);

static bool is_word(int c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (!first && ((c >= '0' && c <= '9') || c == '.'));
}
static Str read_word(Reader *r) {
  peek(r);
  size_t begin = r->at;
  while (r->at < r->text.length && is_word((unsigned char)r->text.data[r->at], r->at == begin)) r->at++;
  return str_slice(r->text, begin, r->at);
}
static Str read_quoted(Reader *r) {
  char quote = (char)peek(r);
  if (quote != '\'' && quote != '"') fail(r);
  size_t begin = ++r->at;
  while (r->at < r->text.length && r->text.data[r->at] != quote) r->at++;
  if (r->at == r->text.length) fail(r);
  return str_slice(r->text, begin, r->at++);
}
static int64_t read_digits(Reader *r) {
  int64_t number;
  peek(r);
  size_t begin = r->at;
  while (r->at < r->text.length &&
         ((r->text.data[r->at] >= '0' && r->text.data[r->at] <= '9') || (r->at == begin && r->text.data[r->at] == '-')))
    r->at++;
  if (!str_to_int64(str_slice(r->text, begin, r->at), 10, &number)) fail(r);
  return number;
}

/* `positive=True` after what counts. */
static void skip_keywords(Reader *r) {
  while (take(r, ",")) {
    if (!read_word(r).length) fail(r);
    need(r, "=");
    if (!read_word(r).length) fail(r);
  }
}

/* As sympy and Python call them. */
static const struct {
  const char *name;
  ExpressionKind kind;
} functions[] = {{"Add", EXPRESSION_SUM},
                 {"Mul", EXPRESSION_PRODUCT},
                 {"FloorDiv", EXPRESSION_FLOOR_DIVISION},
                 {"CleanDiv", EXPRESSION_FLOOR_DIVISION},
                 {"IntTrueDiv", EXPRESSION_DIVISION},
                 {"FloatTrueDiv", EXPRESSION_DIVISION},
                 {"Rational", EXPRESSION_DIVISION},
                 {"Mod", EXPRESSION_REMAINDER},
                 {"PythonMod", EXPRESSION_REMAINDER},
                 {"Pow", EXPRESSION_POWER},
                 {"PowByNatural", EXPRESSION_POWER},
                 {"FloatPow", EXPRESSION_POWER},
                 {"Max", EXPRESSION_LARGEST},
                 {"max", EXPRESSION_LARGEST},
                 {"sym_max", EXPRESSION_LARGEST},
                 {"Min", EXPRESSION_SMALLEST},
                 {"min", EXPRESSION_SMALLEST},
                 {"sym_min", EXPRESSION_SMALLEST},
                 {"FloorToInt", EXPRESSION_FLOOR},
                 {"floor", EXPRESSION_FLOOR},
                 {"CeilToInt", EXPRESSION_CEILING},
                 {"ceiling", EXPRESSION_CEILING},
                 {"ceil", EXPRESSION_CEILING},
                 {"TruncToInt", EXPRESSION_TRUNCATED},
                 {"trunc", EXPRESSION_TRUNCATED},
                 {"ToFloat", EXPRESSION_AS_FLOAT},
                 {"sym_float", EXPRESSION_AS_FLOAT},
                 {"OpaqueUnaryFn_sqrt", EXPRESSION_ROOT},
                 {"_sym_sqrt", EXPRESSION_ROOT},
                 {"sqrt", EXPRESSION_ROOT},
                 {"Abs", EXPRESSION_MAGNITUDE},
                 {"abs", EXPRESSION_MAGNITUDE},
                 {"BitwiseFn_bitwise_or", EXPRESSION_BITS_OR},
                 {"BitwiseFn_bitwise_xor", EXPRESSION_BITS_XOR},
                 {"BitwiseFn_bitwise_and", EXPRESSION_BITS_AND},
                 {"LShift", EXPRESSION_SHIFTED_LEFT},
                 {"RShift", EXPRESSION_SHIFTED_RIGHT},
                 {"Equality", EXPRESSION_EQUAL},
                 {"Unequality", EXPRESSION_UNEQUAL},
                 {"StrictLessThan", EXPRESSION_LESS},
                 {"LessThan", EXPRESSION_AT_MOST},
                 {"StrictGreaterThan", EXPRESSION_GREATER},
                 {"GreaterThan", EXPRESSION_AT_LEAST},
                 {"And", EXPRESSION_AND},
                 {"Or", EXPRESSION_OR},
                 {"Not", EXPRESSION_NOT}};
static ExpressionKind kind_of(Str name) {
  Str last = str_after_last(name, '.'); /* "torch.utils._sympy.functions.FloorDiv" */
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (str_is(last, functions[i].name)) return functions[i].kind;
  return EXPRESSION_OTHER;
}

/* After "L": ['x'][1].size()[0], as "x[1].size(0)"; ['n'], as "n". */
static const Expression *read_place(Reader *r) {
  const char *name = ""; /* of the arena: what fails leaves nothing */
  bool is_first = true;
  while (take(r, "[")) {
    bool is_text = peek(r) == '\'' || peek(r) == '"';
    if (is_first && !is_text) fail(r);
    if (is_text) {
      Str key = read_quoted(r);
      name = arena_printf(r->arena, is_first ? "%s" STR_FMT : "%s['" STR_FMT "']", name, STR_ARG(key));
    } else {
      name = arena_printf(r->arena, "%s[%lld]", name, (long long)read_digits(r));
    }
    if (!take(r, "]") || strlen(name) > MAX_NAME) fail(r);
    is_first = false;
  }
  if (is_first) fail(r);
  if (!take(r, ".")) return make_symbol(r, str_from(name));
  if (!take(r, "size()[")) { /* strides */
    if (!read_word(r).length) fail(r);
    need(r, "()");
    if (take(r, "[")) {
      read_digits(r);
      need(r, "]");
    }
    return make(r, EXPRESSION_OTHER, 0, NULL);
  }
  const char *symbol = arena_printf(r->arena, "%s.size(%lld)", name, (long long)read_digits(r));
  need(r, "]");
  return make_symbol(r, str_from(symbol));
}

/* A power by a small number is a product: of ints an int. */
static const Expression *make_power(Reader *r, const Expression *base, const Expression *exponent) {
  if (exponent->kind != EXPRESSION_INT || exponent->number < 1 || exponent->number > 8)
    return make_pair(r, EXPRESSION_POWER, base, exponent);
  const Expression *product = base;
  for (int64_t i = 1; i < exponent->number; i++) product = make_pair(r, EXPRESSION_PRODUCT, product, base);
  return product;
}
static const Expression *make_call(Reader *r, Str name, uint32_t count, const Expression *const *parts) {
  Str last = str_after_last(name, '.');
  ExpressionKind kind = kind_of(name);
  if (str_is(last, "ModularIndexing") && count == 3) /* (x // y) % z */
    return make_pair(r, EXPRESSION_REMAINDER, make_pair(r, EXPRESSION_FLOOR_DIVISION, parts[0], parts[1]), parts[2]);
  if (str_is(last, "Identity") && count == 1) return parts[0];
  if (kind == EXPRESSION_POWER && count == 2) return make_power(r, parts[0], parts[1]);
  return make(r, kind, count, parts);
}

static const Expression *read_call(Reader *r, Str name) {
  const Expression *parts[16];
  uint32_t count = 0;
  if (str_is(name, "Symbol")) {
    Str symbol = read_quoted(r);
    skip_keywords(r);
    need(r, ")");
    return make_symbol(r, symbol);
  }
  if (str_is(name, "Integer")) {
    int64_t number = read_digits(r);
    need(r, ")");
    return make_int(r, number);
  }
  while (peek(r) != ')') {
    size_t before = r->at;
    if (count && !take(r, ",")) fail(r);
    if (count == sizeof parts / sizeof *parts) fail(r);
    Str word = read_word(r);
    if (word.length && peek(r) == '=') { /* evaluate=False */
      r->at++;
      if (!read_word(r).length) fail(r);
      continue;
    }
    r->at = before + (count ? 1 : 0);
    parts[count++] = read_either(r);
  }
  r->at++;
  return make_call(r, name, count, parts);
}

static bool is_of_number(int c) {
  return (c >= '0' && c <= '9') || c == '.' || c == 'e';
}
static const Expression *read_number(Reader *r) {
  size_t begin = r->at, end = begin;
  for (bool after_e = false; end < r->text.length; after_e = r->text.data[end++] == 'e') {
    char c = r->text.data[end];
    if (!is_of_number((unsigned char)c) && !(after_e && (c == '-' || c == '+'))) break;
  }
  Str digits = str_slice(r->text, begin, end);
  if (str_find_char(digits, '.') < 0 && str_find_char(digits, 'e') < 0) return make_int(r, read_digits(r));
  Expression *e = make(r, EXPRESSION_FLOAT, 0, NULL);
  if (!str_to_double(digits, &e->real)) fail(r);
  r->at = end;
  return e;
}

static const Expression *read_atom(Reader *r) {
  int c = peek(r);
  if (++r->depth > MAX_DEPTH) fail(r);
  const Expression *e;
  if (take(r, "(")) {
    e = read_either(r);
    need(r, ")");
  } else if (take(r, "-")) {
    e = negate(r, read_power(r)); /* -x**2 is -(x**2) */
  } else if (c >= '0' && c <= '9') {
    e = read_number(r);
  } else if (is_word(c, true)) {
    Str word = read_word(r);
    e = r->is_guard && str_is(word, "L") ? read_place(r) : take(r, "(") ? read_call(r, word) : make_symbol(r, word);
  } else {
    fail(r);
  }
  r->depth--;
  return e;
}
static const Expression *read_power(Reader *r) {
  const Expression *base = read_atom(r);
  return take(r, "**") ? make_power(r, base, read_atom(r)) : base;
}
static const Expression *read_product(Reader *r) {
  const Expression *left = read_power(r);
  for (;;) {
    if (take(r, "//"))
      left = make_pair(r, EXPRESSION_FLOOR_DIVISION, left, read_power(r));
    else if (take(r, "*"))
      left = make_pair(r, EXPRESSION_PRODUCT, left, read_power(r));
    else if (take(r, "/"))
      left = make_pair(r, EXPRESSION_DIVISION, left, read_power(r));
    else if (take(r, "%"))
      left = make_pair(r, EXPRESSION_REMAINDER, left, read_power(r));
    else
      return left;
  }
}
static const Expression *read_sum(Reader *r) {
  const Expression *left = read_product(r);
  for (;;) {
    if (take(r, "+"))
      left = make_pair(r, EXPRESSION_SUM, left, read_product(r));
    else if (take(r, "-"))
      left = make_pair(r, EXPRESSION_SUM, left, negate(r, read_product(r)));
    else
      return left;
  }
}

/* Of ints, the ones that bind less first. */
static const struct {
  const char *text;
  ExpressionKind kind;
} bit_operators[] = {{"|", EXPRESSION_BITS_OR},
                     {"^", EXPRESSION_BITS_XOR},
                     {"&", EXPRESSION_BITS_AND},
                     {"<<", EXPRESSION_SHIFTED_LEFT},
                     {">>", EXPRESSION_SHIFTED_RIGHT}};
static const Expression *read_bits(Reader *r, size_t level) {
  if (level == sizeof bit_operators / sizeof *bit_operators) return read_sum(r);
  const Expression *left = read_bits(r, level + 1);
  while (take(r, bit_operators[level].text))
    left = make_pair(r, bit_operators[level].kind, left, read_bits(r, level + 1));
  return left;
}

/* In this order: "<=" begins with "<". */
static const struct {
  const char *text;
  ExpressionKind kind;
} comparisons[] = {{"==", EXPRESSION_EQUAL},    {"!=", EXPRESSION_UNEQUAL}, {"<=", EXPRESSION_AT_MOST},
                   {">=", EXPRESSION_AT_LEAST}, {"<", EXPRESSION_LESS},     {">", EXPRESSION_GREATER}};
static const Expression *read_comparison(Reader *r) {
  const Expression *left = read_bits(r, 0);
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
    if (take(r, comparisons[i].text)) return make_pair(r, comparisons[i].kind, left, read_bits(r, 0));
  return left;
}
/* A word of Python's, not the beginning of a longer one. */
static bool take_word(Reader *r, const char *word) {
  size_t before = r->at;
  if (take(r, word) && (r->at == r->text.length || !is_word((unsigned char)r->text.data[r->at], false))) return true;
  r->at = before;
  return false;
}
static const Expression *read_negation(Reader *r) {
  if (!take_word(r, "not")) return read_comparison(r);
  const Expression *negated = read_comparison(r);
  return make(r, EXPRESSION_NOT, 1, &negated);
}
static const Expression *read_both(Reader *r) {
  const Expression *left = read_negation(r);
  while (take_word(r, "and")) left = make_pair(r, EXPRESSION_AND, left, read_negation(r));
  return left;
}
static const Expression *read_either(Reader *r) {
  const Expression *left = read_both(r);
  while (take_word(r, "or")) left = make_pair(r, EXPRESSION_OR, left, read_both(r));
  return left;
}

const Expression *expression_read(Pt2Builder *b, Str text) {
  Reader r = {.b = b, .arena = b->graph->arena, .text = text};
  if (text.length > MAX_TEXT) fail(&r);
  const Expression *e = read_either(&r);
  if (peek(&r)) fail(&r);
  return e;
}

/* ---- conditions ---- */

typedef struct GuardReader {
  Reader reader;
  const Expression *read;
} GuardReader;
static void read_guard(void *argument) {
  GuardReader *g = argument;
  g->read = read_either(&g->reader);
  if (peek(&g->reader)) fail(&g->reader);
}
const Expression *guard_read(Pt2Builder *b, Str text) {
  if (text.length > MAX_TEXT) return NULL;
  GuardReader g = {.reader = {.b = b, .arena = b->graph->arena, .text = text, .is_guard = true}};
  Status status = arena_protect(b->graph->arena, read_guard, &g);
  if (!status) return g.read;
  if (status->code != ERROR_DATA) catch_throw(b->graph->arena->catch_point, status);
  status_free(status);
  return NULL;
}

/* ---- linear ones ---- */

bool expression_is_linear(const Expression *e, Str *symbol, int64_t *factor, int64_t *rest) {
  int64_t inner, inner_rest;
  switch (e->kind) {
    case EXPRESSION_INT:
      *symbol = STR("");
      *factor = 0;
      *rest = e->number;
      return true;
    case EXPRESSION_SYMBOL:
      *symbol = e->symbol;
      *factor = 1;
      *rest = 0;
      return true;
    case EXPRESSION_SUM:
    case EXPRESSION_PRODUCT:
      break;
    default:
      return false;
  }
  bool is_sum = e->kind == EXPRESSION_SUM;
  *symbol = STR("");
  *factor = 0;
  *rest = is_sum ? 0 : 1;
  for (uint32_t i = 0; i < e->count; i++) {
    Str other;
    if (!expression_is_linear(e->parts[i], &other, &inner, &inner_rest)) return false;
    if (inner && *factor && (!is_sum || !str_equal(other, *symbol))) return false;
    if (inner) *symbol = other;
    if (is_sum) {
      if (!int64_add(*factor, inner, factor) || !int64_add(*rest, inner_rest, rest)) return false;
    } else { /* one of them has no symbol */
      int64_t left, right;
      if (!int64_mul(*factor, inner_rest, &left) || !int64_mul(*rest, inner, &right) ||
          !int64_mul(*rest, inner_rest, rest) || !int64_add(left, right, factor))
        return false;
    }
  }
  return true;
}

/* ---- in the graph ---- */

/* What a kind is made of, and gives. */
typedef enum Meaning { MEANS_NOTHING, MEANS_NUMBER, MEANS_CONDITION } Meaning;
static const struct {
  const char *op;
  uint8_t least, most; /* how many parts */
  uint8_t takes, gives;
} operators[] = {[EXPRESSION_SUM] = {"aten::add", 1, 255, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_PRODUCT] = {"aten::mul", 1, 255, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_FLOOR_DIVISION] = {"aten::floordiv", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_DIVISION] = {"aten::div", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_REMAINDER] = {"aten::remainder", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_POWER] = {"aten::pow", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_LARGEST] = {"prim::max", 1, 255, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_SMALLEST] = {"prim::min", 1, 255, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_FLOOR] = {"aten::floor", 1, 1, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_CEILING] = {"aten::ceil", 1, 1, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_TRUNCATED] = {"aten::Int", 1, 1, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_AS_FLOAT] = {"aten::Float", 1, 1, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_ROOT] = {"aten::sqrt", 1, 1, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_MAGNITUDE] = {"prim::abs", 1, 1, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_BITS_OR] = {"aten::__or__", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_BITS_XOR] = {"aten::__xor__", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_BITS_AND] = {"aten::__and__", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_SHIFTED_LEFT] = {"aten::__lshift__", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_SHIFTED_RIGHT] = {"aten::__rshift__", 2, 2, MEANS_NUMBER, MEANS_NUMBER},
                 [EXPRESSION_EQUAL] = {"aten::eq", 2, 2, MEANS_NUMBER, MEANS_CONDITION},
                 [EXPRESSION_UNEQUAL] = {"aten::ne", 2, 2, MEANS_NUMBER, MEANS_CONDITION},
                 [EXPRESSION_LESS] = {"aten::lt", 2, 2, MEANS_NUMBER, MEANS_CONDITION},
                 [EXPRESSION_AT_MOST] = {"aten::le", 2, 2, MEANS_NUMBER, MEANS_CONDITION},
                 [EXPRESSION_GREATER] = {"aten::gt", 2, 2, MEANS_NUMBER, MEANS_CONDITION},
                 [EXPRESSION_AT_LEAST] = {"aten::ge", 2, 2, MEANS_NUMBER, MEANS_CONDITION},
                 [EXPRESSION_AND] = {"aten::__and__", 1, 255, MEANS_CONDITION, MEANS_CONDITION},
                 [EXPRESSION_OR] = {"aten::__or__", 1, 255, MEANS_CONDITION, MEANS_CONDITION},
                 [EXPRESSION_NOT] = {"aten::__not__", 1, 1, MEANS_CONDITION, MEANS_CONDITION},
                 [EXPRESSION_OTHER] = {NULL, 0, 0, MEANS_NOTHING, MEANS_NOTHING}};

bool expression_has_other(const Expression *e) {
  bool has = e->kind == EXPRESSION_OTHER;
  for (uint32_t i = 0; i < e->count && !has; i++) has = expression_has_other(e->parts[i]);
  return has;
}
/* Asked before anything is inserted. MEANS_NOTHING: a symbol is not known, or an operator. */
static Meaning meaning_of(const Expression *e, const Map *symbols) {
  if (e->kind == EXPRESSION_INT || e->kind == EXPRESSION_FLOAT) return MEANS_NUMBER;
  if (e->kind == EXPRESSION_SYMBOL) return map_has(symbols, e->symbol) ? MEANS_NUMBER : MEANS_NOTHING;
  if (e->count < operators[e->kind].least || e->count > operators[e->kind].most) return MEANS_NOTHING;
  for (uint32_t i = 0; i < e->count; i++)
    if (meaning_of(e->parts[i], symbols) != operators[e->kind].takes) return MEANS_NOTHING;
  return operators[e->kind].gives;
}
static Value *emit(Pt2Builder *b, const Expression *e, const Map *symbols) {
  assert(e->kind != EXPRESSION_OTHER && e->size <= MAX_PARTS);
  if (e->kind == EXPRESSION_INT) return pt2_constant(b, ivalue_int(e->number));
  if (e->kind == EXPRESSION_FLOAT) return pt2_constant(b, ivalue_float(e->real));
  if (e->kind == EXPRESSION_SYMBOL) return map_get(symbols, e->symbol);
  assert(e->count >= operators[e->kind].least);
  Value *value = emit(b, e->parts[0], symbols);
  if (operators[e->kind].most == 1) return PT2_EMIT(b, operators[e->kind].op, value);
  for (uint32_t i = 1; i < e->count; i++)
    value = PT2_EMIT(b, operators[e->kind].op, value, emit(b, e->parts[i], symbols));
  return value;
}
Value *expression_emit(Pt2Builder *b, const Expression *e, const Map *symbols) {
  return meaning_of(e, symbols) != MEANS_NOTHING ? emit(b, e, symbols) : NULL;
}
