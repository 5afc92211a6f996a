/* A product, a factor, a mask that is added, one that is filled, softmax and the product with values, each used by the
 * next alone, become one node (op/nn/attention_fused.c), which never holds all scores. Anything the operator finds out
 * of the ordinary at run time, gradients included, it declines, so nothing need be known of the tensors here. */
#include <assert.h>

#include "call/derive.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_attention"

typedef struct Chain {
  Node *nodes[7]; /* in order */
  int count;
  Node *scores, *scale, *add, *fill, *softmax, *result; /* the middle three: NULL when absent */
  Value *query, *key, *value, *mask;
  bool mask_first;
} Chain;

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
static bool is_fill(const Node *node) {
  return node->kind == SYM_aten_masked_fill && node->input_count == 3 && is_number(node_input(node, 2));
}
static bool is_softmax(const Node *node) {
  int64_t dim;
  return node->kind == SYM_aten_softmax && node->input_count == 3 && value_is_none(node_input(node, 2)) &&
         constant_int(node_input(node, 1), &dim);
}
/* The next of the chain, if the last has one user; else NULL. */
static Node *step(Chain *c, Node *node) {
  c->nodes[c->count++] = node;
  return chain_next(node);
}

static bool find_chain(Node *node, Chain *c) {
  if (!is_scores(node, c)) return false;
  Node *last = node, *next = step(c, node);
  if (next && c->scores->kind != SYM_aten_baddbmm && is_first_input(next, last) && is_scale(next)) {
    c->scale = last = next;
    next = step(c, next);
  }
  if (next && !c->mask && is_sum_of(next, last, &c->mask, &c->mask_first)) {
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

static bool gather_chain(AliasDb *db, const Chain *c) {
  chain_gather(db, c->nodes, c->count);
  if (chain_together(c->nodes, c->count) == c->count) return true;
  node_refused(FILE_NAME, c->scores, REASON_NOT_MOVED_ALIASING);
  return false;
}

static void replace_chain(Graph *graph, AliasDb *db, const Chain *c) {
  graph_set_insert_point(graph, c->result);
  graph->range = c->softmax->range;
  Value *none = graph_insert_constant(graph, IVALUE_NONE, NULL);
  Value *inputs[] = {c->query,
                     c->key,
                     c->value,
                     insert_text(graph, symbol_base(c->scores->kind)),
                     insert_text(graph, symbol_base(c->result->kind)),
                     c->scale ? node_input(c->scale, 1) : none,
                     graph_insert_constant(graph, ivalue_bool(c->scale && c->scale->kind == SYM_aten_div), NULL),
                     c->mask ? c->mask : none,
                     graph_insert_constant(graph, ivalue_bool(c->mask_first), NULL),
                     c->fill ? node_input(c->fill, 1) : none,
                     c->fill ? node_input(c->fill, 2) : graph_insert_constant(graph, ivalue_float(0), NULL),
                     node_input(c->softmax, 1)};
  Node *fused = graph_create(graph, SYM_wick_attention, sizeof inputs / sizeof *inputs, inputs, 1);
  fused->inlined = c->softmax->inlined;
  chain_replace(graph, db, c->nodes, c->count, fused);
}

static bool fuse(Graph *graph, AliasDb *db, Node *node) {
  Chain c;
  if (!find_chain(node, &c) || !gather_chain(db, &c)) return true;
  if (!jit_opt_limit(FILE_NAME)) return false;
  NODE_LOG_UPDATE(FILE_NAME, "with what follows:", c.scores);
  replace_chain(graph, db, &c);
  return true;
}

void fuse_attention(Graph *graph) {
  chain_each(graph, fuse);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseAttention: ", graph);
}

PASS(fuse_attention, RESULTS, fuse_attention(graph), "makes products around a softmax one node");
