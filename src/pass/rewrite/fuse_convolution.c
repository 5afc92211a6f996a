/* The gate of squeeze and excitation, a convolution, a normalization by stored statistics, a sum and an activation,
 * each used by the next alone, become one node (op/nn/conv_norm.c). Anything the operator finds out of the ordinary at
 * run time, gradients included, it declines, so nothing need be known of the tensors here. */
#include <assert.h>
#include <math.h>

#include "call/derive.h"
#include "ir/graph_log.h"
#include "op/nn/conv_norm.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_convolution"

typedef struct Chain {
  Node *gate, *conv, *norm, *add, *activation; /* but for conv NULL when absent, not all */
  bool factor_first;                           /* the gate's is, of the product's two */
  Value *term;                                 /* what is added */
  bool term_first;
  const char *name; /* of the activation, without the "_" of the form in place */
  double low, high;
} Chain;

static bool is_convolution(const Node *node) {
  return node_conv_dims(node) && node->input_count == 7 && node_named_input(node, "padding")->type->kind == TYPE_LIST;
}

static bool constant_number(const Value *value, double *out) {
  IValue number;
  if (!value_is_constant(value, &number) || (number.tag != TAG_INT && number.tag != TAG_FLOAT)) return false;
  *out = ivalue_to_double(number);
  return true;
}

/* By the operator's name. */
static ConvActivation activation_of(const Node *node) {
  const Operator *op = node_operator(node);
  Str name, overload;
  if (!op || !schema_text_split(str_from(op->row->schema), &name, &overload)) return CONV_NONE;
  ptrdiff_t colon = str_rfind_char(name, ':');
  return conv_activation_find(str_slice(name, (size_t)(colon + 1), name.length));
}

/* Gelu of erf, not of tanh. */
static bool is_exact(const Node *gelu) {
  IValue approximate;
  return gelu->input_count == 2 && value_is_constant(node_input(gelu, 1), &approximate) &&
         approximate.tag == TAG_STRING && str_is(ivalue_str(approximate), "none");
}

/* What the convolution's epilogue does by itself: a limit, by its row or its arguments, or a function that it knows. */
static bool is_activation(const Node *node, Chain *c) {
  const Operator *op = node_operator(node);
  if (!op || op->variant == VARIANT_OUT) return false;
  c->low = op->row->clamp[0];
  c->high = op->row->clamp[1];
  bool clamps = c->low < c->high;
  ConvActivation activation = clamps ? CONV_CLAMP : activation_of(node);
  if (activation == CONV_NONE) return false;
  c->name = conv_activation_name(activation);
  if (activation == CONV_GELU) return is_exact(node);
  if (activation != CONV_CLAMP || clamps) return node->input_count == 1;
  return node->input_count == 3 && constant_number(node_input(node, 1), &c->low) &&
         constant_number(node_input(node, 2), &c->high) && c->low <= c->high;
}

/* The sigmoid of a convolution, or the piecewise linear one. */
static bool is_gate(const Value *value) {
  ConvActivation activation = value->node ? activation_of(value->node) : CONV_NONE;
  if (activation != CONV_SIGMOID && activation != CONV_HARDSIGMOID) return false;
  const Node *of = node_input(value->node, 0)->node;
  return of && is_convolution(of);
}

/* A product, used by the convolution alone, of a tensor and a gate: it becomes part of how the convolution reads. */
static void find_gate(Chain *c) {
  Node *product = node_input(c->conv, 0)->node;
  if (!product || product->kind != SYM_aten_mul || product->input_count != 2 || chain_next(product) != c->conv ||
      !is_first_input(c->conv, product) || node_input(product, 0)->type->kind != TYPE_TENSOR ||
      node_input(product, 1)->type->kind != TYPE_TENSOR)
    return;
  c->factor_first = is_gate(node_input(product, 0));
  if (c->factor_first || is_gate(node_input(product, 1))) c->gate = product;
}

static bool find_chain(Node *node, Chain *c) {
  *c = (Chain){.conv = node};
  if (!is_convolution(node)) return false;
  find_gate(c);
  Node *last = node, *next = chain_next(last);
  if (next && is_stored_norm(next) && is_first_input(next, last)) {
    c->norm = last = next;
    next = chain_next(last);
  }
  if (next && is_sum_of(next, last, &c->term, &c->term_first)) {
    c->add = last = next;
    next = chain_next(last);
  }
  if (next && is_activation(next, c)) c->activation = next;
  return c->gate || c->norm || c->add || c->activation;
}

static Value *insert_activation(Graph *graph, const Chain *c) {
  enum { LONGEST = 32 };
  char name[LONGEST];
  bool in_place = node_operator(c->activation)->variant == VARIANT_INPLACE;
  snprintf(name, sizeof name, "%s%s", c->name, in_place ? "_" : "");
  return insert_text(graph, str_from(name));
}

/* The nodes behind the convolution, in order; how many. */
static int nodes_behind(const Chain *c, Node *nodes[3]) {
  int count = 0;
  if (c->norm) nodes[count++] = c->norm;
  if (c->add) nodes[count++] = c->add;
  if (c->activation) nodes[count++] = c->activation;
  return count;
}

static void replace_chain(Graph *graph, AliasDb *db, const Chain *c) {
  Node *nodes[5] = {c->gate, c->conv}, **first = c->gate ? nodes : nodes + 1;
  int count = (c->gate ? 2 : 1) + nodes_behind(c, nodes + 2);
  graph_set_insert_point(graph, first[count - 1]);
  graph->range = c->conv->range;
  Value *inputs[CONV_NORM_INPUTS];
  for (uint32_t i = 0; i < 7; i++) inputs[i] = node_input(c->conv, i);
  Value *none = graph_insert_constant(graph, IVALUE_NONE, NULL);
  for (uint32_t i = 0; i < 4; i++) inputs[7 + i] = c->norm ? node_input(c->norm, i + 1) : none;
  inputs[11] = c->norm ? node_input(c->norm, 7) : graph_insert_constant(graph, ivalue_float(0), NULL);
  inputs[12] = c->add ? c->term : none;
  inputs[13] = graph_insert_constant(graph, ivalue_bool(c->add && c->term_first), NULL);
  inputs[14] = c->activation ? insert_activation(graph, c) : none;
  inputs[15] = graph_insert_constant(graph, ivalue_float(c->low), NULL);
  inputs[16] = graph_insert_constant(graph, ivalue_float(c->high), NULL);
  inputs[17] = graph_insert_constant(graph, ivalue_int(node_conv_dims(c->conv)), NULL);
  if (c->gate) inputs[0] = node_input(c->gate, c->factor_first ? 1 : 0);
  inputs[18] = c->gate ? node_input(c->gate, c->factor_first ? 0 : 1) : none;
  inputs[19] = graph_insert_constant(graph, ivalue_bool(c->gate && c->factor_first), NULL);
  Node *fused = graph_create(graph, SYM_wick_convolution_norm, CONV_NORM_INPUTS, inputs, 1);
  fused->inlined = c->conv->inlined;
  chain_replace(graph, db, first, count, fused);
}

/* Leaves of the chain what can be one. */
static bool gather_chain(AliasDb *db, Chain *c) {
  Node *nodes[5] = {c->gate, c->conv}, **conv = nodes + 1;
  int count = 1 + nodes_behind(c, conv + 1);
  chain_gather(db, c->gate ? nodes : conv, c->gate ? count + 1 : count);
  count = chain_together(conv, count);
  Node **const behind[] = {&c->norm, &c->add, &c->activation};
  for (int i = 0; i < 3; i++)
    if (*behind[i] && --count <= 0) *behind[i] = NULL;
  if (c->gate && c->gate->next != c->conv) c->gate = NULL;
  if (c->gate || nodes_behind(c, nodes)) return true;
  node_refused(FILE_NAME, c->conv, REASON_NOT_MOVED_ALIASING);
  return false;
}

static void fuse_block(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) fuse_block(graph, db, node->blocks[i]);
    Chain c;
    if (!find_chain(node, &c)) continue;
    if (c.gate == node_prev) node_prev = c.gate->prev; /* the gate will be gone */
    if (!gather_chain(db, &c)) continue;
    if (!jit_opt_limit(FILE_NAME)) return;
    NODE_LOG_UPDATE(FILE_NAME, "with what follows:", c.conv);
    replace_chain(graph, db, &c);
  }
}

static void fuse(Graph *graph, AliasDb *db, void *ignored) {
  (void)ignored;
  fuse_block(graph, db, graph->block);
}

void fuse_convolution(Graph *graph) {
  with_aliases(graph, fuse, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseConvolution: ", graph);
}

PASS(fuse_convolution, RESULTS, fuse_convolution(graph), "makes convolution, stored normalization and clamp one node");
