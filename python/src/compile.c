/* Compiling: trees from tuples, and names that a program does not define from a callable of Python. */
#include <string.h>

#include "program.h"

/* What an answer of the resolver points to must stay until the compilation has returned. */
typedef struct Resolution {
  ModuleState *state;
  PyObject *resolver; /* borrowed; NULL: none */
  PyObject *answers;  /* list */
  wick_value **values;
  size_t count, capacity;
  PyObject *raised[3]; /* the first exception of the resolver */
} Resolution;

static wick_value *keep_value(Resolution *r, PyObject *object) {
  if (r->count == r->capacity) {
    size_t capacity = r->capacity ? 2 * r->capacity : 8;
    wick_value **values = PyMem_Realloc(r->values, capacity * sizeof *values);
    if (!values) return (wick_value *)PyErr_NoMemory();
    r->values = values;
    r->capacity = capacity;
  }
  wick_value *value = value_from_python(r->state, object);
  if (value) r->values[r->count++] = value;
  return value;
}

/* (kind, ...): ("value", object), ("function" or "class", Program, name), ("namespace",), ("alias", name). */
static int read_answer(Resolution *r, PyObject *answer, wick_name *out) {
  static const struct {
    const char *name;
    uint32_t kind;
    Py_ssize_t size;
  } kinds[] = {{"value", WICK_NAME_VALUE, 2},
               {"function", WICK_NAME_FUNCTION, 3},
               {"class", WICK_NAME_CLASS, 3},
               {"namespace", WICK_NAME_NAMESPACE, 1},
               {"alias", WICK_NAME_ALIAS, 2}};
  if (answer == Py_None) return 0;
  Py_ssize_t size = PyTuple_Check(answer) ? PyTuple_GET_SIZE(answer) : 0;
  PyObject *kind = size ? PyTuple_GET_ITEM(answer, 0) : NULL;
  for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
    if (PyUnicode_Check(kind) && !PyUnicode_CompareWithASCIIString(kind, kinds[i].name) && size == kinds[i].size)
      out->kind = kinds[i].kind;
  switch (out->kind) {
    case WICK_NAME_VALUE:
      out->value = keep_value(r, PyTuple_GET_ITEM(answer, 1));
      return out->value ? 0 : -1;
    case WICK_NAME_FUNCTION:
    case WICK_NAME_CLASS:
      out->module = program_module(r->state, PyTuple_GET_ITEM(answer, 1));
      out->member = out->module ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(answer, 2)) : NULL;
      return out->member ? 0 : -1;
    case WICK_NAME_ALIAS:
      out->member = PyUnicode_AsUTF8(PyTuple_GET_ITEM(answer, 1));
      return out->member ? 0 : -1;
    case WICK_NAME_NAMESPACE:
      return 0;
    default:
      PyErr_Format(PyExc_TypeError, "a resolver can't answer %.200R", answer);
      return -1;
  }
}

static wick_status resolve(void *user, const char *name, wick_name *out) {
  Resolution *r = user;
  if (r->raised[0]) return WICK_RUNTIME;
  PyObject *answer = PyObject_CallFunction(r->resolver, "s", name);
  int failed = !answer || PyList_Append(r->answers, answer) || read_answer(r, answer, out);
  Py_XDECREF(answer);
  if (!failed) return WICK_OK;
  PyErr_Fetch(&r->raised[0], &r->raised[1], &r->raised[2]);
  PyErr_NormalizeException(&r->raised[0], &r->raised[1], &r->raised[2]);
  return WICK_RUNTIME;
}

/* An exception of the resolver goes on, and tells as `_script_place` where it was asked. */
static void raise_failure(Resolution *r, wick_status status, wick_error *error) {
  if (!r->raised[1]) {
    raise_wick(r->state, status, error);
    return;
  }
  PyObject *place = PyUnicode_FromString(wick_error_message(error));
  if (!place || PyObject_SetAttrString(r->raised[1], "_script_place", place)) PyErr_Clear(); /* of a class with slots */
  Py_XDECREF(place);
  PyErr_Restore(r->raised[0], r->raised[1], r->raised[2]);
  r->raised[0] = r->raised[1] = r->raised[2] = NULL;
  wick_error_free(error);
}

static void resolution_dispose(Resolution *r) {
  for (size_t i = 0; i < r->count; i++) wick_value_release(r->values[i]);
  PyMem_Free(r->values);
  Py_XDECREF(r->answers);
  for (int i = 0; i < 3; i++) Py_XDECREF(r->raised[i]);
}

/* Into `module`, or a new one when that is NULL. */
static int compile_trees(Resolution *r, PyObject *statements, wick_module *module, wick_module **out) {
  wick_error *error = NULL;
  wick_trees *trees = NULL;
  const wick_tree *tree;
  PyObject *texts = PyDict_New();
  if (!texts) return -1;
  wick_status status = wick_trees_new(NULL, 0, NULL, &trees, &error);
  int failed = status ? raise_wick(r->state, status, error), -1 : tree_build(r->state, trees, texts, statements, &tree);
  Py_DECREF(texts);
  if (!failed) {
    wick_compile_options options = {
        .size = sizeof options, .resolve = r->resolver ? resolve : NULL, .user = r->resolver ? r : NULL};
    status = module ? wick_module_define_tree(module, NULL, tree, &options, &error)
                    : wick_compile_tree(NULL, tree, &options, out, &error);
    if (status) raise_failure(r, status, error);
    failed = status ? -1 : 0;
  }
  wick_trees_release(trees);
  return failed;
}

static PyObject *compile(PyObject *self, PyObject *args) {
  PyObject *statements, *resolver = Py_None, *into = Py_None;
  if (!PyArg_ParseTuple(args, "O|OO:compile", &statements, &resolver, &into)) return NULL;
  ModuleState *state = state_of_module(self);
  wick_module *module = into == Py_None ? NULL : program_module(state, into), *made = NULL;
  if (into != Py_None && !module) return NULL;
  Resolution r = {.state = state, .resolver = resolver == Py_None ? NULL : resolver, .answers = PyList_New(0)};
  int failed = r.answers ? compile_trees(&r, statements, module, &made) : -1;
  resolution_dispose(&r);
  if (failed) return NULL;
  if (made) return program_wrap(state, made);
  Py_INCREF(into);
  return into;
}

static PyObject *compile_text(PyObject *self, PyObject *args) {
  const char *text, *file_name = NULL;
  Py_ssize_t length;
  PyObject *resolver = Py_None, *into = Py_None;
  if (!PyArg_ParseTuple(args, "s#|zOO:compile_text", &text, &length, &file_name, &resolver, &into)) return NULL;
  ModuleState *state = state_of_module(self);
  wick_module *module = into == Py_None ? NULL : program_module(state, into), *made = NULL;
  if (into != Py_None && !module) return NULL;
  Resolution r = {.state = state, .resolver = resolver == Py_None ? NULL : resolver, .answers = PyList_New(0)};
  if (!r.answers) return NULL;
  wick_error *error = NULL;
  wick_compile_options options = {.size = sizeof options,
                                  .file_name = file_name,
                                  .resolve = r.resolver ? resolve : NULL,
                                  .user = r.resolver ? &r : NULL};
  wick_status status = module ? wick_module_define(module, NULL, text, (size_t)length, &options, &error)
                              : wick_compile_with(NULL, text, (size_t)length, &options, &made, &error);
  if (status) raise_failure(&r, status, error);
  resolution_dispose(&r);
  if (status) return NULL;
  if (made) return program_wrap(state, made);
  Py_INCREF(into);
  return into;
}

/* For tests and for whoever writes a front end: what a tree looks like. */
static PyObject *print_tree(PyObject *self, PyObject *description) {
  ModuleState *state = state_of_module(self);
  wick_trees *trees;
  const wick_tree *tree;
  char *text = NULL;
  wick_error *error = NULL;
  PyObject *texts = PyDict_New();
  if (!texts) return NULL;
  wick_status status = wick_trees_new(NULL, 0, NULL, &trees, &error);
  int failed = status ? -1 : tree_build(state, trees, texts, description, &tree);
  Py_DECREF(texts);
  if (!failed) status = wick_tree_print(tree, &text, &error);
  if (status) raise_wick(state, status, error);
  wick_trees_release(trees);
  return text_take(text);
}

static PyObject *parse_tree(PyObject *self, PyObject *args) {
  ModuleState *state = state_of_module(self);
  const char *source;
  Py_ssize_t length;
  wick_trees *trees = NULL;
  const wick_tree *tree;
  char *text = NULL;
  wick_error *error = NULL;
  if (!PyArg_ParseTuple(args, "s#:parse_tree", &source, &length)) return NULL;
  wick_status status = wick_trees_new(source, (size_t)length, NULL, &trees, &error);
  if (!status) status = wick_trees_parse(trees, &tree, &error);
  if (!status) status = wick_tree_print(tree, &text, &error);
  if (status) raise_wick(state, status, error);
  wick_trees_release(trees);
  return text_take(text);
}

PyMethodDef compile_methods[] = {
    {"compile", compile, METH_VARARGS,
     "compile(statements, resolver=None, into=None): a Program of a tree of tuples. resolver(name) answers None, "
     "(\"value\", object), (\"function\", program, name), (\"class\", program, name), (\"namespace\",) or "
     "(\"alias\", name). With `into`, a Program, the functions are added to it, methods to a module."},
    {"compile_text", compile_text, METH_VARARGS,
     "compile_text(text, file_name=None, resolver=None, into=None): the same of source text."},
    {"print_tree", print_tree, METH_O, "print_tree(tree): as text."},
    {"parse_tree", parse_tree, METH_VARARGS, "parse_tree(text): the tree that wick's own parser makes, as text."},
    {NULL, NULL, 0, NULL}};
