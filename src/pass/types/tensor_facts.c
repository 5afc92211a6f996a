/* Answers by schema and row; prim:: nodes without a row have their rules here. */
#include "pass/types/tensor_facts.h"

#include <assert.h>
#include <ctype.h>

#include "call/row.h"
#include "ir/node_kind.h"
#include "ir/unit.h"
#include "pass/rewrite/rewrite.h"
#include "type/tensor_type.h"

enum { MAX_CALL_DEPTH = 4 };

static unsigned changes_of_block(const Block *block, int depth);

static unsigned changes_of_function(const Function *function, int depth) {
  if (!function || !function->graph || depth == 0) return CHANGES_ANYTHING;
  return changes_of_block(function->graph->block, depth - 1);
}

static unsigned changes_of_method(const Type *type, Str name, int depth) {
  if (type->kind != TYPE_CLASS) return CHANGES_ANYTHING;
  return changes_of_function(class_type_find_method(type->class_type, name), depth);
}

/* Something in a value of the type may be a tensor. */
static bool holds_tensor(const Type *type) {
  if (type->kind == TYPE_TENSOR) return true;
  if (!type->may_be_mutable) return false;
  if (type->kind != TYPE_LIST && type->kind != TYPE_OPTIONAL && type->kind != TYPE_TUPLE) return true;
  for (uint32_t i = 0; i < type->count; i++)
    if (holds_tensor(type->elements[i])) return true;
  return false;
}

/* Lists and dicts that are written to themselves don't count. */
static bool writes_to_tensors(const FunctionSchema *schema) {
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const AliasInfo *alias = schema->arguments[i].alias;
    const Type *type = schema->arguments[i].type;
    if (!alias || !(alias->is_write || alias->contained_write)) continue;
    if (alias->contained_write || (type->kind != TYPE_LIST && type->kind != TYPE_DICT)) return true;
  }
  return false;
}

/* The derived in-place forms record what they read: a tensor starts to require grad when another operand does. */
static bool other_operand_may_record(const Node *node) {
  for (uint32_t i = 1; i < node->input_count; i++)
    if (holds_tensor(node_input(node, i)->type)) return true;
  return false;
}

static unsigned changes_of_operator(const Node *node, const FunctionSchema *schema) {
  const Operator *op = node_operator(node);
  if (!schema->is_mutable || (op && !op->library && !writes_to_tensors(schema))) return 0;
  if (!op || op->library || (op->row->body && op->variant == VARIANT_FUNCTIONAL)) return CHANGES_ANYTHING;
  unsigned changes = op->flags & OP_RESHAPES || op->variant == VARIANT_OUT ? CHANGES_SIZES : 0;
  bool continues = op->variant == VARIANT_INPLACE || op->row->grad;
  return continues && !other_operand_may_record(node) ? changes : changes | CHANGES_REQUIRES_GRAD;
}

static unsigned changes_of_node(const Node *node, int depth) {
  switch (node->kind) {
    case SYM_prim_CallFunction: {
      const Type *type = node->input_count ? node_input(node, 0)->type : TYPE(ANY);
      return type->kind == TYPE_FUNCTION ? changes_of_function(type->function, depth) : CHANGES_ANYTHING;
    }
    case SYM_prim_CallMethod: {
      const NodeAttribute *name = node_attribute(node, SYM_attr_name);
      if (!name || name->tag != ATTR_STRING) return CHANGES_ANYTHING;
      return changes_of_method(node_input(node, 0)->type, name->s, depth);
    }
    case SYM_prim_Enter:
      return changes_of_method(node_input(node, 0)->type, STR("__enter__"), depth);
    case SYM_prim_Exit:
      return changes_of_method(node_input(node, 0)->type, STR("__exit__"), depth);
    case SYM_prim_fork: {
      const NodeAttribute *body = node_attribute(node, SYM_attr_Subgraph);
      if (!body || body->tag != ATTR_GRAPH || depth == 0) return CHANGES_ANYTHING;
      return changes_of_block(body->g->block, depth - 1);
    }
    case SYM_aten_wait: /* what this graph forked counts there */
      return node->input_count && node_input(node, 0)->node->kind == SYM_prim_fork ? 0 : CHANGES_ANYTHING;
    default:
      if (node_kind(node->kind)->effect == EFFECT_RUNS) return CHANGES_ANYTHING;
      break;
  }
  const FunctionSchema *schema = node_schema(node);
  return schema ? changes_of_operator(node, schema) : 0;
}

static unsigned changes_of_block(const Block *block, int depth) {
  unsigned changes = 0;
  for (const Node *node = block->param->next; node != block->ret && changes != CHANGES_ANYTHING; node = node->next) {
    changes |= changes_of_node(node, depth);
    for (uint32_t i = 0; i < node->block_count; i++) changes |= changes_of_block(node->blocks[i], depth);
  }
  return changes;
}

unsigned node_changes(const Node *node) {
  return changes_of_node(node, MAX_CALL_DEPTH);
}

static bool may_change_tensors(const Node *node) {
  return node_changes(node) || node_may_change_grad_mode(node);
}

bool graph_changes_tensors(const Graph *graph) {
  return block_any(graph->block, may_change_tensors);
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
  assert(tensor->kind == TYPE_TENSOR && requires_grad >= -1 && requires_grad <= 1);
  TensorInfo info;
  if (tensor->tensor)
    info = *tensor->tensor;
  else
    tensor_info_init(&info);
  if (info.requires_grad == requires_grad) return tensor;
  info.requires_grad = requires_grad;
  return type_tensor_refined(store, &info);
}
