/* What engines do at once becomes one node, a wick::region (call/region.h): an anchor, an operator whose row says what
 * its engine takes along, with the operators before and after it that are used by the next alone. Before that, anchors
 * of one input become one node where their engine does several at once. What is out of the ordinary at run time,
 * gradients included, the engine declines, so little need be known of the tensors here. */
#include <assert.h>

#include "call/row_extras.h"
#include "compute/conv/conv.h"
#include "interp/region_read.h"
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"
#include "pass/rewrite/join_anchors.h"
#include "pass/rewrite/rewrite.h"
#include "pass/types/node_work.h"
#include "tensor/tensor.h"
#include "type/tensor_type.h"

#define FILE_NAME "fuse_regions"

enum { MAX_NODES = 16 }; /* of two units with dropouts between their operators */

typedef struct Chain {
  Node *nodes[MAX_NODES]; /* in order; dropouts that do nothing among them */
  int count, anchor;      /* where the last unit's anchor is */
  uint32_t roles;         /* bits: what its unit has */
} Chain;

static void add(Chain *c, Node *node) {
  assert(c->count < MAX_NODES);
  c->nodes[c->count++] = node;
}

/* ---- what types tell engines would decline ---- */

/* What is known of sizes; NULL: nothing. Of sizes that are not known it may be. */
static const TensorInfo *sizes_of(const Value *value, int least_ndim) {
  const TensorInfo *info = value_tensor(value);
  return info && info->has_sizes && info->ndim >= least_ndim ? info : NULL;
}

/* A factor for each plane of the image. */
static bool may_be_gate_of(const Value *gate, const Value *image) {
  const TensorInfo *factors = sizes_of(gate, 0), *info = sizes_of(image, 0);
  if (!factors || !info) return true;
  for (int d = 0; d < factors->ndim; d++) {
    int64_t size = d < 2 && d < info->ndim ? info->sizes[d] : 1;
    if (factors->sizes[d] >= 0 && size >= 0 && factors->sizes[d] != size) return false;
  }
  return factors->ndim == info->ndim && info->ndim > 2;
}

/* Engines give results without gaps, in rows. A sum with a tensor that lies otherwise may lie as that does. */
static bool may_be_in_rows(const Value *sum) {
  const TensorInfo *info = value_tensor(sum);
  if (!info || !info->has_strides || !tensor_info_has_sizes(info)) return true;
  int64_t strides[TENSOR_MAX_DIMS];
  strides_contiguous(info->ndim, info->sizes, strides);
  for (int d = 0; d < info->ndim; d++)
    if (info->strides[d] >= 0 && info->strides[d] != strides[d] && info->sizes[d] > 1) return false;
  return true;
}

/* ---- growth ---- */

/* The sigmoid, of whichever form, of what an anchor of the kind gives: factors of planes. */
static bool is_factor(const Value *value, const Anchor *anchor) {
  const Operator *op = value->node->input_count ? node_operator(value->node) : NULL;
  int activation = op ? row_extras(op->row)->activation : ACTIVATION_NONE;
  if (activation != ACTIVATION_SIGMOID && activation != ACTIVATION_HARDSIGMOID) return false;
  return node_anchor(node_input(value->node, 0)->node) == anchor;
}

static bool is_gate(const Node *product, const Anchor *anchor) {
  const Value *a = node_input(product, 0), *b = node_input(product, 1);
  return (is_factor(a, anchor) && may_be_gate_of(a, b)) || (is_factor(b, anchor) && may_be_gate_of(b, a));
}

/* What belongs to the anchor that stands before: it comes to that. */
static bool is_taken_by(const Node *node, const Node *before) {
  const Node *first = before, *user = node;
  while (is_idle_dropout(first) && chain_next(first) == user) {
    user = first;
    first = node_input(first, 0)->node;
  }
  const Anchor *anchor = node_anchor(first);
  return anchor && chain_next(first) == user &&
         region_role(node, anchor, node_output(before, 0), REGION_ANCHOR) != REGION_ROLES;
}

/* What is pointwise before normalized rows a fusion group does in one pass with them. */
static bool comes_after_pointwise(const Node *norm) {
  const Node *before = node_input(norm, 0)->node;
  const Operator *op = node_operator(before);
  if (!op || !op->row->lower || before->output_count != 1 || chain_next(before) != norm) return false;
  for (uint32_t i = 0; i < before->input_count; i++)
    if (is_taken_by(before, node_input(before, i)->node)) return false;
  return true;
}

/* What makes the anchor's input for it alone and becomes part of how the engine reads: a product with factors of
 * planes, normalized rows. NULL: nothing. */
static Node *find_before(const Node *node, const Anchor *anchor) {
  Node *before = node_input(node, 0)->node;
  RegionRole role = region_role_before(before, NULL);
  if (!(anchor->takes >> role & 1) || before->output_count != 1 || chain_next(before) != node) return NULL;
  bool is_taken = role == REGION_GATE ? is_gate(before, anchor) : !comes_after_pointwise(before);
  return is_taken ? before : NULL;
}

/* The anchor and what follows it. */
static void grow(Chain *c, Node *node, const Anchor *anchor) {
  c->roles |= 1u << REGION_ANCHOR;
  c->anchor = c->count;
  add(c, node);
  RegionRole last = REGION_ANCHOR;
  int whole = c->count;
  for (Node *next = chain_next(node); next; next = chain_next(next)) {
    const Node *before = c->nodes[c->count - 1];
    if (is_first_input(next, before) && is_idle_dropout(next)) {
      if (is_idle_dropout(before)) break;
    } else {
      RegionRole role = region_role(next, anchor, node_output(before, 0), last);
      if (role == REGION_ROLES || !may_be_in_rows(node_output(next, 0))) break;
      last = role;
      c->roles |= 1u << role;
      whole = c->count + 1;
    }
    add(c, next);
  }
  c->count = whole;
}

/* ---- an expansion, a 1x1 convolution, and the depthwise one of its result ---- */

enum { WEIGHT = 1, GROUPS = 6 };

static bool may_be_1x1(const Value *weight) {
  const TensorInfo *info = sizes_of(weight, 3);
  for (int d = 2; info && d < info->ndim; d++)
    if (info->sizes[d] >= 0 && info->sizes[d] != 1) return false;
  return true;
}
static bool may_be_depthwise(const Value *weight, int64_t groups) {
  const TensorInfo *info = sizes_of(weight, 3);
  return !info || ((info->sizes[0] < 0 || info->sizes[0] == groups) && (info->sizes[1] < 0 || info->sizes[1] == 1));
}
/* The image between the two; smaller ones stay in cache anyway. */
static bool may_be_large(const Value *image) {
  const TensorInfo *info = sizes_of(image, 4);
  int64_t height = info ? info->sizes[2] : -1, width = info ? info->sizes[3] : -1, positions;
  return height < 0 || width < 0 || !int64_mul(height, width, &positions) || positions > CONV_FEW_POSITIONS;
}

static bool is_of_one_group(const Node *node) {
  int64_t groups;
  return constant_int(node_input(node, GROUPS), &groups) && groups == 1;
}

/* The chain of the expansion whose result `depthwise` alone uses; false: there is none that pays. */
static bool find_expansion(const Node *depthwise, const Anchor *anchor, Chain *out) {
  int64_t groups;
  if (!(anchor->takes & ANCHOR_EXPANDS) || !constant_int(node_input(depthwise, GROUPS), &groups) || groups < 2)
    return false;
  const Value *image = node_input(depthwise, 0);
  Node *expand = image->node;
  for (int steps = 0; steps < REGION_ROLES && expand->input_count && node_anchor(expand) != anchor; steps++)
    expand = node_input(expand, 0)->node;
  if (node_anchor(expand) != anchor || find_before(expand, anchor) || !is_of_one_group(expand)) return false;
  *out = (Chain){0};
  grow(out, expand, anchor);
  const Node *last = out->nodes[out->count - 1];
  if (node_output(last, 0) != image || chain_next(last) != depthwise) return false;
  for (int i = 1; i < out->count; i++)
    if (out->nodes[i]->kind == SYM_aten_add) return false;
  return may_be_large(image) && may_be_1x1(node_input(expand, WEIGHT)) &&
         may_be_depthwise(node_input(depthwise, WEIGHT), groups);
}

/* A chain that begins before its anchor. */
static bool find_scores(Node *node, Chain *c) {
  RegionRole role = region_role_before(node, NULL), last = role;
  *c = (Chain){0};
  if (role != REGION_SCORES) return false;
  for (Node *next = node; next; next = chain_next(next)) {
    const Anchor *anchor = node_anchor(next);
    const Value *through = c->count ? node_output(c->nodes[c->count - 1], 0) : NULL;
    if (anchor && through && node_input(next, 0) == through) {
      if (c->roles & ~anchor->takes) return false;
      grow(c, next, anchor);
      return (c->roles & anchor->needs) == anchor->needs;
    }
    role = region_role_before(next, through);
    if (role == REGION_ROLES || (through && role <= last)) return false;
    c->roles |= 1u << (last = role);
    add(c, next);
  }
  return false;
}

static bool gives_another_dtype(const Node *node) {
  const TensorInfo *info = value_tensor(node_output(node, 0));
  return info && info->dtype >= 0 && info->dtype != DTYPE_FLOAT32;
}

/* An anchor without neighbors is a region where its work is known to be large: then what engines do is counted, and
 * declined with a reason, whether there is something for them to take along or not. The call of a region takes some 20
 * nanoseconds more than its operator's, and work takes longer than node_work_ns says. */
static bool pays_alone(const Node *node) {
  enum { LEAST_NS = 400 };
  NodeWork work = node_work(node);
  return work.is_known && work.flops > 0 && work.dtype == DTYPE_FLOAT32 && work.device_type == DEVICE_CPU &&
         node_work_ns(&work) >= LEAST_NS;
}

static bool find_chain(Node *node, Chain *c) {
  const Anchor *anchor = node_anchor(node);
  if (find_scores(node, c)) return true;
  if (!anchor || anchor->needs || is_taken_by(node, node_input(node, 0)->node)) return false;
  if (anchor->takes & ANCHOR_FLOAT32 && gives_another_dtype(node)) return false;
  *c = (Chain){0};
  Node *before = find_before(node, anchor);
  if (before)
    add(c, before);
  else if (!find_expansion(node, anchor, c))
    *c = (Chain){0};
  grow(c, node, anchor);
  return c->count > 1 || pays_alone(node);
}

/* ---- one node of them ---- */

/* Leaves of the chain what lies together: all; without what comes before the anchor; without what could not be moved.
 */
static bool gather(AliasDb *db, Chain *c) {
  Node **from = c->nodes + c->anchor;
  if (c->count == 1) return true;
  uint32_t needs = node_anchor(*from)->needs;
  chain_gather(db, c->nodes, c->count);
  if (needs && chain_together(c->nodes, c->count) < c->count) {
    node_refused(FILE_NAME, c->nodes[0], REASON_NOT_MOVED_ALIASING);
    return false;
  }
  if (chain_together(c->nodes, c->count) <= c->anchor) {
    c->count -= c->anchor;
    memmove(c->nodes, from, (size_t)c->count * sizeof *from);
    c->anchor = 0;
  }
  c->count = chain_together(c->nodes, c->count);
  while (c->count > 1 && is_idle_dropout(c->nodes[c->count - 1])) c->count--;
  if (c->count > 1) return true;
  node_refused(FILE_NAME, c->nodes[0], REASON_NOT_MOVED_ALIASING);
  return false;
}

static Node *replace(Graph *graph, AliasDb *db, const Chain *c) {
  Node *region = graph_create(graph, SYM_wick_region, 0, NULL, 0);
  node_copy_metadata(region, c->nodes[c->anchor]);
  region->inlined = c->nodes[c->anchor]->inlined;
  node_insert_before(region, c->nodes[c->count - 1]);
  chains_replace(db, c->nodes, c->count, region);
  return region;
}

static void fuse_block(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) fuse_block(graph, db, node->blocks[i]);
    Chain c;
    if (!find_chain(node, &c)) continue;
    if (gather(db, &c)) {
      if (!jit_opt_limit(FILE_NAME)) return;
      NODE_LOG_UPDATE(FILE_NAME, "with what belongs to it:", c.nodes[c.anchor]);
      node = replace(graph, db, &c);
    }
    node_prev = node->prev; /* the one before may be gone, or have moved */
  }
}

static void fuse(Graph *graph, AliasDb *db, void *ignored) {
  (void)ignored;
  join_anchors(graph, db, graph->block);
  fuse_block(graph, db, graph->block);
}

static bool is_anchor(const Node *node) {
  return node_anchor(node);
}

void fuse_regions(Graph *graph) {
  if (block_any(graph->block, is_anchor)) with_aliases(graph, fuse, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseRegions: ", graph);
}

PASS(fuse_regions, RESULTS, fuse_regions(graph),
     "makes anchors (convolutions, linear layers) and what is around them one node");
