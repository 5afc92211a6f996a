/* x[...] and x[...] = y: ints, slices, None and Ellipsis become views; what is left, tensors and lists of indices, goes
 * to aten::index and aten::index_put_. */
#include <string.h>

#include "direct.h"
#include "memory.h"
#include "override.h"

enum { MOST_DIMS = 64 };

/* A subscript while it is applied. */
typedef struct Subscript {
  ModuleState *state;
  wick_value *view;               /* owned: what the views so far show */
  bool writes;                    /* the part is written to */
  int64_t dim;                    /* of the next item */
  int64_t index_count;            /* one past the last that is not NULL */
  wick_value *indices[MOST_DIMS]; /* the first index_count: owned; NULL: the whole dimension */
} Subscript;

static void dispose(Subscript *s) {
  wick_value_release(s->view);
  for (int64_t i = 0; i < s->index_count; i++) wick_value_release(s->indices[i]);
}

/* Takes over `next`, NULL with an error: 0 or -1. */
static int replace_view(Subscript *s, wick_value *next) {
  if (!next) return -1;
  wick_value_release(s->view);
  s->view = next;
  return 0;
}

/* The size of a dimension; -1 with an error. */
static int64_t size_of_dim(const Subscript *s, int64_t dim) {
  wick_tensor_info info = {.size = sizeof info};
  if (!wick_tensor_info_of(s->view, &info, NULL) && dim < info.ndim) return info.sizes[dim];
  if (info.ndim == 0)
    PyErr_SetString(PyExc_IndexError,
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                    "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
  else
    PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", (int)info.ndim);
  return -1;
}

static int check_dim(const Subscript *s, int64_t dim) {
  return size_of_dim(s, dim) < 0 ? -1 : 0;
}

static int apply_int(Subscript *s, PyObject *number) {
  int overflow;
  long long i = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (i == -1 && PyErr_Occurred()) return -1;
  int64_t size = size_of_dim(s, s->dim);
  if (size < 0) return -1;
  if (overflow || i >= size || i < -size) {
    PyErr_Format(PyExc_IndexError, "index %S is out of bounds for dimension %lld with size %lld", number,
                 (long long)s->dim, (long long)size);
    return -1;
  }
  return replace_view(s, direct_ints(s->state, DIRECT_SELECT, s->view, (const int64_t[]){s->dim, i}, 2));
}

/* A bound of a slice: numbers beyond int64 are its ends. */
static int bound_of(PyObject *bound, int64_t missing, int64_t *out) {
  *out = missing;
  if (bound == Py_None) return 0;
  PyObject *number = PyNumber_Index(bound);
  if (!number) return -1;
  int overflow;
  *out = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow) *out = overflow > 0 ? INT64_MAX : INT64_MIN + 1;
  Py_DECREF(number);
  return 0;
}

/* A slice of a trace, whose bounds may be tensors that stand for sizes; the whole of a dimension is one, too. */
static int apply_traced_slice(Subscript *s, const PySliceObject *bounds) {
  PyObject *const given[] = {bounds->start, bounds->stop, bounds->step};
  const int64_t missing[] = {0, INT64_MAX, 1};
  wick_value *values[5] = {s->view, wick_value_int(s->dim++)};
  bool complete = values[1] != NULL;
  for (int i = 0; i < 3; i++) {
    int64_t bound;
    if (!complete) break;
    if (is_tensor(s->state, given[i]))
      values[i + 2] = wick_value_retain(tensor_value(given[i]));
    else if (!bound_of(given[i], missing[i], &bound))
      values[i + 2] = wick_value_int(bound);
    complete = values[i + 2] != NULL;
  }
  wick_value *made = complete ? direct_call(s->state, DIRECT_SLICE, (const wick_value *const *)values, 5) : NULL;
  if (!complete && !PyErr_Occurred()) PyErr_NoMemory();
  for (int i = 1; i < 5; i++) wick_value_release(values[i]);
  return replace_view(s, made);
}

/* 0: there is a dimension to slice; -1: an error; 1: there are none, and the whole is written: what PyTorch does where
 * the slice ends at 0, and refuses where it does not. */
static int check_slice(const Subscript *s, bool is_empty) {
  wick_tensor_info info = {.size = sizeof info};
  bool is_known = !wick_tensor_info_of(s->view, &info, NULL);
  if (is_known && s->dim < info.ndim) return 0;
  if (!is_known || info.ndim) return check_dim(s, s->dim);
  if (s->writes && is_empty) return 1;
  PyErr_SetString(PyExc_IndexError, "slice() cannot be applied to a 0-dim tensor.");
  return -1;
}

static int apply_slice(Subscript *s, PyObject *slice) {
  const PySliceObject *bounds = (const PySliceObject *)slice;
  int64_t start, stop, step;
  if (wick_trace_is_on()) return check_dim(s, s->dim) ? -1 : apply_traced_slice(s, bounds);
  if (bound_of(bounds->step, 1, &step) || bound_of(bounds->start, 0, &start) ||
      bound_of(bounds->stop, INT64_MAX, &stop))
    return -1;
  if (step <= 0) {
    PyErr_SetString(PyExc_ValueError, step ? "step must be greater than zero" : "slice step cannot be zero");
    return -1;
  }
  int checked = check_slice(s, step == 1 && start == 0 && stop == 0);
  if (checked) return checked < 0 ? -1 : 0;
  int64_t dim = s->dim++;
  if (step == 1 && start == 0 && stop == INT64_MAX) return 0;
  return replace_view(s, direct_ints(s->state, DIRECT_SLICE, s->view, (const int64_t[]){dim, start, stop, step}, 4));
}

static int apply_none(Subscript *s) {
  int64_t dim = s->dim++;
  return replace_view(s, direct_ints(s->state, DIRECT_UNSQUEEZE, s->view, &dim, 1));
}

/* Takes over `index`. A mask of several dimensions counts as one to what stands after it, as in PyTorch: parts that
 * are taken after it are taken before it, of its own dimensions, and the mask does not fit then. */
static int note_index(Subscript *s, wick_value *index) {
  if (!index) return -1;
  if (s->dim + 1 > MOST_DIMS) {
    wick_value_release(index);
    PyErr_SetString(PyExc_IndexError, "too many indices");
    return -1;
  }
  while (s->index_count < s->dim) s->indices[s->index_count++] = NULL;
  s->indices[s->dim] = index;
  s->index_count = ++s->dim;
  return 0;
}

static int apply_bool(Subscript *s, bool is_true) {
  int64_t dim = s->dim, count = is_true ? 1 : 0;
  wick_value *index = NULL;
  wick_error *error = NULL;
  if (replace_view(s, direct_ints(s->state, DIRECT_UNSQUEEZE, s->view, &dim, 1))) return -1;
  wick_status status = wick_tensor_new(WICK_INT64, 1, &count, &index, &error);
  if (!status && is_true) status = wick_tensor_copy_from(index, &(int64_t){0}, sizeof(int64_t), &error);
  if (status) {
    wick_value_release(index);
    raise_wick(s->state, status, error);
    return -1;
  }
  return note_index(s, index);
}

/* A number that a trace follows: of a tensor without dimensions. */
static int apply_traced_int(Subscript *s, PyObject *tensor) {
  wick_value *dim = check_dim(s, s->dim) ? NULL : wick_value_int(s->dim);
  if (!dim) return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
  const wick_value *arguments[] = {s->view, dim, tensor_value(tensor)};
  int failed = replace_view(s, direct_call(s->state, DIRECT_SELECT, arguments, 3));
  wick_value_release(dim);
  return failed;
}

/* A mask without dimensions that a trace follows: of one element over a new dimension. */
static int apply_traced_bool(Subscript *s, PyObject *tensor) {
  int64_t dim = s->dim;
  if (replace_view(s, direct_ints(s->state, DIRECT_UNSQUEEZE, s->view, &dim, 1))) return -1;
  return note_index(s, direct_ints(s->state, DIRECT_UNSQUEEZE, tensor_value(tensor), &(int64_t){0}, 1));
}

static int apply_tensor(Subscript *s, PyObject *tensor) {
  wick_tensor_info info;
  if (tensor_info(tensor, &info)) return -1;
  bool is_mask = info.dtype == WICK_BOOL8 || info.dtype == WICK_UINT8;
  if (!info.ndim && wick_trace_is_on() && (is_mask || info.dtype <= WICK_INT64))
    return is_mask ? apply_traced_bool(s, tensor) : apply_traced_int(s, tensor);
  if (!info.ndim && !is_mask && info.dtype <= WICK_INT64) {
    PyObject *number = PyNumber_Index(tensor);
    int failed = number ? apply_int(s, number) : -1;
    Py_XDECREF(number);
    return failed;
  }
  if (!info.ndim && is_mask) {
    int is_true = PyObject_IsTrue(tensor);
    return is_true < 0 ? -1 : apply_bool(s, is_true);
  }
  if (!is_mask && info.dtype != WICK_INT64 && info.dtype != WICK_INT32 && info.dtype != WICK_INT16 &&
      info.dtype != WICK_INT8) {
    PyErr_SetString(PyExc_IndexError, "tensors used as indices must be long, byte or bool tensors");
    return -1;
  }
  if (check_dim(s, s->dim + (is_mask ? info.ndim : 1) - 1)) return -1;
  return note_index(s, wick_value_retain(tensor_value(tensor)));
}

/* Lists and arrays of NumPy. */
static int apply_sequence(Subscript *s, PyObject *sequence) {
  PyObject *tensor = make_tensor(s->state, sequence, -1);
  wick_tensor_info info;
  if (!tensor) return -1;
  int failed = tensor_info(tensor, &info);
  if (!failed && info.count == 0 && info.dtype != WICK_BOOL8 && info.dtype > WICK_INT64) { /* [] has no ints */
    PyObject *arguments[] = {tensor, s->state->dtypes[WICK_INT64]};
    PyObject *ints = call_aten(s->state, "aten::to", arguments, 2);
    Py_DECREF(tensor);
    if (!(tensor = ints)) return -1;
  }
  if (!failed) failed = apply_tensor(s, tensor);
  Py_DECREF(tensor);
  return failed;
}

/* How many dimensions an item names: for Ellipsis. */
static int64_t dims_of(ModuleState *state, PyObject *item) {
  if (item == Py_None || item == Py_Ellipsis || PyBool_Check(item)) return 0;
  if (!is_tensor(state, item)) return 1;
  wick_tensor_info info = {.size = sizeof info};
  if (wick_tensor_info_of(tensor_value(item), &info, NULL)) return 1;
  return info.dtype == WICK_BOOL8 || info.dtype == WICK_UINT8 ? info.ndim : 1;
}

static int apply_item(Subscript *s, PyObject *item, int64_t skipped) {
  if (item == Py_Ellipsis) return s->dim += skipped, 0;
  if (item == Py_None) return apply_none(s);
  if (PyBool_Check(item)) return apply_bool(s, item == Py_True);
  if (PyLong_Check(item)) return apply_int(s, item);
  if (PySlice_Check(item)) return apply_slice(s, item);
  if (is_tensor(s->state, item)) return apply_tensor(s, item);
  if (PyIndex_Check(item) && !PySequence_Check(item)) {
    PyObject *number = PyNumber_Index(item);
    int failed = number ? apply_int(s, number) : -1;
    Py_XDECREF(number);
    return failed;
  }
  if (PyUnicode_Check(item) || PyBytes_Check(item) || !PySequence_Check(item)) {
    PyErr_Format(PyExc_IndexError,
                 "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                 "(got %.200s)",
                 Py_TYPE(item)->tp_name);
    return -1;
  }
  return apply_sequence(s, item);
}

/* A short list that holds more than numbers stands for a tuple: x[[0, slice(1)]], x[[[0], [1]]]. */
static bool list_is_tuple(ModuleState *state, PyObject *subscript) {
  enum { SHORT = 32 };
  if (!PyList_Check(subscript) || PyList_GET_SIZE(subscript) >= SHORT) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(subscript); i++) {
    PyObject *item = PyList_GET_ITEM(subscript, i);
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item)) return true;
    if (is_tensor(state, item) || PyList_Check(item) || PyTuple_Check(item) || PyRange_Check(item)) return true;
  }
  return false;
}

/* Applies all of it; on failure nothing is left to dispose of. */
static int apply_to(Subscript *s, ModuleState *state, PyObject *self, PyObject *subscript) {
  s->state = state;
  s->dim = s->index_count = 0;
  s->view = wick_value_retain(tensor_value(self));
  int failed = 0;
  if (!PyTuple_Check(subscript)) {
    failed = apply_item(s, subscript, 0);
  } else {
    Py_ssize_t count = PyTuple_GET_SIZE(subscript);
    int64_t named = 0;
    wick_tensor_info info = {.size = sizeof info};
    for (Py_ssize_t i = 0; i < count; i++) named += dims_of(state, PyTuple_GET_ITEM(subscript, i));
    failed = tensor_info(self, &info);
    if (!failed && named > info.ndim) {
      PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", (int)info.ndim);
      failed = -1;
    }
    for (Py_ssize_t i = 0; i < count && !failed; i++)
      failed = apply_item(s, PyTuple_GET_ITEM(subscript, i), info.ndim - named);
  }
  if (failed) dispose(s);
  return failed;
}

static int apply(Subscript *s, ModuleState *state, PyObject *self, PyObject *subscript) {
  if (!list_is_tuple(state, subscript)) return apply_to(s, state, self, subscript);
  PyObject *tuple = PyList_AsTuple(subscript);
  int failed = tuple ? apply_to(s, state, self, tuple) : -1;
  Py_XDECREF(tuple);
  return failed;
}

/* The list of indices, None where a dimension is whole. Owned. */
static wick_value *index_list(Subscript *s) {
  wick_value *none = wick_value_none(), *list = NULL;
  const wick_value *items[MOST_DIMS];
  wick_error *error = NULL;
  for (int64_t i = 0; i < s->index_count; i++) items[i] = s->indices[i] ? s->indices[i] : none;
  wick_status status = none ? wick_value_list(items, (size_t)s->index_count, &list, &error) : WICK_OUT_OF_MEMORY;
  wick_value_release(none);
  return status ? (wick_value *)raise_wick(s->state, status, error) : list;
}

static PyObject *get_item(PyObject *self, PyObject *subscript) {
  ModuleState *state = ((TensorObject *)self)->state;
  PyObject *const asked[] = {self, subscript};
  if (override_is_on(state) && override_wanted(state, asked, 2)) return override_slot(state, "__getitem__", asked, 2);
  Subscript s;
  s.writes = false;
  wick_value *made;
  if (apply(&s, state, self, subscript)) return NULL;
  if (s.index_count) {
    wick_value *list = index_list(&s);
    made = list ? direct_call(state, DIRECT_INDEX, (const wick_value *const[]){s.view, list}, 2) : NULL;
    wick_value_release(list);
  } else if (s.view == tensor_value(self)) {
    made = direct_call(state, DIRECT_ALIAS, (const wick_value *const[]){s.view}, 1);
  } else {
    made = wick_value_retain(s.view);
  }
  dispose(&s);
  return made ? tensor_wrap(state, made) : NULL;
}

/* ---- assignment ---- */

/* What is written: a tensor, or a number. Owned. */
static wick_value *assigned(ModuleState *state, PyObject *self, PyObject *value) {
  if (is_tensor(state, value)) return wick_value_retain(tensor_value(value));
  bool is_number = PyLong_Check(value) || PyFloat_Check(value) || PyComplex_Check(value) ||
                   (PyNumber_Check(value) && !PySequence_Check(value));
  if (is_number) return value_from_python(state, value);
  PyErr_Format(PyExc_TypeError, "can't assign a %.200s to a %.200s", Py_TYPE(value)->tp_name, Py_TYPE(self)->tp_name);
  return NULL;
}

/* Leading dimensions of one element count for nothing in what is written, unless its sizes are those of the part that
 * is written to: then it goes as it is, so that copying knows a part that is written to itself. Takes over `value`. */
static wick_value *fitted(const Subscript *s, wick_value *value) {
  wick_tensor_info info = {.size = sizeof info}, part = {.size = sizeof part};
  if (wick_tensor_info_of(value, &info, NULL) || wick_tensor_info_of(s->view, &part, NULL)) return value;
  if (info.ndim == part.ndim && !memcmp(info.sizes, part.sizes, (size_t)info.ndim * sizeof *info.sizes)) return value;
  int skipped = 0, ndim = info.ndim;
  while (skipped < ndim && info.sizes[skipped] == 1) skipped++;
  for (int i = 0; i < skipped && value; i++) {
    wick_value *less = direct_ints(s->state, DIRECT_SELECT, value, (const int64_t[]){0, 0}, 2);
    wick_value_release(value);
    value = less;
  }
  return value;
}

/* A number as a tensor of the dtype that it is written to. Takes over `number`. */
static wick_value *tensor_of_number(ModuleState *state, wick_value *number, const wick_value *view) {
  wick_tensor_info info = {.size = sizeof info};
  wick_value *made = NULL;
  wick_error *error = NULL;
  wick_status status = wick_tensor_info_of(view, &info, &error);
  if (!status) status = wick_tensor_new(info.dtype, 0, NULL, &made, &error);
  if (status) raise_wick(state, status, error);
  wick_trace_pause(); /* to a trace it is a constant */
  wick_value *filled =
      made ? direct_call(state, DIRECT_FILL_NUMBER, (const wick_value *const[]){made, number}, 2) : NULL;
  wick_trace_resume();
  wick_value_release(made);
  wick_value_release(number);
  return filled;
}

static wick_value *write_to(Subscript *s, wick_value **value) {
  bool is_number = wick_value_kind(*value) != WICK_TENSOR;
  if (!is_number && !(*value = fitted(s, *value))) return NULL;
  if (!s->index_count) {
    return direct_call(s->state, is_number ? DIRECT_FILL_NUMBER : DIRECT_COPY,
                       (const wick_value *const[]){s->view, *value}, 2);
  }
  if (is_number && !(*value = tensor_of_number(s->state, *value, s->view))) return NULL;
  wick_value *list = index_list(s);
  wick_value *done =
      list ? direct_call(s->state, DIRECT_INDEX_PUT, (const wick_value *const[]){s->view, list, *value}, 3) : NULL;
  wick_value_release(list);
  return done;
}

static int set_item(PyObject *self, PyObject *subscript, PyObject *value) {
  ModuleState *state = ((TensorObject *)self)->state;
  Subscript s;
  s.writes = true;
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
    return -1;
  }
  PyObject *const asked[] = {self, subscript, value};
  if (override_is_on(state) && override_wanted(state, asked, 3)) {
    PyObject *done = override_slot(state, "__setitem__", asked, 3);
    Py_XDECREF(done);
    return done ? 0 : -1;
  }
  if (subscript == Py_False) return 0; /* nothing is written, whatever the value's sizes are */
  wick_value *written = assigned(state, self, value);
  if (!written || apply(&s, state, self, subscript)) {
    wick_value_release(written);
    return -1;
  }
  wick_value *done = write_to(&s, &written);
  wick_value_release(written);
  dispose(&s);
  wick_value_release(done);
  return done ? 0 : -1;
}

/* x[i] through the sequence protocol. */
static PyObject *sequence_item(PyObject *self, Py_ssize_t i) {
  PyObject *number = PyLong_FromSsize_t(i), *item = number ? get_item(self, number) : NULL;
  Py_XDECREF(number);
  return item;
}

PyType_Slot tensor_index_slots[] = {
    {Py_mp_subscript, get_item}, {Py_mp_ass_subscript, set_item}, {Py_sq_item, sequence_item}, {0, NULL}};
