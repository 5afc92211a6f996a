/* Constant propagation over immutable values: what depends on constants alone, has no effects and gives values that
 * nobody can change runs now. Ifs with a known condition are replaced by their branch, loops that never run and values
 * that they do not change disappear. Needs operators that run; a failing one is left for run time. */
#include <assert.h>

#include "call/call_plan.h"
#include "call/device_kernel.h"
#include "ir/graph_log.h"
#include "ir/node_kind.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "tensor/device_class.h"

#define FILE_NAME "constant_propagation"

enum {
  FOLDED_TEXT_LIMIT = 1 << 16,  /* a longer string stays computed */
  FOLDED_BYTES_LIMIT = 1 << 16, /* so does a larger tensor, */
  FOLD_WORK_LIMIT = 1 << 20     /* and what needs more memory on the way */
};

static bool is_immutable_type(const Type *type) {
  switch (type->kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_BOOL:
    case TYPE_STRING:
    case TYPE_NONE:
    case TYPE_NUMBER:
    case TYPE_DEVICE:
    case TYPE_ENUM:
      return true;
    case TYPE_OPTIONAL:
      return is_immutable_type(type->elements[0]);
    case TYPE_TUPLE:
    case TYPE_UNION:
      for (uint32_t i = 0; i < type->count; i++)
        if (!is_immutable_type(type->elements[i])) return false;
      return true;
    default:
      return false;
  }
}

static bool outputs_are_immutable(const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!is_immutable_type(node_output(node, i)->type)) return false;
  return true;
}

static bool stays_small(const Value *output) {
  const Type *type = output->type;
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  return type->kind == TYPE_TENSOR || (type->kind == TYPE_LIST && is_immutable_type(type->elements[0]));
}

/* Nobody writes to what the node gives, and nobody can tell one from the next. */
static bool outputs_stay_inside(AliasDb *db, const Node *node) {
  if (!db || alias_node_has_writers(db, node)) return false;
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Value *output = node_output(node, i);
    if (is_immutable_type(output->type)) continue;
    if (value_is_told_apart(output) || !stays_small(output) || !alias_safe_to_change(db, output, output)) return false;
  }
  return true;
}

static bool inputs_are_constant(const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (!value_is_constant(node_input(node, i), NULL)) return false;
  return true;
}

/* Where there are devices, each call says where it makes tensors that are told none (Exec.default_device). */
static bool is_bound_to_device(const Call *call) {
  const CallPlan *plan;
  if (!device_class_at(1)) return false;
  Status status = call_plan(call->op, &plan);
  bool is_bound = status || call_tells_no_device(call, plan);
  status_free(status);
  return is_bound;
}

/* The outputs, owned; false: not now. */
static bool run_node(Exec *exec, Node *node, const IValue *inputs, IValue *outputs) {
  switch (node->kind) {
    case SYM_prim_TupleConstruct: {
      Tuple *tuple;
      if (node_output(node, 0)->type->field_names) return false; /* it would keep the unit that keeps it */
      Status status = tuple_new(node->input_count, NULL, &tuple);
      if (status) return status_free(status), false;
      for (uint32_t i = 0; i < node->input_count; i++) tuple->values[i] = ivalue_retain(inputs[i]);
      outputs[0] = ivalue_tuple(tuple);
      return true;
    }
    case SYM_prim_ListConstruct: {
      List *list = NULL;
      Status status = list_new(node_output(node, 0)->type->elements[0], node->input_count, &list);
      for (uint32_t i = 0; !status && i < node->input_count; i++) status = list_append(list, ivalue_retain(inputs[i]));
      if (list) outputs[0] = ivalue_list(list); /* the caller's, also when it is not whole */
      if (status) return status_free(status), false;
      return true;
    }
    case SYM_prim_TupleUnpack:
      if (inputs[0].tag != TAG_TUPLE || inputs[0].tuple->length != node->output_count) return false;
      for (uint32_t i = 0; i < node->output_count; i++) outputs[i] = ivalue_retain(inputs[0].tuple->values[i]);
      return true;
    case SYM_prim_TupleIndex: {
      if (inputs[0].tag != TAG_TUPLE || inputs[1].tag != TAG_INT) return false;
      int64_t at = inputs[1].i < 0 ? inputs[1].i + inputs[0].tuple->length : inputs[1].i;
      if (at < 0 || at >= (int64_t)inputs[0].tuple->length) return false;
      outputs[0] = ivalue_retain(inputs[0].tuple->values[at]);
      return true;
    }
    default:
      break;
  }
  const FunctionSchema *schema = node_schema(node);
  const Operator *op = node_operator(node);
  if (!exec || !schema || !op || node_writes(node) || schema->is_vararg || node_acts(node)) return false;
  if (node->output_count > CALL_MAX_OUTPUTS) return false;
  Call call = {.exec = exec,
               .op = op,
               .inputs = inputs,
               .outputs = outputs,
               .input_count = node->input_count,
               .output_count = node->output_count,
               .node = node};
  if (is_bound_to_device(&call)) return false;
  bool grad_enabled = exec->grad_enabled;
  MemBudget budget = {.left = FOLD_WORK_LIMIT}, *before = mem_budget_enter(&budget);
  exec->grad_enabled = false;
  Status status = operator_call(exec, op, &call);
  mem_budget_enter(before);
  exec->grad_enabled = grad_enabled;
  if (!status) return true;
  status_free(status);
  return false;
}

static bool worth_keeping(IValue value) {
  if (value.tag == TAG_TENSOR) {
    size_t bytes;
    if (!size_mul((size_t)value.tensor->numel, dtype_size(value.tensor->dtype), &bytes) || bytes > FOLDED_BYTES_LIMIT)
      return false;
  }
  return constant_is_possible(value) && (value.tag != TAG_STRING || value.string->length <= FOLDED_TEXT_LIMIT);
}

static void fold_node(Graph *graph, Exec *exec, AliasDb *db, Node *node) {
  if (!node_has_flag(node, KIND_MAY_FOLD)) return;
  IValue *inputs, outputs[CALL_MAX_OUTPUTS] = {0}, *results = outputs;
  if (!node->output_count || !inputs_are_constant(node) ||
      (!outputs_are_immutable(node) && !outputs_stay_inside(db, node)))
    return;
  inputs = ARENA_ARRAY(graph->arena, IValue, node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) (void)value_is_constant(node_input(node, i), &inputs[i]);
  if (node->output_count > CALL_MAX_OUTPUTS) results = ARENA_ARRAY(graph->arena, IValue, node->output_count);
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + node->output_count); /* holding can't fail then */
  if (!run_node(exec, node, inputs, results)) {
    for (uint32_t i = 0; i < node->output_count; i++) ivalue_release(results[i]);
    return;
  }
  bool fine = true;
  for (uint32_t i = 0; i < node->output_count; i++) {
    graph_hold(graph, results[i]);
    fine = fine && worth_keeping(results[i]);
  }
  if (!fine || !jit_opt_limit(FILE_NAME)) return;
  NODE_LOG_UPDATE(FILE_NAME, "is constant:", node);
  Node *saved = graph->insert_before;
  graph_set_insert_point(graph, node);
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *old = node_output(node, i),
          *constant = graph_insert_constant(graph, results[i], old->type->kind == TYPE_TUPLE ? old->type : NULL);
    node_copy_metadata(constant->node, node);
    if (old->type->kind == TYPE_OPTIONAL && ivalue_is_none(results[i])) constant->type = old->type;
    Str name = old->name;
    value_replace_all_uses_with(old, constant);
    if (name.length) {
      value_set_name(old, STR(""));
      value_set_name(constant, name);
    }
  }
  graph->insert_before = saved;
}

/* ---- control flow ---- */

static bool is_before_if_chain(const Value *value, const Block *block) {
  return !node_is_in_block(value->node, block);
}

static void inline_branch(Node *node, bool taken) {
  assert(node->kind == SYM_prim_If && node->block_count == 2);
  Block *block = node->blocks[taken ? 0 : 1];
  for (uint32_t i = 0; i < node->output_count; i++)
    value_replace_all_uses_with(node_output(node, i), block_output(block, i));
  BLOCK_EACH(inner, block) node_move_before(inner, node);
  node_destroy(node);
}

/* Equal constants, or one value from outside, in both branches. */
static void drop_if_outputs(Graph *graph, Node *node) {
  for (uint32_t i = node->output_count; i-- > 0;) {
    Value *a = block_output(node->blocks[0], i), *b = block_output(node->blocks[1], i), *instead = NULL;
    IValue x, y;
    if (a == b && is_before_if_chain(a, node->blocks[0])) {
      if (jit_opt_limit(FILE_NAME)) instead = a;
    } else if (value_is_constant(a, &x) && value_is_constant(b, &y) && x.tag == y.tag && x.tag != TAG_TENSOR &&
               type_equal(a->type, b->type) && ivalue_is_surely_equal(x, y) && jit_opt_limit(FILE_NAME)) {
      Node *saved = graph->insert_before;
      graph_set_insert_point(graph, node);
      instead = graph_insert_constant(graph, x, a->type);
      graph->insert_before = saved;
    }
    if (!instead) continue;
    value_replace_all_uses_with(node_output(node, i), instead);
    node_erase_output(node, i);
    for (int k = 0; k < 2; k++) block_erase_output(node->blocks[k], i);
  }
}

static bool never_runs(Node *loop) {
  IValue value;
  if (value_is_constant(node_input(loop, 0), &value) && value.tag == TAG_INT && value.i < 1) return true;
  return value_is_constant(node_input(loop, 1), &value) && value.tag == TAG_BOOL && !value.b;
}

static void remove_loop(Node *loop) {
  assert(loop->input_count == loop->output_count + 2);
  for (uint32_t i = 0; i < loop->output_count; i++)
    value_replace_all_uses_with(node_output(loop, i), node_input(loop, i + 2));
  node_destroy(loop);
}

static void drop_loop_outputs(Node *loop) {
  assert(block_output_count(loop->blocks[0]) == loop->output_count + 1);
  Block *body = loop->blocks[0];
  for (uint32_t i = loop->output_count; i-- > 0;) {
    Value *carried = block_input(body, i + 1);
    if (block_output(body, i + 1) != carried && block_output(body, i + 1) != node_input(loop, i + 2)) continue;
    if (!jit_opt_limit(FILE_NAME)) continue;
    value_replace_all_uses_with(carried, node_input(loop, i + 2));
    value_replace_all_uses_with(node_output(loop, i), node_input(loop, i + 2));
    node_erase_output(loop, i);
    block_erase_output(body, i + 1);
    block_erase_input(body, i + 1);
    node_remove_input(loop, i + 2);
  }
}

static void propagate_in(Graph *graph, Exec *exec, AliasDb *db, Block *block);

static void propagate_if(Graph *graph, Exec *exec, AliasDb *db, Node *node) {
  IValue condition;
  if (value_is_constant(node_input(node, 0), &condition) && condition.tag == TAG_BOOL && jit_opt_limit(FILE_NAME)) {
    propagate_in(graph, exec, db, node->blocks[condition.b ? 0 : 1]);
    inline_branch(node, condition.b);
    return;
  }
  for (int i = 0; i < 2; i++) propagate_in(graph, exec, db, node->blocks[i]);
  drop_if_outputs(graph, node);
}

static void propagate_in(Graph *graph, Exec *exec, AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    switch (node->kind) {
      case SYM_prim_If:
        propagate_if(graph, exec, db, node);
        break;
      case SYM_prim_Loop:
        if (never_runs(node) && jit_opt_limit(FILE_NAME)) {
          remove_loop(node);
        } else {
          propagate_in(graph, exec, db, node->blocks[0]);
          drop_loop_outputs(node);
        }
        break;
      default:
        for (uint32_t i = 0; i < node->block_count; i++) propagate_in(graph, exec, db, node->blocks[i]);
        fold_node(graph, exec, db, node);
    }
  }
}

Node *propagate_constants_at(Graph *graph, Exec *exec, Node *node) {
  IValue condition;
  if (node->kind != SYM_prim_If) {
    if (!node->block_count) fold_node(graph, exec, NULL, node);
  } else if (value_is_constant(node_input(node, 0), &condition) && condition.tag == TAG_BOOL &&
             jit_opt_limit(FILE_NAME)) {
    Node *before = node->prev;
    inline_branch(node, condition.b);
    return before->next;
  }
  return node;
}

void constant_propagation(Graph *graph, Exec *exec) {
  propagate_in(graph, exec, NULL, graph->block);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After ConstantPropagationImmutableTypes: ", graph);
}

static void propagate_with_aliases(Graph *graph, AliasDb *db, void *argument) {
  propagate_in(graph, argument, db, graph->block);
}

void constant_propagation_mutable(Graph *graph, Exec *exec) {
  with_aliases(graph, propagate_with_aliases, exec);
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After ConstantPropagation: ", graph);
}

PASS(constant_propagation, GRADIENTS, constant_propagation(graph, exec), "computes what depends on constants alone");
PASS(constant_propagation_mutable, GRADIENTS, constant_propagation_mutable(graph, exec),
     "the same for tensors and lists that stay inside");
