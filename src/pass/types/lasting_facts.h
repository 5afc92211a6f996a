/* Facts that last. A type tells of its tensor wherever the value is used, and guards move; so of sizes, strides and
 * requires_grad only that may be said which no write in the graph, before or after, can change. */
#pragma once

#include "ir/alias_db.h"

typedef struct LastingFacts {
  Arena *scratch;
  AliasDb *db; /* NULL: nothing is written that matters */
  const struct MemorySet *resized, *regraded;
  bool changes_grad_mode; /* then requires_grad, which means what it does in the present mode, never lasts */
} LastingFacts;

/* Lives in `scratch`. Of values that come to the graph later, alias_replace_value has to tell. */
void lasting_facts_find(LastingFacts *facts, Graph *graph, Arena *scratch);
/* What `type`, a tensor type or a tuple of such, tells of the value for as long as it lives. */
const Type *lasting_type(const LastingFacts *facts, TypeStore *store, const Value *value, const Type *type);
