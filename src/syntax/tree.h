/* Tree: what the parser makes of text, an s-expression with source ranges. A compound has a kind and children; the
 * atoms TK_IDENT, TK_CONST, TK_STRINGLITERAL and TK_UNSUPPORTED hold text instead. Trees live in an arena and are
 * immutable once built; a subtree may have several parents (the middle of a chained comparison). */
#pragma once

#include "report/source.h"
#include "syntax/token.h"

/* No tree is higher than this: a walker that recurses needs so many of its frames at most. Chains lean: `a + b + c` to
 * the left, `elif` to the right (each elif adds two levels). Expressions within expressions nest at most MAX_NESTING
 * deep, blocks within blocks MAX_BLOCKS. */
enum { TREE_MAX_HEIGHT = 4000, TREE_MAX_NESTING = 1000, TREE_MAX_BLOCKS = 200 };

typedef struct Tree Tree;
struct Tree {
  uint16_t kind;   /* TokenKind */
  uint16_t height; /* 1 for a tree without children */
  uint32_t count;  /* of children */
  SourceRange range;
  union {
    Tree **children;
    Str text; /* of an atom: the name, the number as written without underscores, the decoded string */
  };
};

bool tree_is_atom(const Tree *tree);
/* These throw to the arena's catch point when memory or TREE_MAX_HEIGHT runs out. Children are copied, text is not. */
Tree *tree_new(Arena *arena, TokenKind kind, SourceRange range, uint32_t count, Tree *const *children);
Tree *tree_atom(Arena *arena, TokenKind kind, SourceRange range, Str text);
#define TREE(arena, kind, range, ...) \
  tree_new((arena), (kind), (range), sizeof((Tree *[]){__VA_ARGS__}) / sizeof(Tree *), (Tree *[]){__VA_ARGS__})
/* Common small trees. */
Tree *tree_empty(Arena *arena, TokenKind kind, SourceRange range);      /* (pass), (None), (list) */
Tree *tree_option(Arena *arena, SourceRange range, Tree *tree_or_null); /* (option) or (option tree) */
Tree *tree_var(Arena *arena, SourceRange range, Str name);              /* (variable (ident name)) */
Tree *tree_list(Arena *arena, SourceRange range, uint32_t count, Tree *const *items);

/* The s-expression; what does not fit on a line is broken, two spaces deeper for each level. */
void tree_print(const Tree *tree, StrBuf *out);
/* Throws `message` with the tree's excerpt, code ERROR_COMPILE unless said otherwise. */
_Noreturn void tree_error(Arena *arena, const Tree *tree, const char *format, ...) PRINTF_LIKE(3, 4);
_Noreturn void range_error(Arena *arena, ErrorCode code, SourceRange range, const char *format, ...) PRINTF_LIKE(4, 5);
