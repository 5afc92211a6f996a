/* Sorting of lists: unboxed numbers by qsort; strings, tuples and objects with __lt__ by a stable merge sort whose
 * comparison may fail, because it may run a program. */
#include <assert.h>
#include <stdlib.h>

#include "call/results.h"
#include "call/row.h"
#include "compute/element/element.h"
#include "type/class_type.h"

static int up_ints(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}
static int up_floats(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  if (x != x || y != y) return (x != x) - (y != y); /* NaNs last, so that the order is total */
  return (x > y) - (x < y);
}
static int up_bools(const void *a, const void *b) {
  return *(const bool *)a - *(const bool *)b;
}
static int down_ints(const void *a, const void *b) {
  return up_ints(b, a);
}
static int down_floats(const void *a, const void *b) {
  return up_floats(b, a);
}
static int down_bools(const void *a, const void *b) {
  return up_bools(b, a);
}

static Status less(Call *c, IValue a, IValue b, int depth, bool *out);

static Status less_objects(Call *c, IValue a, IValue b, bool *out) {
  assert(a.tag == TAG_OBJECT && b.tag == TAG_OBJECT);
  ClassType *type = a.object->class_type;
  struct Function *method = class_type_find_method(type, STR("__lt__"));
  if (!method)
    return status_exception("TypeError", "To sort a list of objects, the class " STR_FMT " must define a __lt__ method",
                            STR_ARG(type->type.name));
  const Services *services = c->exec->services;
  if (!services || !services->call_function)
    return status_new(ERROR_UNSUPPORTED, "calling __lt__ is not possible here");
  IValue result;
  TRY(services->call_function(c->exec, method, (IValue[]){a, b}, 2, &result));
  *out = result.tag == TAG_BOOL && result.b;
  ivalue_release(result);
  return OK;
}

static Status less_tuples(Call *c, const Tuple *a, const Tuple *b, int depth, bool *out) {
  for (uint32_t i = 0; i < a->length && i < b->length; i++) {
    bool equal;
    TRY(ivalue_equal(a->values[i], b->values[i], &equal, NULL));
    if (!equal) return less(c, a->values[i], b->values[i], depth + 1, out);
  }
  *out = a->length < b->length;
  return OK;
}

static Status less_tensors(Call *c, IValue a, IValue b, bool *out) {
  static OpRef lt = OP_REF("aten::lt", "Tensor");
  IValue result;
  TRY(op_call(c->exec, &lt, 2, (IValue[]){a, b}, 1, &result));
  Status status = element_truth(result.tensor, out);
  ivalue_release(result);
  return status;
}

static Status less(Call *c, IValue a, IValue b, int depth, bool *out) {
  if (ivalue_is_number(a) && ivalue_is_number(b) && a.tag != TAG_COMPLEX && b.tag != TAG_COMPLEX) {
    *out = a.tag == TAG_INT && b.tag == TAG_INT ? a.i < b.i : ivalue_to_double(a) < ivalue_to_double(b);
    return OK;
  }
  if (a.tag == TAG_STRING && b.tag == TAG_STRING) {
    *out = str_compare(ivalue_str(a), ivalue_str(b)) < 0;
    return OK;
  }
  if (a.tag == TAG_TUPLE && b.tag == TAG_TUPLE && depth < TYPE_MAX_DEPTH)
    return less_tuples(c, a.tuple, b.tuple, depth, out);
  if (a.tag == TAG_OBJECT && b.tag == TAG_OBJECT) return less_objects(c, a, b, out);
  if (a.tag == TAG_TENSOR && b.tag == TAG_TENSOR) return less_tensors(c, a, b, out);
  return status_exception("TypeError", "only numbers, strings, tuples of them and objects with __lt__ can be sorted");
}

/* Merges the sorted runs [0, middle) and [middle, count) of `from` into `to`. */
static Status merge(Call *c, const IValue *from, IValue *to, size_t middle, size_t count, bool down) {
  assert(middle <= count);
  size_t i = 0, j = middle;
  for (size_t k = 0; k < count; k++) {
    bool take_right = i >= middle;
    if (i < middle && j < count)
      TRY(down ? less(c, from[i], from[j], 0, &take_right) : less(c, from[j], from[i], 0, &take_right));
    to[k] = take_right ? from[j++] : from[i++];
  }
  return OK;
}

/* Bottom up, between the items and a second array. On an error the items are some permutation of themselves. */
static Status merge_sort(Call *c, IValue *items, size_t count, bool down) {
  IValue *other = mem_calloc(count, sizeof *other);
  if (!other) return status_out_of_memory();
  IValue *from = items, *to = other;
  Status status = OK;
  for (size_t width = 1; width < count && status == OK; width *= 2) {
    for (size_t start = 0; start < count && status == OK; start += 2 * width) {
      size_t rest = count - start;
      status =
          merge(c, from + start, to + start, rest < width ? rest : width, rest < 2 * width ? rest : 2 * width, down);
    }
    if (status != OK) break;
    IValue *swapped = from;
    from = to;
    to = swapped;
    status = work_poll(&c->exec->work);
  }
  if (from != items) memcpy(items, from, count * sizeof *items);
  mem_free(other);
  return status;
}

static Status unsortable(const char *format, const Type *a, const Type *b) {
  StrBuf text_a = {0}, text_b = {0};
  if (b)
    type_print_annotation(a, &text_a);
  else
    type_print_str(a, &text_a);
  if (b) type_print_annotation(b, &text_b);
  Status status = status_new(ERROR_RUNTIME, format, STR_ARG(strbuf_view(&text_a)), STR_ARG(strbuf_view(&text_b)));
  strbuf_dispose(&text_a);
  strbuf_dispose(&text_b);
  return status;
}

static bool has_order(TypeKind kind) {
  return kind == TYPE_INT || kind == TYPE_FLOAT || kind == TYPE_BOOL || kind == TYPE_STRING || kind == TYPE_TENSOR;
}

static Status check_sortable(const Type *type) {
  if (has_order((TypeKind)type->kind)) return OK;
  switch (type->kind) {
    case TYPE_CLASS:
      if (class_type_find_method(type->class_type, STR("__lt__"))) return OK;
      return unsortable("To sort a list of " STR_FMT
                        " objects it must define a __lt__ method that returns a bool" STR_FMT,
                        type, NULL);
    case TYPE_TUPLE:
      for (uint32_t i = 0; i < type->count; i++) {
        TypeKind kind = (TypeKind)type->elements[i]->kind;
        if (kind != TYPE_TUPLE && kind != TYPE_CLASS && !has_order(kind))
          return unsortable("Contained elements in " STR_FMT
                            " are not sortable. Only Int, Bool, Float, String, Tensor, a User Defined Class with "
                            "__lt__ method defined or Tuples of aforementionted types can be sorted." STR_FMT,
                            type, NULL);
        TRY(check_sortable(type->elements[i]));
      }
      return OK;
    default:
      return unsortable(
          "Only list of Tensors, ints, floats, bools, strs, a User Defined Class that defines the __lt__ compare "
          "method or Tuples of "
          "aforementioned types can be sorted, got list of " STR_FMT STR_FMT,
          type, NULL);
  }
}

/* All items must be of one type, which has an order. */
static Status check_items(const List *list) {
  TypeStore store;
  Status status = type_store_init(&store, NULL);
  const Type *first = status ? NULL : ivalue_type(list->values[0], &store);
  for (size_t i = 1; i < list->length && !status; i++) {
    const Type *type = ivalue_type(list->values[i], &store);
    if (!type_equal(first, type))
      status = unsortable("Only values of same type can be compared. Found " STR_FMT " and " STR_FMT, first, type);
  }
  if (!status) status = check_sortable(first);
  type_store_dispose(&store);
  return status;
}

/* A list that nobody else sees, with an item at least. */
static Status sort_items(Call *c, List *list, bool down) {
  assert(list->length > 0);
  if (list->kind == LIST_VALUES && list->element->kind != TYPE_STRING && list->element->kind != TYPE_TENSOR)
    TRY(check_items(list));
  switch (list->kind) {
    case LIST_INTS:
      qsort(list->items, list->length, sizeof(int64_t), down ? down_ints : up_ints);
      return OK;
    case LIST_FLOATS:
      qsort(list->items, list->length, sizeof(double), down ? down_floats : up_floats);
      return OK;
    case LIST_BOOLS:
      qsort(list->items, list->length, sizeof(bool), down ? down_bools : up_bools);
      return OK;
    default:
      return list->length > 1 ? merge_sort(c, list->values, list->length, down) : OK;
  }
}

static Status sort(Call *c) {
  List *copy;
  TRY(list_copy(call_list(c, 0), &copy));
  Status status = copy->length ? sort_items(c, copy, call_bool(c, 1)) : OK;
  if (status == OK) list_swap_items(call_list(c, 0), copy);
  ivalue_release(ivalue_list(copy));
  return status;
}

static Status sorted(Call *c) {
  List *copy;
  TRY(list_copy(call_list(c, 0), &copy));
  Status status = copy->length ? sort_items(c, copy, false) : OK;
  if (status == OK)
    call_set(c, 0, ivalue_list(copy));
  else
    ivalue_release(ivalue_list(copy));
  return status;
}

#define ROWS(T)                                                                  \
  ROW_ANY("aten::sort." T "(" T "[](a!) self, bool reverse=False) -> ()", sort), \
      ROW_ANY("aten::sorted." T "(" T "[](a) input) -> " T "[]", sorted),

static const OpRow rows[] = {
    ROWS("int") ROWS("float") ROWS("bool") ROWS("str")
        ROW_ANY("aten::sort.Tensor(Tensor[](a!) self, bool reverse=False) -> ()", sort),
    {.schema = "aten::sorted.Tensor(Tensor[](a) input) -> Tensor[]",
     .kernel = sorted,
     .flags = OP_CONTAINER | OP_RETURNS_ARGUMENT},
    ROW_ANY("aten::sort.any(t[](a!) self, bool reverse=False) -> ()", sort),
    ROW_ANY("aten::sorted.any(t[](a) self) -> t[]", sorted),
};
OP_TABLE(op_table_list_sort, rows);
