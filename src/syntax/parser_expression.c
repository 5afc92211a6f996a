/* Expressions by precedence: an operand, then every operator that binds at least as tightly as the caller asks. Chains
 * of operators, attributes and calls are loops; only real nesting recurses, and it is counted. */
#include <assert.h>

#include "base/stack.h"
#include "syntax/parser_state.h"
#include "syntax/view.h"

/* ORDER precedence: looser to tighter, as in Python's reference. */
enum {
  PREC_NONE,
  PREC_TERNARY,
  PREC_OR,
  PREC_AND,
  PREC_NOT,
  PREC_COMPARE,
  PREC_BIT_OR,
  PREC_BIT_XOR,
  PREC_BIT_AND,
  PREC_SHIFT,
  PREC_SUM,
  PREC_PRODUCT,
  PREC_UNARY,
};

static const uint8_t binary_precedence[TK_COUNT] = {
    [TK_OR] = PREC_OR,        [TK_AND] = PREC_AND,
    [TK_EQ] = PREC_COMPARE,   [TK_NE] = PREC_COMPARE,
    [TK_LE] = PREC_COMPARE,   [TK_GE] = PREC_COMPARE,
    ['<'] = PREC_COMPARE,     ['>'] = PREC_COMPARE,
    [TK_IN] = PREC_COMPARE,   [TK_IS] = PREC_COMPARE,
    [TK_NOT] = PREC_COMPARE,  ['|'] = PREC_BIT_OR,
    ['^'] = PREC_BIT_XOR,     ['&'] = PREC_BIT_AND,
    [TK_LSHIFT] = PREC_SHIFT, [TK_RSHIFT] = PREC_SHIFT,
    ['+'] = PREC_SUM,         ['-'] = PREC_SUM,
    ['*'] = PREC_PRODUCT,     ['/'] = PREC_PRODUCT,
    ['%'] = PREC_PRODUCT,     [TK_FLOOR_DIV] = PREC_PRODUCT,
    ['@'] = PREC_PRODUCT,
};

/* Beyond the length of the text. */
enum { MAX_SHARED_NODES = 100000 };

static Tree *parse(Parser *p, int precedence);

static void enter(Parser *p) {
  if (++p->nesting > TREE_MAX_NESTING || STACK_IS_LOW())
    range_error(p->arena, ERROR_SYNTAX, parser_here(p), "expressions are nested too deeply");
}

bool parser_at_expression(const Parser *p) {
  switch (p->current.kind) {
    case TK_IDENT:
    case TK_NUMBER:
    case TK_STRINGLITERAL:
    case TK_FSTRING:
    case TK_BYTES:
    case TK_TRUE:
    case TK_FALSE:
    case TK_NONE:
    case TK_DOTS:
    case TK_NOT:
    case TK_LAMBDA:
    case TK_AWAIT:
    case TK_YIELD:
    case '(':
    case '[':
    case '{':
    case '-':
    case '+':
    case '~':
    case '*':
      return true;
    default:
      return false;
  }
}

/* From where the part on the left begins, which may be within parentheses. */
static SourceRange from(const Tree *left, SourceRange range) {
  if (left->range.source == range.source) range.begin = left->range.begin;
  return range;
}

/* ---- comprehensions ---- */

/* `for target in iter if condition ...`, as many as there are. */
typedef struct Clauses {
  Tree *target, *iter, *conditions;
  int fors;
} Clauses;

static Clauses parse_clauses(Parser *p) {
  Clauses clauses = {0};
  size_t mark = items_begin(p);
  uint32_t begin = p->current.begin;
  while (parser_at(p, TK_FOR) || parser_at(p, TK_IF) || parser_at(p, TK_ASYNC)) {
    if (parser_at(p, TK_ASYNC)) parser_fail(p, "for ('async' is not supported in TorchScript)");
    if (parser_accept(p, TK_IF)) {
      items_push(p, parse(p, PREC_OR));
      continue;
    }
    parser_advance(p);
    Tree *target = parser_target_list(p);
    parser_expect(p, TK_IN);
    Tree *iter = parse(p, PREC_OR);
    if (!clauses.fors++) {
      clauses.target = target;
      clauses.iter = iter;
    }
  }
  clauses.conditions = items_end(p, mark, begin);
  return clauses;
}

static const char SEVERAL_FORS[] = "Only a single generator is currently supported";

static Tree *parse_list_comp(Parser *p, uint32_t begin, Tree *element) {
  Clauses c = parse_clauses(p);
  if (c.fors > 1) return parser_unsupported(p, begin, SEVERAL_FORS);
  SourceRange range = parser_since(p, begin);
  Tree *children[] = {element, c.target, c.iter, c.conditions};
  return tree_new(p->arena, TK_LIST_COMP, range, c.conditions->count ? 4 : 3, children);
}

/* ---- atoms ---- */

static Tree *parse_item(Parser *p) {
  uint32_t begin = p->current.begin;
  if (!parser_accept(p, '*')) return parser_expression(p);
  Tree *value = parse(p, PREC_BIT_OR);
  return TREE(p->arena, TK_STARRED, parser_since(p, begin), value);
}

/* Items up to the closer, with or without a comma before it. */
static void parse_items(Parser *p, TokenKind closer) {
  while (!parser_at(p, closer)) {
    items_push(p, parse_item(p));
    if (!parser_accept(p, ',')) break;
  }
  if (!parser_at(p, closer)) parser_fail(p, closer == ')' ? "',' or ')'" : closer == ']' ? "',' or ']'" : "',' or '}'");
}

static Tree *parse_parenthesis(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  if (parser_at(p, TK_YIELD)) {
    Tree *yield = parser_expression(p);
    parser_expect(p, ')');
    return yield;
  }
  size_t mark = items_begin(p);
  bool tuple = parser_at(p, ')');
  Tree *first = NULL;
  if (!tuple) {
    first = parse_item(p);
    if (parser_at(p, TK_FOR) || parser_at(p, TK_ASYNC)) {
      Tree *generator = parse_list_comp(p, begin, first);
      parser_expect(p, ')');
      return generator;
    }
    if ((tuple = parser_accept(p, ','))) {
      items_push(p, first);
      parse_items(p, ')');
    }
  }
  if (!parser_at(p, ')')) parser_fail(p, "',' or ')'");
  parser_advance(p);
  if (!tuple) return first;
  return TREE(p->arena, TK_TUPLE_LITERAL, parser_since(p, begin), items_end(p, mark, begin));
}

static Tree *parse_list(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  size_t mark = items_begin(p);
  if (!parser_at(p, ']')) {
    Tree *first = parse_item(p);
    if (parser_at(p, TK_FOR) || parser_at(p, TK_ASYNC)) {
      Tree *comprehension = parse_list_comp(p, begin, first);
      parser_expect(p, ']');
      return comprehension;
    }
    items_push(p, first);
    if (parser_accept(p, ',')) parse_items(p, ']');
  }
  if (!parser_at(p, ']')) parser_fail(p, "',' or ']'");
  parser_advance(p);
  return TREE(p->arena, TK_LIST_LITERAL, parser_since(p, begin), items_end(p, mark, begin));
}

static Tree *parse_dict_comp(Parser *p, uint32_t begin, Tree *key, Tree *value) {
  Clauses c = parse_clauses(p);
  parser_expect(p, '}');
  if (c.fors > 1) return parser_unsupported(p, begin, SEVERAL_FORS);
  Tree *children[] = {key, value, c.target, c.iter, c.conditions};
  return tree_new(p->arena, TK_DICT_COMP, parser_since(p, begin), c.conditions->count ? 5 : 4, children);
}

static Tree *parse_set(Parser *p, uint32_t begin, Tree *first) {
  if (parser_at(p, TK_FOR)) {
    parse_list_comp(p, begin, first);
  } else if (parser_accept(p, ',')) {
    size_t mark = items_begin(p);
    parse_items(p, '}');
    p->items.length = mark;
  }
  if (!parser_at(p, '}')) parser_fail(p, "',' or '}'");
  parser_advance(p);
  return parser_unsupported(p, begin, "Set aren't supported");
}

static Tree *parse_braces(Parser *p) {
  uint32_t begin = p->current.begin;
  TreeVec keys = {0}, values = {0};
  bool unpacks = false;
  parser_advance(p);
  while (!parser_at(p, '}')) {
    if (parser_accept(p, TK_POW)) {
      unpacks = true;
      parse(p, PREC_BIT_OR);
    } else {
      Tree *key = parse_item(p);
      if (!keys.length && !unpacks && !parser_at(p, ':')) return parse_set(p, begin, key);
      parser_expect(p, ':');
      Tree *value = parser_expression(p);
      if (!keys.length && parser_at(p, TK_FOR)) return parse_dict_comp(p, begin, key, value);
      vec_arena_push(p->arena, &keys, key);
      vec_arena_push(p->arena, &values, value);
    }
    if (!parser_accept(p, ',')) break;
  }
  if (!parser_at(p, '}')) parser_fail(p, "',' or '}'");
  parser_advance(p);
  if (unpacks) return parser_unsupported(p, begin, "Dict expansion (e.g. `{**dict}`) is not supported");
  SourceRange range = parser_since(p, begin);
  return TREE(p->arena, TK_DICT_LITERAL, range, tree_list(p->arena, range, (uint32_t)keys.length, keys.data),
              tree_list(p->arena, range, (uint32_t)values.length, values.data));
}

static Tree *parse_number(Parser *p) {
  Str text = token_text(&p->lexer, &p->current);
  if (str_find_char(text, '_') >= 0) {
    char *digits = arena_alloc(p->arena, text.length);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++)
      if (text.data[i] != '_') digits[length++] = text.data[i];
    text = (Str){digits, length};
  }
  Tree *tree = tree_atom(p->arena, TK_CONST, parser_here(p), text);
  parser_advance(p);
  return tree;
}

static Tree *parse_atom(Parser *p) {
  SourceRange range = parser_here(p);
  switch (p->current.kind) {
    case TK_IDENT: {
      Tree *tree = tree_var(p->arena, range, token_text(&p->lexer, &p->current));
      parser_advance(p);
      return tree;
    }
    case TK_NUMBER:
      return parse_number(p);
    case TK_STRINGLITERAL:
    case TK_FSTRING:
    case TK_BYTES:
      return parser_strings(p);
    case TK_TRUE:
    case TK_FALSE:
    case TK_NONE:
    case TK_DOTS: {
      Tree *tree = tree_empty(p->arena, p->current.kind, range);
      parser_advance(p);
      return tree;
    }
    case '(':
      return parse_parenthesis(p);
    case '[':
      return parse_list(p);
    case '{':
      return parse_braces(p);
    default:
      parser_fail(p, "an expression");
  }
}

/* ---- what follows an atom ---- */

/* A name before '=' is a keyword argument, even one that Python itself reserves: archives may hold it. */
static bool at_keyword_argument(const Parser *p) {
  TokenKind kind = p->current.kind;
  return p->next.kind == '=' && (kind == TK_IDENT || (kind >= TK_DEF && kind <= TK_YIELD));
}

static Tree *parse_keyword_argument(Parser *p) {
  uint32_t begin = p->current.begin;
  Tree *name = tree_atom(p->arena, TK_IDENT, parser_here(p), token_text(&p->lexer, &p->current));
  parser_advance(p);
  parser_advance(p);
  Tree *value = parser_expression(p);
  return TREE(p->arena, TK_ATTRIBUTE, parser_since(p, begin), name, value);
}

void parser_arguments(Parser *p, Tree **out_inputs, Tree **out_attributes) {
  size_t mark = items_begin(p);
  uint32_t open = p->current.begin;
  TreeVec attributes = {0}; /* beside the stack: a starred input may follow them */
  while (!parser_at(p, ')')) {
    uint32_t begin = p->current.begin;
    if (at_keyword_argument(p)) {
      vec_arena_push(p->arena, &attributes, parse_keyword_argument(p));
    } else if (parser_accept(p, TK_POW)) {
      parser_expression(p);
      items_push(p, parser_unsupported(p, begin, "keyword-arg expansion is not supported"));
    } else {
      if (attributes.length && !parser_at(p, '*')) parser_fail(p, "a keyword argument");
      Tree *item = parse_item(p);
      if (parser_at(p, TK_FOR) || parser_at(p, TK_ASYNC)) item = parse_list_comp(p, begin, item);
      items_push(p, item);
    }
    if (!parser_accept(p, ',')) break;
  }
  if (!parser_at(p, ')')) parser_fail(p, "',' or ')'");
  parser_advance(p);
  *out_inputs = items_end(p, mark, open);
  *out_attributes = p->no_items;
  if (attributes.length)
    *out_attributes = tree_list(p->arena, parser_since(p, open), (uint32_t)attributes.length, attributes.data);
}

static Tree *parse_call(Parser *p, Tree *callee) {
  Tree *inputs, *attributes;
  uint32_t begin = p->current.begin, end = p->last_end;
  parser_advance(p);
  p->last_end = end; /* the parenthesis itself is no part of what is underlined */
  parser_arguments(p, &inputs, &attributes);
  return TREE(p->arena, TK_APPLY, from(callee, parser_since(p, begin)), callee, inputs, attributes);
}

static Tree *slice_bound(Parser *p) {
  if (parser_at(p, ':') || parser_at(p, ',') || parser_at(p, ']')) return p->nothing;
  Tree *bound = parser_expression(p);
  return tree_option(p->arena, bound->range, bound);
}

static Tree *parse_index(Parser *p) {
  uint32_t begin = p->current.begin;
  Tree *first = parser_at(p, ':') ? NULL : parse_item(p);
  if (!parser_at(p, ':')) return first;
  Tree *start = first ? tree_option(p->arena, first->range, first) : p->nothing;
  parser_advance(p);
  Tree *stop = slice_bound(p);
  Tree *step = parser_accept(p, ':') ? slice_bound(p) : p->nothing;
  return TREE(p->arena, TK_SLICE_EXPR, parser_since(p, begin), start, stop, step);
}

static Tree *parse_subscript(Parser *p, Tree *value) {
  size_t mark = items_begin(p);
  uint32_t open = p->current.begin;
  parser_advance(p);
  if (parser_at(p, ']')) parser_fail(p, "an index");
  while (!parser_at(p, ']')) {
    items_push(p, parse_index(p));
    if (!parser_accept(p, ',')) break;
  }
  if (!parser_at(p, ']')) parser_fail(p, "',' or ']'");
  p->last_end = p->current.end;
  parser_advance(p);
  Tree *indices = items_end(p, mark, open), *first = indices->children[0];
  if (indices->count == 1 && first->kind == TK_TUPLE_LITERAL && tuple_literal_items(first)->count)
    indices = tuple_literal_items(first);
  return TREE(p->arena, TK_SUBSCRIPT, from(value, parser_since(p, open)), value, indices);
}

static Tree *parse_select(Parser *p, Tree *value) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  TokenKind kind = p->current.kind;
  if (kind != TK_IDENT && !(kind >= TK_DEF && kind <= TK_YIELD)) parser_fail(p, "ident");
  Tree *name = tree_atom(p->arena, TK_IDENT, parser_here(p), token_text(&p->lexer, &p->current));
  parser_advance(p);
  return TREE(p->arena, '.', from(value, parser_since(p, begin)), value, name);
}

static Tree *parse_postfix(Parser *p) {
  Tree *tree = parse_atom(p);
  for (;;) {
    switch (p->current.kind) {
      case '.':
        tree = parse_select(p, tree);
        break;
      case '(':
        tree = parse_call(p, tree);
        break;
      case '[':
        tree = parse_subscript(p, tree);
        break;
      default:
        return tree;
    }
  }
}

/* ---- operators ---- */

static Tree *parse_lambda(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  parser_params(p, ':', false);
  parser_expect(p, ':');
  parser_expression(p);
  return parser_unsupported(p, begin, "Lambda aren't supported");
}

static Tree *parse_yield(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  if (parser_accept(p, TK_FROM))
    parser_expression(p);
  else if (parser_at_expression(p))
    parser_expression_list(p);
  return parser_unsupported(p, begin, "Yield aren't supported");
}

static Tree *parse_unary(Parser *p) {
  uint32_t begin = p->current.begin;
  TokenKind kind = p->current.kind;
  switch (kind) {
    case '-':
    case '~':
    case '+': {
      parser_advance(p);
      Tree *operand = parse(p, PREC_UNARY);
      if (kind == '+') return parser_unsupported(p, begin, "unsupported unary operator: UAdd");
      return TREE(p->arena, kind == '-' ? TK_UNARY_MINUS : '~', parser_since(p, begin), operand);
    }
    case TK_NOT: {
      parser_advance(p);
      Tree *operand = parse(p, PREC_NOT);
      return TREE(p->arena, TK_NOT, parser_since(p, begin), operand);
    }
    case TK_AWAIT:
      parser_advance(p);
      parse(p, PREC_UNARY);
      return parser_unsupported(p, begin, "Await aren't supported");
    case TK_LAMBDA:
      return parse_lambda(p);
    case TK_YIELD:
      return parse_yield(p);
    default:
      break;
  }
  Tree *base = parse_postfix(p);
  if (!parser_accept(p, TK_POW)) return base;
  Tree *exponent = parse(p, PREC_UNARY);
  return TREE(p->arena, TK_POW, from(base, parser_since(p, begin)), base, exponent);
}

/* Counts a tree's nodes, those of shared subtrees each time; gives up above the limit. */
static uint32_t count_nodes(const Tree *tree, uint32_t limit) {
  uint32_t count = 1;
  for (uint32_t i = 0; !tree_is_atom(tree) && i < tree->count && count <= limit; i++)
    count += count_nodes(tree->children[i], limit - count);
  return count;
}

/* `a < b < c` is (and (< a b) (< b c)): b is in the tree twice, which repeated would grow it exponentially. */
static void share(Parser *p, const Tree *middle) {
  assert(middle->height <= TREE_MAX_HEIGHT);
  uint32_t length = p->lexer.end < UINT32_MAX / 4 ? p->lexer.end : UINT32_MAX / 4;
  p->shared += count_nodes(middle, MAX_SHARED_NODES);
  if (p->shared > length + MAX_SHARED_NODES)
    range_error(p->arena, ERROR_SYNTAX, middle->range, "chained comparisons are nested too deeply");
}

static Tree *parse_comparisons(Parser *p, Tree *left, uint32_t begin) {
  Tree *all = NULL;
  while (binary_precedence[p->current.kind] == PREC_COMPARE) {
    TokenKind kind = p->current.kind;
    if (kind == TK_NOT && p->next.kind != TK_IN) break;
    parser_advance(p);
    bool negated = kind == TK_NOT;
    if (negated) parser_advance(p), kind = TK_IN;
    if (kind == TK_IS && parser_accept(p, TK_NOT)) kind = TK_ISNOT;
    Tree *right = parse(p, PREC_COMPARE + 1);
    if (all) share(p, left);
    SourceRange range = from(left, parser_since(p, begin));
    Tree *one = TREE(p->arena, kind, range, left, right);
    if (negated) one = TREE(p->arena, TK_NOT, range, one);
    all = all ? TREE(p->arena, TK_AND, from(all, parser_since(p, begin)), all, one) : one;
    left = right;
  }
  return all ? all : left;
}

static Tree *parse_ternary(Parser *p, Tree *then, uint32_t begin) {
  parser_advance(p);
  Tree *condition = parse(p, PREC_OR);
  if (!parser_at(p, TK_ELSE)) parser_fail(p, "else");
  parser_advance(p);
  Tree *otherwise = parse(p, PREC_TERNARY);
  return TREE(p->arena, TK_IF_EXPR, from(then, parser_since(p, begin)), condition, then, otherwise);
}

static Tree *parse(Parser *p, int precedence) {
  enter(p);
  uint32_t begin = p->current.begin;
  Tree *left = parse_unary(p);
  for (;;) {
    TokenKind kind = p->current.kind;
    int binds = binary_precedence[kind];
    if (binds == PREC_NONE || binds < precedence) break;
    if (binds == PREC_COMPARE) {
      Tree *compared = parse_comparisons(p, left, begin);
      if (compared == left) break;
      left = compared;
      continue;
    }
    parser_advance(p);
    Tree *right = parse(p, binds + 1);
    left = TREE(p->arena, kind, from(left, parser_since(p, begin)), left, right);
  }
  if (precedence == PREC_TERNARY && parser_at(p, TK_IF)) left = parse_ternary(p, left, begin);
  assert(p->nesting > 0);
  p->nesting--;
  return left;
}

Tree *parser_expression(Parser *p) {
  uint32_t begin = p->current.begin;
  Tree *tree = parse(p, PREC_TERNARY);
  if (!parser_accept(p, TK_WALRUS)) return tree;
  parser_expression(p);
  return parser_unsupported(p, begin, "NamedExpr aren't supported");
}

static Tree *finish_list(Parser *p, uint32_t begin, Tree *first, Tree *(*parse_next)(Parser *p)) {
  if (!parser_at(p, ',')) return first;
  size_t mark = items_begin(p);
  items_push(p, first);
  while (parser_accept(p, ',') && parser_at_expression(p)) items_push(p, parse_next(p));
  return TREE(p->arena, TK_TUPLE_LITERAL, parser_since(p, begin), items_end(p, mark, begin));
}

Tree *parser_expression_list(Parser *p) {
  uint32_t begin = p->current.begin;
  return finish_list(p, begin, parse_item(p), parse_item);
}

static Tree *parse_target(Parser *p) {
  uint32_t begin = p->current.begin;
  if (!parser_accept(p, '*')) return parse(p, PREC_BIT_OR);
  Tree *value = parse(p, PREC_BIT_OR);
  return TREE(p->arena, TK_STARRED, parser_since(p, begin), value);
}

Tree *parser_target_list(Parser *p) {
  uint32_t begin = p->current.begin;
  return finish_list(p, begin, parse_target(p), parse_target);
}
