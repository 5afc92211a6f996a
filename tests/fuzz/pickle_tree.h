/* Pickles as trees that tests change and write again. What the pickle gives a number stays shared until it is changed:
 * it is written once, and by its number where it stands again. */
#pragma once

#include "base/memory.h"
#include "base/str.h"
#include "base/vec.h"

typedef enum PickleKind {
  PICKLE_NONE,
  PICKLE_BOOL,
  PICKLE_INT,
  PICKLE_FLOAT,
  PICKLE_TEXT,
  PICKLE_GLOBAL, /* text: its module, a newline, its name */
  PICKLE_TUPLE,
  PICKLE_LIST,
  PICKLE_DICT,   /* keys and values in turn */
  PICKLE_CALL,   /* the callable, a tuple of its arguments */
  PICKLE_OBJECT, /* a new one: as a call */
  PICKLE_BUILT,  /* an object, its state */
  PICKLE_STORAGE /* what names it */
} PickleKind;

typedef struct PickleTree {
  PickleKind kind;
  int64_t number;
  double real;
  Str text;
  VEC(struct PickleTree *) items;
  uint32_t visit, memo; /* of a walk; the number that it was written with, plus one */
} PickleTree;

/* NULL: the pickle has an opcode or a form that is not known here. */
PickleTree *pickle_tree_read(Arena *arena, const void *data, size_t length);
void pickle_tree_write(PickleTree *tree, StrBuf *out);
PickleTree *pickle_tree_new(Arena *arena, PickleKind kind);
PickleTree *pickle_tree_int(Arena *arena, int64_t number);
PickleTree *pickle_tree_text(Arena *arena, Str text); /* a copy */
/* With none of its branches shared; what is too large or too deep ends in None. */
PickleTree *pickle_tree_copy(Arena *arena, const PickleTree *tree);
void pickle_tree_add(Arena *arena, PickleTree *tree, PickleTree *item);
/* One of a dict's values or a tuple's rows by name: `((name, row), ...)`; NULL: it is not there. */
PickleTree *pickle_tree_row(const PickleTree *tree, const char *name);

/* A place where a branch stands. */
typedef struct PicklePlace {
  PickleTree *parent;
  size_t index;
} PicklePlace;
typedef VEC(PicklePlace) PicklePlaces;
/* All below a tree, each once. */
void pickle_tree_places(Arena *arena, PickleTree *tree, PicklePlaces *out);
