/* What the files of the graph fuser share. */
#pragma once

#include "fuse/words.h"
#include "ir/alias_db.h"

#define FILE_NAME "graph_fuser"

typedef struct GraphFuser {
  Graph *graph;
  Arena *scratch;
  AliasDb *alias;
  Block *block;
  uint32_t argument_limit;
  bool stopped;   /* the limiter of rewrites said so */
  PtrMap refused; /* node -> the Reason that was last counted for it, plus one: rounds ask again */
} GraphFuser;

static inline bool is_group(const Node *node) {
  return node->kind == SYM_prim_FusionGroup;
}
static inline Graph *subgraph_of(const Node *group) {
  return node_attribute(group, SYM_attr_Subgraph)->g;
}
static inline bool is_sentinel(const Node *node) {
  return node == node->owning_block->param || node == node->owning_block->ret;
}

/* Whether only the node, and who uses its result, ever sees the memory that it writes. */
bool fuser_owns_self(const GraphFuser *f, const Node *node);
static inline bool is_fusable(const GraphFuser *f, const Node *node) {
  if (node->owning_block != f->block || is_sentinel(node)) return false;
  if (is_group(node) || fuse_is_line(node)) return true;
  return fuse_is_pointwise(node) && (!fuse_is_write(node) || fuser_owns_self(f, node));
}

static inline void copy_metadata(Value *to, const Value *from) {
  to->type = from->type;
  if (from->name.length) value_set_name(to, from->name);
}

/* Asks the limiter of rewrites, and logs: "fuses ". */
bool fuser_may_rewrite(GraphFuser *f, const Node *node, const char *what);
Node *fuser_refuse(GraphFuser *f, const Node *node, Reason reason); /* counts the reason once; NULL */
/* The inputs that are made in this block, the latest first. */
uint32_t fuser_inputs_latest_first(const GraphFuser *f, const Node *node, Value ***out);

/* ---- graph_fuser_merge.c: moving nodes into groups ---- */
/* A copy of `node` becomes the first node of the group's Subgraph; returns it. Where the group took `node`'s outputs as
 * inputs, it has them inside now. The node itself stays where it is. */
Node *fuser_merge_node(GraphFuser *f, Node *group, Node *node);
Value *fuser_add_group_output(GraphFuser *f, Node *group, Value *inner, Value *was);
Node *fuser_singleton_group(GraphFuser *f, Node *node); /* a group of `node` alone in its place */
/* The producer's nodes are put back into the block, then taken in one by one from the last. */
void fuser_merge_groups(GraphFuser *f, Node *consumer, Node *producer);

/* ---- graph_fuser_chunk.c ---- */
bool fuser_try_move_chunk(GraphFuser *f, Node *consumer, Value *value); /* in front of what it cuts */
Node *fuser_chunk_inside(const Node *group, const Value *value);        /* where the group cuts this value already */
void fuser_finish_chunk(GraphFuser *f, Node *chunk);                    /* what is left of one that broadcasts */
void fuser_fuse_chunks(GraphFuser *f, Node *group);                     /* those that make the group's inputs */

/* ---- graph_fuser_sizes.c: outputs of which only the size is used ---- */
bool fuser_is_size_of(const Node *node);
Value *fuser_insert_size(GraphFuser *f, Value *value);
Value *fuser_broadcast_sizes_of(GraphFuser *f, uint32_t count, Value *const *sizes);
void fuser_replace_size_uses(GraphFuser *f, Value *value, Value *size); /* what asks for value's size gets `size` */
void fuser_remove_outputs_used_in_size(GraphFuser *f, Node *group);
void fuser_simplify_sizes(Block *block);
