/* GraphValue: what a node or a block gives; and AliasDb: which values may share memory. */
#include "graph.h"

static ModuleState *state_of_part(PyObject *self) {
  return ((PartObject *)self)->owner->state;
}
#define OWN(self)                                                        \
  wick_ir_value *value = graph_value_of(state_of_part(self), self);      \
  GraphObject *const owner = value ? ((PartObject *)self)->owner : NULL; \
  if (!owner) return NULL

PyObject *graph_value_wrap(GraphObject *owner, wick_ir_value *value) {
  return graph_part_wrap(owner, programs_of(owner->state)->graph_value_type, value);
}
wick_ir_value *graph_value_of(ModuleState *state, PyObject *object) {
  if (!PyObject_TypeCheck(object, programs_of(state)->graph_value_base))
    return PyErr_Format(PyExc_TypeError, "a Value of a graph is expected, not %.200s", Py_TYPE(object)->tp_name), NULL;
  wick_ir_value *value = ((PartObject *)object)->value;
  if (wick_ir_value_exists(value)) return value;
  PyErr_SetString(PyExc_RuntimeError, "the value is no longer in its graph");
  return NULL;
}

/* ---- what it is ---- */

static PyObject *value_name(PyObject *self, PyObject *unused) {
  OWN(self);
  char *text;
  (void)unused;
  CHECK_WICK(owner->state, wick_ir_value_name(value, &text, &check_error));
  return text_take(text);
}
static PyObject *value_type(PyObject *self, PyObject *unused) {
  OWN(self);
  char *text;
  (void)unused;
  CHECK_WICK(owner->state, wick_ir_value_type(value, &text, &check_error));
  return text_take(text);
}
static PyObject *value_node(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return graph_node_wrap(owner, wick_ir_value_giver(value));
}
static PyObject *value_offset(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return PyLong_FromSize_t(wick_ir_value_offset(value));
}
static PyObject *value_unique(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return PyLong_FromSize_t(wick_ir_value_unique(value));
}
static PyObject *value_constant(PyObject *self, PyObject *unused) {
  OWN(self);
  wick_value *constant;
  (void)unused;
  CHECK_WICK(owner->state, wick_ir_value_constant(value, &constant, &check_error));
  return value_to_python(owner->state, constant);
}
static PyObject *value_uses(PyObject *self, PyObject *unused) {
  OWN(self);
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_ir_value_use_count(value); i++) {
    size_t input;
    PyObject *user = graph_node_wrap(owner, wick_ir_value_taker(value, i, &input));
    if (graph_append(list, user ? Py_BuildValue("(Nn)", user, (Py_ssize_t)input) : NULL)) Py_CLEAR(list);
  }
  return list;
}

/* ---- changes ---- */

static PyObject *value_set_name(PyObject *self, PyObject *name) {
  OWN(self);
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(owner->state, wick_ir_value_set_name(value, text, &check_error));
  Py_RETURN_NONE;
}
/* None: no tensor, or of unknown rank. */
static PyObject *value_sizes(PyObject *self, PyObject *unused) {
  OWN(self);
  wick_tensor_facts facts = {.size = sizeof facts};
  (void)unused;
  if (wick_ir_value_kind(value) != WICK_TENSOR) Py_RETURN_NONE;
  CHECK_WICK(owner->state, wick_ir_value_tensor(value, &facts, &check_error));
  if (facts.ndim < 0) Py_RETURN_NONE;
  PyObject *list = PyList_New(facts.ndim);
  for (int i = 0; list && i < facts.ndim; i++) {
    int64_t known;
    wick_ir_value_size(value, (size_t)i, &known, NULL); /* it has so many */
    PyObject *size = PyLong_FromLongLong(known);
    if (!size)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, size);
  }
  return list;
}
static PyObject *value_set_type(PyObject *self, PyObject *type) {
  OWN(self);
  const char *text = PyUnicode_AsUTF8(type);
  if (!text) return NULL;
  CHECK_WICK(owner->state, wick_ir_value_set_type(value, text, &check_error));
  Py_RETURN_NONE;
}
static PyObject *value_copy_type(PyObject *self, PyObject *other) {
  OWN(self);
  wick_ir_value *from = graph_value_of(owner->state, other);
  if (!from) return NULL;
  CHECK_WICK(owner->state, wick_ir_value_copy_type(value, from, &check_error));
  Py_RETURN_NONE;
}
static PyObject *value_replace(PyObject *self, PyObject *other) {
  OWN(self);
  wick_ir_value *with = graph_value_of(owner->state, other);
  if (!with) return NULL;
  CHECK_WICK(owner->state, wick_ir_value_replace(value, with, &check_error));
  Py_RETURN_NONE;
}
static PyObject *value_replace_after(PyObject *self, PyObject *args) {
  OWN(self);
  PyObject *node, *other;
  if (!PyArg_ParseTuple(args, "OO", &node, &other)) return NULL;
  wick_node *after = graph_node_of(owner->state, node);
  wick_ir_value *with = after ? graph_value_of(owner->state, other) : NULL;
  if (!with) return NULL;
  CHECK_WICK(owner->state, wick_ir_value_replace_after(value, after, with, &check_error));
  Py_RETURN_NONE;
}

static PyMethodDef value_methods[] = {
    {"debugName", value_name, METH_NOARGS, "What follows the %."},
    {"known_sizes", value_sizes, METH_NOARGS, "A tensor's sizes: -1 is not known, a number below it is a symbol."},
    {"type_text", value_type, METH_NOARGS, "Its type, as graphs print it."},
    {"node", value_node, METH_NOARGS, "The node that gives it."},
    {"offset", value_offset, METH_NOARGS, "Which output of its node it is."},
    {"unique", value_unique, METH_NOARGS, "Its number in the graph."},
    {"toIValue", value_constant, METH_NOARGS, "What a constant is, or None."},
    {"users", value_uses, METH_NOARGS, "Pairs of a node and which of its inputs it is."},
    {"set_name", value_set_name, METH_O, "set_name(name): made unique."},
    {"set_type_text", value_set_type, METH_O, "set_type_text(text)"},
    {"copy_type", value_copy_type, METH_O, "copy_type(value): the type of another one."},
    {"replaceAllUsesWith", value_replace, METH_O, "replaceAllUsesWith(value)"},
    {"replaceAllUsesAfterNodeWith", value_replace_after, METH_VARARGS, "replaceAllUsesAfterNodeWith(node, value)"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef value_getters[] = {{"graph", graph_part_owner, NULL, "The graph that it is in.", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot value_slots[] = {{Py_tp_dealloc, graph_part_dealloc},
                                    {Py_tp_richcompare, graph_part_compare},
                                    {Py_tp_hash, graph_part_hash},
                                    {Py_tp_methods, value_methods},
                                    {Py_tp_getset, value_getters},
                                    {Py_tp_doc, "What a node or a block of a graph gives."},
                                    {0, NULL}};
static PyType_Spec value_spec = {"wick._C._GraphValue", sizeof(PartObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 value_slots};

/* ---- AliasDb(graph) ---- */

typedef struct AliasObject {
  PyObject_HEAD wick_alias *alias;
  GraphObject *owner;
} AliasObject;

static ModuleState *state_of_alias(PyObject *self) {
  return ((AliasObject *)self)->owner->state;
}
/* Of the graph that the answers are about. */
static int check_same_graph(PyObject *self, PyObject *part) {
  if (((PartObject *)part)->owner->graph == ((AliasObject *)self)->owner->graph ||
      ((PartObject *)part)->owner == ((AliasObject *)self)->owner)
    return 0;
  PyErr_SetString(PyExc_ValueError, "the AliasDb is of another graph");
  return -1;
}
/* Values, or one value. */
static wick_ir_value **values_or_one(PyObject *self, PyObject *object, size_t *count) {
  ModuleState *state = state_of_alias(self);
  PyObject *sequence = PyObject_TypeCheck(object, programs_of(state)->graph_value_base) ? PyTuple_Pack(1, object)
                                                                                        : PySequence_Tuple(object);
  wick_ir_value **values = sequence ? graph_values_of(state, sequence, count) : NULL;
  for (size_t i = 0; values && i < *count; i++) {
    if (!check_same_graph(self, PyTuple_GET_ITEM(sequence, (Py_ssize_t)i))) continue;
    PyMem_Free(values);
    values = NULL;
  }
  Py_XDECREF(sequence);
  return values;
}
static PyObject *alias_may_contain(PyObject *self, PyObject *args) {
  PyObject *first, *second;
  size_t first_count, second_count;
  if (!PyArg_ParseTuple(args, "OO:may_contain_alias", &first, &second)) return NULL;
  wick_ir_value **a = values_or_one(self, first, &first_count);
  wick_ir_value **b = a ? values_or_one(self, second, &second_count) : NULL;
  bool may = false;
  for (size_t i = 0; b && i < first_count; i++)
    for (size_t j = 0; j < second_count; j++)
      may = may || wick_alias_may_share(((AliasObject *)self)->alias, a[i], b[j]);
  PyMem_Free(a);
  PyMem_Free(b);
  return b ? PyBool_FromLong(may) : NULL;
}
static PyObject *alias_has_writers(PyObject *self, PyObject *object) {
  wick_ir_value *value = graph_value_of(state_of_alias(self), object);
  if (!value || check_same_graph(self, object)) return NULL;
  return PyBool_FromLong(wick_alias_has_writers(((AliasObject *)self)->alias, value));
}
static PyObject *alias_move(PyObject *self, PyObject *args,
                            wick_status (*move)(wick_alias *, wick_node *, wick_node *, int *, wick_error **)) {
  PyObject *first, *second;
  int moved;
  if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
  wick_node *node = graph_node_of(state_of_alias(self), first);
  wick_node *point = node ? graph_node_of(state_of_alias(self), second) : NULL;
  if (!point || check_same_graph(self, first) || check_same_graph(self, second)) return NULL;
  CHECK_WICK(state_of_alias(self), move(((AliasObject *)self)->alias, node, point, &moved, &check_error));
  return PyBool_FromLong(moved);
}
static PyObject *alias_move_before(PyObject *self, PyObject *args) {
  return alias_move(self, args, wick_alias_move_before);
}
static PyObject *alias_move_after(PyObject *self, PyObject *args) {
  return alias_move(self, args, wick_alias_move_after);
}
static PyObject *alias_text(PyObject *self, int as_dot) {
  char *text;
  CHECK_WICK(state_of_alias(self), wick_alias_print(((AliasObject *)self)->alias, as_dot, &text, &check_error));
  return text_take(text);
}
static PyObject *alias_str(PyObject *self) {
  return alias_text(self, 0);
}
static PyObject *alias_dot(PyObject *self, PyObject *unused) {
  (void)unused;
  return alias_text(self, 1);
}
static PyObject *alias_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *object;
  ModuleState *state = PyType_GetModuleState(type);
  (void)keywords;
  if (!state || !PyArg_ParseTuple(args, "O:AliasDb", &object)) return NULL;
  GraphObject *owner = graph_of(state, object);
  if (!owner) return NULL;
  AliasObject *made = (AliasObject *)type->tp_alloc(type, 0);
  if (!made) return NULL;
  Py_INCREF(owner);
  made->owner = owner;
  wick_error *error = NULL;
  wick_status status = wick_alias_new(owner->graph, &made->alias, &error);
  if (!status) return (PyObject *)made;
  Py_DECREF(made);
  return raise_wick(state, status, error);
}
static void alias_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_alias_release(((AliasObject *)self)->alias);
  Py_XDECREF(((AliasObject *)self)->owner);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyMethodDef alias_methods[] = {
    {"may_contain_alias", alias_may_contain, METH_VARARGS,
     "may_contain_alias(values, values): whether something that one is or holds may be something that another is or "
     "holds."},
    {"has_writers", alias_has_writers, METH_O, "has_writers(value): whether a node may write to it."},
    {"move_before_topologically_valid", alias_move_before, METH_VARARGS,
     "move_before_topologically_valid(node, point): False: it would change what the graph does, and nothing moved."},
    {"move_after_topologically_valid", alias_move_after, METH_VARARGS, "move_after_topologically_valid(node, point)"},
    {"to_graphviz_str", alias_dot, METH_NOARGS, "What points to what, for Graphviz."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot alias_slots[] = {{Py_tp_new, alias_new},
                                    {Py_tp_dealloc, alias_dealloc},
                                    {Py_tp_str, alias_str},
                                    {Py_tp_repr, alias_str},
                                    {Py_tp_methods, alias_methods},
                                    {Py_tp_doc, "AliasDb(graph): what may share memory in the graph as it stands now."},
                                    {0, NULL}};
static PyType_Spec alias_spec = {"wick._C.AliasDb", sizeof(AliasObject), 0, Py_TPFLAGS_DEFAULT, alias_slots};

int add_graph_value_classes(PyObject *module, ModuleState *state) {
  ProgramState *programs = programs_of(state);
  return program_add_type(module, &value_spec, &programs->graph_value_base) ||
                 program_add_type(module, &alias_spec, &programs->alias_type)
             ? -1
             : 0;
}
