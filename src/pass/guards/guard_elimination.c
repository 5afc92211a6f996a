/* Fewer guards. They move up to what defines their value, out of loops too but never out of a branch; guards that meet
 * there become one; then shape analysis decides which are left: a guard goes when the type of its input, which follows
 * from other guards and from constants, promises as much, requires_grad aside. Where operators need guards stands in no
 * list: whatever shape analysis can follow needs none.
 *
 * A guard may stand anywhere between its value and the uses: what it promises holds as long as the value lives
 * (insert_guards), and a bailout takes up the run wherever it is. It never moves between prim::Enter and prim::Exit. */
#include <assert.h>

#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/types/shape_analysis.h"
#include "type/tensor_type.h"

#define FILE_NAME "guard_elimination"

typedef struct Place {
  Block *block;
  Node *after; /* the guard goes after it: a definition, a prim::Exit, or the block's Param */
} Place;

typedef struct Elimination {
  Graph *graph;
  Arena *arena;
  VEC(Node *) guards;
  PtrMap exits; /* node between Enter and Exit -> the Exit of the outermost */
  PtrMap last;  /* node -> the last guard that was put after it */
  PtrMap first; /* value -> its guard in the block of its definition */
} Elimination;

/* Every node before an Exit, back to the Enter that it belongs to, is covered by it. */
static void find_withs(Elimination *e, Block *block) {
  Node *exit = NULL;
  int open = 0;
  BLOCK_EACH_REVERSE(node, block) {
    if (node->kind == SYM_prim_Exit && open++ == 0) exit = node;
    if (open > 0 && node != exit) ptrmap_put(&e->exits, node, exit);
    if (node->kind == SYM_prim_Enter && open > 0) open--;
  }
}

static void collect(Elimination *e, Block *block) {
  find_withs(e, block);
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_Guard && node_output(node, 0)->type->tensor) vec_arena_push(e->arena, &e->guards, node);
    for (uint32_t i = 0; i < node->block_count; i++) collect(e, node->blocks[i]);
  }
}

static Place find_place(Elimination *e, const Node *guard) {
  Node *definition = node_input(guard, 0)->node;
  Block *home = definition->owning_block, *block = guard->owning_block;
  while (block != home && block->owning_node && block->owning_node->kind == SYM_prim_Loop)
    block = block->owning_node->owning_block;
  Node *after = block == home ? definition : block->param;
  Node *exit = ptrmap_get(&e->exits, after);
  if (exit && exit->owning_block == block) after = exit;
  Node *last = ptrmap_get(&e->last, after);
  return (Place){block, last ? last : after};
}

/* The guard of the same value that stands between `after` and the node it was put after. */
static Node *same_guard(Elimination *e, const Node *guard, const Place *place) {
  Node *known = ptrmap_get(&e->first, node_input(guard, 0));
  if (known && known->owning_block == place->block) return known;
  for (Node *node = place->after; node->kind == SYM_prim_Guard; node = node->prev)
    if (node_input(node, 0) == node_input(guard, 0) && node_output(node, 0)->type->tensor) return node;
  return NULL;
}

static void join_guards(Elimination *e, Node *kept, Node *guard) {
  assert(node_output(kept, 0)->type->tensor && node_output(guard, 0)->type->tensor);
  TensorInfo info = *node_output(kept, 0)->type->tensor;
  if (tensor_info_intersect(&info, node_output(guard, 0)->type->tensor)) /* else the first one's word stands */
    node_output(kept, 0)->type = type_tensor_refined(e->graph->store, &info);
  NODE_LOG_UPDATE(FILE_NAME, "joined:", guard);
  value_replace_all_uses_with(node_output(guard, 0), node_output(kept, 0));
  node_destroy(guard);
}

static void move_to_definitions(Elimination *e) {
  for (size_t i = 0; i < e->guards.length; i++) {
    Node *guard = e->guards.data[i];
    Place place = find_place(e, guard);
    Node *same = same_guard(e, guard, &place);
    if (same) {
      join_guards(e, same, guard);
      e->guards.data[i] = NULL;
      continue;
    }
    Node *anchor = place.after;
    while (anchor->kind == SYM_prim_Guard && anchor->prev && ptrmap_get(&e->last, anchor) == NULL)
      anchor = anchor->prev;
    node_move_after(guard, place.after);
    ptrmap_put(&e->last, anchor, guard);
    if (place.block == node_input(guard, 0)->node->owning_block) ptrmap_put(&e->first, node_input(guard, 0), guard);
  }
}

/* What comes after a guard uses the value whose type is known. */
static void use_guarded(Elimination *e) {
  for (size_t i = 0; i < e->guards.length; i++) {
    Node *guard = e->guards.data[i];
    if (!guard) continue;
    Value *value = node_input(guard, 0);
    if (ptrmap_get(&e->first, value) == guard) value_replace_all_uses_after(value, guard, node_output(guard, 0));
  }
}

/* What the guard promises follows from the type of its input; the second: all but requires_grad, which a plan may as
 * well not know of what it computes itself. */
typedef enum Proof { PROOF_NONE, PROOF_WHOLE, PROOF_BUT_REQUIRES_GRAD } Proof;

static Proof proof_of(const Node *guard) {
  const Type *known = node_input(guard, 0)->type, *promised = node_output(guard, 0)->type;
  if (known->kind != TYPE_TENSOR || !known->tensor || !promised->tensor) return PROOF_NONE;
  if (tensor_info_implies(known->tensor, promised->tensor)) return PROOF_WHOLE;
  TensorInfo look = *promised->tensor;
  look.requires_grad = -1;
  return tensor_info_implies(known->tensor, &look) ? PROOF_BUT_REQUIRES_GRAD : PROOF_NONE;
}

/* True: something was promised of requires_grad that is not any more. */
static bool remove_proven(Elimination *e) {
  bool fewer_promises = false;
  for (size_t i = 0; i < e->guards.length; i++) {
    Node *guard = e->guards.data[i];
    Proof proof = guard ? proof_of(guard) : PROOF_NONE;
    if (proof == PROOF_NONE || !jit_opt_limit(FILE_NAME)) continue;
    NODE_LOG_UPDATE(FILE_NAME, "proven:", guard);
    fewer_promises |= proof == PROOF_BUT_REQUIRES_GRAD;
    value_replace_all_uses_with(node_output(guard, 0), node_input(guard, 0));
    node_destroy(guard);
  }
  return fewer_promises;
}

void guard_elimination(Graph *graph, Exec *exec) {
  Elimination e = {.graph = graph, .arena = graph->arena};
  ptrmap_init(&e.exits, graph->arena);
  ptrmap_init(&e.last, graph->arena);
  ptrmap_init(&e.first, graph->arena);
  collect(&e, graph->block);
  move_to_definitions(&e);
  use_guarded(&e);
  shape_analysis_run(graph, exec, true);
  if (remove_proven(&e)) shape_analysis_run(graph, exec, true);
  GRAPH_LOG_DUMP(FILE_NAME, "After eliminateRedundantGuards: ", graph);
}

PASS(guard_elimination, GRADIENTS, guard_elimination(graph, exec),
     "moves guards to definitions, joins them, removes what shapes prove");
