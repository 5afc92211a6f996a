/* The grammar of trees: what children each kind has. The parser makes no others; trees that come from outside are
 * checked by this, one level at a time, so that views may rely on it. */
#pragma once

#include "syntax/tree.h"

/* Whether a tree of this kind may have these children, which are well-formed themselves: NULL, or what is wrong, as
 * text in the arena. */
const char *grammar_misfit(Arena *arena, TokenKind kind, uint32_t count, Tree *const *children);
/* Whether an atom may hold the text. */
const char *grammar_atom_misfit(Arena *arena, TokenKind kind, Str text);
/* What may stand in a list of statements. */
bool tree_is_statement(const Tree *tree);
