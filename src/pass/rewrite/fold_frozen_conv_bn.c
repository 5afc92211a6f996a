/* A convolution with constant weights and the batch normalization behind it, in evaluation and constant too, are one
 * convolution: weight * s and (bias - mean) * s + beta, with s = gamma / sqrt(var + eps). For frozen graphs. */
#include "ir/graph_log.h"

#include <assert.h>

#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "fold_frozen_conv_bn"

typedef struct Fold {
  Exec *exec;
  IValue weight, bias, gamma, beta, mean, var; /* tensors or None; borrowed */
  double eps;
  IValue made[8]; /* intermediate results, owned */
  uint32_t made_count;
  Status status;
} Fold;

static bool constant_tensor(const Value *value, IValue *out) {
  return value_is_constant(value, out) && out->tag == TAG_TENSOR && tensor_is_defined(out->tensor);
}
static bool constant_tensor_or_none(const Value *value, IValue *out) {
  *out = IVALUE_NONE;
  return value_is_none(value) || constant_tensor(value, out);
}

/* The result of an operator; None once something failed. */
static IValue compute(Fold *f, OpRef *op, uint32_t count, const IValue *inputs) {
  assert(f->made_count < sizeof f->made / sizeof *f->made);
  IValue result = IVALUE_NONE;
  if (f->status) return result;
  f->status = op_call(f->exec, op, count, inputs, 1, &result);
  if (!f->status) f->made[f->made_count++] = result;
  return result;
}

static IValue compute_factor(Fold *f) {
  static OpRef add = OP_REF("aten::add", "Scalar"), rsqrt = OP_REF("aten::rsqrt", ""),
               mul = OP_REF("aten::mul", "Tensor");
  IValue shifted = compute(f, &add, 2, (IValue[]){f->var, ivalue_float(f->eps)});
  IValue factor = compute(f, &rsqrt, 1, &shifted);
  return f->gamma.tag == TAG_NONE ? factor : compute(f, &mul, 2, (IValue[]){factor, f->gamma});
}

static IValue compute_bias(Fold *f, IValue factor) {
  static OpRef sub = OP_REF("aten::sub", "Tensor"), neg = OP_REF("aten::neg", ""), mul = OP_REF("aten::mul", "Tensor"),
               add = OP_REF("aten::add", "Tensor");
  IValue centred =
      f->bias.tag == TAG_NONE ? compute(f, &neg, 1, &f->mean) : compute(f, &sub, 2, (IValue[]){f->bias, f->mean});
  IValue scaled = compute(f, &mul, 2, (IValue[]){centred, factor});
  return f->beta.tag == TAG_NONE ? scaled : compute(f, &add, 2, (IValue[]){scaled, f->beta});
}

static IValue compute_weight(Fold *f, IValue factor) {
  static OpRef reshape = OP_REF("aten::reshape", ""), mul = OP_REF("aten::mul", "Tensor");
  int64_t sizes[TENSOR_MAX_DIMS];
  for (int i = 0; i < f->weight.tensor->ndim; i++) sizes[i] = i ? 1 : -1;
  List *shape;
  if (f->status || (f->status = list_from_ints(sizes, (size_t)f->weight.tensor->ndim, &shape))) return IVALUE_NONE;
  IValue column = compute(f, &reshape, 2, (IValue[]){factor, ivalue_list(shape)});
  ivalue_release(ivalue_list(shape));
  return compute(f, &mul, 2, (IValue[]){f->weight, column});
}

/* The others who use the convolution's result ask for its look only, which stays. */
static bool only_feeds(const Value *result, const Node *norm) {
  for (size_t i = 0; i < result->uses.length; i++) {
    const Node *user = result->uses.data[i].user;
    if (user != norm && !node_reads_metadata(user, result->uses.data[i].offset)) return false;
  }
  return true;
}

static bool can_fold(Fold *f, const Node *norm) {
  const Node *conv = norm->input_count == 9 ? node_input(norm, 0)->node : NULL;
  return conv && node_conv_dims(conv) && conv->input_count == 7 && conv->owning_block == norm->owning_block &&
         only_feeds(node_output(conv, 0), norm) && constant_is_bool(node_input(norm, 5), false) &&
         constant_double(node_input(norm, 7), &f->eps) && constant_tensor(node_input(conv, 1), &f->weight) &&
         constant_tensor_or_none(node_input(conv, 2), &f->bias) &&
         constant_tensor_or_none(node_input(norm, 1), &f->gamma) &&
         constant_tensor_or_none(node_input(norm, 2), &f->beta) && constant_tensor(node_input(norm, 3), &f->mean) &&
         constant_tensor(node_input(norm, 4), &f->var) && dtype_is_floating((DType)f->weight.tensor->dtype) &&
         f->weight.tensor->ndim > 2 && f->mean.tensor->dtype == f->weight.tensor->dtype;
}

/* A failure leaves the two as they are: they fail, or not, when they run. */
static bool fold(Exec *exec, Node *norm) {
  Fold f = {.exec = exec};
  if (!can_fold(&f, norm) || !jit_opt_limit(FILE_NAME)) return false;
  Node *conv = node_input(norm, 0)->node;
  Graph *graph = norm->graph;
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + sizeof f.made / sizeof *f.made);
  IValue factor = compute_factor(&f), bias = compute_bias(&f, factor), weight = compute_weight(&f, factor);
  bool fine = !f.status;
  status_free(f.status);
  for (uint32_t i = 0; i < f.made_count; i++) graph_hold(norm->graph, f.made[i]); /* room was made before */
  if (!fine) return false;
  node_replace_input(conv, 1, insert_constant_before(conv, weight, NULL));
  node_replace_input(conv, 2, insert_constant_before(conv, bias, NULL));
  value_replace_all_uses_with(node_output(norm, 0), node_output(conv, 0));
  JIT_LOG_UPDATE(FILE_NAME, "a normalization went into its convolution");
  return true;
}

static bool fold_in(Exec *exec, const Block *block) {
  bool changed = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) changed |= fold_in(exec, node->blocks[i]);
    if (node->kind == SYM_aten_batch_norm && node->output_count == 1) changed |= fold(exec, node);
  }
  return changed;
}

void fold_frozen_conv_bn(Graph *graph, Exec *exec) {
  if (!exec) return;
  bool grad = exec->grad_enabled;
  exec->grad_enabled = false;
  bool changed = fold_in(exec, graph->block);
  exec->grad_enabled = grad;
  if (changed) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After FoldFrozenConvBatchnorm: ", graph);
}

PASS(fold_frozen_conv_bn, GRADIENTS, fold_frozen_conv_bn(graph, exec),
     "folds constant normalization into convolutions");
