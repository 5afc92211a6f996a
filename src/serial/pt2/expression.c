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

static const struct {
  const char *name;
  ExpressionKind kind;
} functions[] = {{"Add", EXPRESSION_SUM},
                 {"Mul", EXPRESSION_PRODUCT},
                 {"FloorDiv", EXPRESSION_FLOOR_DIVISION},
                 {"CleanDiv", EXPRESSION_FLOOR_DIVISION},
                 {"Mod", EXPRESSION_REMAINDER},
                 {"PythonMod", EXPRESSION_REMAINDER},
                 {"Max", EXPRESSION_LARGEST},
                 {"Min", EXPRESSION_SMALLEST}};
static ExpressionKind kind_of(Str name) {
  Str last = str_after_last(name, '.'); /* "torch.utils._sympy.functions.FloorDiv" */
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (str_is(last, functions[i].name)) return functions[i].kind;
  return EXPRESSION_OTHER;
}

/* After "L": ['x'][1].size()[0], as "x[1].size(0)". */
static const Expression *read_size(Reader *r) {
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
  need(r, ".size()[");
  const char *symbol = arena_printf(r->arena, "%s.size(%lld)", name, (long long)read_digits(r));
  need(r, "]");
  return make_symbol(r, str_from(symbol));
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
    parts[count++] = read_sum(r);
  }
  r->at++;
  return make(r, kind_of(name), count, parts);
}

static const Expression *read_atom(Reader *r) {
  int c = peek(r);
  if (++r->depth > MAX_DEPTH) fail(r);
  const Expression *e;
  if (take(r, "(")) {
    e = read_sum(r);
    need(r, ")");
  } else if (take(r, "-")) {
    e = negate(r, read_power(r)); /* -x**2 is -(x**2) */
  } else if (c >= '0' && c <= '9') {
    e = make_int(r, read_digits(r));
    if (r->at < r->text.length && (r->text.data[r->at] == '.' || r->text.data[r->at] == 'e')) fail(r);
  } else if (is_word(c, true)) {
    Str word = read_word(r);
    e = r->is_guard && str_is(word, "L") ? read_size(r) : take(r, "(") ? read_call(r, word) : make_symbol(r, word);
  } else {
    fail(r);
  }
  r->depth--;
  return e;
}
static const Expression *read_power(Reader *r) {
  const Expression *base = read_atom(r);
  if (!take(r, "**")) return base;
  const Expression *exponent = read_atom(r);
  if (exponent->kind != EXPRESSION_INT || exponent->number < 1 || exponent->number > 8)
    return make_pair(r, EXPRESSION_OTHER, base, exponent);
  const Expression *product = base;
  for (int64_t i = 1; i < exponent->number; i++) product = make_pair(r, EXPRESSION_PRODUCT, product, base);
  return product;
}
static const Expression *read_product(Reader *r) {
  const Expression *left = read_power(r);
  for (;;) {
    if (take(r, "//"))
      left = make_pair(r, EXPRESSION_FLOOR_DIVISION, left, read_power(r));
    else if (take(r, "*"))
      left = make_pair(r, EXPRESSION_PRODUCT, left, read_power(r));
    else if (take(r, "/"))
      left = make_pair(r, EXPRESSION_OTHER, left, read_power(r));
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

const Expression *expression_read(Pt2Builder *b, Str text) {
  Reader r = {.b = b, .arena = b->graph->arena, .text = text};
  if (text.length > MAX_TEXT) fail(&r);
  const Expression *e = read_sum(&r);
  if (peek(&r)) fail(&r);
  return e;
}

/* ---- conditions ---- */

static const struct {
  const char *text, *op;
} comparisons[] = {{"==", "aten::eq"}, {"!=", "aten::ne"}, {"<=", "aten::le"},
                   {">=", "aten::ge"}, {"<", "aten::lt"},  {">", "aten::gt"}};

typedef struct GuardReader {
  Reader reader;
  Guard *out;
} GuardReader;
static void read_guard(void *argument) {
  GuardReader *g = argument;
  Reader *r = &g->reader;
  g->out->left = read_sum(r);
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons && !g->out->op; i++)
    if (take(r, comparisons[i].text)) g->out->op = comparisons[i].op;
  if (!g->out->op) fail(r);
  g->out->right = read_sum(r);
  if (peek(r)) fail(r);
}
bool guard_read(Pt2Builder *b, Str text, Guard *out) {
  *out = (Guard){0};
  if (text.length > MAX_TEXT) return false;
  GuardReader g = {.reader = {.b = b, .arena = b->graph->arena, .text = text, .is_guard = true}, .out = out};
  Status status = arena_protect(b->graph->arena, read_guard, &g);
  if (!status) return true;
  if (status->code != ERROR_DATA) catch_throw(b->graph->arena->catch_point, status);
  status_free(status);
  return false;
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

static const char *const operators[] = {[EXPRESSION_SUM] = "aten::add",
                                        [EXPRESSION_PRODUCT] = "aten::mul",
                                        [EXPRESSION_FLOOR_DIVISION] = "aten::floordiv",
                                        [EXPRESSION_REMAINDER] = "aten::remainder",
                                        [EXPRESSION_LARGEST] = "prim::max",
                                        [EXPRESSION_SMALLEST] = "prim::min"};

/* Asked before anything is inserted. */
static bool is_known(const Expression *e, const Map *symbols) {
  if (e->kind == EXPRESSION_OTHER || (e->kind == EXPRESSION_SYMBOL && !map_has(symbols, e->symbol))) return false;
  if (e->kind > EXPRESSION_SYMBOL && !e->count) return false;
  for (uint32_t i = 0; i < e->count; i++)
    if (!is_known(e->parts[i], symbols)) return false;
  return true;
}
static Value *emit(Pt2Builder *b, const Expression *e, const Map *symbols) {
  assert(e->kind != EXPRESSION_OTHER && e->size <= MAX_PARTS);
  if (e->kind == EXPRESSION_INT) return pt2_constant(b, ivalue_int(e->number));
  if (e->kind == EXPRESSION_SYMBOL) return map_get(symbols, e->symbol);
  Value *value = emit(b, e->parts[0], symbols);
  for (uint32_t i = 1; i < e->count; i++) value = PT2_EMIT(b, operators[e->kind], value, emit(b, e->parts[i], symbols));
  return value;
}
Value *expression_emit(Pt2Builder *b, const Expression *e, const Map *symbols) {
  return is_known(e, symbols) ? emit(b, e, symbols) : NULL;
}
