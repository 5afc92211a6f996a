/* Subscripts: of tensors (ints, slices, None, ..., tensors, lists), lists, dicts, strings, tuples and classes; read,
 * written, updated and deleted. */
#include "frontend/emitter.h"

#include <assert.h>

#include "frontend/container.h"
#include "frontend/suggest.h"
#include "syntax/view.h"

static Value *builtin_with(Emitter *e, SourceRange range, const char *name, uint32_t count, Value *const *inputs) {
  return emit_builtin(e, range, symbol_intern(str_from(name)), count, inputs);
}

/* ---- slices ---- */

typedef struct SliceParts {
  Value *start, *stop, *step; /* NULL: left out */
} SliceParts;

static SliceParts emit_slice_parts(Emitter *e, const Tree *slice) {
  SliceParts parts = {0};
  const Tree *start = option_get(slice_start(slice)), *stop = option_get(slice_stop(slice)),
             *step = option_get(slice_step(slice));
  if (start) parts.start = emit_expr(e, start, NULL);
  if (stop) parts.stop = emit_expr(e, stop, NULL);
  if (step) parts.step = emit_expr(e, step, NULL);
  return parts;
}

static bool constant_int(Emitter *e, SourceRange range, Value *value, int64_t fallback, int64_t *out) {
  IValue constant;
  *out = fallback;
  if (!value || value->type->kind == TYPE_NONE) return false;
  if (!value_is_constant(value, &constant) || constant.tag != TAG_INT)
    compilation_fail(e->c, range, "tuple slice indices must be integer constants");
  *out = constant.i;
  return true;
}

/* Which of `n` items the bounds select, all constants; in the arena. */
static uint32_t *slice_places(Emitter *e, SourceRange range, int64_t n, Value *start_value, Value *stop_value,
                              Value *step_value, uint32_t *out_count) {
  int64_t start, stop, step;
  constant_int(e, range, step_value, 1, &step);
  if (step == 0) compilation_fail(e->c, range, "tuple slice step cannot be zero");
  bool has_start = constant_int(e, range, start_value, step > 0 ? 0 : n - 1, &start);
  bool has_stop = constant_int(e, range, stop_value, step > 0 ? n : -1, &stop);
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  if (has_start && start < 0) start += n;
  if (has_stop && stop < 0) stop += n;
  start = start < low ? low : start > high ? high : start;
  stop = stop < low ? low : stop > high ? high : stop;
  uint32_t count = 0, *places = ARENA_ARRAY(e->arena, uint32_t, n + 1);
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    places[count++] = (uint32_t)i;
    if (step > n || step < -n) break;
  }
  *out_count = count;
  return places;
}

Value *emit_tuple_slice(Emitter *e, SourceRange range, Value *tuple, Value *start_value, Value *stop_value,
                        Value *step_value) {
  assert(tuple->type->kind == TYPE_TUPLE);
  uint32_t count;
  const uint32_t *places = slice_places(e, range, tuple->type->count, start_value, stop_value, step_value, &count);
  Value **values = ARENA_ARRAY(e->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) values[i] = emit_tuple_index(e, range, tuple, places[i]);
  return emit_tuple(e, range, count, values);
}

static SugaredValue *container_slice(Emitter *e, SourceRange range, Value *module, const SliceParts *parts) {
  uint32_t length, count;
  SugaredValue **elements = container_elements(e, range, module, false, true, &length);
  const uint32_t *places = slice_places(e, range, length, parts->start, parts->stop, parts->step, &count);
  SugaredValue **chosen = ARENA_ARRAY(e->arena, SugaredValue *, count + 1);
  for (uint32_t i = 0; i < count; i++) chosen[i] = elements[places[i]];
  return sugared_tuple(e->c, count, chosen);
}

static Value *emit_slice_of(Emitter *e, SourceRange range, Value *container, Value *dim, const SliceParts *parts) {
  if (container->type->kind == TYPE_TUPLE)
    return emit_tuple_slice(e, range, container, parts->start, parts->stop, parts->step);
  NamedValue inputs[5];
  uint32_t count = 0;
  inputs[count++] = named_argument(STR(""), container, range);
  if (dim) inputs[count++] = named_argument(STR(""), dim, range);
  inputs[count++] = named_argument(STR(""), parts->start ? parts->start : emit_none(e, range), range);
  inputs[count++] = named_argument(STR(""), parts->stop ? parts->stop : emit_none(e, range), range);
  inputs[count++] = named_argument(STR(""), parts->step ? parts->step : emit_int(e, range, 1), range);
  return emit_builtin_call(e, range, SYM_aten_slice, &(CallArguments){.count = count, .positional = inputs});
}

/* ---- tensors ---- */

/* One index of x[...]: a slice, or a value that selects, adds a dimension or gathers. */
typedef struct TensorIndex {
  enum { INDEX_SLICE, INDEX_DOTS, INDEX_SELECT, INDEX_NEW_AXIS, INDEX_TENSOR } kind;
  int64_t dim;
  Value *value;
  SliceParts slice;
  bool has_parts;
} TensorIndex;

static void classify_index(Emitter *e, SourceRange range, const Value *indexed, const Tree *expr, TensorIndex *index) {
  if (expr->kind == TK_SLICE_EXPR) {
    index->kind = INDEX_SLICE;
    return;
  }
  SugaredValue *sugared = emit_sugared(e, expr, 1, NULL);
  if (sugared->kind == &SUGARED_SLICE) {
    const SugaredSlice *slice = (const SugaredSlice *)sugared;
    index->kind = INDEX_SLICE;
    index->slice = (SliceParts){slice->start, slice->stop, slice->step};
    index->has_parts = true;
    return;
  }
  Value *value = sugared_as_value(sugared, e, expr->range);
  const Type *type = value->type;
  if (type->kind == TYPE_LIST && (type->elements[0]->kind == TYPE_INT || type->elements[0]->kind == TYPE_BOOL ||
                                  type->elements[0]->kind == TYPE_LIST)) {
    NamedValue list = named_argument(STR(""), value, expr->range),
               dtype = named_argument(STR("dtype"), NULL, expr->range);
    dtype.is_constant = true;
    dtype.constant = ivalue_int(DTYPE_INT64); /* masks too, as PyTorch does */
    value =
        emit_builtin_call(e, expr->range, SYM_aten_tensor,
                          &(CallArguments){.count = 1, .positional = &list, .keyword_count = 1, .keywords = &dtype});
    type = value->type;
  }
  index->value = value;
  if (type->kind == TYPE_NONE)
    index->kind = INDEX_NEW_AXIS;
  else if (type->kind == TYPE_INT)
    index->kind = INDEX_SELECT;
  else if (type_is_subtype(type, type_optional_of(TYPE_TENSOR), NULL))
    index->kind = INDEX_TENSOR;
  else
    compilation_fail(e->c, range,
                     "Unsupported operation: indexing tensor with unsupported index type '%s'. Only ints, slices, "
                     "lists and tensors are supported%s",
                     type_text(e->c, type), suggest_annotation(e, *suggest_annotation(e, value) ? value : indexed));
}

static bool is_dots(const Tree *expr) {
  return expr->kind == TK_DOTS || (expr->kind == TK_VAR && str_is(var_text(expr), "Ellipsis"));
}

typedef struct IndexedTensor {
  Value *value;
  Value **tensors; /* of index and index_put_, None where a dimension is taken whole */
  uint32_t tensor_count;
} IndexedTensor;

/* Ints, slices and None at once; tensors are left for aten::index. Dimensions after `...` are counted from the end. */
static IndexedTensor emit_int_and_slice_indexing(Emitter *e, SourceRange range, Value *tensor, const Tree *indices) {
  uint32_t count = indices->count, dots = count;
  TensorIndex *parts = ARENA_ARRAY(e->arena, TensorIndex, count + 1);
  int64_t dim = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (is_dots(indices->children[i])) {
      parts[i].kind = INDEX_DOTS;
      dots = i;
      break;
    }
    parts[i].dim = dim;
    classify_index(e, range, tensor, indices->children[i], &parts[i]);
    if (parts[i].kind != INDEX_SELECT) dim++;
  }
  int64_t from_end = -1;
  for (uint32_t i = count; i-- > dots + 1;) {
    if (is_dots(indices->children[i]))
      compilation_fail(e->c, range, "An index can only have a single ellipsis ('...')");
    parts[i].dim = from_end;
    classify_index(e, range, tensor, indices->children[i], &parts[i]);
    if (parts[i].kind == INDEX_TENSOR)
      compilation_fail(e->c, range, "Ellipses followed by tensor indexing is currently not supported");
    if (parts[i].kind != INDEX_NEW_AXIS) from_end--;
  }
  IndexedTensor result = {tensor, ARENA_ARRAY(e->arena, Value *, count + 1), 0};
  for (uint32_t i = 0; i < count; i++) {
    TensorIndex *part = &parts[i];
    Value *at[3] = {result.value, NULL, part->value};
    if (part->kind == INDEX_SLICE || part->kind == INDEX_SELECT || part->kind == INDEX_NEW_AXIS)
      at[1] = emit_int(e, range, part->dim);
    switch (part->kind) {
      case INDEX_DOTS:
        break;
      case INDEX_SLICE:
        if (!part->has_parts) part->slice = emit_slice_parts(e, indices->children[i]);
        result.value = emit_slice_of(e, range, result.value, at[1], &part->slice);
        break;
      case INDEX_SELECT:
        result.value = emit_builtin(e, range, SYM_aten_select, 3, at);
        break;
      case INDEX_NEW_AXIS:
        result.value = emit_builtin(e, range, SYM_aten_unsqueeze, 2, at);
        break;
      case INDEX_TENSOR:
        result.tensors[part->dim] = part->value;
        result.tensor_count = (uint32_t)part->dim + 1;
        break;
    }
  }
  for (uint32_t i = 0; i < result.tensor_count; i++)
    if (!result.tensors[i]) result.tensors[i] = emit_none(e, range);
  return result;
}

static Value *emit_index_list(Emitter *e, SourceRange range, const IndexedTensor *indexed) {
  return emit_list(e, range, type_optional_of(TYPE_TENSOR), indexed->tensor_count, indexed->tensors);
}

static Value *emit_tensor_subscript(Emitter *e, SourceRange range, Value *tensor, const Tree *indices) {
  IndexedTensor indexed = emit_int_and_slice_indexing(e, range, tensor, indices);
  if (!indexed.tensor_count) return indexed.value;
  Value *inputs[2] = {indexed.value, emit_index_list(e, range, &indexed)};
  return emit_builtin(e, range, SYM_aten_index, 2, inputs);
}

/* A number that is written into a tensor becomes one of its dtype and device. */
static Value *emit_as_tensor(Emitter *e, Value *value, Value *like, SourceRange range) {
  switch (value->type->kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_BOOL:
    case TYPE_NUMBER:
      break;
    default:
      return value;
  }
  NamedValue positional = named_argument(STR(""), value, range), keywords[2];
  keywords[0] = named_argument(STR("dtype"), emit_builtin(e, range, SYM_prim_dtype, 1, &like), range);
  keywords[1] = named_argument(STR("device"), emit_builtin(e, range, SYM_prim_device, 1, &like), range);
  return emit_builtin_call(
      e, range, SYM_aten_tensor,
      &(CallArguments){.count = 1, .positional = &positional, .keyword_count = 2, .keywords = keywords});
}

/* ---- tuples ---- */

static Value *emit_tuple_subscript(Emitter *e, SourceRange range, Value *tuple, Value *index) {
  assert(tuple->type->kind == TYPE_TUPLE);
  const Type *type = tuple->type;
  if (index->type->kind != TYPE_INT) compilation_fail(e->c, range, "tuple index must be an integer");
  IValue constant;
  const Type *element = NULL;
  if (value_is_constant(index, &constant)) {
    int64_t i = constant.i < 0 ? constant.i + (int64_t)type->count : constant.i;
    if (i < 0 || i >= (int64_t)type->count)
      compilation_fail(e->c, range, "Tuple index out of range. Tuple is length %u and index is %lld", type->count,
                       (long long)constant.i);
    element = type->elements[i];
  } else if (type->count && type_converts_to_list(type, type_list(e->store, type->elements[0]))) {
    element = type->elements[0];
  } else {
    compilation_fail(e->c, range,
                     "Cannot index into a %s with a non-integer literal because we cannot resolve the output type",
                     type_text(e->c, type));
  }
  Value *inputs[2] = {tuple, index};
  return emit_typed(e, range, SYM_prim_TupleIndex, 2, inputs, element);
}

/* ---- reading ---- */

static Value *emit_slice_subscript(Emitter *e, SourceRange range, Value *container, const SliceParts *parts) {
  Value *dim = container->type->kind == TYPE_TENSOR ? emit_int(e, range, 0) : NULL;
  return emit_slice_of(e, range, container, dim, parts);
}

SugaredValue *emit_subscript(Emitter *e, const Tree *expr, const Type *hint) {
  SourceRange range = expr->range, value_range = subscript_value(expr)->range;
  SugaredValue *container = emit_sugared(e, subscript_value(expr), 1, NULL);
  const Tree *indices = subscript_indices(expr);
  if (indices->count == 0) compilation_fail(e->c, range, "A subscript needs an index");
  const Tree *first = indices->children[0];
  if (container->kind == &SUGARED_TUPLE || container->kind == &SUGARED_ITERABLE || container->kind == &SUGARED_RANGE) {
    if (indices->count == 1 && first->kind != TK_SLICE_EXPR)
      return sugared_get_item(container, e, range, emit_expr(e, first, NULL), hint);
  }
  Value *value = sugared_as_value(container, e, value_range);
  if (value->type->kind == TYPE_TENSOR) {
    if (indices->count == 1 && first->kind == TK_SLICE_EXPR) {
      Value *dim = emit_int(e, range, 0);
      SliceParts parts = emit_slice_parts(e, first);
      return sugared_value(e->c, emit_slice_of(e, range, value, dim, &parts));
    }
    return sugared_value(e->c, emit_tensor_subscript(e, range, value, indices));
  }
  if (indices->count != 1) {
    bool is_class = value->type->kind == TYPE_CLASS;
    if (!is_class)
      compilation_fail(e->c, range,
                       "Unsupported operation: attempted to use multidimensional indexing on a non-tensor type");
    Value **items = ARENA_ARRAY(e->arena, Value *, indices->count);
    for (uint32_t i = 0; i < indices->count; i++) items[i] = emit_expr(e, indices->children[i], NULL);
    return sugared_get_item(container, e, range, emit_tuple(e, range, indices->count, items), hint);
  }
  if (first->kind == TK_SLICE_EXPR) {
    SliceParts parts = emit_slice_parts(e, first);
    if (container_of(value->type) == CONTAINER_LIST) return container_slice(e, range, value, &parts);
    return sugared_value(e->c, emit_slice_subscript(e, range, value, &parts));
  }
  SugaredValue *index = emit_sugared(e, first, 1, NULL);
  if (index->kind == &SUGARED_SLICE) {
    const SugaredSlice *slice = (const SugaredSlice *)index;
    SliceParts parts = {slice->start, slice->stop, slice->step};
    return sugared_value(e->c, emit_slice_subscript(e, range, value, &parts));
  }
  Value *at = sugared_as_value(index, e, first->range);
  if (value->type->kind == TYPE_TUPLE) return sugared_value(e->c, emit_tuple_subscript(e, range, value, at));
  return sugared_get_item(sugared_value(e->c, value), e, range, at, hint);
}

/* ---- writing ---- */

static void emit_set_item(Emitter *e, SourceRange range, Value *container, Value *index, NamedValue value) {
  if (container->type->kind == TYPE_CLASS) {
    NamedValue inputs[2] = {named_argument(STR(""), index, range), value};
    emit_method_call(e, range, container, STR("__setitem__"), &(CallArguments){.count = 2, .positional = inputs});
    return;
  }
  NamedValue inputs[3] = {named_argument(STR(""), container, range), named_argument(STR(""), index, range), value};
  emit_builtin_call(e, range, SYM_aten__set_item, &(CallArguments){.count = 3, .positional = inputs});
}

void emit_subscript_assign(Emitter *e, SourceRange range, const Tree *target, NamedValue value) {
  Value *container = emit_expr(e, subscript_value(target), NULL);
  const Tree *indices = subscript_indices(target);
  if (container->type->kind == TYPE_TENSOR) {
    IndexedTensor indexed = emit_int_and_slice_indexing(e, target->range, container, indices);
    Value *inputs[3] = {indexed.value, NULL, NULL};
    Value *tensor = emit_as_tensor(e, value.value, indexed.value, value.range);
    if (!indexed.tensor_count) {
      inputs[1] = tensor;
      emit_builtin(e, range, SYM_aten_copy_, 2, inputs);
    } else {
      inputs[1] = emit_index_list(e, range, &indexed);
      inputs[2] = tensor;
      emit_builtin(e, range, SYM_aten_index_put_, 3, inputs);
    }
    return;
  }
  if (indices->count != 1 || indices->children[0]->kind == TK_SLICE_EXPR)
    compilation_fail(e->c, target->range,
                     "Sliced expression not yet supported for subscripted assignment. File a bug if you want this");
  if (container->type->kind == TYPE_TUPLE)
    compilation_fail(e->c, target->range, "%s does not support subscripted assignment",
                     type_text(e->c, container->type));
  emit_set_item(e, range, container, emit_expr(e, indices->children[0], NULL), value);
}

void emit_subscript_aug_assign(Emitter *e, const Tree *stmt) {
  const Tree *target = aug_assign_target(stmt), *indices = subscript_indices(target);
  Value *container = emit_expr(e, subscript_value(target), NULL);
  if (container->type->kind == TYPE_TENSOR) {
    IndexedTensor indexed = emit_int_and_slice_indexing(e, target->range, container, indices);
    Symbol op = aug_operator(e, stmt, container->type);
    Value *rhs = emit_expr(e, aug_assign_value(stmt), NULL);
    Value *inputs[3] = {indexed.value, rhs, NULL};
    if (!indexed.tensor_count) {
      emit_builtin(e, stmt->range, op, 2, inputs);
      return;
    }
    inputs[1] = emit_index_list(e, stmt->range, &indexed);
    Value *gathered = emit_builtin(e, stmt->range, SYM_aten_index, 2, inputs);
    inputs[2] = emit_builtin(e, stmt->range, op, 2, (Value *[]){gathered, rhs});
    emit_builtin(e, stmt->range, SYM_aten_index_put_, 3, inputs);
    return;
  }
  if (indices->count != 1 || indices->children[0]->kind == TK_SLICE_EXPR)
    compilation_fail(e->c, stmt->range, "Sliced expression not yet supported for %s augmented assignment",
                     type_text(e->c, container->type));
  TypeKind kind = container->type->kind;
  if (kind != TYPE_LIST && kind != TYPE_DICT && kind != TYPE_CLASS)
    compilation_fail(e->c, stmt->range, "%s does not support augmented assignment.", type_text(e->c, container->type));
  Value *index = emit_expr(e, indices->children[0], NULL);
  Value *item =
      sugared_as_value(sugared_get_item(sugared_value(e->c, container), e, stmt->range, index, NULL), e, stmt->range);
  emit_set_item(e, stmt->range, container, index,
                named_argument(STR(""), emit_aug_operation(e, stmt, item, false), stmt->range));
}

void emit_subscript_delete(Emitter *e, const Tree *target) {
  if (target->kind == TK_VAR) {
    environment_remove(e, var_text(target), target->range);
    return;
  }
  if (target->kind != TK_SUBSCRIPT)
    compilation_fail(e->c, target->range,
                     "del statements are only supported for deleting list and dict items and variables");
  const Tree *indices = subscript_indices(target);
  if (indices->count != 1)
    compilation_fail(e->c, target->range, "del statements only support deletion at a single index");
  if (indices->children[0]->kind == TK_SLICE_EXPR)
    compilation_fail(e->c, target->range,
                     "del statements only support deletion at a single index, slicing is not supported");
  Value *inputs[2] = {emit_expr(e, subscript_value(target), NULL), NULL};
  inputs[1] = emit_expr(e, indices->children[0], NULL);
  if (inputs[0]->type->kind == TYPE_CLASS) {
    NamedValue index = named_argument(STR(""), inputs[1], target->range);
    emit_method_call(e, target->range, inputs[0], STR("__delitem__"),
                     &(CallArguments){.count = 1, .positional = &index});
    return;
  }
  if (inputs[0]->type->kind != TYPE_LIST && inputs[0]->type->kind != TYPE_DICT)
    compilation_fail(
        e->c, target->range,
        "del statements are only supported for deleting list and dict items and variables, not items of %s%s",
        type_text(e->c, inputs[0]->type), suggest_annotation(e, inputs[0]));
  builtin_with(e, target->range, "aten::Delete", 2, inputs);
}
