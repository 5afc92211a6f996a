/* One node's part of a backward graph: prim::GradOf over the gradients of its results, with the row's formula inside.
 */
#include "autodiff/differentiate_internal.h"
#include "call/call_plan.h"
#include "call/row.h"

static Value *list_element(Value *list, uint32_t i) { /* of a ListConstruct */
  return node_input(list->node, i);
}

static bool argument_requires(const Differ *d, const Value *argument) {
  if (argument->node->kind != SYM_prim_ListConstruct) return differ_requires(d, argument);
  for (uint32_t i = 0; i < argument->node->input_count; i++)
    if (differ_requires(d, node_input(argument->node, i))) return true;
  return false;
}

uint64_t wanted_arguments(const Differ *d, const Node *node, const Formula *formula, uint32_t *out_statements) {
  uint64_t requiring = 0, wanted = 0;
  *out_statements = 0;
  for (uint32_t i = 0; i < node->input_count && i < CALL_MAX_INPUTS; i++)
    if (argument_requires(d, node_input(node, i))) requiring |= (uint64_t)1 << i;
  for (uint32_t i = 0; i < formula->count; i++) {
    uint64_t both = formula->statements[i].targets & requiring;
    if (both) *out_statements |= 1u << i;
    wanted |= both;
  }
  return wanted;
}

/* ---- the gradients that come in ---- */

/* The results of a node; those of the ListUnpack after it where it gives a list. */
typedef struct Results {
  uint32_t count;
  Value **values;
} Results;

static Results results_of(const Node *node) {
  if (node->output_count == 1 && type_is_tensor_list(node_output(node, 0)->type)) {
    const Value *list = node_output(node, 0);
    if (list->uses.length != 1) return (Results){0, NULL};
    const Node *unpack = list->uses.data[0].user;
    return (Results){unpack->output_count, unpack->outputs};
  }
  return (Results){node->output_count, node->outputs};
}

static Value *gradient_of(const Differ *d, const Value *result) {
  return ptrmap_get(&d->gradients, result);
}

/* The gradient of one of several results, zeros where none comes. */
static Value *filled_gradient(Differ *d, Value *result, bool alone) {
  Value *gradient = gradient_of(d, result);
  if (gradient && alone) return gradient;
  if (!gradient) gradient = differ_insert(d, SYM_prim_AutogradZero, 0, NULL, TYPE(TENSOR));
  Value *inputs[] = {gradient, differ_import(d, differ_size(d, result)), differ_import(d, differ_dtype(d, result))};
  return differ_insert(d, symbol_intern(STR("aten::_grad_or_zeros")), 3, inputs, TYPE(TENSOR));
}

static Value *filled_gradients(Differ *d, Results results) {
  Value **values = ARENA_ARRAY(d->arena, Value *, results.count + 1);
  for (uint32_t i = 0; i < results.count; i++) values[i] = filled_gradient(d, results.values[i], results.count == 1);
  return differ_insert(d, SYM_prim_ListConstruct, results.count, values, type_list_of(TYPE_TENSOR));
}

static Value *imported_results(Differ *d, Results results) {
  Value **values = ARENA_ARRAY(d->arena, Value *, results.count + 1);
  for (uint32_t i = 0; i < results.count; i++) values[i] = differ_import(d, results.values[i]);
  return differ_insert(d, SYM_prim_ListConstruct, results.count, values, type_list_of(TYPE_TENSOR));
}

/* ---- the gradients that go out ---- */

static int known_dtype(const Value *value) {
  const Type *type = value->type->kind == TYPE_OPTIONAL ? value->type->elements[0] : value->type;
  return type->kind == TYPE_TENSOR && type->tensor ? type->tensor->dtype : -1;
}

static bool known_equal_sizes(const Value *a, const Value *b) {
  const TensorInfo *x = a->type->kind == TYPE_TENSOR ? a->type->tensor : NULL,
                   *y = b->type->kind == TYPE_TENSOR ? b->type->tensor : NULL;
  if (!x || !y || !x->has_sizes || !y->has_sizes || x->ndim != y->ndim) return false;
  for (int i = 0; i < x->ndim; i++)
    if (x->sizes[i] < 0 || x->sizes[i] != y->sizes[i]) return false;
  return true;
}

static uint32_t count_tensors(const Node *node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; i++)
    count += type_is_tensor(node_input(node, i)->type) || type_is_tensor_list(node_input(node, i)->type);
  return count;
}

static bool dtypes_differ(const Node *node) {
  int dtype = known_dtype(node_output(node, 0));
  for (uint32_t i = 0; i < node->input_count; i++)
    if (type_is_tensor(node_input(node, i)->type) && (dtype < 0 || known_dtype(node_input(node, i)) != dtype))
      return true;
  return false;
}

static bool dtypes_known(const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (type_is_tensor_list(node_input(node, i)->type) ||
        (type_is_tensor(node_input(node, i)->type) && known_dtype(node_input(node, i)) < 0))
      return false;
  return known_dtype(node_output(node, 0)) >= 0;
}

/* Whether the formula may give a gradient that is larger than the argument, or of another dtype. */
static bool may_differ(const Node *node) {
  const OpRow *row = node_operator(node)->row;
  return row->lower ? count_tensors(node) > 1 : !(row->flags & OP_GRAD_EXACT);
}

/* Summed to the argument's sizes and made of its dtype, where that can be needed. */
static Value *conformed(Differ *d, const Node *node, Value *argument, Value *gradient) {
  if (node->kind == SYM_prim_ConstantChunk || !may_differ(node)) return gradient;
  Value *result = node_output(node, 0);
  bool pointwise = node_operator(node)->row->lower && result->type->kind == TYPE_TENSOR;
  if (!pointwise || !known_equal_sizes(argument, result)) {
    Value *size = differ_size(d, argument);
    if (pointwise) { /* None where nothing was broadcast: the backward graph then needn't ask */
      Value *sizes[] = {size, differ_size(d, result)};
      Node *compare = graph_create(d->forward, symbol_intern(STR("aten::_size_if_not_equal")), 2, sizes, 1);
      Node *after = node_is_before(sizes[0]->node, sizes[1]->node) ? sizes[1]->node : sizes[0]->node;
      node_insert_after(compare, after);
      node_output(compare, 0)->type = node_schema(compare)->returns[0].type;
      size = node_output(compare, 0);
    }
    Value *inputs[] = {gradient, differ_import(d, size)};
    gradient = differ_insert(d, symbol_intern(STR("aten::_grad_sum_to_size")), 2, inputs, TYPE(TENSOR));
  }
  if (!dtypes_known(node) || dtypes_differ(node)) {
    Value *inputs[] = {gradient, differ_import(d, differ_dtype(d, argument))};
    gradient = differ_insert(d, symbol_intern(STR("aten::_grad_to_dtype")), 2, inputs, TYPE(TENSOR));
  }
  return gradient;
}

/* The outputs of the GradOf under construction and whose gradients they are. */
typedef struct Outputs {
  VEC(Value *) arguments, gradients;
} Outputs;

static void take_tensor(Differ *d, const Node *node, Value *argument, Value *gradient, Outputs *out) {
  if (!differ_requires(d, argument) || gradient->type->kind == TYPE_NONE) return;
  if (gradient->type->kind == TYPE_OPTIONAL)
    gradient = differ_insert(d, symbol_intern(STR("aten::_grad_or_undefined")), 1, &gradient, TYPE(TENSOR));
  gradient = conformed(d, node, argument, gradient);
  vec_arena_push(d->arena, &out->arguments, argument);
  vec_arena_push(d->arena, &out->gradients, gradient);
}

static void take_gradient(Differ *d, const Node *node, Value *argument, Value *gradient, Outputs *out) {
  if (argument->node->kind != SYM_prim_ListConstruct) {
    take_tensor(d, node, argument, gradient, out);
    return;
  }
  uint32_t count = argument->node->input_count;
  Node *unpack = graph_create(d->backward, SYM_prim_ListUnpack, 1, &gradient, count);
  const Type *element = gradient->type->kind == TYPE_LIST ? gradient->type->elements[0] : TYPE(TENSOR);
  for (uint32_t i = 0; i < count; i++) node_output(unpack, i)->type = element;
  graph_insert_node(d->backward, unpack);
  for (uint32_t i = 0; i < count; i++) take_tensor(d, node, list_element(argument, i), node_output(unpack, i), out);
}

static Value **unpack_tuple(Differ *d, Value *tuple, uint32_t count) {
  if (tuple->type->kind != TYPE_TUPLE || tuple->type->count != count)
    catch_throw(d->arena->catch_point, status_internal("a gradient does not give %u values", count));
  Node *unpack = graph_create(d->backward, SYM_prim_TupleUnpack, 1, &tuple, count);
  for (uint32_t i = 0; i < count; i++) node_output(unpack, i)->type = tuple->type->elements[i];
  return graph_insert_node(d->backward, unpack)->outputs;
}

/* ---- formulas ---- */

static Value **formula_arguments(Differ *d, const Node *node, const Formula *formula, uint32_t statements,
                                 Results results) {
  FormulaNames names = formula_names(formula, statements);
  Value **arguments = ARENA_ARRAY(d->arena, Value *, node->input_count + 5);
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (names.arguments >> i & 1) arguments[count++] = differ_import(d, node_input(node, i));
  if (names.grad) {
    bool first = gradient_of(d, results.values[0]) != NULL;
    bool others = false;
    for (uint32_t i = 1; i < results.count; i++) others = others || gradient_of(d, results.values[i]);
    arguments[count++] = filled_gradient(d, results.values[0], first && !others);
  }
  if (names.grads) arguments[count++] = filled_gradients(d, results);
  bool list = node->output_count == 1 && type_is_tensor_list(node_output(node, 0)->type);
  if (names.result) arguments[count++] = list ? imported_results(d, results) : differ_import(d, node_output(node, 0));
  if (names.results) arguments[count++] = imported_results(d, results);
  return arguments;
}

static void inline_formula(Differ *d, Node *node, Formula *formula, uint32_t statements, Results results,
                           Outputs *out) {
  Function *function;
  Status status = formula_program(d->exec, formula, statements, &function);
  if (status) catch_throw(d->arena->catch_point, status);
  Value **arguments = formula_arguments(d, node, formula, statements, results), *value;
  graph_inline(d->backward, function->graph, arguments, &value);
  uint32_t count = (uint32_t)__builtin_popcount(statements), at = 0;
  Value **values = count > 1 ? unpack_tuple(d, value, count) : &value;
  for (uint32_t i = 0; i < formula->count; i++) {
    const FormulaStatement *s = &formula->statements[i];
    if (!(statements >> i & 1)) continue;
    Value *given = values[at++], **gradients = s->target_count > 1 ? unpack_tuple(d, given, s->target_count) : &given;
    for (uint32_t k = 0; k < s->target_count; k++)
      if (argument_requires(d, node_input(node, s->order[k])))
        take_gradient(d, node, node_input(node, s->order[k]), gradients[k], out);
  }
}

static void inline_chunk(Differ *d, Node *node, Results results, Outputs *out) {
  Graph *graph = d->backward;
  Value **gradients = ARENA_ARRAY(d->arena, Value *, results.count + 1), *input = node_input(node, 0);
  for (uint32_t i = 0; i < results.count; i++) {
    gradients[i] = gradient_of(d, results.values[i]);
    if (!gradients[i]) gradients[i] = differ_insert(d, SYM_prim_AutogradZero, 0, NULL, TYPE(TENSOR));
  }
  Value *inputs[] = {differ_insert(d, SYM_prim_ListConstruct, results.count, gradients, type_list_of(TYPE_TENSOR)),
                     graph_insert_constant(graph, ivalue_int(node_int(node, SYM_attr_chunks)), NULL),
                     graph_insert_constant(graph, ivalue_int(node_int(node, SYM_attr_dim)), NULL),
                     differ_import(d, differ_size(d, input))};
  Value *whole = differ_insert(d, symbol_intern(STR("aten::_chunk_backward")), 4, inputs, TYPE(TENSOR));
  take_tensor(d, node, input, whole, out);
}

static Node *open_grad_of(Differ *d, const Node *node, Results results) {
  Node *grad_of = graph_create(d->backward, SYM_prim_GradOf, 0, NULL, 0);
  node_copy_metadata(grad_of, node);
  node_set_string(grad_of, SYM_attr_name, symbol_name(node->kind));
  for (uint32_t i = 0; i < results.count; i++) {
    Value *gradient = gradient_of(d, results.values[i]);
    if (gradient) node_add_input(grad_of, gradient);
  }
  graph_insert_node(d->backward, grad_of);
  graph_set_insert_block(d->backward, node_add_block(grad_of));
  return grad_of;
}

void backward_of_node(Differ *d, Node *node) {
  if (node->kind == SYM_prim_Constant || node->kind == SYM_prim_ListConstruct || node->kind == SYM_prim_ListUnpack)
    return;
  Results results = results_of(node);
  bool any = false;
  for (uint32_t i = 0; i < results.count; i++) any = any || gradient_of(d, results.values[i]);
  bool is_chunk = node->kind == SYM_prim_ConstantChunk;
  Formula *formula = is_chunk ? NULL : node_formula(node);
  uint32_t statements = 0;
  if (!any || (formula ? !wanted_arguments(d, node, formula, &statements)
                       : !is_chunk || !differ_requires(d, node_input(node, 0))))
    return;

  Node *grad_of = open_grad_of(d, node, results);
  Outputs outputs = {0};
  if (is_chunk)
    inline_chunk(d, node, results, &outputs);
  else
    inline_formula(d, node, formula, statements, results, &outputs);
  for (size_t i = 0; i < outputs.gradients.length; i++) {
    block_register_output(grad_of->blocks[0], outputs.gradients.data[i]);
    node_add_output(grad_of, TYPE(TENSOR));
  }
  graph_set_insert_block(d->backward, d->backward->block);
  for (size_t i = 0; i < outputs.arguments.length; i++)
    differ_add_gradient(d, outputs.arguments.data[i], node_output(grad_of, (uint32_t)i));
}
