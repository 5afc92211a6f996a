/* Nodes of the graph of recorded calls whose gradient comes from outside. */
#include "autodiff/foreign_gradient.h"

#include <assert.h>

void foreign_gradient_free(struct ForeignGradient *foreign) {
  if (!foreign) return;
  if (foreign->drop) foreign->drop(foreign->user);
  mem_free(foreign->name);
  mem_free(foreign);
}

Status foreign_gradient_apply(GradNode *node, bool create_graph, Tensor *const *grads, Tensor **out) {
  assert(node->kind == GRAD_FOREIGN && node->foreign);
  const struct ForeignGradient *foreign = node->foreign;
  return foreign->backward(foreign->user, create_graph, node->output_count, grads, node->edge_count, out);
}

static Status lead_to_inputs(GradNode *node, Tensor *const *inputs) {
  for (uint32_t i = 0; i < node->edge_count; i++) {
    if (!tensor_records(inputs[i])) continue;
    TRY(autograd_edge(inputs[i], &node->edges[i].to));
    TRY(metadata_of(inputs[i], &node->edges[i].metadata));
  }
  return OK;
}

static Status hang(GradNode *node, Tensor *const *outputs, uint64_t not_differentiable) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    Tensor *t = outputs[i];
    TRY(metadata_of(t, &node->outputs[i].metadata));
    bool has_gradient = dtype_is_floating((DType)t->dtype) || dtype_is_complex((DType)t->dtype);
    node->outputs[i].differentiable = has_gradient && !(i < 64 && not_differentiable >> i & 1);
    if (node->outputs[i].differentiable) TRY(autograd_set_history(t, (GradEdge){gradnode_retain(node), i}));
  }
  return OK;
}

Status autograd_record_foreign(const char *name, ForeignBackward *backward, void (*drop)(void *user), void *user,
                               uint32_t input_count, Tensor *const *inputs, uint32_t output_count,
                               Tensor *const *outputs, uint64_t not_differentiable) {
  assert(backward);
  GradNode *node = NULL;
  struct ForeignGradient *foreign = mem_calloc(1, sizeof *foreign);
  if (!foreign) {
    if (drop) drop(user);
    return status_out_of_memory();
  }
  *foreign = (struct ForeignGradient){mem_strdup(name), backward, drop, user};
  Status status = foreign->name ? OK : status_out_of_memory();
  for (uint32_t i = 0; !status && i < input_count; i++) status = autograd_refresh(inputs[i]);
  if (!status) status = gradnode_new(GRAD_FOREIGN, output_count, input_count, &node);
  if (status) {
    foreign_gradient_free(foreign);
    return status;
  }
  node->foreign = foreign;
  status = lead_to_inputs(node, inputs);
  if (!status) status = hang(node, outputs, not_differentiable);
  gradnode_release(node);
  return status;
}
