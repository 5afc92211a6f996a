/* Bailouts: what a graph needs to go on elsewhere when a guard fails. Needs guards outside of `with` statements and of
 * subgraphs. Afterwards a BailOut's inputs, after the first, which it tests, are all that the rest of the graph needs:
 * whoever has them can go on after the node in the baseline, which is this graph without its promises.
 *
 * Attributes that can be read anywhere are in no list: the baseline reads them again where it uses them. Else a graph
 * with many parameters, all read at its start, would list them all in each BailOut. */
#include "pass/pass.h"

#include <assert.h>

#include "ir/graph_log.h"
#include "pass/motion/liveness.h"

#define FILE_NAME "bailout_graph"

typedef struct Bailout {
  Node *guard;
  uint32_t count;
  Value **live;
} Bailout;

typedef struct Inserter {
  Arena *arena;
  VEC(Bailout) bailouts;
} Inserter;

static bool is_guard(const Node *node) {
  return node->kind == SYM_prim_Guard;
}

static void record(void *argument, Node *guard, uint32_t count, Value *const *live) {
  assert(guard->kind == SYM_prim_Guard);
  Inserter *inserter = argument;
  Bailout bailout = {guard, 0, ARENA_ARRAY(inserter->arena, Value *, count + 1)};
  for (uint32_t i = 0; i < count; i++)
    if (live[i] != node_input(guard, 0)) bailout.live[bailout.count++] = live[i];
  vec_arena_push(inserter->arena, &inserter->bailouts, bailout);
}

static void insert(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Inserter inserter = {.arena = scratch};
  AttributeReads reads;
  attribute_reads_find(&reads, graph, scratch);
  liveness_visit(graph, scratch, &reads, is_guard, record, &inserter);
  int64_t index = 0;
  for (size_t i = inserter.bailouts.length; i-- > 0; index++) { /* the first guard has index 0 */
    const Bailout *bailout = &inserter.bailouts.data[i];
    Node *node = bailout->guard;
    node->kind = SYM_prim_BailOut;
    node->op = NULL;
    node_set_int(node, SYM_attr_index, index);
    for (uint32_t k = 0; k < bailout->count; k++) node_add_input(node, bailout->live[k]);
  }
}

void bailout_graph(Graph *graph) {
  graph_with_scratch(graph, insert, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After InsertBailOuts: ", graph);
}

/* ---- the baseline ---- */

static void make_markers(const AttributeReads *reads, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) make_markers(reads, node->blocks[i]);
    if (node->kind != SYM_prim_BailOut || !node->output_count) continue;
    Value *tested = node_input(node, 0);
    value_replace_all_uses_with(node_output(node, 0), tested);
    node_erase_output(node, 0);
    if (attribute_read_input(reads, tested)) node_remove_input(node, 0);
  }
}

/* A read that was repeated, and since when: one place serves its neighbours, up to the next marker or block. */
typedef struct Repeated {
  Value *value;
  uint32_t stretch;
} Repeated;

typedef struct Repeater {
  const AttributeReads *reads;
  Repeated *repeated; /* by number of the value */
  uint32_t stretch;
} Repeater;

static Value *repeat_read(Repeater *r, Value *value, Node *before) {
  if (!attribute_read_input(r->reads, value)) return value;
  Repeated *known = &r->repeated[value->unique];
  if (known->stretch == r->stretch) return known->value;
  Value *object = repeat_read(r, node_input(value->node, 0), before);
  Node *read = graph_create(before->graph, SYM_prim_GetAttr, 1, &object, 1);
  node_copy_attributes(read, value->node);
  node_copy_metadata(read, value->node);
  read->inlined = value->node->inlined;
  node_output(read, 0)->type = value->type;
  node_insert_before(read, before);
  *known = (Repeated){node_output(read, 0), r->stretch};
  return known->value;
}

static void repeat_in(Repeater *r, Block *block) {
  r->stretch++;
  for (Node *node = block->param->next;; node = node->next) {
    if (node->output_count && attribute_read_input(r->reads, node_output(node, 0))) continue;
    for (uint32_t i = 0; i < node->input_count; i++) {
      Value *value = node_input(node, i), *again = repeat_read(r, value, node);
      if (again != value) node_replace_input(node, i, again);
    }
    if (node == block->ret) break;
    for (uint32_t i = 0; i < node->block_count; i++) repeat_in(r, node->blocks[i]);
    if (node->block_count || node->kind == SYM_prim_BailOut) r->stretch++;
  }
}

static void remove_reads(const AttributeReads *reads, Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) remove_reads(reads, node->blocks[i]);
    if (node->output_count && attribute_read_input(reads, node_output(node, 0))) node_destroy(node);
  }
}

static void read_in_place(Arena *scratch, void *argument) {
  Graph *baseline = argument;
  AttributeReads reads;
  attribute_reads_find(&reads, baseline, scratch);
  make_markers(&reads, baseline->block);
  Repeater repeater = {.reads = &reads, .repeated = ARENA_ARRAY(scratch, Repeated, reads.count + 1)};
  repeat_in(&repeater, baseline->block);
  remove_reads(&reads, baseline->block);
}

static void make_baseline(void *argument) {
  Graph *baseline = argument;
  graph_with_scratch(baseline, read_in_place, baseline);
  erase_shape_information(baseline);
}

Graph *bailout_baseline(const Graph *graph, Arena *arena, TypeStore *store) {
  Graph *baseline = graph_copy(graph, arena, store);
  Status status = arena_protect(arena, make_baseline, baseline);
  if (!status) return baseline;
  graph_dispose(baseline);
  catch_throw(arena->catch_point, status);
}

PASS(bailout_graph, NOTHING, bailout_graph(graph), "makes guards bailouts with the values that are live there");
