/* A 1x1 convolution and the depthwise one that alone uses its result, both wick::convolution_norm, become one node
 * (op/nn/conv_expand.c), unless what is known of sizes says that it would not pay. Whether they are done at once is
 * seen at run time. */
#include "ir/graph_log.h"
#include "op/nn/conv_norm.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_expansion"

enum { WEIGHT = 1, GROUPS = 6, ADD = 12, GATE = 18 };

/* What is known of sizes; NULL: nothing. */
static const TensorInfo *sizes_of(const Value *value, int least_ndim) {
  const TensorInfo *info = value_tensor(value);
  return info && info->has_sizes && info->ndim >= least_ndim ? info : NULL;
}

/* Of sizes that are not known it may be. */
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

static bool is_convolution(const Node *node, int64_t *groups) {
  return node && node->kind == SYM_wick_convolution_norm && node->input_count == CONV_NORM_INPUTS &&
         constant_int(node_input(node, GROUPS), groups);
}

/* The expansion whose result `depthwise` alone uses; NULL: there is none. */
static Node *find_expansion(const Node *depthwise) {
  int64_t groups, one;
  if (!is_convolution(depthwise, &groups) || groups < 2) return NULL;
  Node *expand = node_input(depthwise, 0)->node;
  bool is_one = is_convolution(expand, &one) && one == 1 && expand->owning_block == depthwise->owning_block &&
                node_output(expand, 0)->uses.length == 1 && value_is_none(node_input(expand, ADD)) &&
                value_is_none(node_input(expand, GATE)) && value_is_none(node_input(depthwise, GATE));
  bool pays = is_one && may_be_large(node_output(expand, 0)) && may_be_1x1(node_input(expand, WEIGHT)) &&
              may_be_depthwise(node_input(depthwise, WEIGHT), groups);
  return pays ? expand : NULL;
}

static void replace_pair(Graph *graph, AliasDb *db, Node *expand, Node *depthwise) {
  Value *inputs[2 * CONV_NORM_INPUTS - 1];
  for (uint32_t i = 0; i < CONV_NORM_INPUTS; i++) inputs[i] = node_input(expand, i);
  for (uint32_t i = 1; i < CONV_NORM_INPUTS; i++) inputs[CONV_NORM_INPUTS - 1 + i] = node_input(depthwise, i);
  graph_set_insert_point(graph, depthwise);
  graph->range = expand->range;
  Node *both = graph_create(graph, SYM_wick_expand_convolution, 2 * CONV_NORM_INPUTS - 1, inputs, 1);
  both->inlined = expand->inlined;
  chain_replace(graph, db, (Node *[]){expand, depthwise}, 2, both);
}

typedef struct Fusion {
  Graph *graph;
  AliasDb *db; /* NULL: not needed yet */
  Arena *scratch;
} Fusion;

static void fuse_block(Fusion *f, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) fuse_block(f, node->blocks[i]);
    Node *expand = find_expansion(node);
    if (!expand) continue;
    if (!f->db) f->db = alias_db_new(f->graph, f->scratch);
    alias_move_before(f->db, expand, node);
    if (expand->next != node) {
      node_refused(FILE_NAME, expand, REASON_NOT_MOVED_ALIASING);
      continue;
    }
    if (!jit_opt_limit(FILE_NAME)) return;
    NODE_LOG_UPDATE(FILE_NAME, "with the depthwise one behind it:", expand);
    replace_pair(f->graph, f->db, expand, node);
  }
}

static void fuse(Arena *scratch, void *argument) {
  Fusion f = {.graph = argument, .scratch = scratch};
  fuse_block(&f, f.graph->block);
}

void fuse_expansion(Graph *graph) {
  graph_with_scratch(graph, fuse, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseExpansion: ", graph);
}

PASS(fuse_expansion, RESULTS, fuse_expansion(graph), "makes an expansion and its depthwise convolution one node");
