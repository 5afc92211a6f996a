/* TreeSpec: how a caller's arguments or a result are made of leaves: tuples, lists, dicts and named tuples within each
 * other, as PyTorch's "pytree" writes them down. */
#pragma once

#include "serial/formats/json.h"
#include "type/type.h"

typedef enum TreeKind { TREE_LEAF, TREE_TUPLE, TREE_LIST, TREE_DICT, TREE_NAMED_TUPLE } TreeKind;
typedef struct TreeSpec {
  TreeKind kind;
  uint32_t count, leaves; /* of children; of leaves below it, or itself */
  const struct TreeSpec *children;
  const Str *keys;      /* of a dict, of a named tuple's fields */
  const Type *key_type; /* of a dict: str or int */
  Str name;             /* of a named tuple's class */
} TreeSpec;

/* The text of a spec. `fields` (may be NULL): the program's names of fields by class. Throws to the arena, in which the
 * spec is made; its texts are copied. */
const TreeSpec *tree_spec_read(Arena *arena, Str text, const Json *fields);
/* The type of such a value: element by element. Lists and dicts have one type for all that they hold, Any where
 * that differs. */
const Type *tree_spec_type(TypeStore *store, const TreeSpec *spec, const Type *const *leaves);
