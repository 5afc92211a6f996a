/* Answers by schema and row; prim:: nodes without a row have their rules here. */
#include "pass/tensor_facts.h"

#include <ctype.h>

#include "type/tensor_type.h"

enum { MAX_CALL_DEPTH = 4 };

static bool block_may_reshape(const Block *block, int depth);

static bool function_may_reshape(const Function *function, int depth) {
  return !function || !function->graph || depth == 0 || block_may_reshape(function->graph->block, depth - 1);
}

static bool method_may_reshape(const Type *type, Str name, int depth) {
  return type->kind != TYPE_CLASS || function_may_reshape(class_type_find_method(type->class_type, name), depth);
}

static bool may_reshape(const Node *node, int depth) {
  switch (node->kind) {
    case SYM_prim_CallFunction: {
      const Type *type = node->input_count ? node_input(node, 0)->type : TYPE(ANY);
      return type->kind != TYPE_FUNCTION || function_may_reshape(type->function, depth);
    }
    case SYM_prim_CallMethod: {
      const NodeAttribute *name = node_attribute(node, SYM_attr_name);
      return !name || name->tag != ATTR_STRING || method_may_reshape(node_input(node, 0)->type, name->s, depth);
    }
    case SYM_prim_Enter:
      return method_may_reshape(node_input(node, 0)->type, STR("__enter__"), depth);
    case SYM_prim_Exit:
      return method_may_reshape(node_input(node, 0)->type, STR("__exit__"), depth);
    case SYM_prim_fork: {
      const NodeAttribute *body = node_attribute(node, SYM_attr_Subgraph);
      return !body || body->tag != ATTR_GRAPH || depth == 0 || block_may_reshape(body->g->block, depth - 1);
    }
    case SYM_prim_CallOptionalFunction:
    case SYM_prim_rpc_async:
      return true;
    default:
      break;
  }
  const FunctionSchema *schema = node_schema(node);
  if (!schema || !schema->is_mutable) return false;
  const Operator *op = node_operator(node);
  if (!op) return true;
  bool own_body = op->row->body && op->variant == VARIANT_FUNCTIONAL;
  return op->flags & OP_RESHAPES || op->variant == VARIANT_OUT || own_body || op->library;
}

static bool block_may_reshape(const Block *block, int depth) {
  for (const Node *node = block->param->next; node != block->ret; node = node->next) {
    if (may_reshape(node, depth)) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (block_may_reshape(node->blocks[i], depth)) return true;
  }
  return false;
}

bool node_may_reshape(const Node *node) {
  return may_reshape(node, MAX_CALL_DEPTH);
}

/* The OR over tensors in a type: -1 when one is unknown and none is 1. */
static int type_requires_grad(const Type *type) {
  switch (type->kind) {
    case TYPE_TENSOR: {
      const TensorInfo *info = type->tensor;
      if (!info) return -1;
      if (info->undefined == 1) return 0;
      if (info->dtype >= 0 && !dtype_is_floating((DType)info->dtype) && !dtype_is_complex((DType)info->dtype)) return 0;
      return info->requires_grad;
    }
    case TYPE_LIST:
    case TYPE_OPTIONAL:
    case TYPE_TUPLE: {
      int result = 0;
      for (uint32_t i = 0; i < type->count; i++) {
        int one = type_requires_grad(type->elements[i]);
        if (one == 1) return 1;
        if (one < 0) result = -1;
      }
      return result;
    }
    default:
      return type->may_be_mutable ? -1 : 0;
  }
}

bool list_is_plain(const Value *list) {
  for (size_t i = 0; i < list->uses.length; i++) {
    const Node *user = list->uses.data[i].user;
    if (user->kind == SYM_prim_ListUnpack) continue;
    const FunctionSchema *schema = user->kind == SYM_prim_Return ? NULL : node_schema(user);
    if (!schema || schema->is_mutable || schema->is_vararg) return false;
    for (uint32_t k = 0; k < user->output_count; k++) {
      TypeKind kind = (TypeKind)node_output(user, k)->type->kind;
      if (kind == TYPE_ANY || kind == TYPE_LIST || kind == TYPE_DICT || kind == TYPE_TUPLE) {
        const Argument *argument =
            list->uses.data[i].offset < schema->argument_count ? &schema->arguments[list->uses.data[i].offset] : NULL;
        if (!argument || argument->alias || argument->type->has_var) return false;
      }
    }
  }
  return true;
}

/* Lists that were made of known tensors count as these. */
static int value_requires_grad(const Value *v) {
  const Node *made = v->node;
  if (v->type->kind != TYPE_LIST || made->kind != SYM_prim_ListConstruct || !list_is_plain(v))
    return type_requires_grad(v->type);
  int result = 0;
  for (uint32_t i = 0; i < made->input_count; i++) {
    int one = type_requires_grad(node_input(made, i)->type);
    if (one == 1) return 1;
    if (one < 0) result = -1;
  }
  return result;
}

/* Whether a row's gradients name the argument: "self: ...; weight, bias: ...". */
static bool has_gradient_for(const OpRow *row, Str argument) {
  const char *text = row->grad;
  int depth = 0;
  bool in_targets = true;
  while (text && *text) {
    if (in_targets && (isalpha((unsigned char)*text) || *text == '_')) {
      const char *begin = text;
      while (isalnum((unsigned char)*text) || *text == '_') text++;
      if (str_equal((Str){begin, (size_t)(text - begin)}, argument)) return true;
      continue;
    }
    if (*text == '(' || *text == '[') depth++;
    if (*text == ')' || *text == ']') depth--;
    if (depth == 0 && *text == ':') in_targets = false;
    if (depth == 0 && *text == ';') in_targets = true;
    text++;
  }
  return false;
}

int node_results_require_grad(const Node *node) {
  const Operator *op = node_operator(node);
  if (node->kind == SYM_prim_ConstantChunk) return value_requires_grad(node_input(node, 0));
  if (!op) return -1;
  if (op->flags & OP_NOT_DIFFERENTIABLE) return 0;
  const FunctionSchema *schema = operator_schema(op);
  for (uint32_t i = 0; i < schema->argument_count && i < node->input_count; i++)
    if (str_is(schema->arguments[i].name, "requires_grad")) return -1; /* makes leaves */
  int result = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    int one = value_requires_grad(node_input(node, i));
    bool has_gradient = one == 1 && i < schema->argument_count && has_gradient_for(op->row, schema->arguments[i].name);
    if (has_gradient) return 1;
    if (one != 0) result = -1;
  }
  return result;
}

const Type *type_with_requires_grad(TypeStore *store, const Type *tensor, int requires_grad) {
  TensorInfo info;
  if (tensor->tensor)
    info = *tensor->tensor;
  else
    tensor_info_init(&info);
  if (info.requires_grad == requires_grad) return tensor;
  info.requires_grad = requires_grad;
  return type_tensor_refined(store, &info);
}
