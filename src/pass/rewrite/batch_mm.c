/* Many small matrix products as one: a sum of products (what the gradient of an unrolled loop leaves) becomes
 * prim::MMTreeReduce, one product of the concatenated operands; products that share an operand become
 * prim::MMBatchSide. Graphs that write to tensors stay as they are. batch_mm_ops.c runs both nodes. */
#include <assert.h>
#include <stdlib.h>

#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "batch_mm"

enum {
  TREE_MIN_PRODUCTS = 4,
  SIDE_MIN_PRODUCTS = 8, /* the factor of unrolling */
  BATCH_MAX_SPAN = 4096  /* nodes between the first and the last product of a batch */
};

static bool is_product(const Node *node) {
  return node->kind == SYM_aten_mm && node->input_count == 2;
}

/* ---- sums ---- */

/* A node of which all leaves are products: the sum of `size` of them. Either all are transposed or none, so that the
 * sum has the strides of a sum or of its transpose. */
typedef struct Tree {
  uint32_t size;
  bool is_root, transposed;
  Node *node;
} Tree;

typedef struct Batcher {
  Graph *graph;
  Arena *arena;
  PtrMap trees; /* node -> Tree */
  VEC(Tree *) order;
  PtrMap seen; /* operands whose products were gathered */
  bool changed;
} Batcher;

static Tree *make_tree(Batcher *b, Node *node, uint32_t size, bool transposed) {
  assert(size > 0);
  Tree *tree = ARENA_NEW(b->arena, Tree);
  *tree = (Tree){size, true, transposed, node};
  ptrmap_put(&b->trees, node, tree);
  vec_arena_push(b->arena, &b->order, tree);
  return tree;
}

/* The tree that makes an operand that nobody else uses: its sum may be taken apart. */
static Tree *operand_tree(Batcher *b, const Node *node, uint32_t i) {
  const Value *operand = node_input(node, i);
  if (operand->uses.length != 1 || operand->node->owning_block != node->owning_block) return NULL;
  return ptrmap_get(&b->trees, operand->node);
}

static void grow_tree(Batcher *b, Node *node) {
  if (is_product(node)) {
    make_tree(b, node, 1, false);
  } else if (node->kind == SYM_aten_t) {
    Tree *inner = operand_tree(b, node, 0);
    if (!inner || !is_product(inner->node)) return;
    inner->is_root = false;
    make_tree(b, node, 1, true);
  } else if (node->kind == SYM_aten_add && node->input_count == 3) {
    double alpha;
    Tree *left = operand_tree(b, node, 0), *right = operand_tree(b, node, 1);
    if (!left || !right || left->transposed != right->transposed || !constant_double(node_input(node, 2), &alpha) ||
        alpha != 1)
      return;
    left->is_root = right->is_root = false;
    make_tree(b, node, left->size + right->size, left->transposed);
  }
}

static void reduce_tree(Batcher *b, const Tree *tree) {
  Node *root = tree->node, **work = ARENA_ARRAY(b->arena, Node *, tree->size + 1);
  Value **left = ARENA_ARRAY(b->arena, Value *, 2 * (size_t)tree->size), **right = left + tree->size;
  uint32_t pending = 0, count = 0;
  work[pending++] = root;
  while (pending) {
    Node *node = work[--pending];
    if (node->kind == SYM_aten_t) node = node_input(node, 0)->node;
    if (is_product(node)) {
      left[count] = node_input(node, 0);
      right[count++] = node_input(node, 1);
    } else { /* in the order as written, so that the first that fails is the same */
      work[pending++] = node_input(node, 1)->node;
      work[pending++] = node_input(node, 0)->node;
    }
  }
  assert(count == tree->size);
  Value *sum = insert_call_before(root, SYM_prim_MMTreeReduce, node_output(root, 0)->type, 2 * count, left);
  if (tree->transposed) sum = insert_call_before(root, SYM_aten_t, node_output(root, 0)->type, 1, &sum);
  value_replace_all_uses_with(node_output(root, 0), sum);
  JIT_LOG_UPDATE(FILE_NAME, "a sum of %u products is one", count);
  b->changed = true;
}

static void reduce_in(Batcher *b, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) reduce_in(b, node->blocks[i]);
    grow_tree(b, node);
  }
}

/* ---- a shared operand ---- */

typedef VEC(Node *) Products;

static int compare_places(const void *a, const void *b) {
  const Node *x = *(Node *const *)a, *y = *(Node *const *)b;
  return x == y ? 0 : node_is_before(x, y) ? -1 : 1;
}

static bool may_move(const Node *node) {
  return !node->block_count && !node_has_side_effects(node) && !node_is_nondeterministic(node);
}

/* All products of a batch run where the first one stood. A product can if what it multiplies does not depend on another
 * one, nor on what can't move up: one walk from the first to the last finds which. */
static void keep_independent(Batcher *b, Products *products, PtrMap *bound) {
  qsort(products->data, products->length, sizeof *products->data, compare_places);
  size_t kept = 0, next = 0, steps = 0;
  for (Node *node = products->data[0]; next < products->length && steps < BATCH_MAX_SPAN; node = node->next, steps++) {
    bool is_next = node == products->data[next], free = may_move(node);
    next += is_next;
    for (uint32_t i = 0; i < node->input_count && free; i++) free = !ptrmap_has(bound, node_input(node, i)->node);
    if (is_next && free) products->data[kept++] = node;
    if (is_next || !free) ptrmap_put(bound, node, b);
  }
  products->length = kept;
}

/* Moves what the value needs, from after `point`, in front of it; operands before what uses them. */
static void move_up(Batcher *b, Value *value, Node *point) {
  VEC(Node *) work = {0};
  vec_arena_push(b->arena, &work, value->node);
  while (work.length) {
    Node *node = vec_last(&work);
    bool ready = true;
    if (node->owning_block == point->owning_block && node_is_before(point, node)) {
      for (uint32_t i = 0; i < node->input_count; i++) {
        Node *operand = node_input(node, i)->node;
        if (operand->owning_block != point->owning_block || !node_is_before(point, operand)) continue;
        vec_arena_push(b->arena, &work, operand);
        ready = false;
      }
      if (ready) node_move_before(node, point);
    }
    if (ready) work.length--;
  }
}

static void batch_side(Batcher *b, Products *products, uint32_t side) {
  assert(side < 2);
  PtrMap bound; /* nodes that stay after the first product */
  ptrmap_init(&bound, b->arena);
  keep_independent(b, products, &bound);
  if (products->length < SIDE_MIN_PRODUCTS || !jit_opt_limit(FILE_NAME)) return;
  Node *first = products->data[0];
  Node *batch = graph_create(b->graph, SYM_prim_MMBatchSide, 1, (Value *[]){node_input(first, side)}, 0);
  node_copy_metadata(batch, first);
  node_set_int(batch, SYM_attr_side, side);
  for (size_t i = 0; i < products->length; i++) {
    Node *product = products->data[i];
    move_up(b, node_input(product, 1 - side), first);
    node_add_input(batch, node_input(product, 1 - side));
    Value *output = node_add_output(batch, node_output(product, 0)->type);
    value_replace_all_uses_with(node_output(product, 0), output);
  }
  node_insert_before(batch, first);
  JIT_LOG_UPDATE(FILE_NAME, "%zu products of one operand are one", products->length);
  b->changed = true;
}

static void batch_operand(Batcher *b, const Block *block, const Value *operand) {
  if (ptrmap_has(&b->seen, operand)) return;
  ptrmap_put(&b->seen, operand, b);
  Products sides[2] = {0};
  for (size_t i = 0; i < operand->uses.length; i++) {
    Use use = operand->uses.data[i];
    if (!is_product(use.user) || use.user->owning_block != block || node_input(use.user, 1 - use.offset) == operand)
      continue;
    vec_arena_push(b->arena, &sides[use.offset], use.user);
  }
  for (uint32_t side = 0; side < 2; side++)
    if (sides[side].length >= SIDE_MIN_PRODUCTS) batch_side(b, &sides[side], side);
}

static void batch_in(Batcher *b, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) batch_in(b, node->blocks[i]);
    if (!is_product(node)) continue;
    for (uint32_t i = 0; i < 2; i++)
      if (value_has_uses(node_output(node, 0))) batch_operand(b, block, node_input(node, i));
  }
}

static uint32_t count_products(const Block *block) {
  uint32_t count = 0;
  BLOCK_EACH(node, block) {
    count += is_product(node);
    for (uint32_t i = 0; i < node->block_count; i++) count += count_products(node->blocks[i]);
  }
  return count;
}

static void run(Arena *scratch, void *argument) {
  Batcher *b = argument;
  b->arena = scratch;
  ptrmap_init(&b->trees, scratch);
  ptrmap_init(&b->seen, scratch);
  reduce_in(b, b->graph->block);
  for (size_t i = 0; i < b->order.length; i++)
    if (b->order.data[i]->is_root && b->order.data[i]->size >= TREE_MIN_PRODUCTS && jit_opt_limit(FILE_NAME))
      reduce_tree(b, b->order.data[i]);
  if (b->changed) dead_code_elimination(b->graph);
  batch_in(b, b->graph->block);
}

void batch_mm(Graph *graph) {
  Batcher b = {.graph = graph};
  if (count_products(graph->block) < TREE_MIN_PRODUCTS || block_any(graph->block, node_writes)) return;
  graph_with_scratch(graph, run, &b);
  if (!b.changed) return;
  dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After BatchMM: ", graph);
}

PASS(batch_mm, GRADIENTS, batch_mm(graph), "makes sums and batches of matrix products one product");
