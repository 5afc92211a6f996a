/* Kept: a value of a program that Python holds as it is: a list or dict that both change, a future. */
#include "program.h"

typedef struct KeptObject {
  PyObject_HEAD wick_value *value;
  ModuleState *state;
} KeptObject;

/* Takes over the value. */
static PyObject *make(ModuleState *state, PyTypeObject *type, wick_value *value) {
  KeptObject *made = value ? (KeptObject *)type->tp_alloc(type, 0) : NULL;
  if (!made) {
    wick_value_release(value);
    return NULL;
  }
  made->value = value;
  made->state = state;
  return (PyObject *)made;
}

PyObject *kept_wrap(ModuleState *state, wick_value *value) {
  return make(state, programs_of(state)->kept_type, value);
}

wick_value *kept_value(const ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == programs_of((ModuleState *)(uintptr_t)state)->kept_type ? ((KeptObject *)object)->value
                                                                                    : NULL;
}

static PyObject *kept_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"module", "value", NULL};
  PyObject *module, *value;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:Kept", KEYWORDS(names), &module, &value)) return NULL;
  ModuleState *state = state_of_module(module);
  return state ? make(state, type, value_from_python(state, value)) : NULL;
}

/* call(name, *arguments): an operator with the value as its first argument. */
static PyObject *kept_call(PyObject *self, PyObject *const *objects, Py_ssize_t count) {
  KeptObject *kept = (KeptObject *)self;
  Arguments a;
  wick_value *result = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  const char *name = count ? PyUnicode_AsUTF8(objects[0]) : NULL;
  if (!name) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "call(name, ...)");
  PyObject *all[INLINE_ARGUMENTS] = {self};
  if (count > INLINE_ARGUMENTS) return PyErr_Format(PyExc_TypeError, "call() takes no so many arguments");
  for (Py_ssize_t i = 1; i < count; i++) all[i] = objects[i];
  int failed = arguments_read(kept->state, &a, all, count, NULL);
  if (!failed)
    status = wick_op_call(NULL, name, NULL, (const wick_value *const *)a.values, a.count, NULL, 0, &result, &error);
  if (status) raise_operator(kept->state, status, error);
  arguments_free(&a);
  return failed || status ? NULL : value_to_python(kept->state, result);
}

static PyObject *kept_wait(PyObject *self, PyObject *unused) {
  KeptObject *kept = (KeptObject *)self;
  wick_value *result;
  wick_error *error = NULL;
  Away away;
  (void)unused;
  python_away(&away);
  wick_status status = wick_value_wait(kept->value, &result, &error);
  python_back(&away);
  return status ? raise_wick(kept->state, status, error) : value_to_python(kept->state, result);
}

static PyObject *kept_get(PyObject *self, PyObject *unused) {
  KeptObject *kept = (KeptObject *)self;
  (void)unused;
  return value_to_python(kept->state, wick_value_retain(kept->value));
}

static PyObject *kept_print(PyObject *self, PyObject *unused) {
  KeptObject *kept = (KeptObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(kept->state, wick_value_print(kept->value, &text, &check_error));
  return text_take(text);
}

static PyObject *kept_type(PyObject *self, PyObject *unused) {
  KeptObject *kept = (KeptObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(kept->state, wick_value_type(kept->value, &text, &check_error));
  return text_take(text);
}

static Py_ssize_t kept_length(PyObject *self) {
  return (Py_ssize_t)wick_value_length(((KeptObject *)self)->value);
}

static void kept_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_value_release(((KeptObject *)self)->value);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {{"call", (PyCFunction)(void (*)(void))kept_call, METH_FASTCALL,
                                 "call(name, ...): the result of an operator whose first argument is the value."},
                                {"wait", kept_wait, METH_NOARGS, "Of a future: the result, when it is there."},
                                {"get", kept_get, METH_NOARGS, "The value as Python has it."},
                                {"print", kept_print, METH_NOARGS, "As programs print it."},
                                {"type", kept_type, METH_NOARGS, "The text of its type."},
                                {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, kept_new},
                              {Py_tp_dealloc, kept_dealloc},
                              {Py_tp_methods, methods},
                              {Py_sq_length, kept_length},
                              {Py_tp_doc, "Kept(module, value): a value as programs have it."},
                              {0, NULL}};
static PyType_Spec spec = {"wick._C.Kept", sizeof(KeptObject), 0, Py_TPFLAGS_DEFAULT, slots};

int add_kept_class(PyObject *module, ModuleState *state) {
  return program_add_type(module, &spec, &programs_of(state)->kept_type);
}
