/* What the files of the alias analysis share: the elements of values, the writes, effects of nodes. */
#pragma once

#include <assert.h>

#include "ir/alias_db.h"
#include "ir/memory_dag.h"

typedef enum WriteReach { WRITE_SELF, WRITE_CONTAINED, WRITE_REACHABLE } WriteReach;
typedef struct AliasWrite {
  const Node *node;
  ElementId element;
  WriteReach reach;
  uint32_t next; /* of the same node, + 1 */
} AliasWrite;

/* What a node with its blocks does. */
typedef struct Effects {
  const MemorySet *reads, *writes;
  bool is_ordered; /* prints, raises: keeps its order among such, and with writes that are visible outside */
  bool is_barrier; /* prim::BailOut */
  bool is_drawing; /* random numbers */
  bool is_seen; /* draws, is ordered and does not leave, or writes what is visible: can be noticed if the call fails */
  bool may_raise; /* asked only where something is_seen */
  bool sets_mode; /* turns grad mode on or off */
  bool records;   /* gives tensors, which grad mode tells whether to record */
} Effects;

struct AliasDb {
  Graph *graph;
  Arena *arena;
  bool is_analyzed; /* all below is made for the first question */
  bool sets_mode;   /* some node may turn grad mode on or off */
  bool may_be_seen; /* some node may be what Effects.is_seen says */
  MemoryDag dag;
  ElementId *by_unique; /* of the graph's own values: element + 1 */
  size_t unique_capacity;
  PtrMap others; /* of values of subgraphs: element + 1 */
  VEC(AliasWrite) writes;
  PtrMap writers; /* Node -> first write + 1 */
  PtrMap effects; /* Node -> Effects */
  PtrMap calls;   /* Graph -> &call_writes, &call_reads */
  const MemorySet *written;
  size_t written_count; /* writes that `written` holds */
  uint32_t effects_version;
};

void alias_analyze(AliasDb *db);
static inline void alias_require(AliasDb *db) {
  if (!db->is_analyzed) alias_analyze(db);
}
ElementId alias_find(const AliasDb *db, const Value *value); /* ELEMENT_NONE: immutable or unknown */
const MemorySet *alias_locations(AliasDb *db, const Value *value);
const MemorySet *alias_reachable(AliasDb *db, const Value *value);
/* alias_analysis.c: elements, edges and writes of a block. */
void alias_analyze_block(AliasDb *db, const Block *block);
void alias_analyze_node(AliasDb *db, const Node *node);
ElementId alias_wildcard_value(AliasDb *db, const Value *value);
ElementId alias_declare(AliasDb *db, const Value *value); /* its element, a location at first */
/* alias_effects.c */
const Effects *alias_effects(AliasDb *db, const Node *node);
