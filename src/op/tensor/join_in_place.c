/* A join of tensors that may lie joined already, for plans. */
#include "call/operator.h"
#include "report/reason.h"

/* Whether the tensors fill one storage in their order, and along `dim` that is how the joined one would fill it. Gives
 * its sizes. Strides are those of new tensors, so that the joined one's would be, too. */
static bool lie_joined(const Call *c, int64_t dim, int64_t *sizes) {
  const Tensor *first = c->inputs[0].tensor;
  int64_t end = 0;
  if (dim < 0 || dim >= first->ndim) return false;
  memcpy(sizes, first->sizes, first->ndim * sizeof *sizes);
  sizes[dim] = 0;
  for (uint32_t i = 0; i + 1 < c->input_count; i++) {
    const Tensor *t = c->inputs[i].tensor;
    if (t->flags & (TENSOR_UNUSUAL | TENSOR_RECORDS | TENSOR_UNDEFINED) || !t->storage || t->dtype != first->dtype ||
        t->ndim != first->ndim || !t->row_major || t->storage != first->storage || t->offset != end)
      return false;
    for (int d = 0; d < t->ndim; d++)
      if (d < dim ? t->sizes[d] != 1 : d > dim && t->sizes[d] != sizes[d]) return false;
    end += t->numel;
    sizes[dim] += t->sizes[dim];
  }
  return (size_t)end * dtype_size((DType)first->dtype) == first->storage->bytes;
}

/* cat_in_place(tensors..., dim): as prim::VarConcat, of tensors that nobody else has. */
static Status kernel_cat_in_place(Call *c) {
  int64_t sizes[TENSOR_MAX_DIMS];
  if (c->input_count < 2 || !lie_joined(c, call_int(c, c->input_count - 1), sizes))
    return reason_decline(REASON_NOT_FUSED_APART);
  const Tensor *first = c->inputs[0].tensor;
  Tensor *out;
  TRY(tensor_from_storage(first->storage, (DType)first->dtype, first->ndim, sizes, NULL, 0, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* cat_room(weights...): the channels that convolutions by them make, all together. Of what is no weight, which the
 * convolution will say, none. */
static Status kernel_cat_room(Call *c) {
  int64_t room = 0;
  for (uint32_t i = 0; i < c->input_count; i++) {
    const Tensor *weight = call_tensor(c, i);
    if (weight->ndim && !int64_add(room, weight->sizes[0], &room)) room = 0;
  }
  call_set(c, 0, ivalue_int(room));
  return OK;
}

static const OpRow rows[] = {
    {.schema = "wick::cat_in_place(...) -> Tensor",
     OPEN("Tensor... int"),
     .kernel = kernel_cat_in_place,
     .flags = OP_COMPOSITE | OP_ACCEPT_SPARSE | OP_OF_PLANS},
    {.schema = "wick::cat_room(...) -> int",
     OPEN("Tensor..."),
     .kernel = kernel_cat_room,
     .flags = OP_ACCEPT_SPARSE | OP_ACCEPT_UNDEFINED | OP_OF_PLANS},
};
OP_TABLE(op_table_join_in_place, rows);
