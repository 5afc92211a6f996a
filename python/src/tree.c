/* Trees of nested tuples, as python/wick/jit/_frontend.py makes them. */
#include "program.h"

typedef struct Builder {
  ModuleState *state;
  wick_trees *trees;
  PyObject *texts; /* dict: source -> its number among the texts of `trees` */
  long text;       /* the one that places refer to; -1: none */
} Builder;

static int refuse(PyObject *description) {
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "a tree is (kind, children or text, begin, end), not %.200R", description);
  return -1;
}

static int use_text(Builder *b, long text) {
  wick_error *error = NULL;
  if (b->text == text || text < 0) return 0;
  wick_status status = wick_trees_use_text(b->trees, (uint32_t)text, &error);
  if (status) return raise_wick(b->state, status, error), -1;
  b->text = text;
  return 0;
}

static int add_text(Builder *b, PyObject *source, long *out) {
  PyObject *data = PyObject_GetAttrString(source, "data"), *name = NULL, *line = NULL;
  wick_error *error = NULL;
  uint32_t index = 0;
  int failed = -1;
  if (data) name = PyObject_GetAttrString(source, "file_name");
  if (name) line = PyObject_GetAttrString(source, "first_line");
  const char *file_name = line ? PyUnicode_AsUTF8(name) : NULL;
  long first_line = file_name ? PyLong_AsLong(line) : -1;
  if (file_name && !PyErr_Occurred() && PyBytes_Check(data)) {
    wick_status status = wick_trees_add_text(b->trees, PyBytes_AS_STRING(data), (size_t)PyBytes_GET_SIZE(data),
                                             file_name, (uint32_t)first_line, &index, &error);
    if (status)
      raise_wick(b->state, status, error);
    else
      failed = 0;
  }
  Py_XDECREF(data), Py_XDECREF(name), Py_XDECREF(line);
  if (failed) return refuse(source);
  b->text = *out = index;
  PyObject *number = PyLong_FromLong(*out);
  failed = number ? PyDict_SetItem(b->texts, source, number) : -1;
  Py_XDECREF(number);
  return failed;
}

/* Places refer to the source from now on. */
static int enter_source(Builder *b, PyObject *source, long *out) {
  PyObject *known = PyDict_GetItemWithError(b->texts, source);
  if (!known) return PyErr_Occurred() ? -1 : add_text(b, source, out);
  *out = PyLong_AsLong(known);
  return use_text(b, *out);
}

static int build(Builder *b, PyObject *description, const wick_tree **out);

static int build_node(Builder *b, const char *kind, PyObject *children, uint32_t begin, uint32_t end, long text,
                      const wick_tree **out) {
  enum { FEW = 8 };
  const wick_tree *few[FEW], **trees = few;
  Py_ssize_t count = PyTuple_GET_SIZE(children);
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  int failed = 0;
  if (count > FEW && !(trees = PyMem_Malloc((size_t)count * sizeof *trees))) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < count && !failed; i++) failed = build(b, PyTuple_GET_ITEM(children, i), &trees[i]);
  if (!failed) failed = use_text(b, text);
  if (!failed) status = wick_tree_new(b->trees, kind, trees, (size_t)count, begin, end, out, &error);
  if (trees != few) PyMem_Free(trees);
  return status ? raise_wick(b->state, status, error), -1 : failed;
}

static int build_text(Builder *b, const char *kind, PyObject *of, uint32_t begin, uint32_t end, const wick_tree **out) {
  Py_ssize_t length;
  wick_error *error = NULL;
  const char *data = PyUnicode_AsUTF8AndSize(of, &length);
  if (!data) return -1;
  wick_status status = wick_tree_new_text(b->trees, kind, data, (size_t)length, begin, end, out, &error);
  return status ? raise_wick(b->state, status, error), -1 : 0;
}

static int build_here(Builder *b, PyObject *description, const wick_tree **out) {
  Py_ssize_t size = PyTuple_Check(description) ? PyTuple_GET_SIZE(description) : 0;
  if (size != 4 && size != 5) return refuse(description);
  const char *kind = PyUnicode_AsUTF8(PyTuple_GET_ITEM(description, 0));
  PyObject *rest = PyTuple_GET_ITEM(description, 1);
  unsigned long begin = kind ? PyLong_AsUnsignedLong(PyTuple_GET_ITEM(description, 2)) : 0;
  unsigned long end = kind ? PyLong_AsUnsignedLong(PyTuple_GET_ITEM(description, 3)) : 0;
  if (PyErr_Occurred() || begin > UINT32_MAX || end > UINT32_MAX) return refuse(description);
  long text = b->text;
  if (size == 5 && enter_source(b, PyTuple_GET_ITEM(description, 4), &text)) return -1;
  if (PyUnicode_Check(rest)) return build_text(b, kind, rest, (uint32_t)begin, (uint32_t)end, out);
  if (!PyTuple_Check(rest)) return refuse(description);
  return build_node(b, kind, rest, (uint32_t)begin, (uint32_t)end, text, out);
}

static int build(Builder *b, PyObject *description, const wick_tree **out) {
  if (Py_EnterRecursiveCall(" in a program's tree")) return -1;
  long outer = b->text;
  int failed = build_here(b, description, out);
  if (!failed) failed = use_text(b, outer);
  Py_LeaveRecursiveCall();
  return failed;
}

int tree_build(ModuleState *state, wick_trees *trees, PyObject *texts, PyObject *description, const wick_tree **out) {
  return build(&(Builder){state, trees, texts, -1}, description, out);
}
