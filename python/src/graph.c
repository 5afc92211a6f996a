/* Graph and Block: what holds nodes. */
#include <string.h>

#include "graph.h"

/* Python's classes are there before the first object of one is. */
static int load_classes(ModuleState *state) {
  if (programs_of(state)->has_graph_classes) return 0;
  PyObject *module = PyImport_ImportModule("wick.jit._graph");
  Py_XDECREF(module);
  return module ? 0 : -1;
}

static PyObject *wrap(ModuleState *state, wick_graph *graph, PyObject *parent) {
  GraphObject *made = NULL;
  if (!load_classes(state)) {
    PyTypeObject *type = programs_of(state)->graph_type;
    made = (GraphObject *)type->tp_alloc(type, 0);
  }
  if (!made) {
    wick_graph_release(graph);
    return NULL;
  }
  made->graph = graph;
  made->state = state;
  Py_XINCREF(parent);
  made->parent = parent;
  return (PyObject *)made;
}
PyObject *graph_wrap(ModuleState *state, wick_graph *graph) {
  return wrap(state, graph, NULL);
}
PyObject *graph_wrap_within(GraphObject *outer, wick_graph *graph) {
  return wrap(outer->state, graph, (PyObject *)outer);
}

GraphObject *graph_of(ModuleState *state, PyObject *object) {
  if (PyObject_TypeCheck(object, programs_of(state)->graph_base)) return (GraphObject *)object;
  PyErr_Format(PyExc_TypeError, "a Graph is expected, not %.200s", Py_TYPE(object)->tp_name);
  return NULL;
}

/* ---- parts ---- */

PyObject *graph_part_wrap(GraphObject *owner, PyTypeObject *type, void *part) {
  if (!part) Py_RETURN_NONE;
  PartObject *made = (PartObject *)type->tp_alloc(type, 0);
  if (!made) return NULL;
  Py_INCREF(owner);
  made->owner = owner;
  made->part = part;
  return (PyObject *)made;
}
void graph_part_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((PartObject *)self)->owner);
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject *graph_part_compare(PyObject *self, PyObject *other, int op) {
  if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((((PartObject *)self)->part == ((PartObject *)other)->part) == (op == Py_EQ));
}
Py_hash_t graph_part_hash(PyObject *self) {
  Py_hash_t hash = (Py_hash_t)((uintptr_t)((PartObject *)self)->part >> 4);
  return hash == -1 ? -2 : hash;
}
PyObject *graph_part_owner(PyObject *self, void *unused) {
  (void)unused;
  PyObject *owner = (PyObject *)((PartObject *)self)->owner;
  Py_INCREF(owner);
  return owner;
}

int graph_append(PyObject *list, PyObject *item) {
  int failed = !item || PyList_Append(list, item);
  Py_XDECREF(item);
  return failed;
}

/* ---- Block ---- */

PyObject *graph_block_wrap(GraphObject *owner, wick_block *block) {
  return graph_part_wrap(owner, programs_of(owner->state)->block_type, block);
}

/* A block is gone when the node that had it is, or has it no longer. */
static bool block_exists(const wick_block *block) {
  const wick_node *node = wick_block_owner(block);
  if (!node) return true;
  for (size_t i = 0; wick_node_exists(node) && i < wick_node_block_count(node); i++)
    if (wick_node_block(node, i) == block) return true;
  return false;
}

wick_block *graph_block_of(ModuleState *state, PyObject *object) {
  if (!PyObject_TypeCheck(object, programs_of(state)->block_base))
    return PyErr_Format(PyExc_TypeError, "a Block is expected, not %.200s", Py_TYPE(object)->tp_name), NULL;
  wick_block *block = ((PartObject *)object)->block;
  if (block_exists(block)) return block;
  PyErr_SetString(PyExc_RuntimeError, "the block is no longer in its graph");
  return NULL;
}
static wick_block *own_block(PyObject *self) {
  return graph_block_of(((PartObject *)self)->owner->state, self);
}

static PyObject *block_nodes(PyObject *self, PyObject *unused) {
  wick_block *block = own_block(self);
  PyObject *list = block ? PyList_New(0) : NULL;
  (void)unused;
  for (wick_node *node = list ? wick_block_first(block) : NULL; node && list; node = wick_node_next(node))
    if (graph_append(list, graph_node_wrap(((PartObject *)self)->owner, node))) Py_CLEAR(list);
  return list;
}
static PyObject *block_param(PyObject *self, PyObject *unused) {
  wick_block *block = own_block(self);
  (void)unused;
  return block ? graph_node_wrap(((PartObject *)self)->owner, wick_block_param(block)) : NULL;
}
static PyObject *block_return(PyObject *self, PyObject *unused) {
  wick_block *block = own_block(self);
  (void)unused;
  return block ? graph_node_wrap(((PartObject *)self)->owner, wick_block_return(block)) : NULL;
}
static PyObject *block_owner(PyObject *self, PyObject *unused) {
  wick_block *block = own_block(self);
  (void)unused;
  return block ? graph_node_wrap(((PartObject *)self)->owner, wick_block_owner(block)) : NULL;
}
static PyObject *block_insert_call(PyObject *self, PyObject *args);
static PyObject *block_insert_constant(PyObject *self, PyObject *args);
static PyObject *block_insert_graph(PyObject *self, PyObject *args);
static PyMethodDef block_methods[] = {
    {"nodes", block_nodes, METH_NOARGS, "Its nodes, in order."},
    {"paramNode", block_param, METH_NOARGS, "The node that gives its inputs."},
    {"returnNode", block_return, METH_NOARGS, "The node that takes its outputs."},
    {"owningNode", block_owner, METH_NOARGS, "The node whose block it is, or None."},
    {"insert_call", block_insert_call, METH_VARARGS,
     "insert_call(before, name, values, names): a call of an operator, as a program's; its result."},
    {"insert_constant", block_insert_constant, METH_VARARGS, "insert_constant(before, value)"},
    {"insert_graph", block_insert_graph, METH_VARARGS,
     "insert_graph(before, graph, values): a copy of its nodes; what its outputs are here."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef block_getters[] = {{"graph", graph_part_owner, NULL, "The graph that it is in.", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot block_slots[] = {{Py_tp_dealloc, graph_part_dealloc},
                                    {Py_tp_richcompare, graph_part_compare},
                                    {Py_tp_hash, graph_part_hash},
                                    {Py_tp_methods, block_methods},
                                    {Py_tp_getset, block_getters},
                                    {Py_tp_doc, "A block of a graph: nodes in order, inputs and outputs."},
                                    {0, NULL}};
static PyType_Spec block_spec = {"wick._C._Block", sizeof(PartObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 block_slots};

/* ---- what is inserted into a block ---- */

wick_ir_value **graph_values_of(ModuleState *state, PyObject *sequence, size_t *out_count) {
  PyObject *fast = PySequence_Fast(sequence, "values of a graph are expected in a sequence");
  if (!fast) return NULL;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
  wick_ir_value **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
  if (!values) PyErr_NoMemory();
  for (Py_ssize_t i = 0; values && i < count; i++) {
    if ((values[i] = graph_value_of(state, PySequence_Fast_GET_ITEM(fast, i)))) continue;
    PyMem_Free(values);
    values = NULL;
  }
  Py_DECREF(fast);
  *out_count = (size_t)count;
  return values;
}

static PyObject *block_insert_call(PyObject *self, PyObject *args) {
  GraphObject *owner = ((PartObject *)self)->owner;
  wick_block *block = own_block(self);
  const char *name, *names[32];
  PyObject *point, *sequence, *keywords;
  wick_node *before;
  size_t count;
  wick_ir_value *made;
  wick_error *error = NULL;
  if (!block || !PyArg_ParseTuple(args, "OsOO!", &point, &name, &sequence, &PyTuple_Type, &keywords)) return NULL;
  if (graph_node_or_none(owner->state, point, &before)) return NULL;
  size_t named = (size_t)PyTuple_GET_SIZE(keywords);
  if (named > sizeof names / sizeof *names) return PyErr_Format(PyExc_TypeError, "too many keywords");
  for (size_t i = 0; i < named; i++)
    if (!(names[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(keywords, (Py_ssize_t)i)))) return NULL;
  wick_ir_value **values = graph_values_of(owner->state, sequence, &count);
  if (!values) return NULL;
  wick_status status = wick_node_insert(block, before, name, values, count, names, named, &made, &error);
  PyMem_Free(values);
  return status ? raise_wick(owner->state, status, error) : graph_value_wrap(owner, made);
}

static PyObject *block_insert_constant(PyObject *self, PyObject *args) {
  GraphObject *owner = ((PartObject *)self)->owner;
  wick_block *block = own_block(self);
  PyObject *point, *object;
  wick_node *before;
  wick_ir_value *made;
  wick_error *error = NULL;
  if (!block || !PyArg_ParseTuple(args, "OO", &point, &object)) return NULL;
  if (graph_node_or_none(owner->state, point, &before)) return NULL;
  wick_value *value = value_from_python(owner->state, object);
  if (!value) return NULL;
  wick_status status = wick_block_insert_constant(block, before, value, &made, &error);
  wick_value_release(value);
  return status ? raise_wick(owner->state, status, error) : graph_value_wrap(owner, made);
}

static PyObject *block_insert_graph(PyObject *self, PyObject *args) {
  GraphObject *owner = ((PartObject *)self)->owner, *other;
  wick_block *block = own_block(self);
  PyObject *point, *graph, *sequence;
  wick_node *before;
  size_t count;
  wick_error *error = NULL;
  if (!block || !PyArg_ParseTuple(args, "OOO", &point, &graph, &sequence)) return NULL;
  if (graph_node_or_none(owner->state, point, &before) || !(other = graph_of(owner->state, graph))) return NULL;
  wick_ir_value **values = graph_values_of(owner->state, sequence, &count);
  if (!values) return NULL;
  size_t made_count = wick_block_output_count(wick_graph_block(other->graph));
  wick_ir_value **made = PyMem_Calloc(made_count + 1, sizeof *made);
  wick_status status =
      made ? wick_graph_insert_graph(block, before, other->graph, values, count, made, made_count, &error)
           : WICK_OUT_OF_MEMORY;
  PyMem_Free(values);
  PyObject *list = status ? NULL : PyList_New(0);
  if (status) raise_wick(owner->state, status, error);
  for (size_t i = 0; list && i < made_count; i++)
    if (graph_append(list, graph_value_wrap(owner, made[i]))) Py_CLEAR(list);
  PyMem_Free(made);
  return list;
}

/* ---- Graph ---- */

static ModuleState *state_of_graph(PyObject *self) {
  return ((GraphObject *)self)->state;
}
static wick_graph *own_graph(PyObject *self) {
  return ((GraphObject *)self)->graph;
}

static PyObject *graph_text(PyObject *self, PyObject *places) {
  char *text;
  int with_places = PyObject_IsTrue(places);
  if (with_places < 0) return NULL;
  CHECK_WICK(state_of_graph(self), with_places ? wick_graph_print_places(own_graph(self), &text, &check_error)
                                               : wick_graph_print(own_graph(self), &text, &check_error));
  return text_take(text);
}
static PyObject *graph_block(PyObject *self, PyObject *unused) {
  (void)unused;
  return graph_block_wrap((GraphObject *)self, wick_graph_block(own_graph(self)));
}
static PyObject *graph_copy(PyObject *self, PyObject *unused) {
  wick_graph *copy;
  (void)unused;
  CHECK_WICK(state_of_graph(self), wick_graph_copy(own_graph(self), &copy, &check_error));
  return graph_wrap(state_of_graph(self), copy);
}
static PyObject *graph_differentiate(PyObject *self, PyObject *unused) {
  ModuleState *state = state_of_graph(self);
  wick_graph *forward, *backward;
  wick_value *ends;
  (void)unused;
  CHECK_WICK(state, wick_graph_differentiate(own_graph(self), &forward, &backward, &ends, &check_error));
  PyObject *first = graph_wrap(state, forward), *second = graph_wrap(state, backward);
  PyObject *numbers = value_to_python(state, ends);
  if (first && second && numbers) return Py_BuildValue("(NNN)", first, second, numbers);
  Py_XDECREF(first);
  Py_XDECREF(second);
  Py_XDECREF(numbers);
  return NULL;
}
static PyObject *graph_run_pass(PyObject *self, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(state_of_graph(self), wick_graph_run_pass(own_graph(self), text, &check_error));
  Py_RETURN_NONE;
}
static PyObject *graph_lint(PyObject *self, PyObject *unused) {
  (void)unused;
  CHECK_WICK(state_of_graph(self), wick_graph_check(own_graph(self), &check_error));
  Py_RETURN_NONE;
}
static PyObject *graph_rewrite(PyObject *self, PyObject *args) {
  const char *pattern, *replacement;
  size_t count;
  if (!PyArg_ParseTuple(args, "ss", &pattern, &replacement)) return NULL;
  CHECK_WICK(state_of_graph(self), wick_graph_rewrite(own_graph(self), pattern, replacement, &count, &check_error));
  return PyLong_FromSize_t(count);
}
static PyObject *graph_compile(PyObject *self, PyObject *args) {
  const char *name;
  wick_module *made;
  if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
  CHECK_WICK(state_of_graph(self), wick_graph_compile(own_graph(self), NULL, name, &made, &check_error));
  return program_wrap(state_of_graph(self), made);
}
static PyObject *graph_create(PyObject *self, PyObject *args) {
  const char *kind;
  PyObject *sequence;
  Py_ssize_t outputs;
  size_t count;
  wick_node *made;
  wick_error *error = NULL;
  if (!PyArg_ParseTuple(args, "sOn", &kind, &sequence, &outputs)) return NULL;
  if (outputs < 0) return PyErr_Format(PyExc_ValueError, "%zd outputs", outputs);
  wick_ir_value **values = graph_values_of(state_of_graph(self), sequence, &count);
  if (!values) return NULL;
  wick_status status = wick_node_create(own_graph(self), kind, values, count, (size_t)outputs, &made, &error);
  PyMem_Free(values);
  return status ? raise_wick(state_of_graph(self), status, error) : graph_node_wrap((GraphObject *)self, made);
}
static PyObject *graph_compare(PyObject *self, PyObject *other, int op) {
  if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((wick_graph_block(own_graph(self)) == wick_graph_block(own_graph(other))) == (op == Py_EQ));
}
static Py_hash_t graph_hash(PyObject *self) {
  Py_hash_t hash = (Py_hash_t)((uintptr_t)wick_graph_block(own_graph(self)) >> 4);
  return hash == -1 ? -2 : hash;
}
static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static const char empty[] = "graph():\n  return ()\n";
  ModuleState *state = type->tp_base ? PyType_GetModuleState(type->tp_base) : NULL;
  wick_graph *graph;
  (void)keywords;
  if (!state) return PyErr_Format(PyExc_TypeError, "wick._C.Graph makes graphs");
  if (PyTuple_GET_SIZE(args)) return PyErr_Format(PyExc_TypeError, "Graph() takes no arguments");
  CHECK_WICK(state, wick_graph_parse(empty, sizeof empty - 1, &graph, &check_error));
  return graph_wrap(state, graph);
}
static void graph_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_graph_release(own_graph(self));
  Py_XDECREF(((GraphObject *)self)->parent);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyMethodDef graph_methods[] = {
    {"text", graph_text, METH_O, "text(places): with the places in the source after its nodes, or without."},
    {"block", graph_block, METH_NOARGS, "Its block."},
    {"copy", graph_copy, METH_NOARGS, "A copy."},
    {"differentiate", graph_differentiate, METH_NOARGS, "Forward, backward, and how their ends belong together."},
    {"run_pass", graph_run_pass, METH_O, "run_pass(name): one of wick's passes."},
    {"lint", graph_lint, METH_NOARGS, "Raises where the graph is broken."},
    {"rewrite", graph_rewrite, METH_VARARGS, "rewrite(pattern, replacement): how often it was found and replaced."},
    {"compile", graph_compile, METH_VARARGS, "compile(name): a program with a function of that body."},
    {"new_node", graph_create, METH_VARARGS, "new_node(kind, values, outputs): a node that stands nowhere yet."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot graph_slots[] = {{Py_tp_new, graph_new},
                                    {Py_tp_dealloc, graph_dealloc},
                                    {Py_tp_richcompare, graph_compare},
                                    {Py_tp_hash, graph_hash},
                                    {Py_tp_methods, graph_methods},
                                    {Py_tp_doc, "A program in SSA form."},
                                    {0, NULL}};
static PyType_Spec graph_spec = {"wick._C._Graph", sizeof(GraphObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 graph_slots};

/* ---- functions of the module ---- */

static PyObject *parse(PyObject *self, PyObject *args) {
  const char *text;
  Py_ssize_t length;
  wick_graph *graph;
  if (!PyArg_ParseTuple(args, "s#:graph_parse", &text, &length)) return NULL;
  CHECK_WICK(state_of_module(self), wick_graph_parse(text, (size_t)length, &graph, &check_error));
  return graph_wrap(state_of_module(self), graph);
}

static PyObject *set_classes(PyObject *self, PyObject *args) {
  ProgramState *programs = programs_of(state_of_module(self));
  PyTypeObject **const slots[] = {&programs->graph_type, &programs->block_type, &programs->node_type,
                                  &programs->graph_value_type};
  PyObject *types[4];
  PyTypeObject *const bases[] = {programs->graph_base, programs->block_base, programs->node_base,
                                 programs->graph_value_base};
  if (!PyArg_ParseTuple(args, "OOOO:set_graph_classes", &types[0], &types[1], &types[2], &types[3])) return NULL;
  for (int i = 0; i < 4; i++)
    if (!PyType_Check(types[i]) || !PyType_IsSubtype((PyTypeObject *)types[i], bases[i]))
      return PyErr_Format(PyExc_TypeError, "%R is no class of %s", types[i], bases[i]->tp_name);
  for (int i = 0; i < 4; i++) {
    PyTypeObject *old = *slots[i];
    Py_INCREF(types[i]);
    *slots[i] = (PyTypeObject *)types[i];
    Py_XDECREF(old);
  }
  programs->has_graph_classes = true;
  Py_RETURN_NONE;
}

static PyObject *is_subtype(PyObject *self, PyObject *args) {
  const char *type, *of;
  int answer;
  if (!PyArg_ParseTuple(args, "ss:type_is_subtype", &type, &of)) return NULL;
  CHECK_WICK(state_of_module(self), wick_type_is_subtype(type, of, &answer, &check_error));
  return PyBool_FromLong(answer);
}
static PyObject *pass_names(PyObject *self, PyObject *unused) {
  PyObject *list = PyList_New(0);
  const char *name;
  (void)self, (void)unused;
  for (size_t i = 0; list && (name = wick_pass_name(i)); i++)
    if (graph_append(list, PyUnicode_FromString(name))) Py_CLEAR(list);
  return list;
}
static PyMethodDef functions[] = {
    {"graph_parse", parse, METH_VARARGS, "graph_parse(text): the Graph of its text."},
    {"pass_names", pass_names, METH_NOARGS, "The passes that Graph.run_pass knows."},
    {"type_is_subtype", is_subtype, METH_VARARGS, "type_is_subtype(text, of): types as graphs print them."},
    {"set_graph_classes", set_classes, METH_VARARGS, "set_graph_classes(Graph, Block, Node, Value): of Python."},
    {NULL, NULL, 0, NULL}};

int add_graph_classes(PyObject *module, ModuleState *state) {
  ProgramState *programs = programs_of(state);
  return program_add_type(module, &graph_spec, &programs->graph_base) ||
                 program_add_type(module, &block_spec, &programs->block_base) || add_graph_node_class(module, state) ||
                 add_graph_value_classes(module, state) || PyModule_AddFunctions(module, functions)
             ? -1
             : 0;
}
