/* Local rewrites: what the types of tensors decide, tests for None that the type decides, casts and unwraps to the type
 * a value has. The rules for lists, dicts, numbers and those that ask for aliases have files of their own; each removes
 * a node or puts a constant in its place, so that one walk ends. */
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/types/tensor_facts.h"

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

static Value *known(Node *node, IValue value) {
  return insert_constant_before(node, value, NULL);
}

/* `x is None` where the type knows. */
static Value *compare_with_none(Node *node) {
  if (node->input_count != 2) return NULL;
  const Value *a = node_input(node, 0), *b = node_input(node, 1);
  bool is = node->kind == SYM_aten___is__;
  if (value_is_none(a) && value_is_none(b)) return known(node, ivalue_bool(is));
  if ((value_is_none(a) && is_never_none(b->type)) || (value_is_none(b) && is_never_none(a->type)))
    return known(node, ivalue_bool(!is));
  return NULL;
}

/* A list of sizes that are all known; the list is new at every call, so only readers may share one. */
static Value *known_sizes(Node *node, const TensorInfo *info) {
  if (info->ndim < 0 || !info->has_sizes || !value_is_only_read(node_output(node, 0))) return NULL;
  for (int i = 0; i < info->ndim; i++)
    if (info->sizes[i] < 0) return NULL;
  Graph *graph = node->graph;
  vec_arena_reserve(graph->arena, &graph->held, graph->held.length + 1);
  List *list;
  Status status = list_from_ints(info->sizes, (size_t)info->ndim, &list);
  if (status) catch_throw(graph->arena->catch_point, status);
  graph_hold(graph, ivalue_list(list));
  return known(node, ivalue_list(list));
}

static Value *known_size(Node *node, const TensorInfo *info) {
  int64_t at;
  if (info->ndim < 0 || !info->has_sizes || !constant_int(node_input(node, 1), &at)) return NULL;
  if (at < 0) at += info->ndim;
  return at >= 0 && at < info->ndim && info->sizes[at] >= 0 ? known(node, ivalue_int(info->sizes[at])) : NULL;
}

static bool same_sizes(const TensorInfo *info, const Value *list) {
  IValue v;
  if (info->ndim < 0 || !info->has_sizes || !value_is_constant(list, &v) || v.tag != TAG_LIST ||
      v.list->kind != LIST_INTS || v.list->length != (size_t)info->ndim)
    return false;
  for (int i = 0; i < info->ndim; i++)
    if (info->sizes[i] < 0 || info->sizes[i] != v.list->ints[i]) return false;
  return true;
}

typedef struct Peephole {
  bool shapes;          /* types of tensors are believed */
  bool changes_tensors; /* somewhere, what a view would keep */
} Peephole;

/* Of a node that makes another view: nobody can tell it from what it shows. */
static bool is_like_its_base(const Peephole *p, const Node *node) {
  return !p->changes_tensors && value_is_only_read(node_output(node, 0));
}

/* What the type of the first operand, a tensor, decides. */
static Value *rewrite_by_type(const Peephole *p, Node *node) {
  Value *self = node_input(node, 0);
  const TensorInfo *info = value_tensor(self);
  if (!info) return NULL;
  switch (node->kind) {
    case SYM_aten_expand:
      return node->input_count == 3 && same_sizes(info, node_input(node, 1)) && is_like_its_base(p, node) ? self : NULL;
    case SYM_aten_type_as: {
      const TensorInfo *other = value_tensor(node_input(node, 1));
      bool same = other && info->dtype >= 0 && info->dtype == other->dtype && info->device_type >= 0 &&
                  info->device_type == other->device_type && info->device_index == other->device_index;
      return same ? self : NULL;
    }
    case SYM_aten_size:
      return node->input_count == 1 ? known_sizes(node, info) : known_size(node, info);
    case SYM_aten_dim:
      return info->ndim >= 0 ? known(node, ivalue_int(info->ndim)) : NULL;
    case SYM_aten_is_floating_point:
      return info->dtype >= 0 ? known(node, ivalue_bool(dtype_is_floating((DType)info->dtype))) : NULL;
    case SYM_aten_is_complex:
      return info->dtype >= 0 ? known(node, ivalue_bool(dtype_is_complex((DType)info->dtype))) : NULL;
    case SYM_prim_dtype:
      return info->dtype >= 0 ? known(node, ivalue_int(info->dtype)) : NULL;
    case SYM_prim_is_cuda:
      return info->device_type >= 0 ? known(node, ivalue_bool(info->device_type == DEVICE_CUDA)) : NULL;
    case SYM_prim_is_cpu:
      return info->device_type >= 0 ? known(node, ivalue_bool(info->device_type == DEVICE_CPU)) : NULL;
    case SYM_prim_device: {
      if (info->device_type < 0) return NULL;
      Device device = {(int16_t)info->device_type, (int16_t)info->device_index};
      return known(node, ivalue_device(device));
    }
    default:
      return NULL;
  }
}

/* len(x.size()) is the rank. */
static Value *length_of_sizes(Node *node) {
  const Node *size = node_input(node, 0)->node;
  if (size->kind != SYM_aten_size || size->input_count != 1) return NULL;
  const TensorInfo *info = value_tensor(node_input(size, 0));
  return info && info->ndim >= 0 && value_is_only_read(node_output(size, 0)) ? known(node, ivalue_int(info->ndim))
                                                                             : NULL;
}

/* Chained sums to sizes: the last one decides. */
static Value *sum_to_size(Node *node) {
  Value *self = node_input(node, 0), *sizes = node_input(node, 1);
  if (value_is_none(sizes)) return self;
  if (!is_never_none(sizes->type)) return NULL;
  Node *before = self->node;
  if (before->kind == SYM_aten__grad_sum_to_size && before->owning_block == node->owning_block)
    node_replace_input(node, 0, node_input(before, 0));
  return NULL;
}

/* The number that was made a tensor, asked for again. */
static Value *number_again(const Node *node) {
  const Node *inner = node_input(node, 0)->node;
  if (inner->kind != SYM_prim_NumToTensor) return NULL;
  const Operator *op = node_operator(node);
  bool same =
      op && op->flags & OP_ELEMENT && type_is_subtype(node_input(inner, 0)->type, node_output(node, 0)->type, NULL);
  return same ? node_input(inner, 0) : NULL;
}

/* aten::t of more than two dimensions is an error. */
static bool may_be_turned(const Value *value) {
  const TensorInfo *info = value_tensor(value);
  return info && info->ndim >= 0 && info->ndim <= 2;
}

/* The value that the node's only output is the same as; NULL: no rule fits. */
static Value *rewrite(const Peephole *p, Node *node) {
  if (!node->input_count) return NULL;
  Value *first = node_input(node, 0), *number = number_again(node);
  if (number) return number;
  switch (node->kind) {
    case SYM_aten___is__:
    case SYM_aten___isnot__:
      return compare_with_none(node);
    case SYM_prim_unchecked_unwrap_optional:
    case SYM_aten__unwrap_optional:
      return is_never_none(first->type) ? first : NULL;
    case SYM_prim_unchecked_cast:
      return first->type->kind != TYPE_TENSOR && type_is_subtype(first->type, node_output(node, 0)->type, NULL) ? first
                                                                                                                : NULL;
    case SYM_aten_t:
      return p->shapes && first->node->kind == SYM_aten_t && may_be_turned(node_input(first->node, 0)) &&
                     is_like_its_base(p, node)
                 ? node_input(first->node, 0)
                 : NULL;
    case SYM_aten__grad_sum_to_size:
      return node->input_count == 2 ? sum_to_size(node) : NULL;
    case SYM_aten_len:
      return p->shapes ? length_of_sizes(node) : NULL;
    default:
      return p->shapes ? rewrite_by_type(p, node) : NULL;
  }
}

/* Whatever has the type None is None: an optional attribute, say, that was never set. */
static bool replace_nones(Node *node) {
  if (node->kind == SYM_prim_Constant) return false;
  bool changed = false;
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *output = node_output(node, i);
    if (!value_is_none(output) || !value_has_uses(output)) continue;
    if (!jit_opt_limit(FILE_NAME)) return changed;
    value_replace_all_uses_with(output, insert_constant_before(node, IVALUE_NONE, NULL));
    changed = true;
  }
  return changed;
}

static bool rewrite_block(const Peephole *p, const Block *block) {
  bool changed = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) changed |= rewrite_block(p, node->blocks[i]);
    changed |= replace_nones(node);
    if (node->output_count != 1 || !value_has_uses(node_output(node, 0))) continue;
    Value *with = rewrite(p, node);
    if (!with || with == node_output(node, 0) || !jit_opt_limit(FILE_NAME)) continue;
    JIT_LOG_UPDATE(FILE_NAME, "%%%u of " STR_FMT " becomes %%%u", node_output(node, 0)->unique,
                   STR_ARG(symbol_name(node->kind)), with->unique);
    value_replace_all_uses_with(node_output(node, 0), with);
    changed = true;
  }
  return changed;
}

static bool optimize(Graph *graph, bool shapes) {
  const Peephole p = {.shapes = shapes, .changes_tensors = graph_changes_tensors(graph)};
  bool changed = rewrite_block(&p, graph->block);
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
