/* Method: a function of a program that is called quickly: looked up once, arguments on the stack. */
#include <string.h>

#include "override.h"
#include "program.h"

#include <structmember.h>

typedef struct MethodObject {
  PyObject_HEAD vectorcallfunc call;
  wick_function *function;
  ModuleState *state;
  PyObject *weak_references;
  char is_overridable; /* a method of a module, which __torch_function__ is asked about */
} MethodObject;

PyObject *text_take(char *text) {
  if (!text) return NULL;
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  wick_text_free(text);
  return made;
}

/* ---- arguments ---- */

int arguments_read(ModuleState *state, Arguments *a, PyObject *const *objects, Py_ssize_t positional, PyObject *names) {
  size_t named = names ? (size_t)PyTuple_GET_SIZE(names) : 0, wanted = (size_t)positional + named;
  a->values = a->few;
  a->names = a->few_names;
  a->count = a->named = 0;
  if (wanted > INLINE_ARGUMENTS) {
    a->values = PyMem_Malloc(wanted * sizeof *a->values);
    a->names = PyMem_Malloc(wanted * sizeof *a->names);
    if (!a->values || !a->names) return PyErr_NoMemory(), -1;
  }
  for (; a->count < wanted; a->count++)
    if (!(a->values[a->count] = value_from_python(state, objects[a->count]))) return -1;
  for (; a->named < named; a->named++)
    if (!(a->names[a->named] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, (Py_ssize_t)a->named)))) return -1;
  return 0;
}

void arguments_free(Arguments *a) {
  for (size_t i = 0; a->values && i < a->count; i++) wick_value_release(a->values[i]);
  if (a->values != a->few) PyMem_Free(a->values);
  if (a->names != a->few_names) PyMem_Free(a->names);
}

/* ---- calls ---- */

/* Whether the call did not begin, since its arguments are not of the parameters' types. */
static bool is_unfit(wick_status status, const wick_error *error) {
  return status == WICK_INVALID_ARGUMENT && !*wick_error_trace(error) &&
         strstr(wick_error_message(error), "\nDeclaration: ");
}

/* What Python makes of a call whose arguments don't fit: what = "arguments", to be converted, or "refused". */
static PyObject *call_unfit(MethodObject *method, const char *what, PyObject *const *objects, Py_ssize_t count,
                            PyObject *names, const char *message) {
  PyObject *args = PyTuple_New(count), *keywords = PyDict_New(), *made = NULL;
  for (Py_ssize_t i = 0; args && i < count; i++) {
    Py_INCREF(objects[i]);
    PyTuple_SET_ITEM(args, i, objects[i]);
  }
  bool failed = !args || !keywords;
  for (Py_ssize_t i = 0; !failed && names && i < PyTuple_GET_SIZE(names); i++)
    failed = PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), objects[count + i]);
  if (!failed)
    made = PyObject_CallFunction(programs_of(method->state)->wrap, "sOOOs", what, method, args, keywords, message);
  Py_XDECREF(args), Py_XDECREF(keywords);
  return made;
}

static PyObject *call(MethodObject *method, PyObject *const *objects, Py_ssize_t count, PyObject *names,
                      const char *otherwise) {
  Arguments a;
  wick_value *result = NULL;
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  bool asks = programs_of(method->state)->wrap != NULL;
  if (asks && autocast_is_on()) return call_unfit(method, "autocast", objects, count, names, "");
  int failed = arguments_read(method->state, &a, objects, count, names);
  if (!failed) {
    wick_run_options options = {.size = sizeof options};
    LongCall call;
    call_options(&options);
    options.shares_arguments = 1; /* lists of Python were made anew */
    long_call_begin(&call, &options);
    status = wick_function_run(method->function, (const wick_value *const *)a.values, a.count, a.names, a.named,
                               &options, &result, &error);
    long_call_end(&call);
  }
  arguments_free(&a);
  if (failed && asks && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    return call_unfit(method, otherwise, objects, count, names, "");
  }
  if (asks && status && !PyErr_Occurred() && is_unfit(status, error)) {
    PyObject *made = call_unfit(method, otherwise, objects, count, names, wick_error_message(error));
    wick_error_free(error);
    return made;
  }
  if (failed || status) return status ? raise_wick(method->state, status, error) : NULL;
  programs_of(method->state)->last_called = (PyObject *)method;
  if (!PyErr_Occurred()) return value_to_python(method->state, result);
  wick_value_release(result); /* a signal's handler raised */
  return NULL;
}

static PyObject *method_call(PyObject *self, PyObject *const *objects, size_t flags, PyObject *names) {
  MethodObject *method = (MethodObject *)self;
  Py_ssize_t count = PyVectorcall_NARGS(flags), all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  if (method->is_overridable && override_is_on(method->state) && override_wanted(method->state, objects, all))
    return override_vector(method->state, self, objects, count, names, wick_function_name(method->function));
  return call(method, objects, count, names, "arguments");
}

static PyObject *method_call_as_is(PyObject *self, PyObject *const *objects, Py_ssize_t count, PyObject *names) {
  return call((MethodObject *)self, objects, count, names, "refused");
}

/* Takes over the function. */
static PyObject *method_make(PyTypeObject *type, ModuleState *state, wick_function *function) {
  MethodObject *made = (MethodObject *)type->tp_alloc(type, 0);
  if (!made) {
    wick_function_release(function);
    return NULL;
  }
  made->call = method_call;
  made->function = function;
  made->state = state;
  return (PyObject *)made;
}

/* ---- what it tells ---- */

static PyObject *method_print(PyObject *self, PyObject *what) {
  MethodObject *method = (MethodObject *)self;
  char *text;
  unsigned long number = PyLong_AsUnsignedLong(what);
  if (PyErr_Occurred()) return NULL;
  CHECK_WICK(method->state, wick_function_print(method->function, (uint32_t)number, &text, &check_error));
  return text_take(text);
}
static PyObject *method_plan_graph(PyObject *self, PyObject *unused) {
  MethodObject *method = (MethodObject *)self;
  wick_graph *graph;
  wick_error *error = NULL;
  (void)unused;
  wick_status status = wick_graph_of_plan(method->function, &graph, &error);
  if (status != WICK_NOT_FOUND)
    return status ? raise_wick(method->state, status, error) : graph_wrap(method->state, graph);
  wick_error_free(error);
  Py_RETURN_NONE;
}
static PyObject *method_get_schema(PyObject *self, void *unused) {
  MethodObject *method = (MethodObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(method->state, wick_function_schema(method->function, &text, &check_error));
  return text_take(text);
}
static PyObject *method_get_name(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(wick_function_name(((MethodObject *)self)->function));
}
static PyObject *method_get_qualified_name(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(wick_function_qualified_name(((MethodObject *)self)->function));
}
static PyObject *method_repr(PyObject *self) {
  return PyUnicode_FromFormat("<wick.jit method %s>", wick_function_qualified_name(((MethodObject *)self)->function));
}

/* Method(program, name, ...): what a class that derives from it takes besides is its own. */
static PyObject *method_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)keywords;
  if (PyTuple_GET_SIZE(args) < 2) return PyErr_Format(PyExc_TypeError, "Method(program, name)");
  ModuleState *state = state_of(PyTuple_GET_ITEM(args, 0));
  wick_module *module = state ? program_module(state, PyTuple_GET_ITEM(args, 0)) : NULL;
  const char *name = module ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 1)) : NULL;
  wick_function *function;
  if (!name) return NULL;
  CHECK_WICK(state, wick_function_of(module, name, &function, &check_error));
  return method_make(type, state, function);
}

static void method_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ProgramState *programs = programs_of(((MethodObject *)self)->state);
  if (programs && programs->last_called == self) programs->last_called = NULL;
  if (((MethodObject *)self)->weak_references) PyObject_ClearWeakRefs(self);
  wick_function_release(((MethodObject *)self)->function);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"call_as_is", (PyCFunction)(void (*)(void))method_call_as_is, METH_FASTCALL | METH_KEYWORDS,
     "A call whose arguments nobody converts."},
    {"print", method_print, METH_O, "print(what): the graph (0), with places (1), code (2), bytecode (3), plans (4)."},
    {"plan_graph", method_plan_graph, METH_NOARGS, "A copy of the graph of the newest plan, or None."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef getters[] = {{"schema", method_get_schema, NULL, "Its parameters and results.", NULL},
                                {"name", method_get_name, NULL, "As its module calls it.", NULL},
                                {"__name__", method_get_name, NULL, NULL, NULL},
                                {"qualified_name", method_get_qualified_name, NULL, "With the class before it.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(MethodObject, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(MethodObject, weak_references), READONLY, NULL},
    {"is_overridable", T_BOOL, offsetof(MethodObject, is_overridable), 0,
     "Whether __torch_function__ of an argument makes the call."},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, method_new},
                              {Py_tp_dealloc, method_dealloc},
                              {Py_tp_repr, method_repr},
                              {Py_tp_call, PyVectorcall_Call},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_members, members},
                              {Py_tp_doc, "A function of a program, or a method of one of its modules."},
                              {0, NULL}};
static PyType_Spec spec = {"wick._C.Method", sizeof(MethodObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE, slots};

PyObject *method_wrap(ModuleState *state, wick_function *function) {
  return method_make(programs_of(state)->method_type, state, function);
}

int add_method_class(PyObject *module, ModuleState *state) {
  return program_add_type(module, &spec, &programs_of(state)->method_type);
}
