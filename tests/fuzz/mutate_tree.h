/* Changes of pickles as trees, one at a time: what comes out is a well-formed pickle of something else. */
#pragma once

#include "../chance.h"
#include "pickle_tree.h"

/* Any branch: other values, copies from elsewhere, exchanges, one more or one fewer. */
void tree_mutate(Arena *arena, PickleTree *root, Chance *chance);
/* Of bytecode.pkl: instructions, operands, operators, constants, types, registers, schemas, methods; now and then any
 * branch. */
void bytecode_mutate(Arena *arena, PickleTree *root, Chance *chance);

/* ---- for both ---- */
PickleTree *tree_any_value(Arena *arena, Chance *chance, int depth);
int64_t tree_any_number(Chance *chance);
/* Makes one row more, one fewer, exchanges two or puts a copy of one in another's place. */
void tree_mutate_rows(Arena *arena, PickleTree *table, Chance *chance);
