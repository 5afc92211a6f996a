/* A convolution with constant weights and the batch normalization after it, in evaluation and constant too, are one
 * convolution: weight * s and (bias - mean) * s + beta, with s = gamma / sqrt(var + eps). For frozen graphs. */
#include <assert.h>

#include "call/call.h"
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"

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

/* The others who use the convolution's result ask for its metadata only, which stays. */
static bool only_feeds(const Value *result, const Node *norm) {
  for (size_t i = 0; i < result->uses.length; i++) {
    const Node *user = result->uses.data[i].user;
    if (user != norm && !node_reads_metadata(user, result->uses.data[i].offset)) return false;
  }
  return true;
}

static bool follows_convolution(const RewriteMatch *m) {
  const Node *conv = bound(m, 'y')->node;
  return m->run->exec && node_conv_dims(conv) && conv->input_count == 7 && conv->output_count == 1 &&
         conv->owning_block == m->node->owning_block && only_feeds(bound(m, 'y'), m->node);
}

static bool read_constants(Fold *f, const RewriteMatch *m) {
  const Node *conv = bound(m, 'y')->node;
  return constant_double(bound(m, 'e'), &f->eps) && constant_tensor(node_input(conv, 1), &f->weight) &&
         constant_tensor_or_none(node_input(conv, 2), &f->bias) && constant_tensor_or_none(bound(m, 'w'), &f->gamma) &&
         constant_tensor_or_none(bound(m, 'b'), &f->beta) && constant_tensor(bound(m, 'm'), &f->mean) &&
         constant_tensor(bound(m, 'v'), &f->var) && dtype_is_floating((DType)f->weight.tensor->dtype) &&
         f->weight.tensor->ndim > 2 && f->mean.tensor->dtype == f->weight.tensor->dtype;
}

/* The convolution, where it stands, with another weight and bias. */
static Value *convolution_with(const RewriteMatch *m, IValue weight, IValue bias) {
  Node *conv = bound(m, 'y')->node;
  Value *inputs[7];
  for (uint32_t i = 0; i < 7; i++) inputs[i] = node_input(conv, i);
  inputs[1] = insert_constant_before(conv, weight, NULL);
  inputs[2] = insert_constant_before(conv, bias, NULL);
  return insert_call_before(conv, conv->kind, bound(m, 'y')->type, 7, inputs);
}

/* A failure leaves the two as they are: they fail, or not, when they run. */
static Value *folded(const RewriteMatch *m) {
  Fold f = {.exec = m->run->exec};
  Graph *graph = m->node->graph;
  if (!read_constants(&f, m)) return NULL;
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + sizeof f.made / sizeof *f.made);
  IValue factor = compute_factor(&f), bias = compute_bias(&f, factor), weight = compute_weight(&f, factor);
  bool fine = !f.status;
  status_free(f.status);
  for (uint32_t i = 0; i < f.made_count; i++) graph_hold(graph, f.made[i]); /* room was made before */
  return fine ? convolution_with(m, weight, bias) : NULL;
}

/* clang-format off */
static const RewriteRule rules[] = {
  {"norm_of_convolution", "aten::batch_norm(%y, %w, %b, %m, %v, False, %f, %e, %c), %y",
                                                                     MAKES(folded), WHEN(follows_convolution)},
};
/* clang-format on */
const RewriteTable rewrite_frozen = {REWRITE_FROZEN, FILE_NAME, rules, sizeof rules / sizeof *rules};

void fold_frozen_conv_bn(Graph *graph, Exec *exec) {
  if (!exec) return;
  bool grad = exec->grad_enabled;
  exec->grad_enabled = false;
  bool changed = rewrite_graph(&rewrite_frozen, graph, true, exec);
  exec->grad_enabled = grad;
  if (changed) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After FoldFrozenConvBatchnorm: ", graph);
}

PASS(fold_frozen_conv_bn, GRADIENTS, fold_frozen_conv_bn(graph, exec),
     "folds constant normalization into convolutions");
