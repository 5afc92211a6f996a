/* Statements and whole files. What TorchScript lacks is parsed all the same and becomes an (unsupported ...) statement.
 */
#include "syntax/parser.h"

#include <assert.h>

#include "base/stack.h"
#include "syntax/parser_state.h"
#include "syntax/view.h"

static void parse_statement(Parser *p);

/* ---- the token window ---- */

void parser_start(Parser *p) {
  lexer_next(&p->lexer, &p->current);
  lexer_next(&p->lexer, &p->next);
  if (p->nothing) return;
  p->nothing = tree_option(p->arena, parser_here(p), NULL);
  p->no_items = tree_list(p->arena, parser_here(p), 0, NULL);
}

Parser parser_within(const Parser *p, uint32_t begin, uint32_t end) {
  assert(begin <= end && end <= p->lexer.end);
  Parser inner = {.arena = p->arena,
                  .flags = p->flags,
                  .nesting = p->nesting,
                  .blocks = p->blocks,
                  .shared = p->shared,
                  .nothing = p->nothing,
                  .no_items = p->no_items};
  if (p->lexer.is_foreign)
    lexer_init_text(&inner.lexer, p->arena, (Str){p->lexer.text + begin, end - begin}, p->lexer.range);
  else
    lexer_init_fragment(&inner.lexer, p->arena, p->lexer.source, begin, end);
  inner.last_end = inner.lexer.position;
  parser_start(&inner);
  return inner;
}

/* What closes or separates is underlined only where more of the same tree follows it. */
static bool closes(TokenKind kind) {
  return kind == ')' || kind == ']' || kind == '}' || kind == ',';
}

void parser_advance(Parser *p) {
  if (!closes(p->current.kind)) p->last_end = p->current.end;
  p->current = p->next;
  if (p->current.kind != TK_EOF) lexer_next(&p->lexer, &p->next);
}

bool parser_accept(Parser *p, TokenKind kind) {
  if (!parser_at(p, kind)) return false;
  parser_advance(p);
  return true;
}

_Noreturn void parser_fail(Parser *p, const char *what) {
  Str text = token_text(&p->lexer, &p->current);
  bool bare = text.length == 0 || p->current.kind == TK_NEWLINE;
  if (bare) text = str_from(token_kind_name(p->current.kind));
  if (text.length > 40) text.length = 40;
  const char *quote = bare ? "" : "'";
  range_error(p->arena, ERROR_SYNTAX, parser_here(p), "expected %s but found %s" STR_FMT "%s here", what, quote,
              STR_ARG(text), quote);
}

void parser_expect(Parser *p, TokenKind kind) {
  if (parser_accept(p, kind)) return;
  const char *name = token_kind_name(kind);
  bool is_character = kind < TK_FIRST;
  char quoted[] = {'\'', name[0], '\'', '\0'};
  parser_fail(p, is_character ? quoted : name);
}

SourceRange parser_since(const Parser *p, uint32_t begin) {
  Token token = {.begin = begin, .end = p->last_end > begin ? p->last_end : begin};
  return token_range(&p->lexer, &token);
}

SourceRange parser_here(const Parser *p) {
  return token_range(&p->lexer, &p->current);
}

Tree *parser_ident(Parser *p) {
  if (!parser_at(p, TK_IDENT)) parser_fail(p, "ident");
  Tree *tree = tree_atom(p->arena, TK_IDENT, parser_here(p), token_text(&p->lexer, &p->current));
  parser_advance(p);
  return tree;
}

Tree *items_end(Parser *p, size_t mark, uint32_t begin) {
  assert(mark <= p->items.length);
  uint32_t count = (uint32_t)items_count(p, mark);
  p->items.length = mark;
  return count ? tree_list(p->arena, parser_since(p, begin), count, p->items.data + mark) : p->no_items;
}

Tree *parser_unsupported(Parser *p, uint32_t begin, const char *what) {
  return tree_atom(p->arena, TK_UNSUPPORTED, parser_since(p, begin), str_from(what));
}

/* ---- blocks ---- */

static Tree *statements_until(Parser *p, TokenKind closer) {
  size_t mark = items_begin(p);
  uint32_t begin = p->current.begin;
  while (!parser_at(p, closer)) {
    if (parser_at(p, TK_INDENT))
      range_error(p->arena, ERROR_SYNTAX, (SourceRange){p->lexer.source, p->current.begin, p->current.begin + 1},
                  "unexpected indent");
    parse_statement(p);
  }
  return items_end(p, mark, begin);
}

static void simple_statements(Parser *p);

/* ": statements" on the same line, or an indented block. `*first` gets the token after the colon. */
static Tree *parse_block_noting(Parser *p, Token *colon_token, Token *first_token) {
  parser_expect(p, ':');
  *colon_token = *first_token = p->current;
  if (!parser_accept(p, TK_NEWLINE)) {
    size_t mark = items_begin(p);
    uint32_t begin = p->current.begin;
    simple_statements(p);
    return items_end(p, mark, begin);
  }
  *first_token = p->current;
  if (++p->blocks > TREE_MAX_BLOCKS || STACK_IS_LOW())
    range_error(p->arena, ERROR_SYNTAX, parser_here(p), "blocks are nested too deeply");
  if (!parser_at(p, TK_INDENT)) parser_fail(p, "an indented block");
  parser_advance(p);
  Tree *body = statements_until(p, TK_DEDENT);
  p->blocks--;
  parser_advance(p);
  return body;
}

static Tree *parse_block(Parser *p) {
  Token colon, first;
  return parse_block_noting(p, &colon, &first);
}

/* ---- def and class ---- */

static Tree *parse_decorated_def(Parser *p, Tree *decorators) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *name = parser_ident(p);
  Tree *decl = parser_decl(p);
  Token colon, first;
  Tree *body = parse_block_noting(p, &colon, &first);
  decl = parser_merge_type_comment(p, decl, &colon);
  if (first.begin != colon.begin || first.kind != colon.kind) decl = parser_merge_type_comment(p, decl, &first);
  Tree *children[] = {name, decl, body, decorators};
  return tree_new(p->arena, TK_DEF, parser_since(p, begin), decorators ? 4 : 3, children);
}

static Tree *parse_class(Parser *p, Tree *decorators) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *name = parser_ident(p);
  Tree *bases = p->no_items, *attributes = p->no_items;
  uint32_t open = p->current.begin;
  if (parser_accept(p, '(')) parser_arguments(p, &bases, &attributes);
  if (attributes->count) {
    size_t mark = items_begin(p);
    for (uint32_t i = 0; i < bases->count; i++) items_push(p, bases->children[i]);
    for (uint32_t i = 0; i < attributes->count; i++) items_push(p, attributes->children[i]);
    bases = items_end(p, mark, open);
  }
  SourceRange range = parser_since(p, begin);
  Tree *body = parse_block(p);
  return TREE(p->arena, TK_CLASS_DEF, range, name, bases, body, decorators ? decorators : p->no_items);
}

static Tree *parse_async(Parser *p) {
  uint32_t begin = p->current.begin;
  size_t mark = items_begin(p);
  parser_advance(p);
  if (!parser_at(p, TK_DEF) && !parser_at(p, TK_FOR) && !parser_at(p, TK_WITH)) parser_fail(p, "def, for or with");
  parse_statement(p);
  p->items.length = mark;
  return parser_unsupported(p, begin, "async is not supported");
}

static Tree *parse_decorated(Parser *p) {
  size_t mark = items_begin(p);
  uint32_t begin = p->current.begin;
  while (parser_accept(p, '@')) {
    items_push(p, parser_expression(p));
    parser_expect(p, TK_NEWLINE);
  }
  Tree *list = items_end(p, mark, begin);
  if (parser_at(p, TK_DEF)) return parse_decorated_def(p, list);
  if (parser_at(p, TK_CLASS_DEF)) return parse_class(p, list);
  if (parser_at(p, TK_ASYNC)) return parse_async(p);
  parser_fail(p, "def or class");
}

/* ---- compound statements ---- */

typedef struct Branch {
  Tree *condition, *then;
  uint32_t begin;
} Branch;

/* An elif chain is collected first and folded from its end, so that its length costs no native stack. */
static Tree *parse_if(Parser *p) {
  VEC(Branch) branches = {0};
  do {
    Branch branch = {.begin = p->current.begin};
    parser_advance(p);
    branch.condition = parser_expression(p);
    branch.then = parse_block(p);
    vec_arena_push(p->arena, &branches, branch);
  } while (parser_at(p, TK_ELIF));
  Tree *otherwise = parser_accept(p, TK_ELSE) ? parse_block(p) : p->no_items;
  for (;;) {
    Branch branch = vec_pop(&branches);
    SourceRange range = parser_since(p, branch.begin);
    Tree *tree = TREE(p->arena, TK_IF, range, branch.condition, branch.then, otherwise);
    if (!branches.length) return tree;
    otherwise = tree_list(p->arena, range, 1, &tree);
  }
}

static Tree *parse_loop_else(Parser *p, uint32_t begin, Tree *loop) {
  if (!parser_accept(p, TK_ELSE)) return loop;
  SourceRange range = parser_since(p, begin);
  range.begin = p->lexer.is_foreign ? range.begin : range.end - 4;
  parse_block(p);
  return tree_atom(p->arena, TK_UNSUPPORTED, range, STR("else branches of loops aren't supported"));
}

static Tree *parse_while(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *condition = parser_expression(p);
  Tree *body = parse_block(p);
  return parse_loop_else(p, begin, TREE(p->arena, TK_WHILE, parser_since(p, begin), condition, body));
}

static Tree *list_of(Parser *p, Tree *item) {
  return tree_list(p->arena, item->range, 1, &item);
}

static Tree *parse_for(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *targets = list_of(p, parser_target_list(p));
  parser_expect(p, TK_IN);
  Tree *iters = list_of(p, parser_expression_list(p));
  Tree *body = parse_block(p);
  return parse_loop_else(p, begin, TREE(p->arena, TK_FOR, parser_since(p, begin), targets, iters, body));
}

static Tree *option_of(Parser *p, Tree *tree) {
  return tree ? tree_option(p->arena, tree->range, tree) : p->nothing;
}

static Tree *parse_with_item(Parser *p) {
  uint32_t begin = p->current.begin;
  Tree *target = parser_expression(p), *var = NULL;
  if (parser_accept(p, TK_AS)) var = parser_expression(p);
  return TREE(p->arena, TK_WITH_ITEM, parser_since(p, begin), target, option_of(p, var));
}

static Tree *parse_with(Parser *p) {
  uint32_t begin = p->current.begin;
  size_t mark = items_begin(p);
  do {
    parser_advance(p);
    items_push(p, parse_with_item(p));
  } while (parser_at(p, ','));
  Tree *list = items_end(p, mark, begin);
  Tree *body = parse_block(p);
  return TREE(p->arena, TK_WITH, parser_since(p, begin), list, body);
}

static Tree *parse_try(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *result = parser_unsupported(p, begin, "try blocks aren't supported");
  parse_block(p);
  if (!parser_at(p, TK_EXCEPT) && !parser_at(p, TK_FINALLY)) parser_fail(p, "except or finally");
  while (parser_accept(p, TK_EXCEPT)) {
    parser_accept(p, '*');
    if (!parser_at(p, ':')) parser_expression_list(p);
    if (parser_accept(p, TK_AS)) parser_ident(p);
    parse_block(p);
  }
  if (parser_accept(p, TK_ELSE)) parse_block(p);
  if (parser_accept(p, TK_FINALLY)) parse_block(p);
  return result;
}

/* ---- simple statements ---- */

static Tree *one_keyword(Parser *p, TokenKind kind) {
  SourceRange range = parser_here(p);
  parser_advance(p);
  return tree_empty(p->arena, kind, range);
}

static Tree *none_here(Parser *p, uint32_t begin) {
  return tree_empty(p->arena, TK_NONE, parser_since(p, begin));
}

static Tree *parse_return(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *value = parser_at_expression(p) ? parser_expression_list(p) : none_here(p, begin);
  return TREE(p->arena, TK_RETURN, parser_since(p, begin), value);
}

static Tree *parse_raise(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *value = parser_at_expression(p) ? parser_expression(p) : none_here(p, begin);
  if (parser_accept(p, TK_FROM)) parser_expression(p); /* TorchScript has no causes */
  return TREE(p->arena, TK_RAISE, parser_since(p, begin), value);
}

static Tree *parse_assert(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *test = parser_expression(p);
  Tree *message = parser_accept(p, ',') ? parser_expression(p) : NULL;
  return TREE(p->arena, TK_ASSERT, parser_since(p, begin), test, option_of(p, message));
}

static Tree *parse_delete(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_advance(p);
  Tree *targets = parser_target_list(p);
  Tree *list = targets->kind == TK_TUPLE_LITERAL ? tuple_literal_items(targets) : list_of(p, targets);
  return TREE(p->arena, TK_DELETE, parser_since(p, begin), list);
}

static Tree *parse_scope(Parser *p, const char *what) {
  uint32_t begin = p->current.begin;
  do {
    parser_advance(p);
    parser_ident(p);
  } while (parser_at(p, ','));
  return parser_unsupported(p, begin, what);
}

/* "a.b.c", with leading dots where they are allowed, as one ident. */
static Tree *parse_dotted(Parser *p, bool relative) {
  uint32_t begin = p->current.begin;
  bool dots = false;
  while (relative && (parser_at(p, '.') || parser_at(p, TK_DOTS))) {
    parser_advance(p);
    dots = true;
  }
  if (!dots || !parser_at(p, TK_IMPORT)) {
    parser_ident(p);
    while (parser_accept(p, '.')) parser_ident(p);
  }
  return tree_atom(p->arena, TK_IDENT, parser_since(p, begin), (Str){p->lexer.text + begin, p->last_end - begin});
}

static Tree *parse_alias(Parser *p, bool dotted) {
  uint32_t begin = p->current.begin;
  Tree *name;
  if (!dotted && parser_accept(p, '*'))
    name = tree_atom(p->arena, TK_IDENT, parser_since(p, begin), STR("*"));
  else
    name = dotted ? parse_dotted(p, false) : parser_ident(p);
  Tree *as = parser_accept(p, TK_AS) ? parser_ident(p) : NULL;
  return TREE(p->arena, TK_ALIAS, parser_since(p, begin), name, option_of(p, as));
}

static Tree *parse_import(Parser *p) {
  uint32_t begin = p->current.begin;
  bool is_from = parser_accept(p, TK_FROM);
  Tree *module = is_from ? parse_dotted(p, true) : NULL;
  parser_expect(p, TK_IMPORT);
  bool parenthesis = is_from && parser_accept(p, '(');
  size_t mark = items_begin(p);
  do {
    if (parenthesis && parser_at(p, ')')) break;
    items_push(p, parse_alias(p, !is_from));
  } while (parser_accept(p, ','));
  if (parenthesis) parser_expect(p, ')');
  Tree *names = items_end(p, mark, begin);
  return TREE(p->arena, TK_IMPORT, parser_since(p, begin), option_of(p, module), names);
}

/* The binary operator of an augmented assignment; 0: it is none. */
static TokenKind augmented_operator(TokenKind kind) {
  switch (kind) {
    case TK_PLUS_EQ:
      return '+';
    case TK_MINUS_EQ:
      return '-';
    case TK_TIMES_EQ:
      return '*';
    case TK_DIV_EQ:
      return '/';
    case TK_MOD_EQ:
      return '%';
    case TK_MATMUL_EQ:
      return '@';
    case TK_BIT_OR_EQ:
      return '|';
    case TK_BIT_AND_EQ:
      return '&';
    case TK_BIT_XOR_EQ:
      return '^';
    case TK_LSHIFT_EQ:
      return TK_LSHIFT;
    case TK_RSHIFT_EQ:
      return TK_RSHIFT;
    case TK_POW_EQ:
      return TK_POW;
    case TK_FLOOR_DIV_EQ:
      return TK_FLOOR_DIV;
    default:
      return 0;
  }
}

static void check_target(Parser *p, const Tree *target) {
  switch (target->kind) {
    case TK_VAR:
    case '.':
    case TK_SUBSCRIPT:
      return;
    case TK_STARRED:
      check_target(p, starred_value(target));
      return;
    case TK_TUPLE_LITERAL:
    case TK_LIST_LITERAL:
      for (uint32_t i = 0; i < target->children[0]->count; i++) check_target(p, target->children[0]->children[i]);
      return;
    default:
      range_error(p->arena, ERROR_SYNTAX, target->range, "cannot assign to this expression");
  }
}

/* The targets are the items above `mark`. */
static Tree *finish_assign(Parser *p, uint32_t begin, size_t mark, Tree *value, Tree *type) {
  for (size_t i = mark; i < p->items.length; i++) check_target(p, p->items.data[i]);
  SourceRange range = parser_since(p, begin);
  Tree *targets = items_end(p, mark, begin);
  if (!type && parser_at(p, TK_NEWLINE) && value) {
    uint32_t at = p->current.comment_begin;
    if (at < p->current.comment_end && p->lexer.text[at] != '(') type = parser_type_comment(p, &p->current);
  }
  return TREE(p->arena, TK_ASSIGN, range, targets, option_of(p, value), option_of(p, type));
}

static Tree *parse_expression_statement(Parser *p) {
  uint32_t begin = p->current.begin;
  Tree *first = parser_expression_list(p);
  TokenKind operator= augmented_operator(p->current.kind);
  if (operator) {
    SourceRange range = parser_here(p);
    check_target(p, first);
    parser_advance(p);
    Tree *value = parser_expression_list(p);
    return TREE(p->arena, TK_AUG_ASSIGN, parser_since(p, begin), first, tree_empty(p->arena, operator, range), value);
  }
  if (parser_accept(p, ':')) {
    Tree *type = parser_expression(p);
    Tree *value = parser_accept(p, '=') ? parser_expression_list(p) : NULL;
    size_t mark = items_begin(p);
    items_push(p, first);
    return finish_assign(p, begin, mark, value, type);
  }
  if (!parser_at(p, '=')) return TREE(p->arena, TK_EXPR_STMT, parser_since(p, begin), first);
  size_t mark = items_begin(p);
  while (parser_accept(p, '=')) {
    items_push(p, first);
    first = parser_expression_list(p);
  }
  return finish_assign(p, begin, mark, first, NULL);
}

static Tree *parse_simple(Parser *p) {
  switch (p->current.kind) {
    case TK_RETURN:
      return parse_return(p);
    case TK_RAISE:
      return parse_raise(p);
    case TK_ASSERT:
      return parse_assert(p);
    case TK_DELETE:
      return parse_delete(p);
    case TK_PASS:
    case TK_BREAK:
    case TK_CONTINUE:
      return one_keyword(p, p->current.kind);
    case TK_GLOBAL:
      return parse_scope(p, "global variables aren't supported");
    case TK_NONLOCAL:
      return parse_scope(p, "nonlocal variables aren't supported");
    case TK_IMPORT:
    case TK_FROM:
      return parse_import(p);
    default:
      return parse_expression_statement(p);
  }
}

/* "a; b; c" and the end of the line: items. */
static void simple_statements(Parser *p) {
  do {
    items_push(p, parse_simple(p));
  } while (parser_accept(p, ';') && !parser_at(p, TK_NEWLINE));
  if (!parser_at(p, TK_NEWLINE)) parser_fail(p, "newline");
  parser_advance(p);
}

static Tree *parse_compound(Parser *p) {
  switch (p->current.kind) {
    case TK_DEF:
      return parse_decorated_def(p, NULL);
    case TK_CLASS_DEF:
      return parse_class(p, NULL);
    case '@':
      return parse_decorated(p);
    case TK_ASYNC:
      return parse_async(p);
    case TK_IF:
      return parse_if(p);
    case TK_WHILE:
      return parse_while(p);
    case TK_FOR:
      return parse_for(p);
    case TK_WITH:
      return parse_with(p);
    case TK_TRY:
      return parse_try(p);
    default:
      return NULL;
  }
}

/* One line of simple statements, or one compound statement: items. */
static void parse_statement(Parser *p) {
  Tree *compound = parse_compound(p);
  if (compound)
    items_push(p, compound);
  else
    simple_statements(p);
}

/* ---- entries ---- */

static Parser parser_of(Arena *arena, const Source *source, int flags) {
  Parser p = {.arena = arena, .flags = flags};
  lexer_init(&p.lexer, arena, source);
  parser_start(&p);
  return p;
}

Tree *parse_file(Arena *arena, const Source *source, int flags) {
  Parser p = parser_of(arena, source, flags);
  return statements_until(&p, TK_EOF);
}

Tree *parse_def(Arena *arena, const Source *source, int flags) {
  Parser p = parser_of(arena, source, flags);
  if (!parser_at(&p, TK_DEF) && !parser_at(&p, '@')) parser_fail(&p, "def");
  Tree *def = parse_compound(&p);
  if (def->kind != TK_DEF) range_error(arena, ERROR_SYNTAX, def->range, "expected a function definition here");
  if (!parser_at(&p, TK_EOF)) parser_fail(&p, "end of file after the function");
  return def;
}

Tree *parse_expression(Arena *arena, const Source *source, int flags) {
  Parser p = {.arena = arena, .flags = flags};
  lexer_init_fragment(&p.lexer, arena, source, 0, (uint32_t)source->length);
  parser_start(&p);
  Tree *tree = parser_expression_list(&p);
  if (!parser_at(&p, TK_EOF)) parser_fail(&p, "end of the expression");
  return tree;
}

Tree *parse_string_annotation(Arena *arena, const Tree *string_literal) {
  Parser p = {.arena = arena};
  lexer_init_text(&p.lexer, arena, string_text(string_literal), string_literal->range);
  parser_start(&p);
  Tree *tree = parser_expression(&p);
  if (!parser_at(&p, TK_EOF)) parser_fail(&p, "end of the annotation");
  return tree;
}
