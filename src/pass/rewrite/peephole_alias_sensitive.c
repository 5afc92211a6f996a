/* Rewrites that put an operand in place of a new tensor: x + 0, x - 0, x * 1 and x / 1 are x where nobody can tell the
 * two apart (AliasDb) and the types tell that dtype and strides are the same: of a view with gaps it is a dense tensor.
 * Also the rank of what a convolution gives. */
#include "ir/alias_db.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/types/shape_evaluate.h"

#define FILE_NAME "peephole_alias_sensitive"

/* The scalar leaves the dtype as it is: an int that of any tensor but a bool one, a float that of floating ones. */
static bool keeps_dtype(const Value *tensor, const Value *scalar, Symbol kind) {
  const TensorInfo *info = value_tensor(tensor);
  if (!info || info->dtype < 0) return false;
  DType dtype = (DType)info->dtype;
  if (dtype_is_floating(dtype) || dtype_is_complex(dtype)) return true;
  return kind != SYM_aten_div && dtype != DTYPE_BOOL && scalar->type->kind == TYPE_INT;
}

static bool is_neutral(const Node *node) {
  double scalar, alpha;
  if (node->input_count < 2 || node_input(node, 0)->type->kind != TYPE_TENSOR ||
      !constant_double(node_input(node, 1), &scalar) ||
      !keeps_dtype(node_input(node, 0), node_input(node, 1), node->kind))
    return false;
  switch (node->kind) {
    case SYM_aten_add:
    case SYM_aten_sub:
      return node->input_count == 3 && scalar == 0 && constant_double(node_input(node, 2), &alpha) && alpha == 1;
    case SYM_aten_mul:
    case SYM_aten_div:
      return node->input_count == 2 && scalar == 1;
    default:
      return false;
  }
}

/* Nobody in the graph writes to anything, so it does not matter how many names a tensor has. */
static bool writes(const Block *block) {
  BLOCK_EACH(node, block) {
    const FunctionSchema *schema = node_schema(node);
    if (schema ? schema->is_mutable : node_has_side_effects(node)) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (writes(node->blocks[i])) return true;
  }
  return false;
}

/* dim(conv2d(...)) */
static int64_t rank_of_convolution(const Node *node) {
  if (node->kind != SYM_aten_dim) return 0;
  int dims = node_conv_dims(node_input(node, 0)->node);
  return dims ? dims + 2 : 0;
}

/* A convolution also takes a sample without the batch dimension: only a known rank of its input decides. */
static Value *known_rank(Node *node) {
  int64_t rank = rank_of_convolution(node);
  if (!rank) return NULL;
  const TensorInfo *info = value_tensor(node_input(node_input(node, 0)->node, 0));
  if (!info || info->ndim < 0 || (info->ndim != rank && info->ndim != rank - 1)) return NULL;
  return insert_constant_before(node, ivalue_int(info->ndim), NULL);
}

typedef struct Rewriter {
  Graph *graph;
  Arena *scratch;
  AliasDb *db; /* made when uses alone do not decide */
  bool shapes, writes, changes_grad_mode, changed;
} Rewriter;

static bool may_stand_for(Rewriter *r, const Value *with, const Value *value) {
  if (r->changes_grad_mode) return false;
  if (!r->writes && value_is_only_read(value)) return true;
  if (!r->db) r->db = alias_db_new(r->graph, r->scratch);
  return alias_safe_to_change(r->db, with, value);
}

static void rewrite_block(Rewriter *r, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) rewrite_block(r, node->blocks[i]);
    if (node->output_count != 1 || !value_has_uses(node_output(node, 0))) continue;
    Value *output = node_output(node, 0), *with = r->shapes ? known_rank(node) : NULL;
    if (!with && is_neutral(node) && shape_keeps_first_input(r->scratch, node) &&
        may_stand_for(r, node_input(node, 0), output))
      with = node_input(node, 0);
    if (!with || !jit_opt_limit(FILE_NAME)) continue;
    NODE_LOG_UPDATE(FILE_NAME, "gives what is there:", node);
    value_replace_all_uses_with(output, with);
    if (r->db && output->type->kind == TYPE_TENSOR) alias_replace_value(r->db, output, with);
    r->changed = true;
  }
}

static void run(Arena *scratch, void *argument) {
  Rewriter *r = argument;
  r->scratch = scratch;
  rewrite_block(r, r->graph->block);
}

bool peephole_alias_sensitive(Graph *graph, bool shapes) {
  Rewriter r = {.graph = graph,
                .shapes = shapes,
                .writes = writes(graph->block),
                .changes_grad_mode = graph_changes_grad_mode(graph)};
  graph_with_scratch(graph, run, &r);
  return r.changed;
}

PASS(peephole_alias_sensitive, GRADIENTS, peephole_alias_sensitive(graph, true), "drops neutral operands");
