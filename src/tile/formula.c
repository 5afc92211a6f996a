/* Formula: text -> a tree of nodes -> instructions. Precedence climbing over Python's expression grammar; lowering
 * walks the tree once per type of computation and per outcome of the choices. */
#include "tile/formula.h"

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>

#include "tile/special.h"

typedef enum NodeKind {
  NODE_NUMBER,
  NODE_PARAMETER,
  NODE_LOCAL,
  NODE_CALL /* a KernelOp of a, b, c */,
  NODE_SPECIAL,
  NODE_CAST /* of a to `what` */,
  NODE_CONDITIONAL /* a if c else b */,
  NODE_AND,
  NODE_OR,
  NODE_NOT,
  NODE_CHOICE /* bit `what` */,
  NODE_TYPE_IS /* word `what` */,
  NODE_LARGEST /* finite number of the type */
} NodeKind;

typedef struct FormulaNode {
  uint8_t kind, what; /* what: KernelOp, special function, TileType, choice, word, local or parameter */
  uint16_t a, b, c;
  double value;
} FormulaNode;

typedef enum ChoiceKind { CHOICE_IS_NONE, CHOICE_IS_TEXT, CHOICE_IS_TRUE, CHOICE_IS_NUMBER } ChoiceKind;
typedef struct Choice {
  ChoiceKind kind;
  int parameter;
  Str text;
  double number;
} Choice;

enum { MAX_NODES = 512, MAX_LOCALS = 24, MAX_CHOICES = 6, MAX_DEPTH = 100, NO_NODE = 0xffff };

struct Formula {
  int parameter_count, node_count, local_count, result_count, choice_count;
  FormulaParameter parameters[FORMULA_MAX_PARAMETERS];
  uint64_t conditions; /* bit i: tensor parameter i is only ever a condition */
  uint64_t promoting;
  Choice choices[MAX_CHOICES];
  uint16_t locals[MAX_LOCALS], results[KERNEL_MAX_OUTPUTS]; /* nodes */
  FormulaNode *nodes;
  char *text; /* names and texts point into it and what follows it */
};

/* ---- parsing ---- */

typedef enum TokenKind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_TEXT, TOKEN_PUNCTUATION } TokenKind;
typedef struct FormulaParser {
  Formula *formula;
  const char *at; /* after the current token */
  TokenKind kind;
  Str token;
  double number;
  Status status;
  int depth;
  Str local_names[MAX_LOCALS];
  int uses[FORMULA_MAX_PARAMETERS], condition_uses[FORMULA_MAX_PARAMETERS];
} FormulaParser;

static uint16_t fail(FormulaParser *p, const char *what) {
  if (!p->status)
    p->status =
        status_new(ERROR_SYNTAX, "%s at `" STR_FMT "` in formula `%s`", what, STR_ARG(p->token), p->formula->text);
  p->kind = TOKEN_END;
  return 0;
}

static void next_token(FormulaParser *p) {
  while (isspace((unsigned char)*p->at)) p->at++;
  const char *start = p->at;
  unsigned char c = (unsigned char)*start;
  if (p->status || !c) {
    p->kind = TOKEN_END;
    p->token = (Str){start, 0};
    return;
  }
  if (isdigit(c) || (c == '.' && isdigit((unsigned char)start[1]))) {
    while (isalnum((unsigned char)*p->at) || *p->at == '.' ||
           ((*p->at == '-' || *p->at == '+') && (p->at[-1] == 'e' || p->at[-1] == 'E')))
      p->at++;
    p->kind = TOKEN_NUMBER;
    p->token = (Str){start, (size_t)(p->at - start)};
    if (!str_to_double(p->token, &p->number)) fail(p, "malformed number");
  } else if (isalpha(c) || c == '_') {
    while (isalnum((unsigned char)*p->at) || *p->at == '_') p->at++;
    p->kind = TOKEN_NAME;
    p->token = (Str){start, (size_t)(p->at - start)};
  } else if (c == '"' || c == '\'') {
    for (p->at++; *p->at && *p->at != (char)c; p->at++) continue;
    p->kind = TOKEN_TEXT;
    p->token = (Str){start + 1, (size_t)(p->at - start - 1)};
    if (*p->at)
      p->at++;
    else
      fail(p, "unterminated text");
  } else {
    static const char *const pairs[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!="};
    p->at++;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (start[0] == pairs[i][0] && start[1] == pairs[i][1]) p->at = start + 2;
    p->kind = TOKEN_PUNCTUATION;
    p->token = (Str){start, (size_t)(p->at - start)};
  }
}

static bool is_token(const FormulaParser *p, const char *text) {
  return (p->kind == TOKEN_PUNCTUATION || p->kind == TOKEN_NAME) && str_is(p->token, text);
}
static bool take_token(FormulaParser *p, const char *text) {
  if (!is_token(p, text)) return false;
  next_token(p);
  return true;
}
static void expect_token(FormulaParser *p, const char *text) {
  if (!take_token(p, text)) fail(p, "unexpected text");
}

static uint16_t add_node(FormulaParser *p, FormulaNode node) {
  if (p->formula->node_count == MAX_NODES) return fail(p, "too long");
  p->formula->nodes[p->formula->node_count] = node;
  return (uint16_t)p->formula->node_count++;
}
static uint16_t add_call(FormulaParser *p, KernelOp op, uint16_t a, uint16_t b) {
  return add_node(p, (FormulaNode){NODE_CALL, (uint8_t)op, a, b, NO_NODE, 0});
}

static FormulaNode *node_at(const FormulaParser *p, uint16_t node) {
  assert(node < p->formula->node_count);
  return &p->formula->nodes[node];
}

/* A bare parameter that is a condition: its truth is asked, not its value. */
static uint16_t as_condition(FormulaParser *p, uint16_t node) {
  if (p->status) return node;
  const FormulaNode *n = node_at(p, node);
  if (n->kind == NODE_PARAMETER) p->condition_uses[n->what]++;
  return node;
}

static uint16_t add_choice(FormulaParser *p, Choice choice, bool negate) {
  Formula *f = p->formula;
  int i = 0;
  while (i < f->choice_count && !(f->choices[i].kind == choice.kind && f->choices[i].parameter == choice.parameter &&
                                  str_equal(f->choices[i].text, choice.text) && f->choices[i].number == choice.number))
    i++;
  if (i == MAX_CHOICES) return fail(p, "too many choices");
  if (i == f->choice_count) f->choices[f->choice_count++] = choice;
  uint16_t node = add_node(p, (FormulaNode){NODE_CHOICE, (uint8_t)i, NO_NODE, NO_NODE, NO_NODE, 0});
  return negate ? add_node(p, (FormulaNode){NODE_NOT, 0, node, NO_NODE, NO_NODE, 0}) : node;
}

static uint16_t parse_conditional(FormulaParser *p);

typedef struct Word {
  const char *name;
  int value;
} Word;
static const Word casts[] = {
    {"bool", TILE_BOOL}, {"int64", TILE_I64}, {"float32", TILE_F32}, {"float64", TILE_F64}, {"complex128", TILE_C128}};
/* Words for the type that computes, a bit for each TileType. */
static const Word type_words[] = {{"boolean", 1 << TILE_BOOL},
                                  {"integral", 1 << TILE_BOOL | 1 << TILE_I64},
                                  {"floating", 1 << TILE_F32 | 1 << TILE_F64},
                                  {"complex", 1 << TILE_C128}};
static int find_word(const Word *words, size_t count, Str name) {
  for (size_t i = 0; i < count; i++)
    if (str_is(name, words[i].name)) return words[i].value;
  return -1;
}
#define FIND_WORD(words, name) find_word(words, sizeof words / sizeof *words, name)

static int find_op(Str name) {
  char upper[24];
  if (name.length >= sizeof upper) return -1;
  for (size_t i = 0; i < name.length; i++) upper[i] = (char)toupper((unsigned char)name.data[i]);
  for (int op = 0; op < KERNEL_CAST; op++)
    if (str_is((Str){upper, name.length}, kernel_op_name((KernelOp)op))) return op;
  return -1;
}

static uint16_t parse_call(FormulaParser *p, Str name) {
  uint16_t arguments[3] = {NO_NODE, NO_NODE, NO_NODE};
  int count = 0;
  while (!p->status && !is_token(p, ")")) {
    if (count == 3) return fail(p, "too many arguments");
    arguments[count++] = parse_conditional(p);
    if (!take_token(p, ",")) break;
  }
  expect_token(p, ")");
  if (p->status) return 0;
  if (str_is(name, "where") && count == 3)
    return add_node(p,
                    (FormulaNode){NODE_CONDITIONAL, 0, arguments[1], arguments[2], as_condition(p, arguments[0]), 0});
  int found = FIND_WORD(casts, name);
  if (found >= 0 && count == 1)
    return add_node(p, (FormulaNode){NODE_CAST, (uint8_t)found, arguments[0], NO_NODE, NO_NODE, 0});
  found = find_op(name);
  if (found >= 0 && kernel_op_operands((KernelOp)found) == count)
    return add_call(p, (KernelOp)found, arguments[0], arguments[1]);
  found = special_find(name);
  if (found >= 0 && special_operands(found) == count)
    return add_node(p, (FormulaNode){NODE_SPECIAL, (uint8_t)found, arguments[0], arguments[1], NO_NODE, 0});
  p->token = name;
  return fail(p, "no such function with as many arguments");
}

static uint16_t parse_name(FormulaParser *p) {
  Formula *f = p->formula;
  Str name = p->token;
  next_token(p);
  if (take_token(p, "("))
    return parse_call(p, name); /* also where a parameter has the function's name: `max(self, max)` */
  for (int i = f->local_count - 1; i >= 0; i--)
    if (str_equal(p->local_names[i], name))
      return add_node(p, (FormulaNode){NODE_LOCAL, (uint8_t)i, NO_NODE, NO_NODE, NO_NODE, 0});
  for (int i = 0; i < f->parameter_count; i++) {
    if (!str_equal(f->parameters[i].name, name)) continue;
    if (is_token(p, "is")) {
      next_token(p);
      bool negate = take_token(p, "not");
      expect_token(p, "None");
      return add_choice(p, (Choice){CHOICE_IS_NONE, i, {0}, 0}, negate);
    }
    bool equal = is_token(p, "=="), unequal = is_token(p, "!=");
    if ((equal || unequal) && (f->parameters[i].kind == FORMULA_TEXT || f->parameters[i].kind == FORMULA_NUMBER)) {
      const char *after = p->at;
      Str comparison = p->token;
      next_token(p);
      bool negative = p->kind == TOKEN_PUNCTUATION && str_is(p->token, "-");
      if (negative) next_token(p);
      if (p->kind == TOKEN_TEXT || p->kind == TOKEN_NUMBER) {
        Choice choice = {p->kind == TOKEN_TEXT ? CHOICE_IS_TEXT : CHOICE_IS_NUMBER, i, {0}, 0};
        if (p->kind == TOKEN_TEXT)
          choice.text = p->token;
        else
          choice.number = negative ? -p->number : p->number;
        next_token(p);
        return add_choice(p, choice, unequal);
      }
      p->at = after, p->token = comparison, p->kind = TOKEN_PUNCTUATION; /* compared with a value of the element */
    }
    if (f->parameters[i].kind == FORMULA_BOOL) return add_choice(p, (Choice){CHOICE_IS_TRUE, i, {0}, 0}, false);
    if (f->parameters[i].kind != FORMULA_TENSOR && f->parameters[i].kind != FORMULA_NUMBER) break;
    p->uses[i]++;
    return add_node(p, (FormulaNode){NODE_PARAMETER, (uint8_t)i, NO_NODE, NO_NODE, NO_NODE, 0});
  }
  if (str_is(name, "True") || str_is(name, "False")) {
    uint16_t number = add_node(p, (FormulaNode){NODE_NUMBER, 0, NO_NODE, NO_NODE, NO_NODE, name.data[0] == 'T'});
    return add_node(p, (FormulaNode){NODE_CAST, TILE_BOOL, number, NO_NODE, NO_NODE, 0});
  }
  static const struct {
    const char *name;
    double value;
  } constants[] = {{"pi", M_PI}, {"e", M_E}, {"inf", INFINITY}, {"nan", NAN}};
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    if (str_is(name, constants[i].name))
      return add_node(p, (FormulaNode){NODE_NUMBER, 0, NO_NODE, NO_NODE, NO_NODE, constants[i].value});
  if (str_is(name, "largest")) return add_node(p, (FormulaNode){NODE_LARGEST, 0, NO_NODE, NO_NODE, NO_NODE, 0});
  int word = FIND_WORD(type_words, name);
  if (word >= 0) return add_node(p, (FormulaNode){NODE_TYPE_IS, (uint8_t)word, NO_NODE, NO_NODE, NO_NODE, 0});
  p->token = name;
  return fail(p, "unknown name");
}

static uint16_t parse_unary(FormulaParser *p);

static uint16_t parse_power(FormulaParser *p) {
  uint16_t value;
  if (p->kind == TOKEN_NUMBER) {
    value = add_node(p, (FormulaNode){NODE_NUMBER, 0, NO_NODE, NO_NODE, NO_NODE, p->number});
    next_token(p);
  } else if (p->kind == TOKEN_NAME) {
    value = parse_name(p);
  } else if (take_token(p, "(")) {
    value = parse_conditional(p);
    expect_token(p, ")");
  } else {
    return fail(p, "unexpected text");
  }
  if (!take_token(p, "**")) return value;
  uint16_t exponent = parse_unary(p);
  if (p->status) return 0;
  if (node_at(p, exponent)->kind == NODE_NUMBER && node_at(p, exponent)->value == 2)
    return add_call(p, KERNEL_SQUARE, value, NO_NODE);
  return add_call(p, KERNEL_POW, value, exponent);
}

static uint16_t parse_unary(FormulaParser *p) {
  if (p->depth++ > MAX_DEPTH) return fail(p, "nested too deeply");
  uint16_t value;
  if (take_token(p, "-")) {
    value = parse_unary(p);
    if (!p->status && node_at(p, value)->kind == NODE_NUMBER)
      node_at(p, value)->value = -node_at(p, value)->value;
    else
      value = add_call(p, KERNEL_NEG, value, NO_NODE);
  } else if (take_token(p, "~")) {
    value = add_call(p, KERNEL_NOT, parse_unary(p), NO_NODE);
  } else {
    take_token(p, "+");
    value = parse_power(p);
  }
  p->depth--;
  return value;
}

/* From the loosest: a level's operators associate to the left. */
enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_UNARY = 9 };
static const struct {
  const char *text;
  uint8_t level, op;
} operators[] = {{"==", 3, KERNEL_EQ}, {"!=", 3, KERNEL_NE},  {"<", 3, KERNEL_LT},   {"<=", 3, KERNEL_LE},
                 {">", 3, KERNEL_GT},  {">=", 3, KERNEL_GE},  {"|", 4, KERNEL_OR},   {"^", 5, KERNEL_XOR},
                 {"&", 6, KERNEL_AND}, {"<<", 6, KERNEL_SHL}, {">>", 6, KERNEL_SHR}, {"+", 7, KERNEL_ADD},
                 {"-", 7, KERNEL_SUB}, {"*", 8, KERNEL_MUL},  {"/", 8, KERNEL_DIV},  {"//", 8, KERNEL_FLOORDIV},
                 {"%", 8, KERNEL_MOD}};

static uint16_t parse_level(FormulaParser *p, int level) {
  if (level == LEVEL_UNARY) return parse_unary(p);
  if (level == LEVEL_NOT) {
    if (!take_token(p, "not")) return parse_level(p, LEVEL_COMPARE);
    if (p->depth++ > MAX_DEPTH) return fail(p, "nested too deeply");
    uint16_t operand = as_condition(p, parse_level(p, LEVEL_NOT));
    p->depth--;
    return add_node(p, (FormulaNode){NODE_NOT, 0, operand, NO_NODE, NO_NODE, 0});
  }
  uint16_t value = parse_level(p, level + 1);
  while (!p->status) {
    if (level == LEVEL_OR || level == LEVEL_AND) {
      if (!take_token(p, level == LEVEL_OR ? "or" : "and")) return value;
      uint16_t left = as_condition(p, value), right = as_condition(p, parse_level(p, level + 1));
      value = add_node(p, (FormulaNode){level == LEVEL_OR ? NODE_OR : NODE_AND, 0, left, right, NO_NODE, 0});
      continue;
    }
    int found = -1;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
      if (operators[i].level == level && is_token(p, operators[i].text)) found = (int)i;
    if (found < 0) return value;
    next_token(p);
    value = add_call(p, (KernelOp)operators[found].op, value, parse_level(p, level + 1));
  }
  return value;
}

static uint16_t parse_conditional(FormulaParser *p) {
  if (p->depth++ > MAX_DEPTH) return fail(p, "nested too deeply");
  uint16_t value = parse_level(p, LEVEL_OR);
  if (take_token(p, "if")) {
    uint16_t condition = as_condition(p, parse_level(p, LEVEL_OR));
    expect_token(p, "else");
    uint16_t otherwise = parse_conditional(p);
    value = add_node(p, (FormulaNode){NODE_CONDITIONAL, 0, value, otherwise, condition, 0});
  }
  p->depth--;
  return value;
}

static void parse_statements(FormulaParser *p) {
  Formula *f = p->formula;
  next_token(p);
  for (;;) {
    Str name = p->token;
    const char *after = p->at;
    if (p->kind == TOKEN_NAME) {
      next_token(p);
      if (is_token(p, "=")) {
        next_token(p);
        uint16_t value = parse_conditional(p);
        if (f->local_count == MAX_LOCALS) fail(p, "too many assignments");
        expect_token(p, ";");
        if (p->status) return;
        f->locals[f->local_count] = value;
        p->local_names[f->local_count++] = name;
        continue;
      }
      p->at = after, p->token = name, p->kind = TOKEN_NAME;
    }
    do {
      if (f->result_count == KERNEL_MAX_OUTPUTS)
        fail(p, "too many results");
      else
        f->results[f->result_count++] = parse_conditional(p);
    } while (take_token(p, ","));
    if (p->kind != TOKEN_END) fail(p, "unexpected text");
    return;
  }
}

Status formula_parse(Str text, int count, const FormulaParameter *parameters, Formula **out) {
  *out = NULL;
  if (count > FORMULA_MAX_PARAMETERS) return status_new(ERROR_UNSUPPORTED, "a formula of %d parameters", count);
  size_t bytes = text.length + 1;
  for (int i = 0; i < count; i++) bytes += parameters[i].name.length;
  Formula *f = mem_calloc(1, sizeof *f);
  if (f) f->text = mem_alloc(bytes);
  if (f) f->nodes = mem_calloc(MAX_NODES, sizeof *f->nodes);
  if (!f || !f->text || !f->nodes) {
    formula_free(f);
    return status_out_of_memory();
  }
  memcpy(f->text, text.data, text.length);
  f->text[text.length] = 0;
  char *names = f->text + text.length + 1;
  for (int i = 0; i < count; i++) {
    f->parameters[i] = parameters[i];
    f->parameters[i].name.data = memcpy(names, parameters[i].name.data, parameters[i].name.length);
    names += parameters[i].name.length;
  }
  f->parameter_count = count;
  FormulaParser parser = {.formula = f, .at = f->text};
  parse_statements(&parser);
  if (parser.status) {
    formula_free(f);
    return parser.status;
  }
  for (int i = 0; i < count; i++)
    if (f->parameters[i].kind == FORMULA_TENSOR && parser.uses[i] && parser.uses[i] == parser.condition_uses[i])
      f->conditions |= 1ull << i;
  for (int i = 0; i < count; i++)
    if (f->parameters[i].kind == FORMULA_TENSOR ? !(f->conditions >> i & 1) : f->parameters[i].promotes)
      f->promoting |= 1ull << i;
  FormulaNode *exact = mem_realloc(f->nodes, (size_t)f->node_count * sizeof *exact);
  if (exact) f->nodes = exact;
  *out = f;
  return OK;
}

void formula_free(Formula *formula) {
  if (!formula) return;
  mem_free(formula->text);
  mem_free(formula->nodes);
  mem_free(formula);
}

int formula_result_count(const Formula *formula) {
  return formula->result_count;
}
int formula_parameter_count(const Formula *formula) {
  return formula->parameter_count;
}
int formula_choice_count(const Formula *formula) {
  return formula->choice_count;
}
uint64_t formula_promoting(const Formula *formula) {
  return formula->promoting;
}

void formula_argument_types(const Formula *f, TileType compute, TileType *out_types) {
  for (int i = 0; i < f->parameter_count; i++) {
    out_types[i] = compute;
    if (f->conditions >> i & 1)
      out_types[i] = TILE_BOOL;
    else if (compute == TILE_BOOL && f->parameters[i].kind == FORMULA_NUMBER && !f->parameters[i].promotes)
      out_types[i] = TILE_I64;
  }
}

Str formula_parameter_name(const Formula *f, int i) {
  assert(i >= 0 && i < f->parameter_count);
  return f->parameters[i].name;
}

uint32_t formula_choices(const Formula *f, const TileArgument *arguments) {
  uint32_t bits = 0;
  for (int i = 0; i < f->choice_count; i++) {
    const Choice *choice = &f->choices[i];
    const TileArgument *argument = &arguments[choice->parameter];
    bool holds = false;
    switch (choice->kind) {
      case CHOICE_IS_NONE:
        holds = argument->kind == TILE_ARG_NONE;
        break;
      case CHOICE_IS_TEXT:
        holds = argument->kind == TILE_ARG_TEXT && str_equal(argument->text, choice->text);
        break;
      case CHOICE_IS_TRUE:
        holds = argument->kind == TILE_ARG_BOOL ? argument->b : argument->kind == TILE_ARG_INT && argument->i;
        break;
      case CHOICE_IS_NUMBER:
        if (argument->kind == TILE_ARG_INT)
          holds = (double)argument->i == choice->number;
        else if (argument->kind == TILE_ARG_FLOAT)
          holds = argument->f == choice->number;
        else if (argument->kind == TILE_ARG_BOOL)
          holds = argument->b == choice->number;
        else if (argument->kind == TILE_ARG_COMPLEX)
          holds = argument->c == choice->number;
        break;
    }
    bits |= (uint32_t)holds << i;
  }
  return bits;
}

/* ---- lowering ---- */

typedef struct Lowering {
  const Formula *formula;
  TileType compute;
  uint32_t choices;
  KernelBuilder *builder;
  const KernelValue *arguments;
  KernelValue locals[MAX_LOCALS];
  bool local_done[MAX_LOCALS];
} Lowering;

/* 1 or 0 when the condition is settled without the elements, else -1. */
static int settled(const Lowering *l, uint16_t node) {
  assert(node < l->formula->node_count);
  const FormulaNode *n = &l->formula->nodes[node];
  int a, b;
  switch (n->kind) {
    case NODE_CHOICE:
      return (int)(l->choices >> n->what & 1);
    case NODE_TYPE_IS:
      return n->what >> l->compute & 1;
    case NODE_NOT:
      return (a = settled(l, n->a)) < 0 ? -1 : !a;
    case NODE_AND:
      a = settled(l, n->a), b = settled(l, n->b);
      return a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : -1;
    case NODE_OR:
      a = settled(l, n->a), b = settled(l, n->b);
      return a == 1 || b == 1 ? 1 : a == 0 && b == 0 ? 0 : -1;
    default:
      return -1;
  }
}

static KernelValue lower_node(Lowering *l, uint16_t node);

static KernelValue lower_condition(Lowering *l, uint16_t node) {
  int known = settled(l, node);
  if (known >= 0) return kernel_cast(l->builder, kernel_integer(l->builder, known), TILE_BOOL);
  return kernel_cast(l->builder, lower_node(l, node), TILE_BOOL);
}

static TileType constant_type(const Lowering *l) {
  return l->compute == TILE_BOOL ? TILE_I64 : l->compute;
}

static KernelValue lower_node(Lowering *l, uint16_t node) {
  assert(node < l->formula->node_count);
  const FormulaNode *n = &l->formula->nodes[node];
  KernelBuilder *builder = l->builder;
  switch (n->kind) {
    case NODE_NUMBER:
      return kernel_constant(builder, constant_type(l), n->value);
    case NODE_LARGEST:
      return kernel_constant(builder, constant_type(l), l->compute == TILE_F32 ? FLT_MAX : DBL_MAX);
    case NODE_PARAMETER:
      if (l->arguments[n->what] == KERNEL_NO_VALUE) {
        kernel_fail(builder, status_new(ERROR_INVALID_ARGUMENT, "argument '" STR_FMT "' has no value",
                                        STR_ARG(l->formula->parameters[n->what].name)));
        return kernel_integer(builder, 0);
      }
      return l->arguments[n->what];
    case NODE_LOCAL: /* lowered where it is first needed, so that a branch not taken leaves nothing */
      if (!l->local_done[n->what]) {
        KernelValue value = lower_node(l, l->formula->locals[n->what]);
        l->locals[n->what] = value;
        l->local_done[n->what] = true;
      }
      return l->locals[n->what];
    case NODE_CALL: {
      KernelValue a = lower_node(l, n->a);
      KernelValue b = n->b == NO_NODE ? KERNEL_NO_VALUE : lower_node(l, n->b);
      if (n->b != NO_NODE && kernel_type(builder, a) !=
                                 kernel_type(builder, b)) { /* a number beside the magnitude of a complex one is real */
        if (kernel_type(builder, a) == TILE_F64 && l->formula->nodes[n->b].kind == NODE_NUMBER)
          b = kernel_cast(builder, b, TILE_F64);
        if (kernel_type(builder, b) == TILE_F64 && l->formula->nodes[n->a].kind == NODE_NUMBER)
          a = kernel_cast(builder, a, TILE_F64);
      }
      return kernel_emit(builder, (KernelOp)n->what, a, b, KERNEL_NO_VALUE);
    }
    case NODE_SPECIAL: {
      KernelValue a = lower_node(l, n->a);
      KernelValue b = n->b == NO_NODE ? KERNEL_NO_VALUE : lower_node(l, n->b);
      return kernel_special(builder, n->what, a, b, KERNEL_NO_VALUE);
    }
    case NODE_CAST:
      return kernel_cast(builder, lower_node(l, n->a), (TileType)n->what);
    case NODE_CONDITIONAL: {
      int known = settled(l, n->c);
      if (known >= 0) return lower_node(l, known ? n->a : n->b);
      KernelValue c = lower_condition(l, n->c);
      KernelValue a = lower_node(l, n->a);
      return kernel_emit(builder, KERNEL_SELECT, a, lower_node(l, n->b), c);
    }
    case NODE_AND:
    case NODE_OR: {
      int known = settled(l, node), left = settled(l, n->a), right = settled(l, n->b);
      if (known >= 0) return lower_condition(l, node);
      if (left >= 0) return lower_condition(l, n->b); /* the settled side is neutral, or the whole were settled */
      if (right >= 0) return lower_condition(l, n->a);
      KernelValue a = lower_condition(l, n->a);
      return kernel_emit(builder, n->kind == NODE_AND ? KERNEL_AND : KERNEL_OR, a, lower_condition(l, n->b),
                         KERNEL_NO_VALUE);
    }
    case NODE_NOT:
      if (settled(l, node) >= 0) return lower_condition(l, node);
      return kernel_emit(builder, KERNEL_NOT, lower_condition(l, n->a), KERNEL_NO_VALUE, KERNEL_NO_VALUE);
    default:
      return lower_condition(l, node);
  }
}

void formula_lower(const Formula *formula, TileType compute, uint32_t choices, KernelBuilder *builder,
                   const KernelValue *arguments, KernelValue *out_results) {
  Lowering lowering = {formula, compute, choices, builder, arguments, {0}, {0}};
  for (int i = 0; i < formula->result_count; i++) out_results[i] = lower_node(&lowering, formula->results[i]);
}
