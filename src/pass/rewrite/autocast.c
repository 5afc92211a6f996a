/* Autocast regions: what OpRow.cast says of the operators within becomes casts of their arguments, and the regions go.
 * As in PyTorch 1.13, a region is `with` over an object that the graph makes with constant arguments. Calls are inlined
 * before; one that is left in an enabled region is an error, since it would compute in other dtypes. Forked graphs are
 * regions of their own. Of devices there is the processor: regions of others change nothing but what
 * is_autocast_enabled says. */
#include "call/row.h"
#include "ir/graph_log.h"
#include "pass/motion/inliner.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "autocast"

typedef struct Region {
  Value *object; /* NULL: around all */
  bool cpu, cuda;
  int64_t dtype; /* of the processor's */
} Region;

typedef struct Autocast {
  Graph *graph;
  Symbol reduce, restore, is_enabled, is_cpu_enabled;
  VEC(Node *) ends; /* of regions: they go at the end */
} Autocast;

_Noreturn static void fail(const Node *node, const char *what) {
  graph_fail(node->graph, ERROR_RUNTIME, node->range, "%s", what);
}

static bool is_region_end(const Node *node) {
  return (node->kind == SYM_prim_Enter || node->kind == SYM_prim_Exit) && type_is_autocast(node_input(node, 0)->type);
}

/* ---- what a region asks for ---- */

/* The constant that the object's attribute is set to. */
static IValue attribute(const Node *enter, const Value *object, const char *name, const char *missing) {
  IValue value = IVALUE_NONE;
  bool found = false;
  for (size_t i = 0; i < object->uses.length; i++) {
    const Node *user = object->uses.data[i].user;
    if (user->kind != SYM_prim_SetAttr || !str_is(node_string(user, SYM_attr_name), name)) continue;
    if (found || !value_is_constant(node_input(user, 1), &value)) fail(enter, missing);
    found = true;
  }
  if (!found) fail(enter, missing);
  return value;
}

static Region region_of(const Node *enter, const Region *around) {
  Value *object = node_input(enter, 0);
  if (object->node->kind != SYM_prim_CreateObject) fail(enter, "Unsupported autocast syntax");
  for (uint32_t i = 0; i < enter->output_count; i++)
    if (value_has_uses(enter->outputs[i])) fail(enter, "`with autocast() as ...` is not supported");
  IValue enabled = attribute(enter, object, "_enabled", "Autocast _enabled argument must be a constant"),
         device = attribute(enter, object, "device", "Autocast device argument must be a constant"),
         dtype = attribute(enter, object, "fast_dtype", "Autocast dtype argument must be a constant and defined");
  if (enabled.tag != TAG_BOOL) fail(enter, "Autocast _enabled argument must be a constant");
  if (dtype.tag != TAG_INT || !dtype_is_valid(dtype.i))
    fail(enter, "Autocast dtype argument must be a constant and defined");
  Region region = *around;
  region.object = object;
  if (device.tag == TAG_STRING && str_is(ivalue_str(device), "cpu")) {
    region.cpu = enabled.b;
    region.dtype = dtype.i;
  } else if (device.tag == TAG_STRING && str_is(ivalue_str(device), "cuda")) {
    region.cuda = enabled.b;
  } else {
    fail(enter, "Autocast device argument must be 'cpu' or 'cuda'");
  }
  return region;
}

/* ---- casts ---- */

static bool is_tensor(const Value *value) {
  return value->type->kind == TYPE_TENSOR;
}

static void cast_inputs(Autocast *a, Node *node, const Region *region, bool reduce) {
  Symbol kind = reduce ? a->reduce : a->restore;
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *value = node_input(node, i);
    if (!is_tensor(value) || value->node->kind == kind) continue;
    Value *inputs[] = {value, insert_constant_before(node, ivalue_bool(false), NULL),
                       insert_constant_before(node, ivalue_bool(true), NULL), NULL, NULL};
    if (reduce) {
      inputs[3] = insert_constant_before(node, ivalue_int(DTYPE_FLOAT16), NULL);
      inputs[4] = insert_constant_before(node, ivalue_int(region->dtype), NULL);
    }
    NODE_LOG_UPDATE(FILE_NAME, "casts an argument of", node);
    Value *cast = insert_call_before(node, kind, TYPE(TENSOR), reduce ? 5 : 3, inputs);
    for (uint32_t k = i; k < node->input_count; k++)
      if (node_input(node, k) == value) node_replace_input(node, k, cast);
  }
}

static bool may_hold_float32(const Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *value = node_input(node, i);
    const TensorInfo *info = value_tensor(value);
    if (is_tensor(value) && (!info || info->dtype < 0 || info->dtype == DTYPE_FLOAT32)) return true;
  }
  return false;
}

static bool has_dtype(const Node *node) {
  const Value *dtype = node_named_input(node, "dtype");
  return dtype && !value_is_none(dtype);
}

static void visit_operator(Autocast *a, Node *node, const Region *region) {
  const Operator *op = region->cpu ? node_operator(node) : NULL;
  if (!op) return;
  if (op->row->cast == CAST_REFUSED) fail(node, "Unsafe to autocast");
  if (operator_schema(op)->is_mutable) return;
  switch (op->row->cast) {
    case CAST_REDUCED:
      cast_inputs(a, node, region, true);
      return;
    case CAST_FULL_UNLESS_DTYPE:
      if (has_dtype(node)) return;
      break;
    case CAST_WIDEST:
      if (!may_hold_float32(node)) return;
      break;
    case CAST_FULL:
      break;
    default:
      return;
  }
  cast_inputs(a, node, region, false);
}

static void require_inlined(const Node *node) {
  const Function *callee = inlined_callee(node);
  if (!callee || !callee->is_native) fail(node, "Calls that are not inlined are not expected in autocast regions");
}

/* ---- the walk ---- */

static void visit_graph(Autocast *a, Graph *graph);

static void visit_block(Autocast *a, Block *block, const Region *around) {
  VEC(Region) open = {0};
  BLOCK_EACH(node, block) {
    const Region *region = open.length ? &vec_last(&open) : around;
    for (uint32_t i = 0; i < node->block_count; i++) visit_block(a, node->blocks[i], region);
    for (uint32_t i = 0; i < node->attribute_count; i++)
      if (node->attributes[i].tag == ATTR_GRAPH) visit_graph(a, node->attributes[i].g);
    if (is_region_end(node)) {
      vec_arena_push(a->graph->arena, &a->ends, node);
      if (node->kind == SYM_prim_Enter) {
        Region inner = region_of(node, region);
        vec_arena_push(a->graph->arena, &open, inner);
      } else {
        if (!open.length || region->object != node_input(node, 0)) fail(node, "Unsupported autocast syntax");
        open.length--;
      }
    } else if (node->kind == SYM_prim_CallFunction || node->kind == SYM_prim_CallMethod) {
      if (region->cpu) require_inlined(node);
    } else if ((node->kind == a->is_enabled && region->cuda) || (node->kind == a->is_cpu_enabled && region->cpu)) {
      replace_node(node, insert_constant_before(node, ivalue_bool(true), NULL));
    } else {
      visit_operator(a, node, region);
    }
  }
  if (open.length) fail(open.data[0].object->node, "Unsupported autocast syntax");
}

static void visit_graph(Autocast *a, Graph *graph) {
  visit_block(a, graph->block, &(Region){0});
}

/* Nobody needs an object any more whose attributes are set and never read. */
static void remove_object(Node *object) {
  Value *value = node_output(object, 0);
  if (object->kind != SYM_prim_CreateObject) return;
  for (size_t i = 0; i < value->uses.length; i++)
    if (value->uses.data[i].user->kind != SYM_prim_SetAttr || value->uses.data[i].offset) return;
  while (value_has_uses(value)) node_destroy(value->uses.data[0].user);
  node_destroy(object);
}

static bool block_has_region(const Block *block) {
  BLOCK_EACH(node, block) {
    if (is_region_end(node)) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (block_has_region(node->blocks[i])) return true;
    for (uint32_t i = 0; i < node->attribute_count; i++)
      if (node->attributes[i].tag == ATTR_GRAPH && block_has_region(node->attributes[i].g->block)) return true;
  }
  return false;
}

void autocast(Graph *graph) {
  graph_require_stack(graph);
  if (!block_has_region(graph->block)) return;
  Autocast a = {.graph = graph,
                .reduce = symbol_intern(STR("aten::_autocast_to_reduced_precision")),
                .restore = symbol_intern(STR("aten::_autocast_to_full_precision")),
                .is_enabled = symbol_intern(STR("aten::is_autocast_enabled")),
                .is_cpu_enabled = symbol_intern(STR("aten::is_autocast_cpu_enabled"))};
  visit_graph(&a, graph);
  VEC(Node *) objects = {0};
  for (size_t i = 0; i < a.ends.length; i++) {
    Node *end = a.ends.data[i];
    if (end->kind == SYM_prim_Enter) vec_arena_push(graph->arena, &objects, node_input(end, 0)->node);
    node_destroy(end);
  }
  for (size_t i = 0; i < objects.length; i++)
    if (!objects.data[i]->destroyed) remove_object(objects.data[i]);
  GRAPH_LOG_DUMP(FILE_NAME, "After Autocast: ", graph);
}

/* ---- of functions ---- */

typedef struct Search {
  Arena arena;
  PtrMap seen; /* graphs of callees */
  const Graph *graph;
  bool found;
} Search;

static void search_block(Search *s, const Block *block) {
  BLOCK_EACH(node, block) {
    const Function *callee = inlined_callee(node);
    if (is_region_end(node)) s->found = true;
    for (uint32_t i = 0; i < node->block_count && !s->found; i++) search_block(s, node->blocks[i]);
    for (uint32_t i = 0; i < node->attribute_count && !s->found; i++)
      if (node->attributes[i].tag == ATTR_GRAPH) search_block(s, node->attributes[i].g->block);
    if (s->found) return;
    if (!callee || !callee->graph || ptrmap_get(&s->seen, callee->graph)) continue;
    ptrmap_put(&s->seen, callee->graph, callee->graph);
    graph_require_stack(callee->graph);
    search_block(s, callee->graph->block);
  }
}

static void search(void *argument) {
  Search *s = argument;
  ptrmap_init(&s->seen, &s->arena);
  search_block(s, s->graph->block);
}

static Status runs_with_autocast(const Graph *graph, bool *out) {
  Search s = {.graph = graph};
  arena_init(&s.arena, NULL);
  Status status = graph_fits_stack(graph) ? arena_protect(&s.arena, search, &s) : graph_too_deep();
  arena_dispose(&s.arena);
  *out = s.found;
  return status;
}

typedef struct Preparation {
  const Function *function;
  PreparedGraph *prepared;
  Exec *exec;
} Preparation;

/* Inlined, then with as many constants as PyTorch has by then. */
static void prepare(void *argument) {
  Preparation *p = argument;
  TypeStore *store = &p->prepared->store;
  Graph *graph = p->prepared->graph = graph_copy(p->function->graph, &store->arena, store);
  inliner(graph);
  erase_shape_information(graph); /* what a trace saw is no promise */
  peephole(graph);
  constant_propagation(graph, p->exec);
  autocast(graph);
  graph_seal(graph);
}

/* Threads that ask at the same time may each prepare one; the first stays. */
static PreparedGraph *publish(Function *function, PreparedGraph *prepared) {
  PreparedGraph *first = NULL;
  if (atomic_compare_exchange_strong(&function->prepared, &first, prepared)) return prepared;
  prepared_graph_free(prepared);
  return first;
}

Status function_graph_to_run(Exec *exec, Function *function, const Graph **out) {
  PreparedGraph *prepared = atomic_load_explicit(&function->prepared, memory_order_acquire);
  *out = prepared ? prepared->graph : function->graph;
  if (prepared || atomic_load_explicit(&function->runs_as_written, memory_order_relaxed)) return OK;
  bool found;
  TRY(runs_with_autocast(function->graph, &found));
  if (!found) {
    atomic_store_explicit(&function->runs_as_written, true, memory_order_relaxed);
    return OK;
  }
  TRY(prepared_graph_new(&function->unit->store, &prepared));
  Preparation p = {function, prepared, exec};
  Status status = arena_protect(&prepared->store.arena, prepare, &p);
  if (status) {
    prepared_graph_free(prepared);
    return status;
  }
  *out = publish(function, prepared)->graph;
  return OK;
}

PASS(autocast, NOTHING, autocast(graph), "makes autocast regions casts of what operators in them take");
