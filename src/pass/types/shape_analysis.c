/* Types of tensors, forward through the graph: operators by shape_evaluate, structure by rules. Types of inputs, of
 * constants, of attributes and of guards stand as far as they last (lasting_facts.h); all others are computed anew. */
#include "pass/types/shape_analysis.h"

#include <assert.h>

#include "call/call.h"
#include "ir/graph_log.h"
#include "ir/node_kind.h"
#include "pass/pass.h"
#include "pass/types/lasting_facts.h"
#include "pass/types/shape_evaluate.h"
#include "pass/types/tensor_facts.h"
#include "schema/schema.h"
#include "type/tensor_type.h"

#define FILE_NAME "shape_analysis"

typedef struct Analysis {
  Graph *graph;
  Exec *exec;
  bool strict;
  LastingFacts lasting;
  Arena scratch;
  ShapeEvaluator evaluator;
} Analysis;

static void analyze_block(Analysis *a, Block *block);

/* ---- types ---- */

static void set_info(Analysis *a, Value *v, const TensorInfo *info) {
  v->type = type_tensor_refined(a->graph->store, info);
}

static const Type *plain(Analysis *a, const Type *type) {
  return type_without_refinement(a->graph->store, type);
}

static void keep_lasting(Analysis *a, Value *v) {
  v->type = lasting_type(&a->lasting, a->graph->store, v, v->type);
}

static void set_unknown(Analysis *a, Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *v = node_output(node, i);
    v->type = plain(a, v->type);
  }
}

/* What holds for values of either type; declared is the type without anything known. */
static const Type *join(Analysis *a, const Type *x, const Type *y, const Type *declared) {
  if (x == y) return x;
  if (x->kind == TYPE_TENSOR && y->kind == TYPE_TENSOR) return type_merge_tensor(a->graph->store, x, y);
  if (x->kind != TYPE_TUPLE || y->kind != TYPE_TUPLE || declared->kind != TYPE_TUPLE || x->count != y->count ||
      x->count != declared->count)
    return declared;
  const Type **elements = ARENA_ARRAY(&a->scratch, const Type *, x->count + 1);
  for (uint32_t i = 0; i < x->count; i++) elements[i] = join(a, x->elements[i], y->elements[i], declared->elements[i]);
  return type_named_tuple(a->graph->store, declared->name, declared->count, elements, declared->field_names);
}

/* A value of `declared` type that comes from one of `type`: keeps what is known where the structure is the same. */
static const Type *carried(Analysis *a, const Type *type, const Type *declared) {
  declared = plain(a, declared);
  return type_equal(plain(a, type), declared) ? type : declared;
}

/* ---- operators ---- */

/* In place: the result is the argument that was written. */
static bool same_as_written(Node *node, const FunctionSchema *schema, TensorInfo *infos) {
  for (uint32_t r = 0; r < node->output_count; r++) {
    tensor_info_init(&infos[r]);
    const AliasInfo *result = r < schema->return_count ? schema->returns[r].alias : NULL;
    for (uint32_t i = 0; result && i < schema->argument_count && i < node->input_count; i++) {
      const AliasInfo *written = schema->arguments[i].alias;
      if (!written || !written->is_write || !(written->before & result->before)) continue;
      const Type *type = node_input(node, i)->type;
      if (type->kind == TYPE_TENSOR && type->tensor) infos[r] = *type->tensor;
    }
  }
  return true;
}

static void analyze_operator(Analysis *a, Node *node) {
  TensorInfo infos[CALL_MAX_OUTPUTS];
  bool known = false;
  if (node->output_count == 0 || node->output_count > CALL_MAX_OUTPUTS) {
    set_unknown(a, node);
    return;
  }
  const FunctionSchema *schema = node_schema(node);
  if (schema && schema->is_mutable)
    known = same_as_written(node, schema, infos);
  else if (schema)
    known = shape_evaluate(&a->evaluator, node, a->strict, infos);
  if (!known) {
    set_unknown(a, node);
    return;
  }
  int result_grad = schema->is_mutable ? -1 : node_results_require_grad(node);
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *v = node_output(node, i);
    if (v->type->kind != TYPE_TENSOR) continue;
    TensorInfo *info = &infos[i];
    bool differentiable =
        info->dtype >= 0 && (dtype_is_floating((DType)info->dtype) || dtype_is_complex((DType)info->dtype));
    int requires_grad = schema->is_mutable ? info->requires_grad : result_grad;
    info->requires_grad = info->dtype < 0 ? -1 : differentiable ? requires_grad : 0;
    set_info(a, v, info);
  }
}

/* ---- structure ---- */

static void analyze_if(Analysis *a, Node *node) {
  assert(node->block_count == 2);
  for (int b = 0; b < 2; b++) analyze_block(a, node->blocks[b]);
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *v = node_output(node, i);
    const Type *declared = plain(a, v->type);
    v->type = join(a, carried(a, block_output(node->blocks[0], i)->type, declared),
                   carried(a, block_output(node->blocks[1], i)->type, declared), declared);
  }
}

/* What is carried starts with the types that come in; every turn can only take away, so this ends. */
static void analyze_loop(Analysis *a, Node *node) {
  assert(block_input_count(node->blocks[0]) == node->output_count + 1);
  Block *body = node->blocks[0];
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *v = block_input(body, i + 1);
    v->type = carried(a, node_input(node, i + 2)->type, v->type);
  }
  enum { MAX_TURNS = 8 };
  for (int turn = 0;; turn++) {
    bool changed = false;
    analyze_block(a, body);
    for (uint32_t i = 0; i < node->output_count; i++) {
      Value *v = block_input(body, i + 1);
      const Type *declared = plain(a, v->type);
      const Type *next = turn < MAX_TURNS
                             ? join(a, v->type, carried(a, block_output(body, i + 1)->type, declared), declared)
                             : declared;
      changed |= next != v->type;
      v->type = next;
    }
    if (!changed) break;
  }
  for (uint32_t i = 0; i < node->output_count; i++)
    node_output(node, i)->type = carried(a, block_input(body, i + 1)->type, node_output(node, i)->type);
}

static void analyze_tuple(Analysis *a, Node *node) {
  Value *v = node_output(node, 0);
  const Type **elements = ARENA_ARRAY(&a->scratch, const Type *, node->input_count + 1);
  if (v->type->kind != TYPE_TUPLE || v->type->count != node->input_count) return;
  for (uint32_t i = 0; i < node->input_count; i++)
    elements[i] = carried(a, node_input(node, i)->type, v->type->elements[i]);
  v->type = type_named_tuple(a->graph->store, v->type->name, v->type->count, elements, v->type->field_names);
}

static void analyze_unpack(Analysis *a, Node *node) {
  const Type *tuple = node_input(node, 0)->type;
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *v = node_output(node, i);
    v->type =
        tuple->kind == TYPE_TUPLE && i < tuple->count ? carried(a, tuple->elements[i], v->type) : plain(a, v->type);
  }
}

static void analyze_index(Analysis *a, Node *node) {
  const Type *tuple = node_input(node, 0)->type;
  Value *v = node_output(node, 0);
  IValue index;
  v->type = plain(a, v->type);
  if (node->input_count < 2 || tuple->kind != TYPE_TUPLE || !value_is_constant(node_input(node, 1), &index)) return;
  if (index.tag != TAG_INT) return;
  int64_t i = index.i < 0 ? index.i + tuple->count : index.i;
  if (i >= 0 && i < tuple->count) v->type = carried(a, tuple->elements[i], v->type);
}

static void analyze_list_unpack(Analysis *a, Node *node) {
  const Value *list = node_input(node, 0);
  set_unknown(a, node);
  if (!list_is_plain(list)) return;
  const Node *made = list->node;
  if (made->kind == SYM_prim_ListConstruct && made->input_count == node->output_count) {
    for (uint32_t i = 0; i < node->output_count; i++)
      node_output(node, i)->type = carried(a, node_input(made, i)->type, node_output(node, i)->type);
    return;
  }
  shape_known_elements(&a->evaluator, node, node_results_require_grad(made));
}

/* prim::ConstantChunk: pieces are views, so that all but one size is the whole's. */
static void analyze_chunk(Analysis *a, Node *node) {
  const TensorInfo *whole = node_input(node, 0)->type->tensor;
  int64_t dim = node_int(node, SYM_attr_dim), count = node->output_count;
  set_unknown(a, node);
  if (!whole || whole->ndim < 1 || dim < -whole->ndim || dim >= whole->ndim) return;
  if (dim < 0) dim += whole->ndim;
  TensorInfo info = *whole;
  info.requires_grad = node_results_require_grad(node);
  int64_t size = whole->has_sizes ? whole->sizes[dim] : -1, each = size < 0 ? -1 : size / count + (size % count != 0);
  if (size > 0 && (count - 1) * each >= size) return; /* there will be fewer */
  for (int64_t i = 0; i < count; i++) {
    if (info.has_sizes) info.sizes[dim] = size > 0 && i == count - 1 ? size - i * each : each;
    set_info(a, node_output(node, (uint32_t)i), &info);
  }
}

static void find_types(Analysis *a, Node *node) {
  if (node_has_flag(node, KIND_IS_TYPED)) return;
  switch (node->kind) {
    case SYM_prim_profile:
      if (node->output_count && node->input_count) node_output(node, 0)->type = node_input(node, 0)->type;
      return;
    case SYM_prim_AutogradZero: {
      TensorInfo info;
      tensor_info_init(&info);
      info.undefined = 1;
      set_info(a, node_output(node, 0), &info);
      return;
    }
    case SYM_prim_If:
      analyze_if(a, node);
      return;
    case SYM_prim_Loop:
      analyze_loop(a, node);
      return;
    case SYM_prim_TupleConstruct:
      analyze_tuple(a, node);
      return;
    case SYM_prim_TupleUnpack:
      analyze_unpack(a, node);
      return;
    case SYM_prim_TupleIndex:
      analyze_index(a, node);
      return;
    case SYM_prim_ListUnpack:
      analyze_list_unpack(a, node);
      return;
    case SYM_prim_ConstantChunk:
      analyze_chunk(a, node);
      return;
    default:
      break;
  }
  for (uint32_t i = 0; i < node->block_count; i++) analyze_block(a, node->blocks[i]);
  analyze_operator(a, node);
}

static void analyze_node(Analysis *a, Node *node) {
  find_types(a, node);
  for (uint32_t i = 0; i < node->output_count; i++) keep_lasting(a, node_output(node, i));
}

static void analyze_block(Analysis *a, Block *block) {
  BLOCK_EACH(node, block) analyze_node(a, node);
}

static void analyse(void *argument) {
  Analysis *a = argument;
  lasting_facts_find(&a->lasting, a->graph, &a->scratch);
  for (uint32_t i = 0; i < graph_input_count(a->graph); i++) keep_lasting(a, graph_input(a->graph, i));
  analyze_block(a, a->graph->block);
}

void shape_analysis_run(Graph *graph, Exec *exec, bool strict) {
  Analysis a = {.graph = graph, .exec = exec, .strict = strict};
  arena_init(&a.scratch, graph->arena->catch_point);
  Status status = shape_evaluator_init(&a.evaluator, exec, &a.scratch);
  Catch *store_outer = graph->store->arena.catch_point, *outer = graph->arena->catch_point;
  Catch inner;
  if (status == OK) {
    if (catch_enter(&inner)) {
      graph->arena->catch_point = a.scratch.catch_point = &inner;
      if (!graph->store->is_process) graph->store->arena.catch_point = &inner;
      analyse(&a);
    }
    status = inner.status;
    graph->arena->catch_point = outer;
    if (!graph->store->is_process) graph->store->arena.catch_point = store_outer;
    shape_evaluator_dispose(&a.evaluator);
  }
  arena_dispose(&a.scratch);
  if (status != OK) catch_throw(outer, status);
}

void shape_analysis(Graph *graph, Exec *exec) {
  shape_analysis_run(graph, exec, false);
  GRAPH_LOG_DUMP(FILE_NAME, "After PropagateInputShapes: ", graph);
}

PASS(shape_analysis, GRADIENTS, shape_analysis(graph, exec),
     "dtypes, devices and sizes of tensors, forward from the inputs");
