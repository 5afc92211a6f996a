/* Graphs: making, disposing, the insertion point, creation of nodes. Everything is allocated in the graph's arena and
 * throws there. */
#include "ir/graph.h"

#include "ir/ir_internal.h"
#include "ir/unit.h"

#include "base/stack.h"

/* The version of the unit whose types the store's are, or adds to. */
static uint8_t store_torch_version(TypeStore *store) {
  while (store->home) store = store->home;
  const CompilationUnit *unit = unit_of_store(store);
  return unit ? unit->torch_version : 0;
}

Graph *graph_new(Arena *arena, TypeStore *store) {
  Graph *graph = ARENA_NEW(arena, Graph);
  graph->arena = arena;
  graph->store = store;
  graph->torch_version = store_torch_version(store);
  map_init(&graph->names, arena);
  map_init(&graph->name_suffixes, arena);
  graph->block = block_new(graph, NULL);
  graph->insert_before = graph->block->ret;
  return graph;
}

void graph_dispose(Graph *graph) {
  if (!graph) return;
  for (size_t i = 0; i < graph->held.length; i++) ivalue_release(graph->held.data[i]);
  graph->held.length = 0;
  for (size_t i = 0; i < graph->callables.length; i++) {
    Callable *callable = graph->callables.data[i];
    if (ref_release(&callable->refs)) callable->release(callable);
  }
  graph->callables.length = 0;
  for (size_t i = 0; i < graph->subgraphs.length; i++) graph_dispose(graph->subgraphs.data[i]);
  graph->subgraphs.length = 0;
}

void graph_hold(Graph *graph, IValue value) {
  if (!ivalue_is_counted(value)) return;
  Status status = vec_arena_try_reserve(graph->arena, &graph->held, graph->held.length + 1);
  if (status) {
    ivalue_release(value);
    catch_throw(graph->arena->catch_point, status);
  }
  graph->held.data[graph->held.length++] = value;
}

void graph_fail(Graph *graph, ErrorCode code, SourceRange range, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = status_newv(code, format, arguments);
  va_end(arguments);
  if (range.source && status->code == code) {
    StrBuf text = {0};
    strbuf_puts(&text, status->message);
    strbuf_puts(&text, str_ends_with(str_from(status->message), "\n") ? "" : ":\n");
    source_range_highlight(range, &text);
    Status whole = status_new(code, STR_FMT, STR_ARG(strbuf_view(&text)));
    strbuf_dispose(&text);
    status_free(status);
    status = whole;
  }
  catch_throw(graph->arena->catch_point, status);
}

Value *graph_add_input(Graph *graph, Str name, const Type *type) {
  return block_add_input(graph->block, name, type);
}

uint32_t graph_register_output(Graph *graph, Value *value) {
  return block_register_output(graph->block, value);
}

Node *graph_create(Graph *graph, Symbol kind, uint32_t input_count, Value *const *inputs, uint32_t output_count) {
  Node *node = node_new(graph, kind);
  if (input_count) {
    node->inputs = ARENA_ARRAY(graph->arena, NodeInput, input_count);
    node->input_capacity = input_count;
  }
  for (uint32_t i = 0; i < input_count; i++) node_add_input(node, inputs[i]);
  for (uint32_t i = 0; i < output_count; i++) node_add_output(node, TYPE(TENSOR));
  return node;
}

Node *graph_insert_node(Graph *graph, Node *node) {
  node_insert_before(node, graph->insert_before);
  return node;
}

void graph_set_insert_point(Graph *graph, Node *before) {
  assert(before->owning_block && before->kind != SYM_prim_Param);
  graph->insert_before = before;
}

void graph_set_insert_block(Graph *graph, Block *block) {
  graph->insert_before = block->ret;
}

Node *graph_create_if(Graph *graph, Value *condition) {
  Node *node = graph_create(graph, SYM_prim_If, 1, &condition, 0);
  node_add_block(node);
  node_add_block(node);
  return node;
}

Node *graph_create_loop(Graph *graph, Value *trip_count, Value *condition) {
  Node *node = graph_create(graph, SYM_prim_Loop, 2, (Value *[]){trip_count, condition}, 0);
  block_add_input(node_add_block(node), STR(""), TYPE(INT));
  return node;
}

/* What the most wasteful walker takes for one block within another. */
enum { STACK_PER_BLOCK = 2048 };
#define TOO_DEEP UINT32_MAX

static uint32_t block_depth(const Block *block) {
  uint32_t deepest = 0;
  if (STACK_IS_LOW()) return TOO_DEEP;
  for (const Node *node = block->param->next; node != block->ret; node = node->next)
    for (uint32_t i = 0; i < node->block_count; i++) {
      uint32_t depth = block_depth(node->blocks[i]);
      if (depth == TOO_DEEP) return TOO_DEEP;
      if (depth > deepest) deepest = depth;
    }
  return deepest + 1;
}

bool graph_fits_stack(const Graph *graph) {
  uint32_t depth = block_depth(graph->block);
  if (depth == TOO_DEEP) return false;
  for (size_t i = 0; i < graph->subgraphs.length; i++)
    if (STACK_IS_LOW() || !graph_fits_stack(graph->subgraphs.data[i])) return false;
  return stack_left() > STACK_RESERVE + (size_t)depth * STACK_PER_BLOCK;
}

Status graph_too_deep(void) {
  return status_new(ERROR_UNSUPPORTED, "the program's blocks are nested too deeply for the stack of this thread");
}

void graph_with_scratch(Graph *graph, void (*body)(Arena *scratch, void *argument), void *argument) {
  Arena scratch, *types = graph->store->is_process ? NULL : &graph->store->arena;
  Catch c, *outer = graph->arena->catch_point, *types_outer = types ? types->catch_point : NULL;
  arena_init(&scratch, &c);
  if (catch_enter(&c)) {
    graph->arena->catch_point = &c;
    if (types) types->catch_point = &c;
    body(&scratch, argument);
  }
  graph->arena->catch_point = outer;
  if (types) types->catch_point = types_outer;
  arena_dispose(&scratch);
  if (c.status) catch_throw(outer, c.status);
}

void graph_require_stack(const Graph *graph) {
  if (!graph_fits_stack(graph)) catch_throw(graph->arena->catch_point, graph_too_deep());
}

/* ---- sealing ---- */

static void set_sealed(Graph *graph, bool sealed);

static void seal_block(Block *block, bool sealed) {
  BLOCK_EACH(node, block) {
    if (sealed) (void)node_operator(node);
    for (uint32_t i = 0; i < node->attribute_count; i++)
      if (node->attributes[i].tag == ATTR_GRAPH) set_sealed(node->attributes[i].g, sealed);
    for (uint32_t i = 0; i < node->block_count; i++) seal_block(node->blocks[i], sealed);
  }
}

static void set_sealed(Graph *graph, bool sealed) {
  graph_require_stack(graph);
  graph->is_sealed = false;
  seal_block(graph->block, sealed);
  graph->is_sealed = sealed;
}

void graph_seal(Graph *graph) {
  set_sealed(graph, true);
}

/* So that new names are told from those of a compact graph. */
static void enter_names(Graph *graph, const Block *block);
static void enter_names_of(Graph *graph, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (node->outputs[i]->name.length) map_put(&graph->names, node->outputs[i]->name, node->outputs[i]);
  for (uint32_t i = 0; i < node->block_count; i++) enter_names(graph, node->blocks[i]);
}
static void enter_names(Graph *graph, const Block *block) {
  enter_names_of(graph, block->param);
  BLOCK_EACH(node, block) enter_names_of(graph, node);
}

static void loosen(Graph *graph) {
  if (graph->is_compact) enter_names(graph, graph->block);
  graph->is_compact = false;
  for (size_t i = 0; i < graph->subgraphs.length; i++) loosen(graph->subgraphs.data[i]);
}

void graph_unseal(Graph *graph) {
  set_sealed(graph, false);
  loosen(graph);
}
