/* What the parser's files share: the token window and its helpers. Private to syntax. */
#pragma once

#include "syntax/lexer.h"
#include "syntax/tree.h"

typedef VEC(Tree *) TreeVec;

typedef struct Parser {
  Arena *arena;
  Lexer lexer;
  Token current, next;
  uint32_t last_end; /* end of the last token before the current one that does not close or separate */
  int flags;
  uint32_t nesting, blocks; /* expressions within expressions, blocks within blocks */
  uint32_t shared;          /* nodes reached twice because of chained comparisons */
  TreeVec items;            /* a stack of the items of all lists that are being read */
  Tree *nothing, *no_items; /* (option) and (list), which need not differ in range */
} Parser;

/* Both windows are filled: lexer set before. */
void parser_start(Parser *p);
/* A parser for the bytes [begin, end) of p's text, as deeply nested as p is now. */
Parser parser_within(const Parser *p, uint32_t begin, uint32_t end);
void parser_advance(Parser *p);
static inline bool parser_at(const Parser *p, TokenKind kind) {
  return p->current.kind == kind;
}
bool parser_accept(Parser *p, TokenKind kind);
void parser_expect(Parser *p, TokenKind kind);
/* "expected <what> but found '<token>' here" */
_Noreturn void parser_fail(Parser *p, const char *what);
/* From `begin` to the end of the last token. */
SourceRange parser_since(const Parser *p, uint32_t begin);
SourceRange parser_here(const Parser *p);
Tree *parser_ident(Parser *p);
/* Lists: size_t mark = items_begin(p); items_push(p, tree) ...; Tree *list = items_end(p, mark, begin); */
static inline size_t items_begin(const Parser *p) {
  return p->items.length;
}
static inline void items_push(Parser *p, Tree *tree) {
  vec_arena_push(p->arena, &p->items, tree);
}
static inline size_t items_count(const Parser *p, size_t mark) {
  return p->items.length - mark;
}
Tree *items_end(Parser *p, size_t mark, uint32_t begin);
Tree *parser_unsupported(Parser *p, uint32_t begin, const char *what);

/* parser_expression.c */
Tree *parser_expression(Parser *p);      /* a ternary and below; also lambda and `:=` */
Tree *parser_expression_list(Parser *p); /* `a, *b` is a tuple-literal */
Tree *parser_target_list(Parser *p);     /* for and comprehension targets: stops before `in` */
/* Behind "(" up to and with ")": a list of expressions and a list of attributes. */
void parser_arguments(Parser *p, Tree **out_inputs, Tree **out_attributes);
bool parser_at_expression(const Parser *p);

/* parser_decl.c */
Tree *parser_params(Parser *p, TokenKind closer, bool annotated); /* list of param; the closer stays */
Tree *parser_decl(Parser *p);                                     /* "(...) -> T", up to the colon */
/* Puts the types of a `# type: (A, B) -> C` comment where the declaration has none. */
Tree *parser_merge_type_comment(Parser *p, Tree *decl, const Token *commented);
/* The comment before a token, when it holds one type. NULL: none. */
Tree *parser_type_comment(Parser *p, const Token *commented);

/* parser_string.c */
Tree *parser_strings(Parser *p); /* adjacent literals, joined; f-strings become calls of format */
