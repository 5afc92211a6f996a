/* Rules that put an operand in place of a new tensor: where nobody can tell the two apart (AliasDb) and the types tell
 * that elements, dtype and strides are the same, for of a view with gaps it is a dense tensor. Also the rank of what a
 * convolution gives. */
#include <math.h>

#include "ir/constant.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"
#include "pass/types/shape_evaluate.h"

#define FILE_NAME "peephole_alias_sensitive"

/* x + 0. is not x where that is -0., nor is x - -0. */
static bool is_neutral_zero(const RewriteMatch *m) {
  double zero;
  return constant_double(node_input(m->node, 1), &zero) && (m->node->kind == SYM_aten_add) == (signbit(zero) != 0);
}

/* What the scalar does to each element, and to the dtype: of floating numbers 1. changes none; an int leaves any tensor
 * of integers what it is, a float does not. Of complex numbers, a zero part of the scalar changes signs of zeros, and
 * makes NaN of infinity. */
static bool keeps_elements(const RewriteMatch *m) {
  const TensorInfo *info = value_tensor(bound(m, 'x'));
  if (!info || info->dtype < 0) return false;
  DType dtype = (DType)info->dtype;
  bool adds = m->node->kind == SYM_aten_add || m->node->kind == SYM_aten_sub;
  if (dtype_is_floating(dtype)) return !adds || is_neutral_zero(m);
  return !dtype_is_complex(dtype) && m->node->kind != SYM_aten_div && dtype != DTYPE_BOOL &&
         node_input(m->node, 1)->type->kind == TYPE_INT;
}

static bool keeps_layout(const RewriteMatch *m) {
  return shape_keeps_first_input(m->run->scratch, m->node);
}

/* Where nobody writes to anything, it does not matter how many names a tensor has. */
static bool is_alike(const RewriteMatch *m) {
  if (rewrite_graph_changes_grad_mode(m->run)) return false;
  if (!rewrite_graph_writes(m->run) && value_is_only_read(replaced(m))) return true;
  return alias_safe_to_change(rewrite_alias_db(m->run), bound(m, 'x'), replaced(m));
}

/* A convolution also takes a sample without the batch dimension: only a known rank of its input decides. */
static Value *rank_of_convolution(const RewriteMatch *m) {
  int rank = node_conv_dims(bound(m, 'c')->node) + 2;
  const TensorInfo *info = value_tensor(bound(m, 'x'));
  if (!info || info->ndim < 0 || (info->ndim != rank && info->ndim != rank - 1)) return NULL;
  return insert_constant_before(m->node, ivalue_int(info->ndim), NULL);
}

/* clang-format off */
static const RewriteRule rules[] = {
  {"rank_of_convolution", "aten::dim(%c=aten::conv1d|aten::conv2d|aten::conv3d(%x, ...))",
                                                                MAKES(rank_of_convolution), SHAPES},
  {"tensor_plus_0",  "aten::add|aten::sub(%x:Tensor, 0., 1.)",  GIVES("%x"), WHEN(keeps_elements, keeps_layout, is_alike)},
  {"tensor_times_1", "aten::mul|aten::div(%x:Tensor, 1.)",      GIVES("%x"), WHEN(keeps_elements, keeps_layout, is_alike)},
};
/* clang-format on */
const RewriteTable rewrite_aliases = {REWRITE_ALIASES, FILE_NAME, rules, sizeof rules / sizeof *rules};

bool peephole_alias_sensitive(Graph *graph, bool shapes) {
  return rewrite_graph(&rewrite_aliases, graph, shapes, NULL);
}

PASS(peephole_alias_sensitive, GRADIENTS, peephole_alias_sensitive(graph, true), "drops neutral operands");
