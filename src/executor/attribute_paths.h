/* AttributePaths: what a graph reads by chains of prim::GetAttr from its first input, through submodules and through
 * what it calls, and nobody in it can write. */
#pragma once

#include "ir/graph.h"
#include "type/class_type.h"

typedef struct AttributeObject {
  uint32_t parent, slot; /* of an earlier object; object 0 is the first input */
  const ClassType *class_type;
} AttributeObject;
typedef struct AttributeLeaf {
  uint32_t object, slot;
  const Type *type; /* Tensor, int, float, bool, str, None or an Optional of these */
} AttributeLeaf;
typedef struct AttributePaths {
  VEC(AttributeObject) objects; /* none: nothing is read */
  VEC(AttributeLeaf) leaves;
} AttributePaths;

/* Of a graph as written; calls are followed as inlining will follow them. */
Status attribute_paths_find(const Graph *graph, AttributePaths *out) MUST_CHECK;
void attribute_paths_dispose(AttributePaths *paths);

/* Finds the reads of leaves in a graph whose calls are inlined, or are being inlined: nodes are shown to it in the
 * order in which they run. Throws to the arena's catch point. */
typedef struct LeafFinder {
  const AttributePaths *paths;
  PtrMap objects; /* Value -> object + 1 */
  struct SlotTable *tables;
} LeafFinder;
#define NO_LEAF UINT32_MAX
void leaf_finder_init(LeafFinder *finder, const AttributePaths *paths, const Graph *graph, Arena *scratch);
uint32_t leaf_finder_visit(LeafFinder *finder, const Node *node); /* the leaf that it reads, or NO_LEAF */
