/* Lists of any element type. Whoever reads a whole list holds it first, so that other threads can't change it
 * meanwhile. */
#include "base/work_limit.h"
#include "call/results.h"
#include "call/row.h"
#include "compute/element/element.h"
#include "ivalue/lock.h"

enum { MAX_ITEMS = INT32_MAX };

static Status too_long(void) {
  return status_new(ERROR_BUDGET, "a list would have more than %d items", MAX_ITEMS);
}

static Status result_list(Call *c, List *list, Status status) {
  if (status == OK)
    call_set(c, 0, ivalue_list(list));
  else
    ivalue_release(ivalue_list(list));
  return status;
}

static Status return_self(Call *c) {
  return c->output_count ? result_value(c, 0, c->inputs[0]) : OK;
}

/* ---- items ---- */

static Status get_item(Call *c) {
  size_t index;
  TRY(list_index(call_list(c, 0), call_int(c, 1), &index));
  call_set(c, 0, list_get(call_list(c, 0), index));
  return OK;
}

static Status set_item(Call *c) {
  size_t index;
  TRY(list_index(call_list(c, 0), call_int(c, 1), &index));
  list_set(call_list(c, 0), index, ivalue_retain(c->inputs[2]));
  return return_self(c);
}

static Status delete_item(Call *c) {
  size_t index;
  TRY(list_index(call_list(c, 0), call_int(c, 1), &index));
  ivalue_release(list_remove(call_list(c, 0), index));
  return OK;
}

static Status pop(Call *c) {
  size_t index;
  if (!list_length(call_list(c, 0))) return status_exception("IndexError", "pop from empty list");
  TRY(list_index(call_list(c, 0), call_int(c, 1), &index));
  call_set(c, 0, list_remove(call_list(c, 0), index));
  return OK;
}

static Status append(Call *c) {
  TRY(list_append(call_list(c, 0), ivalue_retain(c->inputs[1])));
  return return_self(c);
}

static Status insert(Call *c) {
  List *list = call_list(c, 0);
  int64_t length = (int64_t)list_length(list), index = call_int(c, 1);
  if (index < 0) index = index + length < 0 ? 0 : index + length;
  return list_insert(list, index > length ? (size_t)length : (size_t)index, ivalue_retain(c->inputs[2]));
}

static Status length(Call *c) {
  return result_int(c, 0, (int64_t)list_length(call_list(c, 0)));
}

static Status clear(Call *c) {
  list_truncate(call_list(c, 0), 0);
  return OK;
}

/* ---- whole lists ---- */

static Status copy(Call *c) {
  List *out;
  TRY(list_copy(call_list(c, 0), &out));
  return result_list(c, out, OK);
}

static Status append_all(List *to, const List *from) {
  List *items;
  TRY(list_hold(from, &items));
  size_t count = items->length; /* before it grows, when it is the same list */
  size_t length = list_length(to);
  Status status = length + count > MAX_ITEMS ? too_long() : list_reserve(to, length + count);
  for (size_t i = 0; i < count && status == OK; i++) status = list_append(to, list_get(items, i));
  ivalue_release(ivalue_list(items));
  return status;
}

static Status extend(Call *c) {
  TRY(append_all(call_list(c, 0), call_list(c, 1)));
  return return_self(c);
}

static Status concatenate(Call *c) {
  List *out;
  TRY(list_copy(call_list(c, 0), &out));
  return result_list(c, out, append_all(out, call_list(c, 1)));
}

static Status append_repeated(List *to, const List *from, int64_t times) {
  size_t count;
  if (!size_mul(from->length, (size_t)(times < 0 ? 0 : times), &count) || count > MAX_ITEMS) return too_long();
  TRY(list_reserve(to, count));
  int64_t done = 0;
  for (size_t i = 0; i < count; i++) {
    if (work_is_over_after(&done, 8)) return work_status();
    TRY(list_append(to, list_get(from, i % from->length)));
  }
  return OK;
}

static Status repeat(Call *c, uint32_t list_at, List **out) {
  List *items;
  TRY(list_hold(call_list(c, list_at), &items));
  Status status = list_new(items->element, 0, out);
  if (status == OK) {
    status = append_repeated(*out, items, call_int(c, 1 - list_at));
    if (status != OK) ivalue_release(ivalue_list(*out));
  }
  ivalue_release(ivalue_list(items));
  return status;
}

static Status repeat_left(Call *c) {
  List *out;
  TRY(repeat(c, 0, &out));
  return result_list(c, out, OK);
}

static Status repeat_right(Call *c) {
  List *out;
  TRY(repeat(c, 1, &out));
  return result_list(c, out, OK);
}

static Status repeat_in_place(Call *c) {
  List *out;
  TRY(repeat(c, 0, &out));
  list_swap_items(call_list(c, 0), out);
  ivalue_release(ivalue_list(out));
  return return_self(c);
}

static void reverse_items(List *list) {
  for (size_t i = 0, j = list->length; i + 1 < j; i++) {
    IValue first = list_get(list, i);
    list_set(list, i, list_get(list, --j));
    list_set(list, j, first);
  }
}

static Status slice(Call *c) {
  const List *list = call_list(c, 0);
  int64_t start, step, count;
  TRY(slice_bounds(c, (int64_t)list_length(list), &start, &step, &count));
  List *out;
  if (!count)
    TRY(list_slice(list, 0, 1, 0, &out));
  else if (step > 0)
    TRY(list_slice(list, (size_t)start, (size_t)step, (size_t)count, &out));
  else
    TRY(list_slice(list, (size_t)(start + (count - 1) * step), (size_t)-step, (size_t)count, &out));
  if (step < 0) reverse_items(out);
  return result_list(c, out, OK);
}

static Status reverse(Call *c) {
  List *copy;
  TRY(list_copy(call_list(c, 0), &copy));
  reverse_items(copy);
  list_swap_items(call_list(c, 0), copy);
  ivalue_release(ivalue_list(copy));
  return OK;
}

/* ---- searching and comparing ---- */

/* Tensors compare by value, as in `a == b` with a result that must be a single truth. */
static Status items_equal(Call *c, IValue a, IValue b, bool *out) {
  if (a.tag != TAG_TENSOR || b.tag != TAG_TENSOR) return ivalue_equal(a, b, out, NULL);
  static OpRef eq = OP_REF("aten::eq", "Tensor");
  IValue result;
  TRY(op_call(c->exec, &eq, 2, (IValue[]){a, b}, 1, &result));
  Status status = element_truth(result.tensor, out);
  ivalue_release(result);
  return status;
}

/* From `start` on; -1: absent. */
static Status find_item(Call *c, const List *list, IValue wanted, size_t start, int64_t *out) {
  *out = -1;
  int64_t done = 0;
  for (size_t i = start; i < list->length && *out < 0; i++) {
    if (work_is_over_after(&done, 8)) return work_status();
    bool equal = false;
    IValue item = list_get(list, i);
    Status status = items_equal(c, item, wanted, &equal);
    ivalue_release(item);
    TRY(status);
    if (equal) *out = (int64_t)i;
  }
  return OK;
}

static Status contains(Call *c) {
  int64_t place;
  TRY(find_item(c, call_list(c, 0), c->inputs[1], 0, &place));
  return result_bool(c, 0, place >= 0);
}

static Status index_of(Call *c) {
  int64_t place;
  TRY(find_item(c, call_list(c, 0), c->inputs[1], 0, &place));
  if (place >= 0) return result_int(c, 0, place);
  StrBuf text = {0};
  Status status = ivalue_print(c->inputs[1], &text);
  if (status == OK)
    status = status_exception("ValueError", "'" STR_FMT "' is not in list", STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static Status count(Call *c) {
  int64_t place, n = 0;
  TRY(find_item(c, call_list(c, 0), c->inputs[1], 0, &place));
  for (; place >= 0; n++) TRY(find_item(c, call_list(c, 0), c->inputs[1], (size_t)place + 1, &place));
  return result_int(c, 0, n);
}

static Status remove_item(Call *c) {
  int64_t place;
  List *items;
  TRY(list_hold(call_list(c, 0), &items));
  Status status = find_item(c, items, c->inputs[1], 0, &place);
  ivalue_release(ivalue_list(items));
  TRY(status);
  if (place < 0) return status_exception("ValueError", "list.remove(x): x not in list");
  ivalue_release(list_remove(call_list(c, 0), (size_t)place));
  return OK;
}

static Status lists_equal(Call *c, bool *out) {
  const List *a = call_list(c, 0), *b = call_list(c, 1);
  *out = a->length == b->length;
  int64_t done = 0;
  for (size_t i = 0; *out && i < a->length; i++) {
    if (work_is_over_after(&done, 8)) return work_status();
    IValue x = list_get(a, i), y = list_get(b, i);
    Status status = items_equal(c, x, y, out);
    ivalue_release(x);
    ivalue_release(y);
    TRY(status);
  }
  return OK;
}

static Status equal(Call *c) {
  bool result;
  TRY(lists_equal(c, &result));
  return result_bool(c, 0, result);
}

static Status not_equal(Call *c) {
  bool result;
  TRY(lists_equal(c, &result));
  return result_bool(c, 0, !result);
}

/* ---- reductions over numbers ---- */

static Status sum(Call *c) {
  const List *list = call_list(c, 0);
  if (list->element->kind == TYPE_COMPLEX) {
    complex128 total = 0;
    for (size_t i = 0; i < list->length; i++) total += ivalue_complex(list->values[i]);
    return result_complex(c, 0, total);
  }
  if (list->kind == LIST_FLOATS) {
    double total = 0;
    for (size_t i = 0; i < list->length; i++) total += list->floats[i];
    return result_double(c, 0, total);
  }
  uint64_t total = 0;
  for (size_t i = 0; i < list->length; i++) total += (uint64_t)ivalue_to_int(list_get(list, i));
  return result_int(c, 0, (int64_t)total);
}

static bool is_truth(IValue v) {
  return v.tag == TAG_STRING ? v.string->length > 0 : ivalue_to_double(v) != 0;
}

/* Whether some item's truth is `wanted`. */
/* any: whether an item is true; all: whether none is false. */
static Status any_or_all(Call *c) {
  const List *list = call_list(c, 0);
  bool wanted = call_param(c), found = false;
  for (size_t i = 0; i < list->length && !found; i++) {
    IValue item = list_get(list, i);
    found = is_truth(item) == wanted;
    ivalue_release(item);
  }
  return result_bool(c, 0, found == wanted);
}

/* Numbers of an unboxed list compare as doubles except ints. */
static int compare_numbers(IValue a, IValue b) {
  if (a.tag == TAG_INT && b.tag == TAG_INT) return (a.i > b.i) - (a.i < b.i);
  double x = ivalue_to_double(a), y = ivalue_to_double(b);
  return (x > y) - (x < y);
}

/* max and min as what they look for: the sign of what is more extreme. */
enum { MIN = -1, MAX = 1 };
static Status extreme_item(Call *c) {
  int64_t sign = call_param(c);
  const List *list = call_list(c, 0);
  if (!list->length)
    return status_exception("ValueError", "%s() arg is an empty sequence", sign == MAX ? "max" : "min");
  IValue best = list_get(list, 0);
  for (size_t i = 1; i < list->length; i++) {
    IValue item = list_get(list, i);
    if (sign * compare_numbers(item, best) > 0) best = item;
  }
  call_set(c, 0, best);
  return OK;
}

/* Lexicographic. */
static int compare_lists(const List *a, const List *b) {
  for (size_t i = 0; i < a->length && i < b->length; i++) {
    int order = compare_numbers(list_get(a, i), list_get(b, i));
    if (order) return order;
  }
  return (a->length > b->length) - (a->length < b->length);
}
static Status extreme_list(Call *c) {
  bool second = call_param(c) * compare_lists(call_list(c, 0), call_list(c, 1)) < 0;
  return result_value(c, 0, c->inputs[second]);
}

static Status range_list(Call *c) {
  int64_t n = call_int(c, 0);
  List *out;
  if (n > MAX_ITEMS) return too_long();
  TRY(list_new(TYPE(INT), n > 0 ? (size_t)n : 0, &out));
  for (int64_t i = 0; i < n; i++) out->ints[i] = i;
  out->length = n > 0 ? (size_t)n : 0;
  return result_list(c, out, OK);
}

static Status self(Call *c) {
  return result_value(c, 0, c->inputs[0]);
}

#define OF_ELEMENTS(X) X("int") X("float") X("bool") X("Tensor") X("str")
#define SEARCHES(T)                                                               \
  ROW_ANY("aten::remove." T "(" T "[](a!) self, " T " el) -> ()", remove_item),   \
      ROW_ANY("aten::index.list_" T "(" T "[] self, " T " el) -> int", index_of), \
      ROW_ANY("aten::count." T "(" T "[] self, " T " el) -> int", count),         \
      ROW_ANY("aten::eq." T "_list(" T "[] a, " T "[] b) -> bool", equal),        \
      ROW_ANY("aten::ne." T "_list(" T "[] a, " T "[] b) -> bool", not_equal),
#define EXTREMES_OF(T, name, sign)                                                                \
  ROW("prim::" name "." T "_list(" T "[] l, " T "[] r) -> " T "[]", extreme_list, .param = sign), \
      ROW("prim::" name ".self_" T "(" T "[] self) -> " T, extreme_item, .param = sign),
#define EXTREMES(T)                                                         \
  EXTREMES_OF(T, "max", MAX)                                                \
  EXTREMES_OF(T, "min", MIN)                                                \
  ROW("aten::all." T "(" T "[] self) -> bool", any_or_all, .param = false), \
      ROW("aten::any." T "(" T "[] self) -> bool", any_or_all, .param = true),

static const OpRow rows[] = {
    ROW_ANY("aten::__getitem__.t(t[](a) list, int idx) -> t(*)", get_item),
    ROW_ANY("aten::select.t(t[](a) list, int idx) -> t(*)", get_item),
    ROW_ANY("aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)", set_item),
    ROW_ANY("aten::Delete.t(t[](a!) self, int idx) -> ()", delete_item),
    ROW_ANY("aten::pop.t(t[](a!) self, int idx=-1) -> t(*)", pop),
    ROW_ANY("aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)", append),
    ROW_ANY("aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()", insert),
    ROW_ANY("aten::extend.t(t[](a!) self, t[] other) -> ()", extend),
    ROW_ANY("aten::clear.t(t[](a!) self) -> ()", clear),
    ROW_ANY("aten::reverse.t(t[](a!) self) -> ()", reverse),
    ROW_ANY("aten::copy.t(t[](a) self) -> t[]", copy),
    ROW_ANY("aten::list.t(t[] l) -> t[]", copy),
    ROW_ANY("aten::len.t(t[] a) -> int", length),
    ROW_ANY("aten::len.any(Any[] a) -> int", length),
    ROW_ANY("aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]", slice),
    ROW_ANY("aten::add.t(t[] a, t[] b) -> t[]", concatenate),
    ROW_ANY("aten::add_.t(t[](a!) self, t[] b) -> t[]", extend),
    ROW_ANY("aten::mul.left_t(t[] l, int n) -> t[]", repeat_left),
    ROW_ANY("aten::mul.right_(int n, t[] l) -> t[]", repeat_right),
    ROW_ANY("aten::mul_.t(t[](a!) l, int n) -> t[](a!)", repeat_in_place),
    ROW("aten::__contains__.int_list(int[] l, int item) -> bool", contains),
    ROW("aten::__contains__.float_list(float[] l, float item) -> bool", contains),
    ROW("aten::__contains__.str_list(str[] l, str item) -> bool", contains),
    OF_ELEMENTS(SEARCHES) EXTREMES("int") EXTREMES("float") EXTREMES("bool")
        ROW("aten::any.str(str[] self) -> bool", any_or_all, .param = true),
    ROW("aten::sum.int(int[] self) -> int", sum),
    ROW("aten::sum.float(float[] self) -> float", sum),
    ROW("aten::sum.bool(bool[] self) -> int", sum),
    ROW("aten::sum.complex(complex[] self) -> complex", sum),
    ROW("prim::rangelist(int n) -> int[]", range_list),
    ROW("aten::Size(int[] sizes) -> int[]", self),
};
OP_TABLE(op_table_list, rows);
