/* Layers that a program has in the form of their parts, as torch.export's decompositions leave them, become the
 * operators that programs call: what plans know are those. What `addmm` and `mm` multiply is taken for matrices: linear
 * layers take more dimensions without an error. An operator that gives statistics besides is one of these
 * only where nobody reads the statistics. */
#include <math.h>

#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "recompose"

enum { MAX_DIMS = 3 };

/* Of the node at the pattern's end nothing but the first output is used. */
static bool is_only_result(const RewriteMatch *m) {
  for (uint32_t i = 1; i < m->node->output_count; i++)
    if (value_has_uses(node_output(m->node, i))) return false;
  return true;
}

/* How many ints the list has that the value is, -1 where that is not known; the first `most` of them. */
static int64_t read_ints(const Value *list, uint32_t most, int64_t *out) {
  IValue value;
  if (value_is_constant(list, &value)) {
    if (value.tag != TAG_LIST || value.list->kind != LIST_INTS) return -1;
    for (size_t i = 0; i < value.list->length && i < most; i++) out[i] = value.list->ints[i];
    return (int64_t)value.list->length;
  }
  const Node *node = list->node;
  if (node->kind != SYM_prim_ListConstruct || !value_is_only_read(list)) return -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i >= most) continue;
    if (!value_is_constant(node_input(node, i), &value) || value.tag != TAG_INT) return -1;
    out[i] = value.i;
  }
  return node->input_count;
}
static bool is_transposition(const RewriteMatch *m) {
  int64_t dims[2];
  return read_ints(bound(m, 'd'), 2, dims) == 2 && (dims[0] == 1 || dims[0] == -1) && (dims[1] == 0 || dims[1] == -2);
}
/* The convolution over as many dimensions as the stride has. */
static Value *named_convolution(const RewriteMatch *m) {
  static const char *const kinds[2][MAX_DIMS] = {
      {"aten::conv1d", "aten::conv2d", "aten::conv3d"},
      {"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"}};
  int64_t strides[MAX_DIMS];
  IValue transposed;
  int64_t dims = read_ints(bound(m, 's'), MAX_DIMS, strides);
  if (dims < 1 || dims > MAX_DIMS || !value_is_constant(bound(m, 't'), &transposed) || transposed.tag != TAG_BOOL)
    return NULL;
  Symbol kind = symbol_intern(str_from(kinds[transposed.b][dims - 1]));
  if (kind == SYMBOL_NONE) return NULL;
  Value *plain[] = {bound(m, 'x'), bound(m, 'w'), bound(m, 'b'), bound(m, 's'),
                    bound(m, 'p'), bound(m, 'd'), bound(m, 'g')};
  Value *upward[] = {bound(m, 'x'), bound(m, 'w'), bound(m, 'b'), bound(m, 's'),
                     bound(m, 'p'), bound(m, 'o'), bound(m, 'g'), bound(m, 'd')};
  return transposed.b ? insert_call_before(m->node, kind, TYPE(TENSOR), 8, upward)
                      : insert_call_before(m->node, kind, TYPE(TENSOR), 7, plain);
}

/* squeeze of one dimension, which older PyTorch has too. */
static Value *squeeze_of_one(const RewriteMatch *m) {
  int64_t dim;
  if (read_ints(bound(m, 'd'), 1, &dim) != 1) return NULL;
  Value *inputs[] = {bound(m, 'x'), insert_constant_before(m->node, ivalue_int(dim), NULL)};
  return insert_call_before(m->node, SYM_aten_squeeze, TYPE(TENSOR), 2, inputs);
}

/* ---- products of batches ---- */

/* Sizes, which may be computed: what they are is known of none, which are the same of all. */
enum { MOST_SIZES = 8 };
typedef struct Sizes {
  uint32_t count;
  Value *values[MOST_SIZES];
} Sizes;
static bool read_sizes(const Value *list, Sizes *out) {
  const Node *node = list->node;
  if (node->kind != SYM_prim_ListConstruct || !value_is_only_read(list) || node->input_count > MOST_SIZES) return false;
  out->count = node->input_count;
  for (uint32_t i = 0; i < out->count; i++) out->values[i] = node_input(node, i);
  return true;
}
static bool is_same_size(const Value *a, const Value *b) {
  IValue x, y;
  if (a == b) return true;
  return value_is_constant(a, &x) && value_is_constant(b, &y) && x.tag == TAG_INT && y.tag == TAG_INT && x.i == y.i &&
         x.i >= 0;
}
static bool are_same_batches(const Sizes *a, const Sizes *b) { /* all but the last two */
  bool same = a->count == b->count && a->count > 2;
  for (uint32_t i = 0; same && i + 2 < a->count; i++) same = is_same_size(a->values[i], b->values[i]);
  return same;
}
/* From the end: 1 is the last. */
static const Value *from_end(const Sizes *sizes, uint32_t i) {
  assert(i && i <= sizes->count);
  return sizes->values[sizes->count - i];
}
static bool is_node(const Value *value, Symbol kind, uint32_t inputs) {
  return value->node->kind == kind && value->node->input_count == inputs;
}

/* Whether anything in the graph writes to the value's memory: then a read of it may not move. */
static bool may_change(const RewriteMatch *m, const Value *value) {
  return rewrite_graph_writes(m->run) && alias_has_writers(rewrite_alias_db(m->run), value);
}

/* reshape([n, a, b]) of a tensor, perhaps a copy of it, that was expanded to [..., a, b]: the expanded one, its
 * sizes. */
static Value *expanded(const RewriteMatch *m, const Value *batches, Sizes *out) {
  Sizes three;
  if (!is_node(batches, SYM_aten_reshape, 2) || !read_sizes(node_input(batches->node, 1), &three) || three.count != 3)
    return NULL;
  Value *from = node_input(batches->node, 0);
  if (is_node(from, SYM_aten_clone, 2) && !rewrite_graph_changes_tensors(m->run)) from = node_input(from->node, 0);
  bool fits = is_node(from, SYM_aten_expand, 3) && read_sizes(node_input(from->node, 1), out) && out->count > 2 &&
              is_same_size(from_end(out, 1), from_end(&three, 1)) &&
              is_same_size(from_end(out, 2), from_end(&three, 2));
  return fits && !may_change(m, batches) && !may_change(m, from) ? from : NULL;
}
/* What matmul is, taken apart: bmm of what both were expanded to. */
static Value *product_of_batches(const RewriteMatch *m) {
  Sizes left, right, given;
  Value *x = expanded(m, bound(m, 'x'), &left), *y = expanded(m, bound(m, 'y'), &right);
  bool fits = x && y && read_sizes(bound(m, 's'), &given) && are_same_batches(&left, &right) &&
              are_same_batches(&left, &given) && is_same_size(from_end(&left, 1), from_end(&right, 2)) &&
              is_same_size(from_end(&given, 2), from_end(&left, 2)) &&
              is_same_size(from_end(&given, 1), from_end(&right, 1));
  return fits ? insert_call_before(m->node, SYM_aten_matmul, TYPE(TENSOR), 2, (Value *[]){x, y}) : NULL;
}
/* A product with one matrix that was expanded to each of the batches. */
static bool are_of_same_batches(const RewriteMatch *m) {
  Sizes left, right;
  return read_sizes(bound(m, 'a'), &left) && read_sizes(bound(m, 'e'), &right) && are_same_batches(&left, &right);
}

/* ---- attention ---- */

/* The softmax of rows that may be masked as a whole, of a product both of whose factors were scaled, is what
 * scaled_dot_product_attention is made of and nothing else: what is added to it is a mask of floats. */

static bool is_minus_infinity(const RewriteMatch *m) {
  IValue value;
  return value_is_constant(bound(m, 'i'), &value) && value.tag == TAG_FLOAT && isinf(value.f) && value.f < 0;
}
/* The softmax, and what is filled in, is of the dtype of what it is of. */
static bool gives_own_dtype(const RewriteMatch *m) {
  return bound(m, 'n')->type->kind == TYPE_NONE;
}
static bool has_own_dtype(const RewriteMatch *m) {
  return bound(m, 'm')->type->kind == TYPE_NONE;
}
static bool swaps_last_two(const Value *dims, uint32_t ndim) {
  int64_t given[MOST_SIZES];
  if (read_ints(dims, MOST_SIZES, given) != (int64_t)ndim || ndim < 2 || ndim > MOST_SIZES) return false;
  for (uint32_t i = 0; i + 2 < ndim; i++)
    if (given[i] != i) return false;
  return given[ndim - 2] == ndim - 1 && given[ndim - 1] == ndim - 2;
}
/* tensor * factor, expanded: the tensor. */
static Value *scaled(const RewriteMatch *m, const Value *value, Sizes *sizes, double *factor) {
  IValue number;
  if (!is_node(value, SYM_aten_expand, 3) || !read_sizes(node_input(value->node, 1), sizes)) return NULL;
  const Value *product = node_input(value->node, 0);
  if (!is_node(product, SYM_aten_mul, 2) || !value_is_constant(node_input(product->node, 1), &number) ||
      number.tag != TAG_FLOAT)
    return NULL;
  if (may_change(m, value) || may_change(m, node_input(product->node, 0))) return NULL;
  *factor = number.f;
  return node_input(product->node, 0);
}
static Value *attention_with(const RewriteMatch *m, Value *mask) {
  Sizes query, key, scores, value;
  double left, right;
  IValue dim;
  const Value *product = bound(m, 'x');
  Value *q = scaled(m, node_input(product->node, 0), &query, &left),
        *k = scaled(m, node_input(product->node, 1), &key, &right);
  if (!q || !k || !is_node(k, SYM_aten_permute, 2) || !swaps_last_two(node_input(k->node, 1), key.count)) return NULL;
  bool fits = gives_own_dtype(m) && read_sizes(bound(m, 'c'), &scores) && read_sizes(bound(m, 'e'), &value) &&
              are_same_batches(&query, &key) && are_same_batches(&query, &scores) && are_same_batches(&query, &value) &&
              is_same_size(from_end(&scores, 2), from_end(&query, 2)) &&
              is_same_size(from_end(&scores, 1), from_end(&key, 1)) && value_is_constant(bound(m, 'd'), &dim) &&
              dim.tag == TAG_INT && (dim.i == -1 || dim.i == (int64_t)query.count - 1);
  if (!fits) return NULL;
  Value *no = insert_constant_before(m->node, ivalue_bool(false), NULL);
  Value *expand[] = {q, bound(m, 'a'), no}, *expand_key[] = {k, bound(m, 'b'), no};
  Value *keys = insert_call_before(m->node, SYM_aten_expand, TYPE(TENSOR), 3, expand_key);
  Value *inputs[] = {
      insert_call_before(m->node, SYM_aten_expand, TYPE(TENSOR), 3, expand),
      insert_call_before(m->node, SYM_aten_permute, TYPE(TENSOR), 2, (Value *[]){keys, node_input(k->node, 1)}),
      bound(m, 'v'),
      mask ? mask : insert_constant_before(m->node, IVALUE_NONE, NULL),
      insert_constant_before(m->node, ivalue_float(0), NULL),
      no,
      insert_constant_before(m->node, ivalue_float(left * right), NULL),
      no};
  Symbol kind = symbol_intern(STR("aten::scaled_dot_product_attention"));
  return kind == SYMBOL_NONE ? NULL : insert_call_before(m->node, kind, TYPE(TENSOR), 8, inputs);
}
static Value *attention(const RewriteMatch *m) {
  return attention_with(m, NULL);
}
static Value *masked_attention(const RewriteMatch *m) {
  return attention_with(m, bound(m, 'm'));
}
/* The mask that is_causal is made into: of queries by keys and of no dimension more, counted in whole numbers, of a
 * real dtype (among bools the hidden would be true). The lists hold sizes of tensors, never the -1 of expand. */
static bool is_causal(const RewriteMatch *m) {
  Sizes query, key, all;
  int64_t row, column, dtype;
  return is_minus_infinity(m) && bound(m, 'n')->type->kind == TYPE_NONE && constant_int(bound(m, 'g'), &row) &&
         row == -2 && constant_int(bound(m, 'h'), &column) && column == -1 && constant_int(bound(m, 't'), &dtype) &&
         (dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64) && read_sizes(bound(m, 'a'), &query) && query.count > 1 &&
         read_sizes(bound(m, 'b'), &key) && swaps_last_two(bound(m, 'd'), key.count) &&
         read_sizes(bound(m, 'f'), &all) && all.count == 2 && is_same_size(from_end(&all, 2), from_end(&query, 2)) &&
         is_same_size(from_end(&all, 1), from_end(&key, 1)) && is_same_size(bound(m, 'r'), from_end(&query, 2)) &&
         is_same_size(bound(m, 'j'), from_end(&key, 1));
}
static bool is_only_read(const RewriteMatch *m, const Value *value) {
  bool only_read = !may_change(m, value);
  for (uint32_t i = 0; i < value->node->input_count && only_read; i++) {
    const Value *input = node_input(value->node, i);
    if (input->type->kind == TYPE_TENSOR) only_read = is_only_read(m, input);
  }
  return only_read;
}
/* Nor what it is made of: tensors of the pattern. */
static bool is_mask_only_read(const RewriteMatch *m) {
  return is_only_read(m, bound(m, 'm'));
}
#define SCORES "%x=aten::matmul(aten::expand(%q, %a, False), aten::expand(%k, %b, False))"
#define ATTENTION(scores) \
  "aten::matmul(aten::expand(aten::_safe_softmax(" scores ", %d, %n), %c, False), %v=aten::expand(%u, %e, False))"

#define CAUSAL_MASK                                                                          \
  "%m=aten::where(aten::logical_and(aten::le(aten::sub("                                     \
  "aten::unsqueeze(aten::arange(0, %j, 1, %n, ...), %g), "                                   \
  "aten::unsqueeze(aten::arange(0, %r, 1, %n, ...), %h), 1), 0), aten::full(%f, 1., ...)), " \
  "aten::scalar_tensor(0., %t, ...), aten::scalar_tensor(%i, %t, ...))"

/* clang-format off */
static const RewriteRule rules[] = {
  {"convolution", "aten::convolution(%x, %w, %b, %s, %p, %d, %t, %o, %g)",   MAKES(named_convolution)},
  {"stored_norm", "aten::_native_batch_norm_legit_no_training[0](%x, %w, %b, %m, %v, %f, %e)",
                  GIVES("aten::batch_norm(%x, %w, %b, %m, %v, False, %f, %e, True)"),  WHEN(is_only_result)},
  {"layer_norm",  "aten::native_layer_norm[0](%x, %s, %w, %b, %e)",
                  GIVES("aten::layer_norm(%x, %s, %w, %b, %e, True)"),       WHEN(is_only_result)},
  {"max_pool",    "aten::max_pool2d_with_indices[0](%x, %k, %s, %p, %d, %c)",
                  GIVES("aten::max_pool2d(%x, %k, %s, %p, %d, %c)"),         WHEN(is_only_result)},
  {"softmax",     "aten::_softmax(%x, %d, False)",                           GIVES("aten::softmax(%x, %d, None)")},
  {"log_softmax", "aten::_log_softmax(%x, %d, False)",                       GIVES("aten::log_softmax(%x, %d, None)")},
  {"linear",      "aten::addmm(%b, %x, aten::permute(%w, %d), 1, 1)",        GIVES("aten::linear(%x, %w, %b)"),
                                                                             WHEN(is_transposition)},
  {"linear_of_t", "aten::addmm(%b, %x, aten::t(%w), 1, 1)",                  GIVES("aten::linear(%x, %w, %b)")},
  {"linear_without_bias", "aten::mm(%x, aten::permute(%w, %d))",             GIVES("aten::linear(%x, %w, None)"),
                                                                             WHEN(is_transposition)},
  {"squeeze_of_one", "aten::squeeze(%x, %d)",                                MAKES(squeeze_of_one)},
  {"group_norm",  "aten::native_group_norm[0](%x, %w, %b, %n, %c, %h, %g, %e)",
                  GIVES("aten::group_norm(%x, %g, %w, %b, %e, True)"),       WHEN(is_only_result)},
  {"product_of_batches", "aten::reshape(aten::bmm(%x, %y), %s)",             MAKES(product_of_batches)},
  {"linear_of_batches",
   "aten::matmul(%x=aten::expand(%u, %a, False), aten::expand(aten::permute(%w, %d), %e, False))",
                  GIVES("aten::linear(%x, %w, None)"),                       WHEN(is_transposition, are_of_same_batches)},
  {"safe_softmax",
   "aten::where(aten::logical_not(aten::any(aten::logical_not(aten::eq(%x, %i)), %d, True)), "
   "aten::full_like(%s=aten::softmax(%x, %d, %m), 0, %n, %n, %n, False, %f), %s)",
                  GIVES("aten::_safe_softmax(%x, %d, None)"),                WHEN(is_minus_infinity, gives_own_dtype, has_own_dtype)},
  {"attention",   ATTENTION(SCORES),                                         MAKES(attention)},
  {"masked_attention", ATTENTION("aten::add(" SCORES ", %m, 1)"),            MAKES(masked_attention)},
  {"causal_attention",
   "aten::scaled_dot_product_attention(%q=aten::expand(%x, %a, False), "
   "%k=aten::permute(aten::expand(%y, %b, False), %d), %v, " CAUSAL_MASK ", %p, False, %s, False)",
                  GIVES("aten::scaled_dot_product_attention(%q, %k, %v, None, %p, True, %s, False)"),
                                                                             WHEN(is_causal, is_mask_only_read)},
  {"flash_attention", "aten::_scaled_dot_product_flash_attention_for_cpu[0](%q, %k, %v, 0., %c, %m, %s)",
                  GIVES("aten::scaled_dot_product_attention(%q, %k, %v, %m, 0., %c, %s, False)"),
                                                                             WHEN(is_only_result)},
};
/* clang-format on */
const RewriteTable rewrite_layers = {REWRITE_LAYERS, FILE_NAME, rules, sizeof rules / sizeof *rules};

void recompose(Graph *graph) {
  while (rewrite_graph(&rewrite_layers, graph, true, NULL)) dead_code_elimination(graph); /* of layers' layers */
  GRAPH_LOG_DUMP(FILE_NAME, "After recompose: ", graph);
}

PASS(recompose, GRADIENTS, recompose(graph), "makes the parts of layers the layers' operators");
