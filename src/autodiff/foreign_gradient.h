/* Recorded calls whose gradient comes from outside: what a program of another language computed, with a backward of its
 * own. */
#pragma once

#include "autodiff/node.h"

/* Gives out[i], owned, the gradient of input i, or leaves it NULL; grads are borrowed, NULL where none reached an
 * output. With create_graph what it computes is to be recorded. */
typedef Status ForeignBackward(void *user, bool create_graph, uint32_t grad_count, Tensor *const *grads,
                               uint32_t input_count, Tensor **out);
struct ForeignGradient {
  char *name; /* what the node is called */
  ForeignBackward *backward;
  void (*drop)(void *user); /* when the node goes; may be NULL */
  void *user;
};

/* Hangs a node on the outputs, which have no history and require no gradient yet; its edges lead to the inputs. Takes
 * over `user`, also on failure; outputs whose bit is set in not_differentiable (of the first 64) stay without. */
Status autograd_record_foreign(const char *name, ForeignBackward *backward, void (*drop)(void *user), void *user,
                               uint32_t input_count, Tensor *const *inputs, uint32_t output_count,
                               Tensor *const *outputs, uint64_t not_differentiable) MUST_CHECK;
Status foreign_gradient_apply(GradNode *node, bool create_graph, Tensor *const *grads, Tensor **out) MUST_CHECK;
void foreign_gradient_free(struct ForeignGradient *foreign); /* NULL is allowed */
