/* Rules for what the types of tensors decide, tests for None that the type decides, casts and unwraps to the type a
 * value has; and the pass that walks with all tables. Rules for lists, dicts, numbers and those that ask for aliases
 * have files of their own. */
#include "call/operator.h"
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "peephole"

static bool is_never_none(const Type *type) {
  switch (type->kind) {
    case TYPE_ANY:
    case TYPE_NONE:
    case TYPE_OPTIONAL:
    case TYPE_UNION:
    case TYPE_VAR:
    case TYPE_ERROR:
      return false;
    default:
      return true;
  }
}

/* ---- types ---- */

static bool is_first_never_none(const RewriteMatch *m) {
  return is_never_none(bound(m, 'x')->type);
}
static bool are_both_none(const RewriteMatch *m) {
  return value_is_none(bound(m, 'x')) && value_is_none(bound(m, 'y'));
}
static bool is_one_none(const RewriteMatch *m) {
  const Value *x = bound(m, 'x'), *y = bound(m, 'y');
  return (value_is_none(x) && is_never_none(y->type)) || (value_is_none(y) && is_never_none(x->type));
}
/* Whatever has the type None is None: an optional attribute, say, that was never set. */
static bool is_none_by_type(const RewriteMatch *m) {
  return m->node->kind != SYM_prim_Constant && value_is_none(replaced(m));
}
static bool is_of_result_type(const RewriteMatch *m) {
  return type_is_subtype(bound(m, 'x')->type, replaced(m)->type, NULL);
}
static bool is_no_tensor(const RewriteMatch *m) {
  return bound(m, 'x')->type->kind != TYPE_TENSOR;
}
static bool reads_an_element(const RewriteMatch *m) {
  const Operator *op = node_operator(m->node);
  return op && op->flags & OP_ELEMENT;
}
static bool has_no_sizes(const RewriteMatch *m) {
  return value_is_none(bound(m, 's'));
}
static bool has_sizes(const RewriteMatch *m) {
  return is_never_none(bound(m, 's')->type);
}
static bool is_in_one_block(const RewriteMatch *m) {
  return bound(m, 'g')->node->owning_block == m->node->owning_block;
}

/* ---- types of tensors ---- */

static Value *known(const RewriteMatch *m, IValue value) {
  return insert_constant_before(m->node, value, NULL);
}
static const TensorInfo *known_tensor(const RewriteMatch *m) {
  return value_tensor(bound(m, 'x'));
}

/* Of a node that makes another view: nobody can tell it from what it shows. */
static bool is_like_its_base(const RewriteMatch *m) {
  return !rewrite_graph_changes_tensors(m->run) && value_is_only_read(replaced(m));
}
/* aten::t of more than two dimensions is an error. */
static bool is_at_most_matrix(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  return info && info->ndim >= 0 && info->ndim <= 2;
}
static bool has_these_sizes(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  IValue v;
  if (!info || info->ndim < 0 || !info->has_sizes || !value_is_constant(bound(m, 's'), &v) || v.tag != TAG_LIST ||
      v.list->kind != LIST_INTS || v.list->length != (size_t)info->ndim)
    return false;
  for (int i = 0; i < info->ndim; i++)
    if (info->sizes[i] < 0 || info->sizes[i] != v.list->ints[i]) return false;
  return true;
}
static bool have_one_dtype_and_device(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m), *other = value_tensor(bound(m, 'y'));
  return info && other && info->dtype >= 0 && info->dtype == other->dtype && info->device_type >= 0 &&
         info->device_type == other->device_type && info->device_index == other->device_index;
}
/* The list of sizes is new at every call: only readers may do without it. */
static bool are_sizes_only_read(const RewriteMatch *m) {
  return value_is_only_read(bound(m, 's'));
}

static Value *sizes(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  if (!info || info->ndim < 0 || !info->has_sizes || !value_is_only_read(replaced(m))) return NULL;
  for (int i = 0; i < info->ndim; i++)
    if (info->sizes[i] < 0) return NULL;
  Graph *graph = m->node->graph;
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + 1);
  List *list;
  Status status = list_from_ints(info->sizes, (size_t)info->ndim, &list);
  if (status) catch_throw(graph->arena->catch_point, status);
  graph_hold(graph, ivalue_list(list));
  return known(m, ivalue_list(list));
}
static Value *size(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  int64_t at;
  if (!info || info->ndim < 0 || !info->has_sizes || !constant_int(bound(m, 'd'), &at)) return NULL;
  if (at < 0) at += info->ndim;
  return at >= 0 && at < info->ndim && info->sizes[at] >= 0 ? known(m, ivalue_int(info->sizes[at])) : NULL;
}
static Value *rank(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  return info && info->ndim >= 0 ? known(m, ivalue_int(info->ndim)) : NULL;
}
static Value *is_floating(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  return info && info->dtype >= 0 ? known(m, ivalue_bool(dtype_is_floating((DType)info->dtype))) : NULL;
}
static Value *is_complex(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  return info && info->dtype >= 0 ? known(m, ivalue_bool(dtype_is_complex((DType)info->dtype))) : NULL;
}
static Value *dtype(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  return info && info->dtype >= 0 ? known(m, ivalue_int(info->dtype)) : NULL;
}
static Value *is_on(const RewriteMatch *m, int device_type) {
  const TensorInfo *info = known_tensor(m);
  return info && info->device_type >= 0 ? known(m, ivalue_bool(info->device_type == device_type)) : NULL;
}
static Value *is_cuda(const RewriteMatch *m) {
  return is_on(m, DEVICE_CUDA);
}
static Value *is_cpu(const RewriteMatch *m) {
  return is_on(m, DEVICE_CPU);
}
static Value *device(const RewriteMatch *m) {
  const TensorInfo *info = known_tensor(m);
  if (!info || info->device_type < 0) return NULL;
  return known(m, ivalue_device((Device){(int16_t)info->device_type, (int16_t)info->device_index}));
}

#define ELEMENTS                                                                            \
  "aten::item|aten::_local_scalar_dense|aten::is_nonzero|aten::Bool|aten::Int|aten::Float|" \
  "aten::Complex|aten::IntImplicit|aten::FloatImplicit|aten::ComplexImplicit|aten::ScalarImplicit"
#define UNWRAPS "prim::unchecked_unwrap_optional|aten::_unwrap_optional"

/* clang-format off */
static const RewriteRule rules[] = {
  {"none_by_type",     "*[i]",                             GIVES("None"),  WHEN(is_none_by_type)},
  {"number_again",     ELEMENTS "(prim::NumToTensor(%x))", GIVES("%x"),    WHEN(reads_an_element, is_of_result_type)},
  {"none_is_none",     "aten::__is__(%x, %y)",             GIVES("True"),  WHEN(are_both_none)},
  {"some_is_none",     "aten::__is__(%x, %y)",             GIVES("False"), WHEN(is_one_none)},
  {"none_is_not_none", "aten::__isnot__(%x, %y)",          GIVES("False"), WHEN(are_both_none)},
  {"some_is_not_none", "aten::__isnot__(%x, %y)",          GIVES("True"),  WHEN(is_one_none)},
  {"unwrap_of_some",   UNWRAPS "(%x)",                     GIVES("%x"),    WHEN(is_first_never_none)},
  {"cast_to_own_type", "prim::unchecked_cast(%x)",         GIVES("%x"),    WHEN(is_no_tensor, is_of_result_type)},
  {"sum_to_no_size",   "aten::_grad_sum_to_size(%x, %s)",  GIVES("%x"),    WHEN(has_no_sizes)},
  {"sums_to_size",     "aten::_grad_sum_to_size(%g=aten::_grad_sum_to_size(%x, ...), %s)",
                                                 GIVES("itself(%x, %s)"),  WHEN(has_sizes, is_in_one_block)},

  {"t_of_t",           "aten::t(aten::t(%x))",         GIVES("%x"),  SHAPES, WHEN(is_at_most_matrix, is_like_its_base)},
  {"expand_to_own_size", "aten::expand(%x, %s, %i)",   GIVES("%x"),  SHAPES, WHEN(has_these_sizes, is_like_its_base)},
  {"type_as_itself",   "aten::type_as(%x, %y)",        GIVES("%x"),  SHAPES, WHEN(have_one_dtype_and_device)},
  {"rank_of_sizes",    "aten::len(%s=aten::size(%x))", MAKES(rank),  SHAPES, WHEN(are_sizes_only_read)},
  {"known_sizes",      "aten::size(%x)",               MAKES(sizes),       SHAPES},
  {"known_size",       "aten::size(%x, %d)",           MAKES(size),        SHAPES},
  {"known_rank",       "aten::dim(%x)",                MAKES(rank),        SHAPES},
  {"known_floating",   "aten::is_floating_point(%x)",  MAKES(is_floating), SHAPES},
  {"known_complex",    "aten::is_complex(%x)",         MAKES(is_complex),  SHAPES},
  {"known_dtype",      "prim::dtype(%x)",              MAKES(dtype),       SHAPES},
  {"known_cuda",       "prim::is_cuda(%x)",            MAKES(is_cuda),     SHAPES},
  {"known_cpu",        "prim::is_cpu(%x)",             MAKES(is_cpu),      SHAPES},
  {"known_device",     "prim::device(%x)",             MAKES(device),      SHAPES},
};
/* clang-format on */
const RewriteTable rewrite_types = {REWRITE_TYPES, FILE_NAME, rules, sizeof rules / sizeof *rules};

/* ---- the pass ---- */

static bool optimize(Graph *graph, bool shapes) {
  bool changed = rewrite_graph(&rewrite_types, graph, shapes, NULL);
  changed |= peephole_list_idioms(graph);
  changed |= peephole_dict_idioms(graph);
  changed |= peephole_alias_sensitive(graph, shapes);
  changed |= peephole_non_tensor(graph);
  if (changed) dead_code_elimination(graph);
  graph->insert_before = graph->block->ret;
  GRAPH_LOG_DUMP(FILE_NAME, "After PeepholeOptimize: ", graph);
  return changed;
}

bool peephole(Graph *graph) {
  return optimize(graph, true);
}

bool peephole_no_shapes(Graph *graph) {
  return optimize(graph, false);
}

PASS(peephole, GRADIENTS, peephole(graph), "small local rewrites");
PASS(peephole_no_shapes, GRADIENTS, peephole_no_shapes(graph), "peephole that does not believe types of tensors");
