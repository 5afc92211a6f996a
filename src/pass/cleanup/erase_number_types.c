/* Numbers become tensors without dimensions: types, constants and conversions between the two. For graphs that go to
 * what knows tensors only; wick does not run them. */
#include "ir/graph_log.h"
#include "pass/pass.h"

#define FILE_NAME "erase_number_types"

static const Type *scalar_tensor_type(Graph *graph, DType dtype) {
  TensorInfo info = {.dtype = (int)dtype,
                     .device_type = DEVICE_CPU,
                     .device_index = -1,
                     .has_sizes = true,
                     .requires_grad = -1,
                     .undefined = -1};
  return type_tensor_refined(graph->store, &info);
}

static void erase_type(Graph *graph, Value *value) {
  switch ((TypeKind)value->type->kind) {
    case TYPE_INT:
      value->type = scalar_tensor_type(graph, DTYPE_INT64);
      break;
    case TYPE_FLOAT:
      value->type = scalar_tensor_type(graph, DTYPE_FLOAT64);
      break;
    case TYPE_COMPLEX:
      value->type = scalar_tensor_type(graph, DTYPE_COMPLEX128);
      break;
    case TYPE_BOOL:
      value->type = scalar_tensor_type(graph, DTYPE_BOOL);
      break;
    case TYPE_NUMBER:
      value->type = TYPE(TENSOR);
      break;
    default:
      break;
  }
}

static void erase_types(Graph *graph, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) erase_type(graph, node_output(node, i));
}

/* A number's constant as a tensor's. */
static void erase_constant(Graph *graph, Node *node) {
  IValue value;
  Value *output = node_output(node, 0);
  if (!value_is_constant(output, &value)) return;
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + 1);
  Tensor *tensor;
  Status status;
  switch ((Tag)value.tag) {
    case TAG_INT:
      status = tensor_from_int(value.i, &tensor);
      break;
    case TAG_FLOAT:
      status = tensor_from_double(value.f, &tensor);
      break;
    case TAG_COMPLEX:
      status = tensor_from_complex(ivalue_complex(value), &tensor);
      break;
    case TAG_BOOL:
      status = tensor_from_bool(value.b, &tensor);
      break;
    default:
      return;
  }
  if (status) catch_throw(graph->arena->catch_point, status);
  graph_hold(graph, ivalue_tensor(tensor));
  erase_type(graph, output);
  constant_set(node, ivalue_tensor(tensor), output->type);
}

static void erase_in(Graph *graph, const Block *block) {
  erase_types(graph, block->param);
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) erase_in(graph, node->blocks[i]);
    node->op = NULL; /* no schema fits any more */
    switch (node->kind) {
      case SYM_prim_Constant:
        erase_constant(graph, node);
        break;
      case SYM_aten_Bool:
      case SYM_aten_Float:
      case SYM_aten_Int:
      case SYM_aten_FloatImplicit:
      case SYM_aten_IntImplicit:
      case SYM_aten_ScalarImplicit:
      case SYM_prim_NumToTensor:
        value_replace_all_uses_with(node_output(node, 0), node_input(node, 0));
        node_destroy(node);
        break;
      default:
        erase_types(graph, node);
    }
  }
}

void erase_number_types(Graph *graph) {
  graph->numbers_erased = true;
  erase_in(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After EraseNumberTypes: ", graph);
}

PASS(erase_number_types, NOTHING, erase_number_types(graph), "makes numbers tensors without dimensions");
