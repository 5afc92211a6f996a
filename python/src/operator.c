/* operator(name): a callable over all overloads of an operator, which are read when it is first called. */
#include "operator.h"

#include "override.h"

#include <string.h>

/* ---- the overloads ---- */

/* "aten::add.Tensor" names one overload, "aten::add.default" the one without a name; NULL: all. */
static const char *only_overload(const char *name) {
  const char *colons = strstr(name, "::"), *dot = colons ? strchr(colons, '.') : NULL;
  return dot ? dot + 1 : NULL;
}
static const wick_overload *first_overload(const char *name) {
  char operator[256];
  const char *only = only_overload(name);
  size_t length = only ? (size_t)(only - name) - 1 : strlen(name);
  if (length >= sizeof operator) return NULL;
  memcpy(operator, name, length);
  operator[length] = 0;
  return wick_overload_first(operator);
}
static bool is_wanted(const wick_overload *overload, const char *name) {
  const char *only = only_overload(name);
  char *schema;
  if (!only) return true;
  if (wick_overload_schema(overload, &schema, NULL)) return false;
  size_t length = strcspn(schema, "(");
  const char *dot = memchr(schema, '.', length);
  size_t given = dot ? length - (size_t)(dot + 1 - schema) : 0;
  bool same = dot ? strlen(only) == given && !memcmp(dot + 1, only, given) : !strcmp(only, "default");
  wick_text_free(schema);
  return same;
}

/* Overloads that take a tensor first come first: they are what nearly every call means, and a tensor is for them alone
 * an exact argument, so that the order settles no tie. */
static void put_methods_first(Signature *signatures, uint32_t count) {
  uint32_t placed = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!signatures[i].is_method) continue;
    Signature found = signatures[i];
    memmove(&signatures[placed + 1], &signatures[placed], (i - placed) * sizeof *signatures);
    signatures[placed++] = found;
  }
}

bool operator_read(OperatorObject *self) {
  const char *name = PyUnicode_AsUTF8(self->name);
  const wick_overload *first = name ? first_overload(name) : NULL, *o;
  uint32_t count = 0, used = 0;
  if (!name) return false;
  for (o = first; o; o = wick_overload_next(o)) count++;
  Signature *made = PyMem_Calloc(count + 1u, sizeof *made);
  if (!made) return PyErr_NoMemory(), false;
  for (o = first; o && used < count; o = wick_overload_next(o)) {
    bool is_callable;
    if (!is_wanted(o, name)) continue;
    if (!signature_init(self->state, o, &made[used], &is_callable)) break;
    if (is_callable || self->takes_all || only_overload(name))
      used++;
    else
      signature_dispose(&made[used]);
  }
  if (PyErr_Occurred()) {
    for (uint32_t i = 0; i < used; i++) signature_dispose(&made[i]);
    PyMem_Free(made);
    return false;
  }
  put_methods_first(made, used);
  self->signatures = made;
  self->signature_count = used;
  return true;
}

const char *operator_short_name(const OperatorObject *self) {
  const char *name = PyUnicode_AsUTF8(self->name), *colons = name ? strstr(name, "::") : NULL;
  return colons ? colons + 2 : "";
}

PyObject *overload_schema_text(ModuleState *state, const wick_overload *overload) {
  char *text;
  CHECK_WICK(state, wick_overload_schema(overload, &text, &check_error));
  PyObject *made = PyUnicode_FromString(text);
  wick_text_free(text);
  return made;
}

/* ---- the type ---- */

/* Where no signature fits: wick._old_order may know the order of the arguments. NULL: the error that is set stays. */
static PyObject *call_in_old_order(PyObject *operator, const CallArguments * call) {
  PyObject *error[3], *made = NULL;
  if (call->names || call->count < 3 || !PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
  PyErr_Fetch(&error[0], &error[1], &error[2]);
  PyObject *args = PyTuple_New(call->count);
  for (Py_ssize_t i = 0; args && i < call->count; i++) {
    Py_INCREF(call->values[i]);
    PyTuple_SET_ITEM(args, i, call->values[i]);
  }
  PyObject *module = args ? PyImport_ImportModule("wick._old_order") : NULL;
  if (module) made = PyObject_CallMethod(module, "call", "OO", operator, args);
  Py_XDECREF(module);
  Py_XDECREF(args);
  if (made == Py_NotImplemented) {
    Py_DECREF(made);
    PyErr_Restore(error[0], error[1], error[2]);
    return NULL;
  }
  for (int i = 0; i < 3; i++) Py_XDECREF(error[i]);
  return made;
}

static PyObject *call_operator(PyObject *callable, PyObject *const *values, size_t count_and_flag, PyObject *names) {
  OperatorObject *self = (OperatorObject *)callable;
  CallArguments call = {values, PyVectorcall_NARGS(count_and_flag), names, NULL};
  Py_ssize_t all = call.count + (names ? PyTuple_GET_SIZE(names) : 0);
  if (override_is_on(self->state) && override_wanted(self->state, values, all)) return override_operator(self, &call);
  if (autocast_is_on() && self->state->autocast_call) return autocast_call(self, values, call.count, names);
  if (!self->signatures && !operator_read(self)) return NULL;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
    PyObject *name = PyTuple_GET_ITEM(names, i);
    bool is_out = name == self->state->name_out || PyUnicode_Compare(name, self->state->name_out) == 0;
    if (is_out && values[call.count + i] != Py_None) call.out = values[call.count + i];
  }
  BoundCall bound;
  if (!operator_choose(self, &call, &bound)) {
    PyObject *made = foreign_call(self, &call);
    return made ? made : call_in_old_order(callable, &call);
  }
  PyObject *made = operator_run_bound(self, &bound);
  bound_clear(&bound);
  return made;
}

static int operator_traverse(PyObject *object, visitproc visit, void *arg) {
  OperatorObject *self = (OperatorObject *)object;
  Py_VISIT(Py_TYPE(self));
  for (uint32_t i = 0; i < self->signature_count; i++) Py_VISIT(self->signatures[i].result_type);
  return 0;
}

static void operator_dealloc(PyObject *object) {
  OperatorObject *self = (OperatorObject *)object;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  for (uint32_t i = 0; i < self->signature_count; i++) signature_dispose(&self->signatures[i]);
  PyMem_Free(self->signatures);
  Py_XDECREF(self->name);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *operator_repr(PyObject *object) {
  return PyUnicode_FromFormat("<operator %U>", ((OperatorObject *)object)->name);
}

static PyObject *operator_get(PyObject *self, PyObject *object, PyObject *type) {
  (void)type;
  if (object && object != Py_None) return PyMethod_New(self, object);
  Py_INCREF(self);
  return self;
}

static PyObject *operator_get_name(PyObject *object, void *unused) {
  (void)unused;
  return PyUnicode_FromString(operator_short_name((OperatorObject *)object));
}

static PyObject *operator_get_schemas(PyObject *object, void *unused) {
  OperatorObject *self = (OperatorObject *)object;
  const char *name = PyUnicode_AsUTF8(self->name);
  PyObject *list = name ? PyList_New(0) : NULL;
  (void)unused;
  for (const wick_overload *o = list ? first_overload(name) : NULL; o && list; o = wick_overload_next(o)) {
    if (!is_wanted(o, name)) continue;
    PyObject *text = overload_schema_text(self->state, o);
    if (!text || PyList_Append(list, text)) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

/* Written in Python: wick/_docs.py. */
static PyObject *operator_get_doc(PyObject *object, void *unused) {
  (void)unused;
  PyObject *docs = PyImport_ImportModule("wick._docs");
  PyObject *text = docs ? call_method(docs, "operator_doc", object) : NULL;
  Py_XDECREF(docs);
  return text;
}

static PyObject *operator_get_is_method(PyObject *object, void *unused) {
  OperatorObject *self = (OperatorObject *)object;
  (void)unused;
  if (!self->signatures && !operator_read(self)) return NULL;
  for (uint32_t i = 0; i < self->signature_count; i++)
    if (self->signatures[i].is_method) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}

static PyObject *operator_get_is_callable(PyObject *object, void *unused) {
  OperatorObject *self = (OperatorObject *)object;
  (void)unused;
  if (!self->signatures && !operator_read(self)) return NULL;
  return PyBool_FromLong(self->signature_count > 0);
}

static PyObject *operator_reduce(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *module = PyImport_ImportModule("wick._C");
  const char *makers_name = ((OperatorObject *)object)->takes_all ? "whole_operator" : "operator";
  PyObject *maker = module ? PyObject_GetAttrString(module, makers_name) : NULL;
  Py_XDECREF(module);
  return maker ? Py_BuildValue("(N(O))", maker, ((OperatorObject *)object)->name) : NULL;
}

static PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorObject, call), READONLY, NULL},
    {"qualified_name", T_OBJECT, offsetof(OperatorObject, name), READONLY, "\"aten::add\""},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef operator_getters[] = {
    {"__name__", operator_get_name, NULL, NULL, NULL},
    {"__qualname__", operator_get_name, NULL, NULL, NULL},
    {"__doc__", operator_get_doc, NULL, NULL, NULL},
    {"schemas", operator_get_schemas, NULL, "The text of every overload.", NULL},
    {"is_method", operator_get_is_method, NULL, "Whether an overload takes a tensor first.", NULL},
    {"is_callable", operator_get_is_callable, NULL, "Whether an overload takes or gives tensors.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef operator_methods[] = {{"__reduce__", operator_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot operator_slots[] = {
    {Py_tp_dealloc, operator_dealloc}, {Py_tp_traverse, operator_traverse}, {Py_tp_repr, operator_repr},
    {Py_tp_call, PyVectorcall_Call},   {Py_tp_descr_get, operator_get},     {Py_tp_members, operator_members},
    {Py_tp_getset, operator_getters},  {Py_tp_methods, operator_methods},   {0, NULL}};
static PyType_Spec operator_spec = {"wick.Operator", sizeof(OperatorObject), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
                                    operator_slots};

static PyObject *operator_new(ModuleState *state, PyObject *name) {
  OperatorObject *made = (OperatorObject *)state->operator_type->tp_alloc(state->operator_type, 0);
  if (!made) return NULL;
  made->call = call_operator;
  made->state = state;
  Py_INCREF(name);
  made->name = name;
  return (PyObject *)made;
}

static PyObject *operator_of(ModuleState *state, PyObject *name, bool takes_all) {
  PyObject *known = takes_all ? state->whole_operators : state->operators;
  PyObject *found = PyDict_GetItemWithError(known, name);
  if (found || PyErr_Occurred()) {
    Py_XINCREF(found);
    return found;
  }
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  if (!first_overload(text)) return PyErr_Format(PyExc_AttributeError, "there is no operator %U", name);
  PyObject *made = operator_new(state, name);
  if (made) ((OperatorObject *)made)->takes_all = takes_all;
  if (made && PyDict_SetItem(known, name, made)) Py_CLEAR(made);
  return made;
}

PyObject *operator_named(ModuleState *state, const char *qualified_name) {
  PyObject *name = PyUnicode_InternFromString(qualified_name);
  PyObject *found = name ? operator_of(state, name, false) : NULL;
  Py_XDECREF(name);
  return found;
}

PyObject *call_aten(ModuleState *state, const char *name, PyObject *const *arguments, size_t count) {
  PyObject *operator= operator_named(state, name);
  PyObject *made = operator? PyObject_Vectorcall(operator, arguments, count, NULL) : NULL;
  Py_XDECREF(operator);
  return made;
}

/* ---- the module's ---- */

static PyObject *find_operator(PyObject *module, PyObject *name) {
  ModuleState *state = state_of_module(module);
  if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "the name of an operator is a text");
  return operator_of(state, name, false);
}

static PyObject *find_whole_operator(PyObject *module, PyObject *name) {
  if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "the name of an operator is a text");
  return operator_of(state_of_module(module), name, true);
}

/* Qualified names, each once. */
static PyObject *operator_names(PyObject *module, PyObject *unused) {
  PyObject *names = PySet_New(NULL);
  (void)module, (void)unused;
  for (const wick_overload *o = wick_overload_following(NULL); o && names; o = wick_overload_following(o)) {
    size_t length;
    const char *text = wick_overload_name(o, &length);
    PyObject *name = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    if (!name || PySet_Add(names, name)) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

/* A tensor comes first: the methods of Tensor. */
static bool takes_self(const wick_overload *o) {
  wick_parameter p = {.size = sizeof p};
  return !wick_overload_parameter(o, 0, &p, NULL) && p.kind == WICK_TAKES_TENSOR &&
         !(p.flags & (WICK_PARAMETER_LIST | WICK_PARAMETER_OUT | WICK_PARAMETER_OPTIONAL)) && p.name_length == 4 &&
         !memcmp(p.name, "self", 4);
}

static PyObject *method_names(PyObject *module, PyObject *unused) {
  PyObject *names = PySet_New(NULL);
  (void)module, (void)unused;
  for (const wick_overload *o = wick_overload_following(NULL); o && names; o = wick_overload_following(o)) {
    size_t length;
    const char *text = wick_overload_name(o, &length);
    if (length < 7 || memcmp(text, "aten::", 6) || !takes_self(o)) continue;
    PyObject *name = PyUnicode_FromStringAndSize(text + 6, (Py_ssize_t)length - 6);
    if (!name || PySet_Add(names, name)) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *load_library(PyObject *module, PyObject *path) {
  const char *text = PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
  if (!text) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "the path of a library is a text");
  CHECK_WICK(state_of_module(module), wick_load_library(text, &check_error));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"load_library", load_library, METH_O, "Opens a library that registers operators."},
    {"method_names", method_names, METH_NOARGS,
     "The names of operators of aten that take a tensor `self` first, as a "
     "set."},
    {"operator", find_operator, METH_O,
     "operator(qualified_name): the callable over the overloads of \"aten::add\" that take or give tensors."},
    {"whole_operator", find_whole_operator, METH_O,
     "whole_operator(qualified_name): the callable over all overloads of \"aten::add\"."},
    {"operator_names", operator_names, METH_NOARGS, "The qualified names of all operators, as a set."},
    {NULL, NULL, 0, NULL}};

int add_operators(PyObject *module, ModuleState *state) {
  state->operator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &operator_spec, NULL);
  if (!state->operator_type || PyModule_AddType(module, state->operator_type)) return -1;
  if (!(state->operators = PyDict_New()) || !(state->whole_operators = PyDict_New())) return -1;
  return PyModule_AddFunctions(module, functions);
}
