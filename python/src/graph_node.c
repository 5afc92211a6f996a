/* Node: a node of a graph, or an end of a block. */
#include <string.h>

#include "graph.h"

static ModuleState *state_of_part(PyObject *self) {
  return ((PartObject *)self)->owner->state;
}
#define OWN(self)                                                       \
  wick_node *node = graph_node_of(state_of_part(self), self);           \
  GraphObject *const owner = node ? ((PartObject *)self)->owner : NULL; \
  if (!owner) return NULL

PyObject *graph_node_wrap(GraphObject *owner, wick_node *node) {
  return graph_part_wrap(owner, programs_of(owner->state)->node_type, node);
}
wick_node *graph_node_of(ModuleState *state, PyObject *object) {
  if (!PyObject_TypeCheck(object, programs_of(state)->node_base))
    return PyErr_Format(PyExc_TypeError, "a Node is expected, not %.200s", Py_TYPE(object)->tp_name), NULL;
  wick_node *node = ((PartObject *)object)->node;
  if (wick_node_exists(node)) return node;
  PyErr_SetString(PyExc_RuntimeError, "the node is no longer in its graph");
  return NULL;
}
int graph_node_or_none(ModuleState *state, PyObject *object, wick_node **out) {
  *out = object == Py_None ? NULL : graph_node_of(state, object);
  return object == Py_None || *out ? 0 : -1;
}

/* ---- what it is ---- */

static PyObject *node_kind(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return PyUnicode_FromString(wick_node_kind(node));
}
static PyObject *node_scope(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return PyUnicode_FromString(wick_node_scope(node));
}
static PyObject *node_inputs(PyObject *self, PyObject *unused) {
  OWN(self);
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_node_input_count(node); i++)
    if (graph_append(list, graph_value_wrap(owner, wick_node_input(node, i)))) Py_CLEAR(list);
  return list;
}
static PyObject *node_outputs(PyObject *self, PyObject *unused) {
  OWN(self);
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_node_output_count(node); i++)
    if (graph_append(list, graph_value_wrap(owner, wick_node_output(node, i)))) Py_CLEAR(list);
  return list;
}
static PyObject *node_blocks(PyObject *self, PyObject *unused) {
  OWN(self);
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_node_block_count(node); i++)
    if (graph_append(list, graph_block_wrap(owner, wick_node_block(node, i)))) Py_CLEAR(list);
  return list;
}
static PyObject *node_named_input(PyObject *self, PyObject *name) {
  OWN(self);
  const char *text = PyUnicode_AsUTF8(name);
  return text ? graph_value_wrap(owner, wick_node_named_input(node, text)) : NULL;
}
static PyObject *node_text_of(PyObject *self, wick_status (*tell)(const wick_node *, char **, wick_error **)) {
  OWN(self);
  char *text;
  CHECK_WICK(owner->state, tell(node, &text, &check_error));
  return text_take(text);
}
static PyObject *node_schema(PyObject *self, PyObject *unused) {
  (void)unused;
  return node_text_of(self, wick_node_schema);
}
static PyObject *node_range(PyObject *self, PyObject *unused) {
  (void)unused;
  return node_text_of(self, wick_node_excerpt);
}
static PyObject *node_repr(PyObject *self) {
  return node_text_of(self, wick_node_print);
}
static PyObject *node_is_pure(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return PyBool_FromLong(wick_node_is_pure(node));
}

/* ---- where it stands ---- */

static PyObject *node_next(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return graph_node_wrap(owner, wick_node_next(node));
}
static PyObject *node_previous(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return graph_node_wrap(owner, wick_node_previous(node));
}
static PyObject *node_block(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  return graph_block_wrap(owner, wick_node_owner(node));
}
static PyObject *node_is_before(PyObject *self, PyObject *other) {
  OWN(self);
  wick_node *second = graph_node_of(owner->state, other);
  return second ? PyBool_FromLong(wick_node_is_before(node, second)) : NULL;
}
static PyObject *node_place(PyObject *self, PyObject *args) {
  OWN(self);
  PyObject *into, *point;
  wick_node *before;
  if (!PyArg_ParseTuple(args, "OO", &into, &point)) return NULL;
  wick_block *block = graph_block_of(owner->state, into);
  if (!block || graph_node_or_none(owner->state, point, &before)) return NULL;
  CHECK_WICK(owner->state, wick_node_place_in(node, block, before, &check_error));
  Py_RETURN_NONE;
}
static PyObject *node_destroy(PyObject *self, PyObject *unused) {
  OWN(self);
  (void)unused;
  CHECK_WICK(owner->state, wick_node_destroy(node, &check_error));
  Py_RETURN_NONE;
}
static PyObject *node_copy_metadata(PyObject *self, PyObject *other) {
  OWN(self);
  wick_node *from = graph_node_of(owner->state, other);
  if (!from) return NULL;
  CHECK_WICK(owner->state, wick_node_copy_metadata(node, from, &check_error));
  Py_RETURN_NONE;
}

/* ---- inputs, outputs, blocks ---- */

static PyObject *node_change_input(PyObject *self, PyObject *args,
                                   wick_status (*change)(wick_node *, size_t, wick_ir_value *, wick_error **)) {
  OWN(self);
  Py_ssize_t index;
  PyObject *object;
  if (!PyArg_ParseTuple(args, "nO", &index, &object)) return NULL;
  wick_ir_value *value = graph_value_of(owner->state, object);
  if (!value) return NULL;
  CHECK_WICK(owner->state, change(node, (size_t)index, value, &check_error));
  Py_RETURN_NONE;
}
static PyObject *node_insert_input(PyObject *self, PyObject *args) {
  return node_change_input(self, args, wick_node_insert_input);
}
static PyObject *node_set_input(PyObject *self, PyObject *args) {
  return node_change_input(self, args, wick_node_set_input);
}
static PyObject *node_at(PyObject *self, PyObject *number, wick_status (*change)(wick_node *, size_t, wick_error **)) {
  OWN(self);
  size_t index = PyLong_AsSize_t(number);
  if (PyErr_Occurred()) return NULL;
  CHECK_WICK(owner->state, change(node, index, &check_error));
  Py_RETURN_NONE;
}
static PyObject *node_remove_input(PyObject *self, PyObject *number) {
  return node_at(self, number, wick_node_remove_input);
}
static PyObject *node_erase_output(PyObject *self, PyObject *number) {
  return node_at(self, number, wick_node_erase_output);
}
static PyObject *node_erase_block(PyObject *self, PyObject *number) {
  return node_at(self, number, wick_node_erase_block);
}
static PyObject *node_insert_output(PyObject *self, PyObject *number) {
  OWN(self);
  size_t index = PyLong_AsSize_t(number);
  wick_ir_value *made;
  if (PyErr_Occurred()) return NULL;
  CHECK_WICK(owner->state, wick_node_insert_output(node, index, &made, &check_error));
  return graph_value_wrap(owner, made);
}
static PyObject *node_add_block(PyObject *self, PyObject *unused) {
  OWN(self);
  wick_block *made;
  (void)unused;
  CHECK_WICK(owner->state, wick_node_add_block(node, &made, &check_error));
  return graph_block_wrap(owner, made);
}

/* ---- attributes ---- */

static PyObject *node_attribute_names(PyObject *self, PyObject *unused) {
  OWN(self);
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_node_attribute_count(node); i++)
    if (graph_append(list, PyUnicode_FromString(wick_node_attribute_name(node, i)))) Py_CLEAR(list);
  return list;
}
static PyObject *node_attribute_kind(PyObject *self, PyObject *name) {
  OWN(self);
  const char *text = PyUnicode_AsUTF8(name), *kind = text ? wick_node_attribute_kind(node, text) : NULL;
  if (!text) return NULL;
  if (!kind) Py_RETURN_NONE;
  return PyUnicode_FromString(kind);
}
static PyObject *node_attribute(PyObject *self, PyObject *name) {
  OWN(self);
  wick_value *value;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(owner->state, wick_node_attribute(node, text, &value, &check_error));
  return value_to_python(owner->state, value);
}
static PyObject *node_attribute_type(PyObject *self, PyObject *name) {
  OWN(self);
  char *type;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(owner->state, wick_node_attribute_type(node, text, &type, &check_error));
  return text_take(type);
}
static PyObject *node_attribute_graph(PyObject *self, PyObject *args) {
  OWN(self);
  const char *name;
  Py_ssize_t index = 0;
  wick_graph *graph;
  if (!PyArg_ParseTuple(args, "s|n", &name, &index)) return NULL;
  CHECK_WICK(owner->state, wick_graph_of_attribute(node, name, (size_t)index, &graph, &check_error));
  return graph_wrap_within(owner, graph);
}
static PyObject *node_set_attribute(PyObject *self, PyObject *args) {
  OWN(self);
  const char *name;
  PyObject *object;
  wick_error *error = NULL;
  if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
  wick_value *value = value_from_python(owner->state, object);
  if (!value) return NULL;
  wick_status status = wick_node_set_attribute(node, name, value, &error);
  wick_value_release(value);
  if (status) return raise_wick(owner->state, status, error);
  Py_RETURN_NONE;
}
static PyObject *node_set_type(PyObject *self, PyObject *args) {
  OWN(self);
  const char *name, *type;
  if (!PyArg_ParseTuple(args, "ss", &name, &type)) return NULL;
  CHECK_WICK(owner->state, wick_node_set_type(node, name, type, &check_error));
  Py_RETURN_NONE;
}
static PyObject *node_set_graph(PyObject *self, PyObject *args) {
  OWN(self);
  const char *name;
  PyObject *object;
  if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
  GraphObject *graph = graph_of(owner->state, object);
  if (!graph) return NULL;
  CHECK_WICK(owner->state, wick_node_set_graph(node, name, graph->graph, &check_error));
  Py_RETURN_NONE;
}
static PyObject *node_remove_attribute(PyObject *self, PyObject *name) {
  OWN(self);
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(owner->state, wick_node_remove_attribute(node, text, &check_error));
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"kind", node_kind, METH_NOARGS, "\"aten::add\""},
    {"scopeName", node_scope, METH_NOARGS, "\"__module.fc\": where it was traced"},
    {"inputs_list", node_inputs, METH_NOARGS, NULL},
    {"outputs_list", node_outputs, METH_NOARGS, NULL},
    {"blocks_list", node_blocks, METH_NOARGS, NULL},
    {"namedInput", node_named_input, METH_O, "The input for the argument of that name, or None."},
    {"schema_text", node_schema, METH_NOARGS, "That of its operator, or \"\"."},
    {"sourceRange", node_range, METH_NOARGS, "The lines of the source that it comes from."},
    {"is_pure", node_is_pure, METH_NOARGS, "Whether it only computes its outputs."},
    {"next", node_next, METH_NOARGS, "The node after it, or None."},
    {"previous", node_previous, METH_NOARGS, "The node in front of it, or None."},
    {"owningBlock", node_block, METH_NOARGS, "The block that it stands in; None: nowhere yet."},
    {"isBefore", node_is_before, METH_O, "isBefore(node)"},
    {"place", node_place, METH_VARARGS, "place(block, before): puts or moves it; before is None: at the end."},
    {"destroy", node_destroy, METH_NOARGS, "Takes it out of the graph; refused while its outputs are used."},
    {"copyMetadata", node_copy_metadata, METH_O, "copyMetadata(node): takes over place and scope."},
    {"insert_input", node_insert_input, METH_VARARGS, "insert_input(index, value)"},
    {"set_input", node_set_input, METH_VARARGS, "set_input(index, value)"},
    {"removeInput", node_remove_input, METH_O, "removeInput(index)"},
    {"eraseOutput", node_erase_output, METH_O, "eraseOutput(index): refused while it is used."},
    {"insert_output", node_insert_output, METH_O, "insert_output(index): a new Tensor."},
    {"addBlock", node_add_block, METH_NOARGS, "A new, empty block of it."},
    {"erase_block", node_erase_block, METH_O, "erase_block(index)"},
    {"attributeNames", node_attribute_names, METH_NOARGS, NULL},
    {"attribute_kind", node_attribute_kind, METH_O, "\"i\", \"ss\", \"g\" ..., or None."},
    {"attribute", node_attribute, METH_O, "attribute(name): its value; None where it is a graph or a type."},
    {"attribute_type", node_attribute_type, METH_O, "attribute_type(name): the text of one that is a type."},
    {"attribute_graph", node_attribute_graph, METH_VARARGS, "attribute_graph(name, index=0): one that is a graph."},
    {"set_attribute", node_set_attribute, METH_VARARGS, "set_attribute(name, value)"},
    {"set_type", node_set_type, METH_VARARGS, "set_type(name, text)"},
    {"set_graph", node_set_graph, METH_VARARGS, "set_graph(name, graph): a copy of it."},
    {"removeAttribute", node_remove_attribute, METH_O, "removeAttribute(name)"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef getters[] = {{"graph", graph_part_owner, NULL, "The graph that it is in.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, graph_part_dealloc},
                              {Py_tp_richcompare, graph_part_compare},
                              {Py_tp_hash, graph_part_hash},
                              {Py_tp_repr, node_repr},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, getters},
                              {Py_tp_doc, "A node of a graph."},
                              {0, NULL}};
static PyType_Spec spec = {"wick._C._Node", sizeof(PartObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int add_graph_node_class(PyObject *module, ModuleState *state) {
  return program_add_type(module, &spec, &programs_of(state)->node_base);
}
