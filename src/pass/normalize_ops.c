/* One name for each operation: synonyms are rewritten, `rsub` is `sub` with its operands turned, `is` of bools is ==.
 */
#include "pass/pass.h"

#include <stdio.h>

static const struct {
  const char *from, *to;
} synonyms[] = {
    {"absolute", "abs"},
    {"absolute_", "abs_"},
    {"clip", "clamp"},
    {"clip_", "clamp_"},
    {"det", "linalg_det"},
    {"matrix_exp", "linalg_matrix_exp"},
    {"ger", "outer"},
    {"arccos", "acos"},
    {"arccos_", "acos_"},
    {"arcsin", "asin"},
    {"arcsin_", "asin_"},
    {"arctan", "atan"},
    {"arctan_", "atan_"},
    {"arctan2", "atan2"},
    {"arctan2_", "atan2_"},
    {"arccosh", "acosh"},
    {"arccosh_", "acosh_"},
    {"arcsinh", "asinh"},
    {"arcsinh_", "asinh_"},
    {"arctanh", "atanh"},
    {"arctanh_", "atanh_"},
    {"fix", "trunc"},
    {"fix_", "trunc_"},
    {"negative", "neg"},
    {"negative_", "neg_"},
    {"subtract", "sub"},
    {"subtract_", "sub_"},
    {"greater_equal", "ge"},
    {"greater_equal_", "ge_"},
    {"greater", "gt"},
    {"greater_", "gt_"},
    {"less_equal", "le"},
    {"less_equal_", "le_"},
    {"less", "lt"},
    {"less_", "lt_"},
    {"not_equal", "ne"},
    {"not_equal_", "ne_"},
    {"divide", "div"},
    {"divide_", "div_"},
    {"multiply", "mul"},
    {"multiply_", "mul_"},
    {"true_divide", "div"},
    {"true_divide_", "div_"},
    {"concat", "cat"},
    {"row_stack", "vstack"},
    {"swapdims", "transpose"},
    {"swapdims_", "transpose_"},
    {"swapaxes", "transpose"},
    {"swapaxes_", "transpose_"},
    {"moveaxis", "movedim"},
    {"special_erf", "erf"},
    {"special_erfc", "erfc"},
    {"special_erfinv", "erfinv"},
    {"special_expit", "sigmoid"},
    {"special_exp2", "exp2"},
    {"special_expm1", "expm1"},
    {"special_logit", "logit"},
    {"special_logsumexp", "logsumexp"},
    {"special_round", "round"},
    {"special_log1p", "log1p"},
    {"special_sinc", "sinc"},
    {"special_digamma", "digamma"},
    {"special_psi", "digamma"},
    {"special_i0", "i0"},
    {"special_xlogy", "xlogy"},
    {"special_log_softmax", "log_softmax"},
    {"orgqr", "linalg_householder_product"},
    {"special_multigammaln", "mvlgamma"},
    {"special_polygamma", "polygamma"},
    {"special_softmax", "softmax"},
    {"special_gammainc", "igamma"},
    {"special_gammaincc", "igammac"},
    {"special_gammaln", "lgamma"},
};

static Symbol synonym_of(Symbol kind) {
  Str name = symbol_base(kind);
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
    if (!str_is(name, synonyms[i].from)) continue;
    char qualified[64];
    snprintf(qualified, sizeof qualified, "aten::%s", synonyms[i].to);
    return operator_find(str_from(qualified)) ? symbol_intern(str_from(qualified)) : kind;
  }
  return kind;
}

static void rename_node(Node *node, Symbol kind) {
  node->kind = kind;
  node->op = NULL; /* resolved again */
}

static void normalize_in(Block *block, Symbol rsub) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) normalize_in(node->blocks[i], rsub);
    if (node->kind == rsub && node->input_count == 3 && node_input(node, 1)->type->kind == TYPE_TENSOR) {
      Value *self = node_input(node, 0), *other = node_input(node, 1);
      node_replace_input(node, 0, other);
      node_replace_input(node, 1, self);
      rename_node(node, SYM_aten_sub);
    } else if ((node->kind == SYM_aten___is__ || node->kind == SYM_aten___isnot__) && node->input_count == 2 &&
               node_input(node, 0)->type->kind == TYPE_BOOL && node_input(node, 1)->type->kind == TYPE_BOOL) {
      rename_node(node, node->kind == SYM_aten___is__ ? SYM_aten_eq : SYM_aten_ne);
    } else if (str_is(symbol_space(node->kind), "aten")) {
      Symbol kind = synonym_of(node->kind);
      if (kind != node->kind) rename_node(node, kind);
    }
  }
}

void normalize_ops(Graph *graph) {
  normalize_in(graph->block, symbol_intern(STR("aten::rsub")));
}
