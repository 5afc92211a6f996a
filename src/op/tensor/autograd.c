/* Rows of the operators that ask the engine of eager gradients, which is a higher folder's. */
#include "call/operator.h"

#define ASK(service)                                                                                         \
  static Status kernel_##service(Call *c) {                                                                  \
    const Services *services = c->exec->services;                                                            \
    if (services && services->autograd_##service) return services->autograd_##service(c);                    \
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": nothing here computes gradients", STR_ARG(c->op->name)); \
  }
ASK(backward)
ASK(backward_list)
ASK(grad)
ASK(retain_grad)
ASK(retains_grad)
ASK(tensor_grad)

enum { ENGINE = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE };

static const OpRow rows[] = {
    {.schema =
         "aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
     .kernel = kernel_backward,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::backward.TensorList(Tensor[] tensors, Tensor?[]? grad_tensors=None, bool? retain_graph=None, "
               "bool create_graph=False) -> ()",
     .kernel = kernel_backward_list,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, "
               "bool create_graph=False, "
               "bool allow_unused=False) -> Tensor?[]",
     .kernel = kernel_grad,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::retain_grad(Tensor(a!) self) -> ()",
     .kernel = kernel_retain_grad,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::retains_grad(Tensor self) -> bool", .kernel = kernel_retains_grad, .flags = ENGINE},
    {.schema = "prim::grad(Tensor a) -> Tensor(*)", .kernel = kernel_tensor_grad, .flags = ENGINE},
};
OP_TABLE(op_table_autograd, rows);
