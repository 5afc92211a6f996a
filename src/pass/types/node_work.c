/* Arguments are made of types: tensors have sizes and strides and no storage, since a FlopFunction reads no more. */
#include "pass/types/node_work.h"

#include "call/row.h"
#include "schema/schema.h"
#include "pass/rewrite/rewrite.h"
#include "type/tensor_type.h"

enum { MAX_ARGUMENTS = 16 }; /* of an operator with flops */

static const TensorInfo *info_of(const Value *value) {
  const TensorInfo *info = value_tensor(value);
  return info && info->dtype >= 0 && tensor_info_has_sizes(info) ? info : NULL;
}

static bool set_tensor(const TensorInfo *info, Tensor *out) {
  *out = (Tensor){.dtype = (uint8_t)info->dtype, .ndim = (uint8_t)info->ndim};
  out->sizes = (int64_t *)info->sizes;
  out->strides = (int64_t *)info->strides;
  Status status = sizes_numel(info->ndim, info->sizes, &out->numel);
  status_free(status);
  return !status;
}

/* ---- flops ---- */

static bool set_argument(const Value *value, Tensor *tensor, IValue *out) {
  const TensorInfo *info = info_of(value);
  if (value->type->kind == TYPE_NONE) {
    *out = IVALUE_NONE;
    return true;
  }
  if (value->type->kind != TYPE_TENSOR) return value_is_constant(value, out);
  *out = ivalue_tensor(tensor);
  return info && set_tensor(info, tensor);
}

/* False: an argument is not known. */
static bool add_flops_of_operator(const Node *node, const Operator *op, double *flops) {
  Tensor tensors[MAX_ARGUMENTS], result;
  IValue inputs[MAX_ARGUMENTS], output = ivalue_tensor(&result);
  const TensorInfo *info = node->output_count == 1 ? info_of(node_output(node, 0)) : NULL;
  if (!info || !set_tensor(info, &result) || node->input_count > MAX_ARGUMENTS) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!set_argument(node_input(node, i), &tensors[i], &inputs[i])) return false;
  double own = op->row->flops(
      &(Call){.op = op, .inputs = inputs, .input_count = node->input_count, .outputs = &output, .output_count = 1});
  *flops += own;
  return own > 0 || !result.numel;
}

static void add_flops(const Node *node, NodeWork *work) {
  const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
  const Operator *op = node_operator(node);
  if (subgraph) {
    BLOCK_EACH(inner, subgraph->g->block) add_flops(inner, work);
  } else if (op && op->row->flops) {
    work->has_flops = true;
    work->is_known &= add_flops_of_operator(node, op, &work->flops);
  }
}

/* ---- bytes ---- */

static void add_bytes(const Value *value, NodeWork *work) {
  const Type *type = value->type;
  if (type->kind == TYPE_TENSOR) {
    const TensorInfo *info = info_of(value);
    Tensor tensor;
    if (info && set_tensor(info, &tensor)) {
      work->bytes += (double)tensor.numel * (double)dtype_size((DType)info->dtype);
      if (work->dtype < 0) work->dtype = info->dtype;
      if (work->device_type < 0) work->device_type = info->device_type;
    } else if (type->tensor == NULL || type->tensor->undefined != 1) {
      work->is_known = false;
    }
  } else if (type->kind == TYPE_LIST && type->elements[0]->kind == TYPE_TENSOR) {
    const Node *made = value->node;
    work->is_known &= made->kind == SYM_prim_ListConstruct;
    for (uint32_t i = 0; made->kind == SYM_prim_ListConstruct && i < made->input_count; i++)
      add_bytes(node_input(made, i), work);
  }
}

/* It shows what it was given, or only looks at how that lies. */
static bool moves_nothing(const Operator *op) {
  const FunctionSchema *schema = operator_schema(op);
  const AliasInfo *alias = schema->return_count ? schema->returns[0].alias : NULL;
  return (alias && !alias->is_write) || (schema->argument_count && operator_reads_metadata(op, 0));
}

NodeWork node_work(const Node *node) {
  NodeWork work = {.dtype = -1, .device_type = -1, .is_known = true};
  const Operator *op = node_operator(node);
  const bool has_subgraph = node_attribute(node, SYM_attr_Subgraph);
  if (has_subgraph || (op && !moves_nothing(op))) {
    for (uint32_t i = 0; i < node->output_count; i++) add_bytes(node_output(node, i), &work);
    for (uint32_t i = 0; i < node->input_count; i++)
      if (has_subgraph || !operator_reads_metadata(op, i)) add_bytes(node_input(node, i), &work);
    add_flops(node, &work);
  }
  return work;
}

double node_work_ns(const NodeWork *work) {
  enum { FLOAT32_FLOPS = 64, OTHER_FLOPS = 16, BYTES = 16 }; /* in a nanosecond */
  double computes = work->flops / (work->dtype == DTYPE_FLOAT32 ? FLOAT32_FLOPS : OTHER_FLOPS);
  double moves = work->bytes / BYTES;
  return computes > moves ? computes : moves;
}
