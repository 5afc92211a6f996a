/* Blocks are walked from their ends: when a node is met, all that use its results have said what they want of them. A
 * row says what an operator wants of one of its inputs. Tests that end in an error count, too, where every call meets
 * them: `if x.dim() != 4: raise ...`, and those that programs of torch.export begin with. */
#include "pass/types/input_demands.h"

#include "ivalue/lock.h"
#include "tensor/tensor.h"

typedef struct Demands {
  Arena *scratch;
  PtrMap of; /* Value -> Demand */
} Demands;

static void demand_init(Demand *d) {
  d->dtype = d->ndim = DEMAND_OPEN;
  d->last = d->below = DEMAND_OPEN;
  for (int i = 0; i < TENSOR_MAX_DIMS; i++) d->sizes[i] = DEMAND_OPEN;
}

static int64_t both(int64_t a, int64_t b) {
  if (a == DEMAND_OPEN || a == b) return b;
  return b == DEMAND_OPEN ? a : DEMAND_MIXED;
}

/* The demand on a value, made when there is none. */
static Demand *demand_on(Demands *d, const Value *value) {
  Demand *demand = ptrmap_get(&d->of, value);
  if (demand) return demand;
  demand = ARENA_NEW(d->scratch, Demand);
  demand_init(demand);
  ptrmap_put(&d->of, value, demand);
  return demand;
}

static void add(Demands *d, const Value *value, const Demand *wanted) {
  Demand *demand = demand_on(d, value);
  demand->dtype = (int)both(demand->dtype, wanted->dtype);
  demand->ndim = (int)both(demand->ndim, wanted->ndim);
  demand->last = both(demand->last, wanted->last);
  demand->below = both(demand->below, wanted->below);
  for (int i = 0; i < TENSOR_MAX_DIMS; i++) demand->sizes[i] = both(demand->sizes[i], wanted->sizes[i]);
}

/* ---- what is known of operands ---- */

static const TensorInfo *info_of(const Value *value) {
  return value && value->type->kind == TYPE_TENSOR ? value->type->tensor : NULL;
}
/* A dimension's size; DEMAND_OPEN: not known. Negative dims count from the end. */
static int64_t size_of(const TensorInfo *info, int dim) {
  if (!info || !info->has_sizes) return DEMAND_OPEN;
  if (dim < 0) dim += info->ndim;
  return dim < 0 || dim >= info->ndim || info->sizes[dim] < 0 ? DEMAND_OPEN : info->sizes[dim];
}
static bool constant_int(const Value *value, int64_t *out) {
  IValue constant;
  if (!value || !value_is_constant(value, &constant) || constant.tag != TAG_INT) return false;
  *out = constant.i;
  return true;
}
/* Element i of a list of numbers that is known. */
static bool list_item(const Value *list, uint32_t i, uint32_t *out_count, int64_t *out) {
  IValue constant;
  if (!list) return false;
  if (value_is_constant(list, &constant) && constant.tag == TAG_LIST) {
    *out_count = (uint32_t)list_length(constant.list);
    if (i >= *out_count) return false;
    IValue item = list_get(constant.list, i);
    bool is_int = item.tag == TAG_INT;
    if (is_int) *out = item.i;
    ivalue_release(item);
    return is_int;
  }
  if (list->node->kind != SYM_prim_ListConstruct) return false;
  *out_count = list->node->input_count;
  return i < *out_count && constant_int(node_input(list->node, i), out);
}

/* ---- what operators want: a function for a kind of them ---- */

typedef struct Ask {
  Demands *demands;
  const Node *node;
  const Demand *result; /* what is wanted of its first result */
  uint32_t input;       /* of which input this is about */
  uint32_t other;       /* the input that tells, a weight or a list */
} Ask;
/* Fills `out`, which is open. */
typedef void Wants(const Ask *ask, Demand *out);

static const TensorInfo *other_info(const Ask *ask) {
  return info_of(node_input(ask->node, ask->other));
}

static void like_result(const Ask *ask, Demand *out) {
  *out = *ask->result;
}
/* Elements change their dtype. */
static void like_result_of_any_dtype(const Ask *ask, Demand *out) {
  *out = *ask->result;
  out->dtype = DEMAND_OPEN;
  out->below = DEMAND_OPEN;
}
static void same_dtype(const Ask *ask, Demand *out) {
  out->dtype = ask->result->dtype;
  out->below = ask->result->below;
}
static void same_rank(const Ask *ask, Demand *out) {
  same_dtype(ask, out);
  out->ndim = ask->result->ndim;
}
/* Pooling, resizing: batch and channels stay. */
static void same_channels(const Ask *ask, Demand *out) {
  same_rank(ask, out);
  for (int i = 0; i < 2; i++) out->sizes[i] = ask->result->sizes[i];
}
/* Arithmetic: with a number all is the result's. A tensor that is broadcast to the result tells nothing else, one of
 * which nothing is known might be the larger. */
static void pointwise(const Ask *ask, Demand *out) {
  const Value *other = node_input(ask->node, ask->other);
  const TensorInfo *info = info_of(other);
  bool is_smaller = info && info->ndim >= 0 && (info->ndim == 0 || info->ndim <= ask->result->ndim);
  if (other->type->kind != TYPE_TENSOR || is_smaller) *out = *ask->result;
}

static void convolution(const Ask *ask, Demand *out) {
  const TensorInfo *weight = other_info(ask);
  int64_t groups = 1;
  IValue transposed;
  const Value *turned = node_named_input(ask->node, "transposed"), *counted = node_named_input(ask->node, "groups");
  if (!weight || weight->ndim < 3 || (counted && !constant_int(counted, &groups))) return;
  out->dtype = weight->dtype;
  out->ndim = weight->ndim;
  if (turned && value_is_constant(turned, &transposed) && transposed.b)
    out->sizes[1] = size_of(weight, 0);
  else if (size_of(weight, 1) > 0 && groups > 0 && groups < INT32_MAX)
    out->sizes[1] = size_of(weight, 1) * groups;
}
static void transposed_convolution(const Ask *ask, Demand *out) {
  const TensorInfo *weight = other_info(ask);
  if (!weight || weight->ndim < 3) return;
  out->dtype = weight->dtype;
  out->ndim = weight->ndim;
  out->sizes[1] = size_of(weight, 0);
}
/* (out, in) weights. */
static void linear(const Ask *ask, Demand *out) {
  const TensorInfo *weight = other_info(ask);
  if (!weight) return;
  out->ndim = ask->result->ndim;
  out->dtype = weight->dtype;
  out->last = size_of(weight, -1);
}
/* Products with an (in, out) matrix. */
static void matrix(const Ask *ask, Demand *out) {
  const TensorInfo *right = other_info(ask);
  if (!right || right->ndim < 2) return;
  out->dtype = right->dtype;
  out->last = size_of(right, -2);
}
static void matrix_of_two(const Ask *ask, Demand *out) {
  matrix(ask, out);
  out->ndim = 2;
}
static void indices(const Ask *ask, Demand *out) {
  out->dtype = DTYPE_INT64;
  out->below = size_of(other_info(ask), 0);
}
static void batch_norm(const Ask *ask, Demand *out) {
  *out = *ask->result;
  const TensorInfo *weight = other_info(ask);
  if (!weight) return;
  out->sizes[1] = size_of(weight, 0);
  out->dtype = weight->dtype;
}
static void layer_norm(const Ask *ask, Demand *out) {
  uint32_t count;
  int64_t size;
  *out = *ask->result;
  const Value *shape = node_input(ask->node, ask->other);
  if (list_item(shape, 0, &count, &size) && list_item(shape, count - 1, &count, &size)) out->last = size;
}
/* Weights are a list: of the first layer, the first. */
static void recurrent(const Ask *ask, Demand *out) {
  const Node *weights = node_input(ask->node, ask->other)->node;
  if (weights->kind != SYM_prim_ListConstruct || !weights->input_count) return;
  const TensorInfo *weight = info_of(node_input(weights, 0));
  const Value *batch_sizes = node_named_input(ask->node, "batch_sizes");
  if (!weight) return;
  out->dtype = weight->dtype;
  out->ndim = batch_sizes ? 2 : 3;
  out->last = size_of(weight, 1);
}
static void quantize(const Ask *ask, Demand *out) {
  *out = *ask->result;
  out->dtype = DTYPE_FLOAT32;
}
static void permute(const Ask *ask, Demand *out) {
  uint32_t count = 0;
  int64_t dim;
  const Value *dims = node_input(ask->node, ask->other);
  same_dtype(ask, out);
  if (!list_item(dims, 0, &count, &dim) || count > TENSOR_MAX_DIMS) return;
  out->ndim = (int)count;
  for (uint32_t i = 0; i < count; i++) {
    if (!list_item(dims, i, &count, &dim)) return;
    if (dim < 0) dim += count;
    if (dim >= 0 && dim < count) out->sizes[dim] = ask->result->sizes[i];
  }
}
static void transpose(const Ask *ask, Demand *out) {
  int64_t a, b;
  int ndim = ask->result->ndim;
  same_rank(ask, out);
  if (ndim < 0 || ask->node->input_count < 3 || !constant_int(node_input(ask->node, 1), &a) ||
      !constant_int(node_input(ask->node, 2), &b))
    return;
  if (a < 0) a += ndim;
  if (b < 0) b += ndim;
  if (a < 0 || b < 0 || a >= ndim || b >= ndim) return;
  for (int i = 0; i < ndim; i++) out->sizes[i] = ask->result->sizes[i == a ? b : i == b ? a : i];
  if (a != ndim - 1 && b != ndim - 1) out->last = ask->result->last;
}
/* One dimension less, or more, than the result has. */
static void without_dim(const Ask *ask, Demand *out) {
  int64_t dim;
  same_dtype(ask, out);
  int ndim = ask->result->ndim;
  if (ndim < 1 || !constant_int(node_input(ask->node, ask->other), &dim)) return;
  if (dim < 0) dim += ndim;
  out->ndim = ndim - 1;
  for (int i = 0; i < ndim - 1; i++) out->sizes[i] = ask->result->sizes[i < dim ? i : i + 1];
  if (dim != ndim - 1) out->last = ask->result->last;
}
static void with_dim(const Ask *ask, Demand *out) {
  int64_t dim;
  same_dtype(ask, out);
  int ndim = ask->result->ndim;
  if (ndim < 0 || ndim >= TENSOR_MAX_DIMS || !constant_int(node_input(ask->node, ask->other), &dim)) return;
  if (dim < 0) dim += ndim + 1;
  out->ndim = ndim + 1;
  for (int i = 0; i < ndim; i++)
    if (dim >= 0 && i != dim) out->sizes[i] = ask->result->sizes[i < dim ? i : i - 1];
  if (dim != ndim) out->last = ask->result->last;
}

/* The operator, of which input, by which other. */
static const struct WantRow {
  const char *name;
  uint8_t input, other;
  Wants *wants;
} rows[] = {
    {"aten::conv1d", 0, 1, convolution},
    {"aten::conv2d", 0, 1, convolution},
    {"aten::conv3d", 0, 1, convolution},
    {"aten::_convolution", 0, 1, convolution},
    {"aten::convolution", 0, 1, convolution},
    {"aten::conv_transpose1d", 0, 1, transposed_convolution},
    {"aten::conv_transpose2d", 0, 1, transposed_convolution},
    {"aten::conv_transpose3d", 0, 1, transposed_convolution},
    {"aten::linear", 0, 1, linear},
    {"aten::matmul", 0, 1, matrix},
    {"aten::mm", 0, 1, matrix_of_two},
    {"aten::addmm", 1, 2, matrix_of_two},
    {"aten::embedding", 1, 0, indices},
    {"aten::embedding_bag", 1, 0, indices},
    {"aten::batch_norm", 0, 3, batch_norm},
    {"aten::instance_norm", 0, 3, batch_norm},
    {"aten::group_norm", 0, 2, batch_norm},
    {"aten::layer_norm", 0, 1, layer_norm},
    {"aten::lstm", 0, 2, recurrent},
    {"aten::gru", 0, 2, recurrent},
    {"aten::rnn_tanh", 0, 2, recurrent},
    {"aten::rnn_relu", 0, 2, recurrent},
    {"aten::quantize_per_tensor", 0, 0, quantize},
    {"aten::permute", 0, 1, permute},
    {"aten::transpose", 0, 0, transpose},
    {"aten::unsqueeze", 0, 1, without_dim},
    {"aten::select", 0, 1, with_dim},
    {"aten::flatten", 0, 0, same_dtype},
    {"aten::view", 0, 0, same_dtype},
    {"aten::reshape", 0, 0, same_dtype},
    {"aten::slice", 0, 0, same_rank},
    {"aten::pad", 0, 0, same_rank},
    {"aten::constant_pad_nd", 0, 0, same_rank},
    {"aten::reflection_pad1d", 0, 0, same_channels},
    {"aten::reflection_pad2d", 0, 0, same_channels},
    {"aten::replication_pad2d", 0, 0, same_channels},
    {"aten::max_pool1d", 0, 0, same_channels},
    {"aten::max_pool2d", 0, 0, same_channels},
    {"aten::avg_pool1d", 0, 0, same_channels},
    {"aten::avg_pool2d", 0, 0, same_channels},
    {"aten::adaptive_avg_pool1d", 0, 0, same_channels},
    {"aten::adaptive_avg_pool2d", 0, 0, same_channels},
    {"aten::upsample_nearest2d", 0, 0, same_channels},
    {"aten::upsample_bilinear2d", 0, 0, same_channels},
    {"aten::to", 0, 0, like_result_of_any_dtype},
    {"aten::type_as", 0, 0, like_result_of_any_dtype},
    {"aten::add", 0, 1, pointwise},
    {"aten::add_", 0, 1, pointwise},
    {"aten::sub", 0, 1, pointwise},
    {"aten::sub_", 0, 1, pointwise},
    {"aten::mul", 0, 1, pointwise},
    {"aten::mul_", 0, 1, pointwise},
    {"aten::div", 0, 1, pointwise},
    {"aten::div_", 0, 1, pointwise},
    {"aten::pow", 0, 1, pointwise},
    {"aten::rsub", 0, 1, pointwise},
    {"aten::alias", 0, 0, like_result},
    {"aten::clone", 0, 0, like_result},
    {"aten::detach", 0, 0, like_result},
    {"aten::contiguous", 0, 0, like_result},
    {"aten::dropout", 0, 0, like_result},
    {"aten::feature_dropout", 0, 0, like_result},
    {"aten::relu", 0, 0, like_result},
    {"aten::relu_", 0, 0, like_result},
    {"aten::sigmoid", 0, 0, like_result},
    {"aten::tanh", 0, 0, like_result},
    {"aten::gelu", 0, 0, like_result},
    {"aten::silu", 0, 0, like_result},
    {"aten::elu", 0, 0, like_result},
    {"aten::leaky_relu", 0, 0, like_result},
    {"aten::hardtanh", 0, 0, like_result},
    {"aten::hardswish", 0, 0, like_result},
    {"aten::clamp", 0, 0, like_result},
    {"aten::neg", 0, 0, like_result},
    {"aten::abs", 0, 0, like_result},
    {"aten::exp", 0, 0, like_result},
    {"aten::log", 0, 0, like_result},
    {"aten::log1p", 0, 0, like_result},
    {"aten::sqrt", 0, 0, like_result},
    {"aten::softmax", 0, 0, like_result},
    {"prim::unchecked_cast", 0, 0, like_result},
};

static void ask_operator(Demands *d, const Node *node) {
  Demand open;
  demand_init(&open);
  Str name = symbol_name(node->kind);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!str_is(name, rows[i].name) || rows[i].input >= node->input_count || rows[i].other >= node->input_count ||
        !node->output_count)
      continue;
    Demand wanted, *result = ptrmap_get(&d->of, node_output(node, 0));
    demand_init(&wanted);
    rows[i].wants(&(Ask){d, node, result ? result : &open, rows[i].input, rows[i].other}, &wanted);
    add(d, node_input(node, rows[i].input), &wanted);
  }
}

/* ---- tests that end in an error ---- */

static bool raises(const Block *block) {
  return block->ret->prev != block->param && block->ret->prev->kind == SYM_prim_RaiseException;
}

/* "aten::dim(x)", "aten::size(x, i)", "prim::dtype(x)" must be `number`. */
static void must_be(Demands *d, const Value *value, int64_t number) {
  const Node *node = value->node;
  Demand wanted;
  demand_init(&wanted);
  int64_t dim;
  if (node->input_count < 1 || node_input(node, 0)->type->kind != TYPE_TENSOR || number < 0) return;
  Str name = symbol_name(node->kind);
  if (node->kind == SYM_prim_dtype && number < INT8_MAX)
    wanted.dtype = (int)number;
  else if (str_is(name, "aten::dim") && number <= TENSOR_MAX_DIMS)
    wanted.ndim = (int)number;
  else if (str_is(name, "aten::size") && node->input_count == 2 && constant_int(node_input(node, 1), &dim) &&
           dim >= 0 && dim < TENSOR_MAX_DIMS)
    wanted.sizes[dim] = number;
  else if (str_is(name, "aten::size") && node->input_count == 2 && constant_int(node_input(node, 1), &dim) && dim == -1)
    wanted.last = number;
  add(d, node_input(node, 0), &wanted);
}

/* The condition of a test that every call meets has that answer. */
static void must_hold(Demands *d, const Value *condition, bool answer) {
  const Node *node = condition->node;
  int64_t number;
  Str name = symbol_name(node->kind);
  while (str_is(name, "aten::__not__") && node->input_count == 1) {
    answer = !answer;
    node = node_input(node, 0)->node;
    name = symbol_name(node->kind);
  }
  if (node->input_count != 2 || !str_is(name, answer ? "aten::eq" : "aten::ne")) return;
  for (uint32_t i = 0; i < 2; i++)
    if (constant_int(node_input(node, i), &number)) must_be(d, node_input(node, 1 - i), number);
}

/* ---- the walk ---- */

static void walk(Demands *d, const Block *block);

static void pass_on(Demands *d, const Value *from, const Value *to) {
  const Demand *wanted = ptrmap_get(&d->of, from);
  if (wanted) add(d, to, wanted);
}

static void walk_if(Demands *d, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    for (int b = 0; b < 2; b++) pass_on(d, node_output(node, i), block_output(node->blocks[b], i));
  if (!node->owning_block->owning_node)
    for (int b = 0; b < 2; b++)
      if (raises(node->blocks[b])) must_hold(d, node_input(node, 0), b != 0);
  for (int b = 0; b < 2; b++) walk(d, node->blocks[b]);
}

/* What the loop carries is wanted by what comes after it and by its body. */
static void walk_loop(Demands *d, const Node *node) {
  const Block *body = node->blocks[0];
  for (uint32_t i = 0; i < node->output_count; i++) pass_on(d, node_output(node, i), block_output(body, i + 1));
  walk(d, body);
  for (uint32_t i = 0; i < node->output_count; i++) {
    pass_on(d, node_output(node, i), node_input(node, i + 2));
    pass_on(d, block_input(body, i + 1), node_input(node, i + 2));
  }
}

static void walk(Demands *d, const Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    if (node->kind == SYM_prim_If)
      walk_if(d, node);
    else if (node->kind == SYM_prim_Loop)
      walk_loop(d, node);
    else
      ask_operator(d, node);
  }
}

/* One thing about the last dimension, whichever way it was said. */
static void settle(Demand *demand) {
  if (demand->ndim < 1) return;
  int64_t *last = &demand->sizes[demand->ndim - 1];
  *last = demand->last = both(*last, demand->last);
}

void input_demands_find(const Graph *graph, Arena *scratch, Demand *out) {
  Demands d = {.scratch = scratch};
  ptrmap_init(&d.of, scratch);
  graph_require_stack(graph);
  walk(&d, graph->block);
  for (uint32_t i = 0; i < graph_input_count(graph); i++) {
    const Demand *demand = ptrmap_get(&d.of, graph_input(graph, i));
    demand_init(&out[i]);
    if (demand) out[i] = *demand;
    settle(&out[i]);
  }
}
