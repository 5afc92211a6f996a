/* A call of an overload: its arguments as wick's values, the work, its results as Python's. */
#include <string.h>

#include "operator.h"

/* From so many elements on other threads of Python's may run meanwhile: below, giving the GIL away costs more. */
enum { MANY_ELEMENTS = 4096 };

static bool may_last(const Signature *s, wick_value *const *values) {
  bool sees_tensor = false;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!values[i]) continue;
    if (s->parameters[i].flags & WICK_PARAMETER_LIST && wick_value_length(values[i]) > 64) return true;
    if (s->parameters[i].kind != WICK_TAKES_TENSOR) continue;
    if (wick_tensor_count(values[i]) >= MANY_ELEMENTS) return true;
    sees_tensor = true;
  }
  return !sees_tensor && s->is_factory;
}

static wick_status run(const Signature *s, wick_value *const *values, wick_value **results, wick_error **error) {
  wick_run_options options;
  call_options(&options);
  if (!may_last(s, values))
    return wick_overload_call(NULL, s->overload, (const wick_value *const *)values, s->count, &options, results,
                              s->result_count, error);
  LongCall call;
  long_call_begin(&call, &options);
  wick_status status = wick_overload_call(NULL, s->overload, (const wick_value *const *)values, s->count, &options,
                                          results, s->result_count, error);
  long_call_end(&call);
  return status;
}

static PyObject *number_result(PyObject *(*make)(ModuleState *, int64_t), ModuleState *state, wick_value *result) {
  int64_t number = wick_value_to_int(result);
  wick_value_release(result);
  return make(state, number);
}
static PyObject *dtype_of_number(ModuleState *state, int64_t number) {
  return dtype_object(state, (uint32_t)number);
}

/* Takes over `result`. Lists of tensors come as tuples. */
static PyObject *give(ModuleState *state, const Parameter *p, wick_value *result) {
  uint32_t kind = wick_value_kind(result);
  if (kind == WICK_TENSOR) return tensor_wrap(state, result);
  if (kind == WICK_INT && p->kind == WICK_TAKES_DTYPE) return number_result(dtype_of_number, state, result);
  if (kind == WICK_INT && p->kind == WICK_TAKES_LAYOUT) return number_result(layout_object, state, result);
  PyObject *made = value_to_python(state, result);
  if (!made || !PyList_CheckExact(made) || p->kind != WICK_TAKES_TENSOR) return made;
  PyObject *tuple = PyList_AsTuple(made);
  Py_DECREF(made);
  return tuple;
}

static PyObject *results_repr(PyObject *results) {
  const PyMemberDef *members = Py_TYPE(results)->tp_members;
  PyObject *lines = PyList_New(0), *separator = PyUnicode_FromString(",\n"), *joined = NULL, *made = NULL;
  bool failed = !lines || !separator;
  for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(results); i++) {
    PyObject *line = PyUnicode_FromFormat("%s=%R", members[i].name, PyTuple_GET_ITEM(results, i));
    failed = !line || PyList_Append(lines, line);
    Py_XDECREF(line);
  }
  if (!failed) joined = PyUnicode_Join(separator, lines);
  if (joined) made = PyUnicode_FromFormat("%s(\n%U)", Py_TYPE(results)->tp_name, joined);
  Py_XDECREF(lines), Py_XDECREF(separator), Py_XDECREF(joined);
  return made;
}

/* A tuple whose items have the results' names. */
static PyTypeObject *result_type_of(const OperatorObject *self, Signature *s) {
  PyStructSequence_Field fields[MAX_RESULTS + 1] = {{NULL, NULL}};
  char name[128];
  if (s->result_type) return s->result_type;
  for (uint32_t i = 0; i < s->result_count; i++)
    if (!(fields[i].name = PyUnicode_AsUTF8(s->results[i].name))) return NULL;
  snprintf(name, sizeof name, "torch.return_types.%s", operator_short_name(self));
  PyStructSequence_Desc description = {name, NULL, fields, (int)s->result_count};
  s->result_type = PyStructSequence_NewType(&description);
  if (s->result_type) s->result_type->tp_repr = results_repr;
  return s->result_type;
}

static PyObject *several(const OperatorObject *self, const BoundCall *bound, wick_value **results) {
  Signature *s = (Signature *)bound->signature;
  bool named = PyUnicode_GET_LENGTH(s->results[0].name) > 0 && !s->out_count;
  PyTypeObject *type = named ? result_type_of(self, s) : NULL;
  PyObject *made = named ? (type ? PyStructSequence_New(type) : NULL) : PyTuple_New(s->result_count);
  for (uint32_t i = 0; i < s->result_count; i++) {
    PyObject *item = NULL;
    if (made)
      item = give(self->state, &s->results[i], results[i]);
    else
      wick_value_release(results[i]);
    if (!made) continue;
    if (!item) {
      Py_CLEAR(made);
    } else if (named) {
      PyStructSequence_SET_ITEM(made, i, item);
    } else {
      PyTuple_SET_ITEM(made, i, item);
    }
  }
  return made;
}

static PyObject *finish(const OperatorObject *self, const BoundCall *bound, wick_value **results) {
  const Signature *s = bound->signature;
  if (s->result_count == 0) Py_RETURN_NONE;
  PyObject *made = s->result_count == 1 ? give(self->state, &s->results[0], results[0]) : several(self, bound, results);
  if (!made || !bound->requires_grad) return made;
  int wanted = PyObject_IsTrue(bound->requires_grad);
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  if (wanted > 0 && is_tensor(self->state, made)) status = wick_tensor_set_requires_grad(tensor_value(made), 1, &error);
  if (status) raise_operator(self->state, status, error);
  if (wanted < 0 || status) Py_CLEAR(made);
  return made;
}

static void release_results(wick_value **results, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) wick_value_release(results[i]);
}

PyObject *operator_run_bound(const OperatorObject *self, BoundCall *bound) {
  const Signature *s = bound->signature;
  wick_value *values[MAX_PARAMETERS], *results[MAX_RESULTS];
  wick_error *error = NULL;
  uint32_t count = 0;
  for (; count < s->count; count++) {
    PyObject *argument = bound->slots[count];
    values[count] = NULL;
    if (argument && !(values[count] = parameter_convert(self->state, &s->parameters[count], argument))) break;
  }
  PyObject *made = NULL;
  if (count == s->count) {
    uint64_t begin = profile_clock();
    wick_status status = run(s, values, results, &error);
    if (begin) profile_note(self->name, begin);
    if (status)
      raise_operator(self->state, status, error);
    else if (PyErr_Occurred()) /* what a signal's handler raised */
      release_results(results, s->result_count);
    else
      made = finish(self, bound, results);
  }
  while (count--) wick_value_release(values[count]);
  return made;
}
