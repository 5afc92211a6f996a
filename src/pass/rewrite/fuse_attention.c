/* A product, a factor, a mask that is added, one that is filled, softmax and the product with values, each used by the
 * next alone, become one node (op/nn/attention_fused.c), which never holds all scores. Anything the operator finds out
 * of the ordinary at run time, gradients included, it does by its parts, so nothing need be known of the tensors here.
 */
#include <assert.h>

#include "call/derive.h"
#include "ir/alias_db.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "fuse_attention"

typedef struct Chain {
  Node *nodes[7]; /* in order */
  int count;
  Node *scores, *scale, *add, *fill, *softmax, *result; /* the middle three: NULL when absent */
  Value *query, *key, *value, *mask;
  bool mask_first;
} Chain;

/* The node that alone uses the only output of `node`, in the same block. */
static Node *only_user(const Node *node) {
  assert(node->output_count == 1);
  const Value *out = node_output(node, 0);
  if (out->uses.length != 1) return NULL;
  Node *user = out->uses.data[0].user;
  return user->owning_block == node->owning_block ? user : NULL;
}
static bool is_first_input(const Node *user, const Node *node) {
  return node_input(user, 0) == node_output(node, 0);
}
static bool is_number(const Value *value) {
  return value->type->kind == TYPE_FLOAT || value->type->kind == TYPE_INT;
}
static bool is_one(const Value *value) {
  double number;
  return constant_double(value, &number) && number == 1;
}

static bool is_product(const Node *node) {
  return node && node->input_count == 2 && (node->kind == SYM_aten_matmul || node->kind == SYM_aten_bmm);
}

/* The product that makes scores; baddbmm adds a mask. */
static bool is_scores(Node *node, Chain *c) {
  bool adds = node->kind == SYM_aten_baddbmm && node->input_count == 5 && is_one(node_input(node, 3)) &&
              is_one(node_input(node, 4));
  if (!adds && !is_product(node)) return false;
  *c = (Chain){.scores = node, .query = node_input(node, adds), .key = node_input(node, adds + 1)};
  if (adds) c->mask = node_input(node, 0);
  return true;
}

static bool is_scale(const Node *node) {
  return (node->kind == SYM_aten_mul || node->kind == SYM_aten_div) && node->input_count == 2 &&
         is_number(node_input(node, 1));
}
static bool is_mask(const Node *node, const Node *of, Chain *c) {
  if (node->kind != SYM_aten_add || node->input_count != 3 || !is_one(node_input(node, 2))) return false;
  c->mask_first = !is_first_input(node, of);
  c->mask = node_input(node, c->mask_first ? 0 : 1);
  return node_input(node, 0)->type->kind == TYPE_TENSOR && node_input(node, 1)->type->kind == TYPE_TENSOR;
}
static bool is_fill(const Node *node) {
  return node->kind == SYM_aten_masked_fill && node->input_count == 3 && is_number(node_input(node, 2));
}
static bool is_softmax(const Node *node) {
  int64_t dim;
  return node->kind == SYM_aten_softmax && node->input_count == 3 && value_is_none(node_input(node, 2)) &&
         constant_int(node_input(node, 1), &dim);
}
static bool is_idle_dropout(const Node *node) {
  return node->kind == SYM_aten_dropout && node->input_count == 3 && constant_is_bool(node_input(node, 2), false);
}

/* The next of the chain, if the last has one user; else NULL. */
static Node *step(Chain *c, Node *node) {
  c->nodes[c->count++] = node;
  return only_user(node);
}

static bool find_chain(Node *node, Chain *c) {
  if (!is_scores(node, c)) return false;
  Node *last = node, *next = step(c, node);
  if (next && c->scores->kind != SYM_aten_baddbmm && is_first_input(next, last) && is_scale(next)) {
    c->scale = last = next;
    next = step(c, next);
  }
  if (next && !c->mask && is_mask(next, last, c)) {
    c->add = last = next;
    next = step(c, next);
  }
  if (next && is_first_input(next, last) && is_fill(next)) {
    c->fill = last = next;
    next = step(c, next);
  }
  if (!next || !is_first_input(next, last) || !is_softmax(next)) return false;
  c->softmax = last = next;
  next = step(c, next);
  if (next && is_first_input(next, last) && is_idle_dropout(next)) {
    last = next;
    next = step(c, next);
  }
  if (!is_product(next) || !is_first_input(next, last)) return false;
  c->result = next;
  c->nodes[c->count++] = next;
  c->value = node_input(next, 1);
  return c->value != node_output(last, 0);
}

/* Moves each node before the next, the later ones first; false: something between them has to stay there. */
static bool gather_chain(AliasDb *db, const Chain *c) {
  for (int i = c->count - 2; i >= 0; i--) alias_move_before(db, c->nodes[i], c->nodes[i + 1]);
  for (int i = 0; i + 1 < c->count; i++)
    if (c->nodes[i]->next != c->nodes[i + 1]) {
      node_refused(FILE_NAME, c->scores, REASON_NOT_MOVED_ALIASING);
      return false;
    }
  return true;
}

static Value *insert_name(Graph *graph, Symbol kind) {
  String *string;
  Status status = string_new(symbol_base(kind), &string);
  if (status) catch_throw(graph->arena->catch_point, status);
  IValue value = ivalue_string(string);
  Value *constant = graph_insert_constant(graph, value, NULL);
  ivalue_release(value);
  return constant;
}

static void replace_chain(Graph *graph, AliasDb *db, const Chain *c) {
  Node *last = c->result;
  graph_set_insert_point(graph, last);
  graph->range = c->softmax->range;
  Value *none = graph_insert_constant(graph, IVALUE_NONE, NULL);
  Value *inputs[] = {c->query,
                     c->key,
                     c->value,
                     insert_name(graph, c->scores->kind),
                     insert_name(graph, c->result->kind),
                     c->scale ? node_input(c->scale, 1) : none,
                     graph_insert_constant(graph, ivalue_bool(c->scale && c->scale->kind == SYM_aten_div), NULL),
                     c->mask ? c->mask : none,
                     graph_insert_constant(graph, ivalue_bool(c->mask_first), NULL),
                     c->fill ? node_input(c->fill, 1) : none,
                     c->fill ? node_input(c->fill, 2) : graph_insert_constant(graph, ivalue_float(0), NULL),
                     node_input(c->softmax, 1)};
  Node *fused = graph_create(graph, SYM_wick_attention, sizeof inputs / sizeof *inputs, inputs, 1);
  fused->inlined = c->softmax->inlined;
  node_output(fused, 0)->type = node_output(last, 0)->type;
  graph_insert_node(graph, fused);
  alias_replace_value(db, node_output(last, 0), node_output(fused, 0));
  value_replace_all_uses_with(node_output(last, 0), node_output(fused, 0));
  for (int i = c->count - 1; i >= 0; i--) node_destroy(c->nodes[i]);
}

static void fuse_block(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) fuse_block(graph, db, node->blocks[i]);
    Chain c;
    if (!find_chain(node, &c) || !gather_chain(db, &c)) continue;
    if (!jit_opt_limit(FILE_NAME)) return;
    NODE_LOG_UPDATE(FILE_NAME, "with what follows:", c.scores);
    replace_chain(graph, db, &c);
  }
}

static void fuse(Arena *scratch, void *argument) {
  Graph *graph = argument;
  fuse_block(graph, alias_db_new(graph, scratch), graph->block);
}

void fuse_attention(Graph *graph) {
  graph_with_scratch(graph, fuse, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseAttention: ", graph);
}

PASS(fuse_attention, RESULTS, fuse_attention(graph), "makes products around a softmax one node");
