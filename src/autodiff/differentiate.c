/* Makes the forward and the backward graph of a differentiable part. The backward graph is built from the last node to
 * the first; what it reads of the forward graph becomes captures. Of a capture of which only sizes and the like are
 * read, these are computed in the forward graph and captured instead. */
#include "autodiff/differentiate.h"

#include <assert.h>

#include "autodiff/differentiate_internal.h"
#include "ir/graph_log.h"
#include "ir/subgraph.h"

#define FILE_NAME "differentiate"

bool type_is_tensor(const Type *type) {
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  return type->kind == TYPE_TENSOR;
}

bool type_is_tensor_list(const Type *type) {
  return type->kind == TYPE_LIST && type_is_tensor(type->elements[0]);
}

/* ---- what may require grad ---- */

static bool may_require(const Value *value) {
  const Type *type = value->type->kind == TYPE_OPTIONAL ? value->type->elements[0] : value->type;
  if (type->kind != TYPE_TENSOR) return false;
  const TensorInfo *info = type->tensor;
  if (!info) return true;
  bool integral = info->dtype >= 0 && !dtype_is_floating((DType)info->dtype) && !dtype_is_complex((DType)info->dtype);
  return !integral && info->undefined != 1;
}

static bool input_may_require(const Value *value) {
  const Type *type = value->type->kind == TYPE_OPTIONAL ? value->type->elements[0] : value->type;
  return may_require(value) && !(type->tensor && type->tensor->requires_grad == 0);
}

static void require(Differ *d, Value *value) {
  ptrmap_put(&d->requires, value, value);
}

bool node_requires(const Differ *d, const Node *node) {
  switch (node->kind) {
    case SYM_prim_Constant:
      return false;
    case SYM_prim_ConstantChunk:
    case SYM_prim_ListConstruct:
    case SYM_prim_ListUnpack:
      for (uint32_t i = 0; i < node->input_count; i++)
        if (differ_requires(d, node_input(node, i))) return true;
      return false;
    default:
      break;
  }
  const Formula *formula = node_formula(node);
  uint32_t statements;
  return formula && wanted_arguments(d, node, formula, &statements);
}

static void find_requiring(Differ *d) {
  for (uint32_t i = 0; i < graph_input_count(d->forward); i++)
    if (input_may_require(graph_input(d->forward, i))) require(d, graph_input(d->forward, i));
  BLOCK_EACH(node, d->forward->block) {
    if (!node_requires(d, node)) continue;
    for (uint32_t i = 0; i < node->output_count; i++)
      if (may_require(node_output(node, i)) || type_is_tensor_list(node_output(node, i)->type))
        require(d, node_output(node, i));
  }
}

/* ---- from outside to inside ---- */

Value *differ_insert(Differ *d, Symbol kind, uint32_t count, Value *const *inputs, const Type *type) {
  Node *node = graph_create(d->backward, kind, count, inputs, 1);
  node_output(node, 0)->type = type;
  return node_output(graph_insert_node(d->backward, node), 0);
}

static const Type *type_inside(const Type *type) { /* what was known of a tensor need not hold of every backward */
  if (type->kind == TYPE_TENSOR) return TYPE(TENSOR);
  if (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_TENSOR) return type_optional_of(TYPE_TENSOR);
  return type;
}

static Value *capture(Differ *d, Value *outside) {
  Value *inside = ptrmap_get(&d->captures, outside);
  if (inside) return inside;
  inside = graph_add_input(d->backward, STR(""), type_inside(outside->type)); /* of its place until all are known */
  ptrmap_put(&d->captures, outside, inside);
  ptrmap_put(&d->is_capture, inside, outside);
  return inside;
}

Value *differ_import(Differ *d, Value *outside) {
  Node *node = outside->node;
  if (node->kind == SYM_prim_Constant) {
    Value *inside = ptrmap_get(&d->constants, outside);
    if (inside) return inside;
    Node *copy = node_copy(node, d->backward, NULL, NULL);
    node_insert_after(copy, d->backward->block->param);
    ptrmap_put(&d->constants, outside, node_output(copy, 0));
    return node_output(copy, 0);
  }
  bool made_here = node->kind == SYM_prim_ListConstruct && type_is_tensor_list(outside->type);
  if (!made_here) return capture(d, outside);
  Value **elements = ARENA_ARRAY(d->arena, Value *, node->input_count + 1);
  for (uint32_t i = 0; i < node->input_count; i++) elements[i] = differ_import(d, node_input(node, i));
  return differ_insert(d, SYM_prim_ListConstruct, node->input_count, elements, outside->type);
}

Value *differ_metadata(Differ *d, PtrMap *memo, Symbol kind, const Type *type, Value *outside) {
  Value *metadata = ptrmap_get(memo, outside);
  if (metadata) return metadata;
  Node *node = graph_create(d->forward, kind, 1, &outside, 1);
  metadata = node_output(node, 0);
  metadata->type = type;
  node_insert_after(node, outside->node);
  ptrmap_put(memo, outside, metadata);
  return metadata;
}

Value *differ_size(Differ *d, Value *outside) {
  return differ_metadata(d, &d->sizes, SYM_aten_size, type_list_of(TYPE_INT), outside);
}

Value *differ_dtype(Differ *d, Value *outside) {
  return differ_metadata(d, &d->dtypes, SYM_prim_dtype, TYPE(INT), outside);
}

void differ_add_gradient(Differ *d, Value *outside, Value *gradient) {
  Value *old = ptrmap_get(&d->gradients, outside);
  if (old) gradient = differ_insert(d, SYM_prim_AutogradAdd, 2, (Value *[]){old, gradient}, TYPE(TENSOR));
  ptrmap_put(&d->gradients, outside, gradient);
}

/* ---- captures that are only looked at ---- */

/* What the forward graph can ask in its place. */
static bool asks_metadata(const Node *node) {
  if (node->kind == SYM_aten_size && node->input_count == 2) return true; /* of one dimension */
  return node->input_count == 1 && node->output_count == 1 && node_reads_metadata(node, 0) &&
         !type_is_tensor(node_output(node, 0)->type);
}

static void capture_metadata(Differ *d, Value *outside, Value *inside) {
  for (size_t i = 0; i < inside->uses.length; i++)
    if (!asks_metadata(inside->uses.data[i].user)) return;
  while (inside->uses.length) {
    Node *user = inside->uses.data[inside->uses.length - 1].user;
    Value *answer = node_output(user, 0), *metadata;
    if (user->kind == SYM_aten_size && user->input_count == 2) {
      Node *item = graph_create(d->backward, SYM_aten___getitem__, 2,
                                (Value *[]){capture(d, differ_size(d, outside)), node_input(user, 1)}, 1);
      node_output(item, 0)->type = answer->type;
      node_insert_before(item, user);
      value_replace_all_uses_with(answer, node_output(item, 0));
      node_destroy(user);
      continue;
    }
    if (user->kind == SYM_aten_size) {
      metadata = differ_size(d, outside);
    } else if (user->kind == SYM_prim_dtype) {
      metadata = differ_dtype(d, outside);
    } else {
      PtrMap memo;
      ptrmap_init(&memo, d->arena);
      metadata = differ_metadata(d, &memo, user->kind, answer->type, outside);
    }
    value_replace_all_uses_with(answer, capture(d, metadata));
    node_destroy(user);
  }
}

static void each_outside(Differ *d, void (*visit)(Differ *d, Value *value, void *argument), void *argument) {
  for (uint32_t i = 0; i < graph_input_count(d->forward); i++) visit(d, graph_input(d->forward, i), argument);
  BLOCK_EACH(node, d->forward->block)
  for (uint32_t i = 0; i < node->output_count; i++) visit(d, node_output(node, i), argument);
}

static void visit_metadata(Differ *d, Value *outside, void *argument) {
  (void)argument;
  Value *inside = ptrmap_get(&d->captures, outside);
  if (inside && type_is_tensor(outside->type) && value_has_uses(inside)) capture_metadata(d, outside, inside);
}

/* ---- building ---- */

static void start(Differ *d) {
  d->backward = graph_new(d->arena, d->forward->store);
  vec_arena_push(d->arena, &d->forward->subgraphs, d->backward); /* whose arena it lives in disposes of it */
  ptrmap_init(&d->gradients, d->arena);
  ptrmap_init(&d->constants, d->arena);
  ptrmap_init(&d->captures, d->arena);
  ptrmap_init(&d->is_capture, d->arena);
}

typedef struct Offsets {
  VEC(uint32_t) list;
} Offsets;

static uint32_t output_offset(const Graph *graph, const Value *value) {
  for (uint32_t i = 0; i < graph_output_count(graph); i++)
    if (graph_output(graph, i) == value) return i;
  return UINT32_MAX;
}

static uint32_t register_once(Graph *graph, Value *value) {
  uint32_t at = output_offset(graph, value);
  return at == UINT32_MAX ? graph_register_output(graph, value) : at;
}

static void add_output_gradients(Differ *d, uint32_t real, Offsets *vjps) {
  assert(real <= graph_output_count(d->forward));
  for (uint32_t i = 0; i < real; i++) {
    Value *output = graph_output(d->forward, i);
    if (!differ_requires(d, output) || !type_is_tensor(output->type)) continue;
    Value *gradient = graph_add_input(d->backward, STR(""), TYPE(TENSOR));
    vec_arena_push(d->arena, &vjps->list, i);
    differ_add_gradient(d, output, gradient);
  }
}

typedef struct Roots {
  Offsets *vjps;
} Roots;

static void visit_root(Differ *d, Value *value, void *argument) {
  Offsets *vjps = argument;
  if (!ptrmap_has(&d->roots, value) || ptrmap_has(&d->gradients, value)) return;
  Value *gradient = graph_add_input(d->backward, STR(""), TYPE(TENSOR));
  vec_arena_push(d->arena, &vjps->list, register_once(d->forward, value));
  ptrmap_put(&d->gradients, value, gradient);
}

static void visit_gradient_output(Differ *d, Value *value, void *argument) {
  (void)argument;
  Value *gradient = ptrmap_get(&d->gradients, value);
  if (gradient && value->node->kind != SYM_prim_Param) graph_register_output(d->backward, gradient);
}

static bool is_known_real(const Value *value) {
  const Type *type = value->type->kind == TYPE_OPTIONAL ? value->type->elements[0] : value->type;
  if (type->kind != TYPE_TENSOR) return !type_is_tensor_list(type) || value->node->kind == SYM_prim_ListConstruct;
  return type->tensor && type->tensor->dtype >= 0 && !dtype_is_complex((DType)type->tensor->dtype);
}

/* Gradients of real numbers are real: nothing to conjugate. */
static void drop_conjugates(Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) drop_conjugates(node->blocks[i]);
    const Operator *op = node_operator(node);
    if (!op || !(op->flags & OP_CONJUGATE)) continue;
    value_replace_all_uses_with(node_output(node, 0), node_input(node, 0));
    node_destroy(node);
  }
}

static bool is_all_real(const Graph *graph) {
  for (uint32_t i = 0; i < graph_input_count(graph); i++)
    if (!is_known_real(graph_input(graph, i))) return false;
  BLOCK_EACH(node, graph->block)
  for (uint32_t i = 0; i < node->output_count; i++)
    if (node->kind != SYM_prim_Constant && !is_known_real(node_output(node, i))) return false;
  return true;
}

/* Formulas call functions of the prelude and decide by what is known here. Gradients of temporaries stay. */
static void simplify(Differ *d) {
  uint32_t real = graph_output_count(d->backward);
  each_outside(d, visit_gradient_output, NULL);
  inliner(d->backward);
  lower_tuples(d->backward);
  constant_propagation(d->backward, d->exec);
  peephole(d->backward);
  if (is_all_real(d->forward)) drop_conjugates(d->backward->block);
  dead_code_elimination(d->backward);
  while (graph_output_count(d->backward) > real)
    block_erase_output(d->backward->block, graph_output_count(d->backward) - 1);
}

/* A captured temporary that may require grad, but had no gradient while the backward graph was built. */
static void visit_missing(Differ *d, Value *value, void *argument) {
  bool *missing = argument;
  Value *inside = ptrmap_get(&d->captures, value);
  if (!inside || !value_has_uses(inside) || value->node->kind == SYM_prim_Param) return;
  if (!differ_requires(d, value) || !type_is_tensor(value->type) || ptrmap_has(&d->gradients, value)) return;
  ptrmap_put(&d->roots, value, value);
  *missing = true;
}

/* A gradient for a captured temporary: what comes to it from outside is added to what is computed inside. */
static void add_temporary_gradient(Differ *d, Value *value, Offsets *vjps) {
  Value *gradient = ptrmap_get(&d->gradients, value);
  if (!gradient || gradient->node->kind == SYM_prim_Param) return; /* an output or a root */
  uint32_t at = output_offset(d->forward, value);
  for (size_t i = 0; i < vjps->list.length; i++)
    if (vjps->list.data[i] == at) return;
  Value *given = graph_add_input(d->backward, STR(""), TYPE(TENSOR));
  vec_arena_push(d->arena, &vjps->list, at);
  Node *add = graph_create(d->backward, SYM_prim_AutogradAdd, 2, (Value *[]){given, gradient}, 1);
  node_insert_after(add, gradient->node);
  value_replace_all_uses_with(gradient, node_output(add, 0));
  node_replace_input(add, 1, gradient);
}

typedef struct Capturing {
  Offsets inputs, outputs, vjps;
  VEC(Value *) from_inputs, from_outputs; /* inside */
} Capturing;

static void visit_capture(Differ *d, Value *value, void *argument) {
  Capturing *c = argument;
  Value *inside = ptrmap_get(&d->captures, value);
  if (!inside || !value_has_uses(inside)) return;
  if (value->node->kind == SYM_prim_Param) {
    vec_arena_push(d->arena, &c->inputs.list, value->offset);
    vec_arena_push(d->arena, &c->from_inputs, inside);
    return;
  }
  vec_arena_push(d->arena, &c->outputs.list, register_once(d->forward, value));
  vec_arena_push(d->arena, &c->from_outputs, inside);
  if (differ_requires(d, value) && type_is_tensor(value->type)) add_temporary_gradient(d, value, &c->vjps);
}

static bool metadata_only(const Value *inside);

/* Not when it only asks for sizes, dtypes and the like, of the elements of a list that is made here too. */
bool reads_values(const Node *node, uint32_t input) {
  if (node->kind == SYM_prim_ListConstruct) return !metadata_only(node_output(node, 0));
  return !node_reads_metadata(node, input);
}

static bool metadata_only(const Value *inside) {
  for (size_t i = 0; i < inside->uses.length; i++)
    if (reads_values(inside->uses.data[i].user, inside->uses.data[i].offset)) return false;
  return true;
}

static void make_inputs(Differ *d, const Capturing *c, bool *reads) {
  for (size_t i = 0; i < c->from_inputs.length + c->from_outputs.length; i++) {
    Value *inside =
        i < c->from_inputs.length ? c->from_inputs.data[i] : c->from_outputs.data[i - c->from_inputs.length];
    reads[i] = metadata_only(inside);
    value_replace_all_uses_with(inside, graph_add_input(d->backward, STR(""), inside->type));
  }
  for (uint32_t i = graph_input_count(d->backward); i-- > 0;)
    if (ptrmap_has(&d->is_capture, graph_input(d->backward, i))) block_erase_input(d->backward->block, i);
}

/* ---- differentiate ---- */

static bool build(Differ *d, uint32_t real, Capturing *c, Offsets *wanted) {
  start(d);
  add_output_gradients(d, real, &c->vjps);
  each_outside(d, visit_root, &c->vjps);
  BLOCK_EACH_REVERSE(node, d->forward->block) backward_of_node(d, node);
  for (uint32_t i = 0; i < graph_input_count(d->forward); i++) {
    Value *gradient = ptrmap_get(&d->gradients, graph_input(d->forward, i));
    if (!gradient) continue;
    vec_arena_push(d->arena, &wanted->list, i);
    graph_register_output(d->backward, gradient);
  }
  simplify(d);
  each_outside(d, visit_metadata, NULL);
  bool missing = false;
  each_outside(d, visit_missing, &missing);
  return !missing;
}

void differentiate(Graph *graph, Exec *exec, Gradient *out) {
  graph_require_stack(graph);
  expand_nodes(graph);
  Differ d = {.forward = graph, .arena = graph->arena, .exec = exec};
  uint32_t real = graph_output_count(graph);
  ptrmap_init(&d.requires, d.arena);
  ptrmap_init(&d.sizes, d.arena);
  ptrmap_init(&d.dtypes, d.arena);
  ptrmap_init(&d.roots, d.arena);
  find_requiring(&d);
  Capturing c = {0};
  Offsets wanted = {0};
  while (!build(&d, real, &c, &wanted)) { /* each time with more roots */
    c = (Capturing){0};
    wanted = (Offsets){0};
  }
  each_outside(&d, visit_capture, &c);
  *out = (Gradient){.forward = graph, .backward = d.backward, .real_outputs = real};
  out->metadata_only = ARENA_ARRAY(d.arena, bool, c.from_inputs.length + c.from_outputs.length + 1);
  make_inputs(&d, &c, out->metadata_only);
  out->captured_inputs = c.inputs.list.data;
  out->captured_input_count = (uint32_t)c.inputs.list.length;
  out->captured_outputs = c.outputs.list.data;
  out->captured_output_count = (uint32_t)c.outputs.list.length;
  out->input_vjps = c.vjps.list.data;
  out->input_vjp_count = (uint32_t)c.vjps.list.length;
  out->output_vjps = wanted.list.data;
  out->output_vjp_count = (uint32_t)wanted.list.length;
  out->differentiable = ARENA_ARRAY(d.arena, bool, graph_input_count(graph) + 1);
  for (uint32_t i = 0; i < graph_input_count(graph); i++)
    out->differentiable[i] = differ_requires(&d, graph_input(graph, i));
  out->words = graph_input_count(graph) / 64 + 1;
  differ_find_dependence(&d, out);
  differ_find_readers(&d, out);
  out->vjp_words = out->input_vjp_count / 64 + 1;
  differ_find_carriers(&d, out);
  GRAPH_LOG_DUMP("autodiff", "Forward", out->forward);
  GRAPH_LOG_DUMP("autodiff", "Backward", out->backward);
}

/* ---- as a pass ---- */

static void differentiate_in(Block *block, Exec *exec) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) differentiate_in(node->blocks[i], exec);
    if (node->kind != SYM_prim_DifferentiableGraph || node->callable) continue;
    Gradient gradient;
    differentiate(node_subgraph(node), exec, &gradient);
    pack_gradient(node, &gradient, NULL, NULL);
  }
}

void differentiate_subgraphs(Graph *graph, Exec *exec) {
  graph_require_stack(graph);
  differentiate_in(graph->block, exec);
}

PASS(differentiate, GRADIENTS, differentiate_subgraphs(graph, exec),
     "makes forward and backward graphs of these nodes");
