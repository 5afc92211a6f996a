/* A wick::region as a plan has it, from IR text of its operators: calls of its node, whose engine may decline, and of
 * the operators one by one. */
#pragma once

#include <math.h>

#include "checks.h"
#include "interp/node_body.h"
#include "ir_fixture.h"
#include "pass/pass.h"

enum { REGION_MAX_INPUTS = 64 };
typedef struct RegionText {
  IrText ir;
  const Node *node;
  const Operator *op;
  NodeBody *body;
} RegionText;

/* The passes make one region of the text, whose inputs are the graph's. */
static inline void region_parse(RegionText *r, const char *text) {
  Exec exec;
  exec_init(&exec, NULL);
  ir_parse(&r->ir, text);
  check(pass_run(pass_find(STR("fuse_regions")), r->ir.graph, &exec));
  check(pass_run(pass_find(STR("concat_in_place")), r->ir.graph, &exec));
  r->node = NULL;
  BLOCK_EACH(node, r->ir.graph->block) {
    if (node->kind != SYM_wick_region) continue;
    assert_null(r->node);
    r->node = node;
  }
  assert_non_null(r->node);
  r->op = node_operator(r->node);
  r->body = node_body_new(r->node, r->op, &r->ir.arena, false);
  assert_non_null(r->body->body.region);
}
static inline void region_dispose(RegionText *r) {
  node_body_free(r->body);
  ir_dispose(&r->ir);
}

/* The node's inputs of those of the graph. */
static inline uint32_t region_inputs(const RegionText *r, const IValue *arguments, IValue *out) {
  uint32_t count = 0;
  assert_true(r->node->input_count <= REGION_MAX_INPUTS);
  for (; count < r->node->input_count; count++) {
    assert_ptr_equal(node_input(r->node, count)->node, r->ir.graph->block->param);
    out[count] = arguments[node_input(r->node, count)->offset];
  }
  return count;
}
static inline Status region_call(Exec *exec, const RegionText *r, const IValue *arguments, IValue *outputs) {
  IValue inputs[REGION_MAX_INPUTS];
  uint32_t count = region_inputs(r, arguments, inputs);
  Call call = {.inputs = inputs,
               .input_count = count,
               .outputs = outputs,
               .output_count = r->node->output_count,
               .body = &r->body->body};
  for (uint32_t i = 0; i < r->node->output_count; i++) outputs[i] = IVALUE_NONE;
  return operator_call(exec, r->op, &call);
}
static inline Status region_call_apart(Exec *exec, const RegionText *r, const IValue *arguments, IValue *outputs) {
  IValue inputs[REGION_MAX_INPUTS];
  Call call = {.exec = exec, .inputs = inputs, .outputs = outputs, .output_count = r->node->output_count};
  call.input_count = region_inputs(r, arguments, inputs);
  for (uint32_t i = 0; i < r->node->output_count; i++) outputs[i] = IVALUE_NONE;
  return r->body->body.run(&r->body->body, &call);
}
/* Calls that an engine left to the operators so far. */
static inline uint64_t region_declines(void) {
  return STATISTIC_GET(declines);
}
/* The same bits, but that which of two NaNs a sum gives is the compiler's choice. Of one dtype and size, row-major. */
static inline bool region_same_bits(const Tensor *a, const Tensor *b) {
  const char *x = tensor_data(a), *y = tensor_data(b);
  if (a->dtype != DTYPE_FLOAT32) return memcmp(x, y, (size_t)b->numel * dtype_size((DType)b->dtype)) == 0;
  for (int64_t i = 0; i < b->numel; i++)
    if (memcmp(x + 4 * i, y + 4 * i, 4) && !(isnan(((const float *)x)[i]) && isnan(((const float *)y)[i])))
      return false;
  return true;
}
/* A region of one result gives the bits, sizes and strides that its operators give; whether the engine took it. */
static inline bool region_gives_same_bits(Exec *exec, const RegionText *r, const IValue *arguments, const char *what) {
  uint64_t declined = region_declines();
  for (int turn = 0; turn < 3; turn++) { /* weights are kept from the second time on */
    IValue got, expected;
    exec->work.threads = 1 + turn % 2;
    check(region_call(exec, r, arguments, &got));
    check(region_call_apart(exec, r, arguments, &expected));
    const Tensor *a = got.tensor, *b = expected.tensor;
    assert_true(tensor_same_sizes(a, b) && a->dtype == b->dtype);
    assert_memory_equal(a->strides, b->strides, b->ndim * sizeof *b->strides);
    if (!region_same_bits(a, b)) fail_msg("other bits: %s", what);
    ivalue_release(got), ivalue_release(expected);
  }
  exec->work.threads = 1;
  return region_declines() == declined;
}
