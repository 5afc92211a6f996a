/* The operators that batch_mm makes. prim::MMTreeReduce(a..., b...) is the sum of the products a[i] @ b[i]:
 * where all have the same sizes one product of the a side by side and the b one over the other. prim::MMBatchSide(m,
 * x...) are the products of m with every x, from the left (side 0) or the right: one product where the x fit together.
 * Else, and while gradients are recorded, the products are made one by one. */
#include <assert.h>

#include "call/row_extras.h"
#include "ir/graph.h"

enum { MAX_ROWS_TO_JOIN = 1024 /* larger products gain nothing from being one */ };

static OpRef mm = OP_REF("aten::mm", ""), cat = OP_REF("aten::cat", ""), add = OP_REF("aten::add", "Tensor"),
             narrow = OP_REF("aten::narrow", ""), clone = OP_REF("aten::clone", "");

static Status multiply(Exec *exec, IValue a, IValue b, IValue *out) {
  return op_call(exec, &mm, 2, (IValue[]){a, b}, 1, out);
}

static Status join(Exec *exec, const IValue *items, uint32_t count, int dim, IValue *out) {
  List *list;
  TRY(list_new(TYPE(TENSOR), count, &list));
  Status status = OK;
  for (uint32_t i = 0; i < count && !status; i++) status = list_append(list, ivalue_retain(items[i]));
  if (!status) status = op_call(exec, &cat, 2, (IValue[]){ivalue_list(list), ivalue_int(dim)}, 1, out);
  ivalue_release(ivalue_list(list));
  return status;
}

static bool is_matrix(IValue v) {
  return v.tag == TAG_TENSOR && tensor_is_defined(v.tensor) && v.tensor->ndim == 2;
}

/* Matrices of one dtype that agree in a size. */
static bool fit_together(const IValue *items, uint32_t count, int dim) {
  for (uint32_t i = 0; i < count; i++)
    if (!is_matrix(items[i]) || items[i].tensor->dtype != items[0].tensor->dtype ||
        items[i].tensor->sizes[dim] != items[0].tensor->sizes[dim] || items[i].tensor->sizes[dim] > MAX_ROWS_TO_JOIN)
      return false;
  return true;
}

static bool same_sizes(const IValue *items, uint32_t count) {
  return fit_together(items, count, 0) && fit_together(items, count, 1);
}

/* Whether the product of the two is no error. */
static bool can_multiply(IValue a, IValue b) {
  return a.tensor->dtype == b.tensor->dtype && a.tensor->sizes[1] == b.tensor->sizes[0];
}

static Status tree_reduce(Call *call) {
  uint32_t count = call->input_count / 2;
  const IValue *left = call->inputs, *right = call->inputs + count;
  Exec *exec = call->exec;
  if (!count) return status_new(ERROR_INVALID_ARGUMENT, "no matrices");
  IValue sum = IVALUE_NONE;
  Status status = OK;
  if (same_sizes(left, count) && same_sizes(right, count) && can_multiply(left[0], right[0])) {
    IValue wide = IVALUE_NONE, tall = IVALUE_NONE;
    status = join(exec, left, count, 1, &wide);
    if (!status) status = join(exec, right, count, 0, &tall);
    if (!status) status = multiply(exec, wide, tall, &sum);
    ivalue_release(wide);
    ivalue_release(tall);
  } else {
    for (uint32_t i = 0; i < count && !status; i++) {
      IValue product = IVALUE_NONE, total = IVALUE_NONE;
      status = multiply(exec, left[i], right[i], &product);
      if (!status && i) status = op_call(exec, &add, 2, (IValue[]){sum, product}, 1, &total);
      if (i) {
        ivalue_release(sum);
        ivalue_release(product);
      }
      sum = i ? total : product;
    }
  }
  if (status) {
    ivalue_release(sum);
    return status;
  }
  call_set(call, 0, sum);
  return OK;
}

/* Pieces of the joint product: `sizes[dim]` of each x. Copied: no two products share memory, none has gaps. */
static Status split(Call *call, IValue whole, const IValue *items, int dim) {
  int64_t at = 0;
  for (uint32_t i = 0; i < call->output_count; i++) {
    int64_t size = items[i].tensor->sizes[dim];
    IValue piece = IVALUE_NONE, copy = IVALUE_NONE;
    TRY(op_call(call->exec, &narrow, 4, (IValue[]){whole, ivalue_int(dim), ivalue_int(at), ivalue_int(size)}, 1,
                &piece));
    Status status = op_call(call->exec, &clone, 2, (IValue[]){piece, ivalue_int(FORMAT_CONTIGUOUS)}, 1, &copy);
    ivalue_release(piece);
    TRY(status);
    call_set(call, i, copy);
    at += size;
  }
  return OK;
}

/* Of one of the products alone the gradient would lead to all. */
static bool is_recorded(const Call *call) {
  bool records = false;
  for (uint32_t i = 0; i < call->input_count && call->exec->grad_enabled; i++)
    records |= call->inputs[i].tag == TAG_TENSOR && tensor_records(call->inputs[i].tensor);
  return records;
}

static Status batch_side(Call *call, uint32_t side) {
  assert(side < 2);
  const IValue shared = call->inputs[0], *items = call->inputs + 1;
  uint32_t count = call->input_count - 1;
  if (!call->input_count || count != call->output_count)
    return status_new(ERROR_INVALID_ARGUMENT, "%u matrices for %u results", count, call->output_count);
  if (count && !is_recorded(call) && is_matrix(shared) && fit_together(items, count, (int)side) &&
      (side ? can_multiply(items[0], shared) : can_multiply(shared, items[0]))) {
    IValue joint = IVALUE_NONE, product = IVALUE_NONE;
    Status status = join(call->exec, items, count, 1 - (int)side, &joint);
    if (!status)
      status = side ? multiply(call->exec, joint, shared, &product) : multiply(call->exec, shared, joint, &product);
    if (!status) status = split(call, product, items, 1 - (int)side);
    ivalue_release(joint);
    ivalue_release(product);
    return status;
  }
  for (uint32_t i = 0; i < count; i++) {
    IValue product = IVALUE_NONE;
    TRY(side ? multiply(call->exec, items[i], shared, &product) : multiply(call->exec, shared, items[i], &product));
    call_set(call, i, product);
  }
  return OK;
}

static Status batch_left(Call *call) {
  return batch_side(call, 0);
}
static Status batch_right(Call *call) {
  return batch_side(call, 1);
}

static Status make_tree_reduce(const Node *node, Kernel **out_kernel, void **out_state,
                               void (**out_free)(void *state)) {
  (void)node;
  *out_kernel = tree_reduce;
  *out_state = NULL;
  *out_free = NULL;
  return OK;
}
static Status make_batch_side(const Node *node, Kernel **out_kernel, void **out_state, void (**out_free)(void *state)) {
  const NodeAttribute *side = node_attribute(node, SYM_attr_side);
  if (!side || side->tag != ATTR_INT || side->i < 0 || side->i > 1)
    return status_new(ERROR_INVALID_ARGUMENT, "prim::MMBatchSide needs an attribute `side`, 0 or 1");
  *out_kernel = side->i ? batch_right : batch_left;
  *out_state = NULL;
  *out_free = NULL;
  return OK;
}

static OpFactory tree_reduce_factory = {make_tree_reduce}, batch_side_factory = {make_batch_side};

static const OpRow rows[] = {
    {.schema = "prim::MMTreeReduce(...) -> Tensor",
     OPEN("{Tensor Tensor}..."),
     .factory = &tree_reduce_factory,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_OF_PLANS},
    {.schema = "prim::MMBatchSide(...) -> ...",
     OPEN("Tensor Tensor... -> Tensor..."),
     .factory = &batch_side_factory,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_OF_PLANS},
};
OP_TABLE(op_table_batch_mm, rows);
