/* Graph, Node and GraphValue: graphs to be looked at. Nodes and values keep their graph. */
#include <string.h>

#include "program.h"

typedef struct GraphObject {
  PyObject_HEAD wick_graph *graph;
  ModuleState *state;
} GraphObject;
typedef struct PartObject { /* a node or a value */
  PyObject_HEAD GraphObject *owner;
  union {
    wick_node *node;
    wick_ir_value *value;
  };
} PartObject;

PyObject *graph_wrap(ModuleState *state, wick_graph *graph) {
  PyTypeObject *type = programs_of(state)->graph_type;
  GraphObject *made = (GraphObject *)type->tp_alloc(type, 0);
  if (!made) {
    wick_graph_release(graph);
    return NULL;
  }
  made->graph = graph;
  made->state = state;
  return (PyObject *)made;
}

static PartObject *part_wrap(PyTypeObject *type, GraphObject *owner) {
  PartObject *made = (PartObject *)type->tp_alloc(type, 0);
  if (!made) return NULL;
  Py_INCREF(owner);
  made->owner = owner;
  return made;
}
static PyObject *node_wrap(GraphObject *owner, wick_node *node) {
  if (!node) Py_RETURN_NONE;
  PartObject *made = part_wrap(programs_of(owner->state)->node_type, owner);
  if (made) made->node = node;
  return (PyObject *)made;
}
static PyObject *value_wrap(GraphObject *owner, wick_ir_value *value) {
  PartObject *made = part_wrap(programs_of(owner->state)->graph_value_type, owner);
  if (made) made->value = value;
  return (PyObject *)made;
}

static int append(PyObject *list, PyObject *item) {
  int failed = !item || PyList_Append(list, item);
  Py_XDECREF(item);
  return failed;
}

/* ---- blocks ---- */

/* Nodes of a kind (NULL: all), with `deep` those of nested blocks. */
static int gather(GraphObject *owner, const wick_block *block, const char *kind, bool deep, PyObject *list) {
  if (Py_EnterRecursiveCall(" in a graph")) return -1;
  int failed = 0;
  for (wick_node *node = wick_block_first(block); node && !failed; node = wick_node_next(node)) {
    if (!kind || !strcmp(wick_node_kind(node), kind)) failed = append(list, node_wrap(owner, node));
    for (size_t i = 0; deep && i < wick_node_block_count(node) && !failed; i++)
      failed = gather(owner, wick_node_block(node, i), kind, deep, list);
  }
  Py_LeaveRecursiveCall();
  return failed;
}

static PyObject *nodes_of(GraphObject *owner, const wick_block *block, const char *kind, bool deep) {
  PyObject *list = PyList_New(0);
  if (list && gather(owner, block, kind, deep, list)) Py_CLEAR(list);
  return list;
}

static PyObject *ends_of(GraphObject *owner, const wick_block *block, bool inputs) {
  size_t count = inputs ? wick_block_input_count(block) : wick_block_output_count(block);
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < count; i++) {
    wick_ir_value *value = inputs ? wick_block_input(block, i) : wick_block_output(block, i);
    if (append(list, value_wrap(owner, value))) Py_CLEAR(list);
  }
  return list;
}

/* ---- Graph ---- */

static wick_block *top(PyObject *self) {
  return wick_graph_block(((GraphObject *)self)->graph);
}
static PyObject *graph_str(PyObject *self) {
  GraphObject *graph = (GraphObject *)self;
  char *text;
  CHECK_WICK(graph->state, wick_graph_print(graph->graph, &text, &check_error));
  return text_take(text);
}
static PyObject *graph_places(PyObject *self, PyObject *unused) {
  GraphObject *graph = (GraphObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(graph->state, wick_graph_print_places(graph->graph, &text, &check_error));
  return text_take(text);
}
static PyObject *graph_nodes(PyObject *self, PyObject *unused) {
  (void)unused;
  return nodes_of((GraphObject *)self, top(self), NULL, false);
}
static PyObject *graph_inputs(PyObject *self, PyObject *unused) {
  (void)unused;
  return ends_of((GraphObject *)self, top(self), true);
}
static PyObject *graph_outputs(PyObject *self, PyObject *unused) {
  (void)unused;
  return ends_of((GraphObject *)self, top(self), false);
}
static PyObject *find_all(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *const names[] = {"kind", "recurse", NULL};
  const char *kind;
  int deep = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|p", KEYWORDS(names), &kind, &deep)) return NULL;
  return nodes_of((GraphObject *)self, top(self), kind, deep);
}
static PyObject *find_one(PyObject *self, PyObject *args, PyObject *keywords) {
  PyObject *all = find_all(self, args, keywords);
  if (!all) return NULL;
  PyObject *first = PyList_GET_SIZE(all) ? PyList_GET_ITEM(all, 0) : Py_None;
  Py_INCREF(first);
  Py_DECREF(all);
  return first;
}
static PyObject *graph_run_pass(PyObject *self, PyObject *name) {
  GraphObject *graph = (GraphObject *)self;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(graph->state, wick_graph_run_pass(graph->graph, text, &check_error));
  Py_RETURN_NONE;
}
static PyObject *graph_lint(PyObject *self, PyObject *unused) {
  GraphObject *graph = (GraphObject *)self;
  (void)unused;
  CHECK_WICK(graph->state, wick_graph_check(graph->graph, &check_error));
  Py_RETURN_NONE;
}
static void graph_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_graph_release(((GraphObject *)self)->graph);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyMethodDef graph_methods[] = {
    {"nodes", graph_nodes, METH_NOARGS, "The nodes of its block, in order."},
    {"inputs", graph_inputs, METH_NOARGS, NULL},
    {"outputs", graph_outputs, METH_NOARGS, NULL},
    {"findNode", (PyCFunction)(void (*)(void))find_one, METH_VARARGS | METH_KEYWORDS,
     "findNode(kind, recurse=True): the first one, or None."},
    {"findAllNodes", (PyCFunction)(void (*)(void))find_all, METH_VARARGS | METH_KEYWORDS,
     "findAllNodes(kind, recurse=True)"},
    {"run_pass", graph_run_pass, METH_O, "run_pass(name): one of wick's passes."},
    {"lint", graph_lint, METH_NOARGS, "Raises where the graph is broken."},
    {"str_with_places", graph_places, METH_NOARGS, "Its text, with the place in the source behind every node."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot graph_slots[] = {{Py_tp_dealloc, graph_dealloc},
                                    {Py_tp_str, graph_str},
                                    {Py_tp_repr, graph_str},
                                    {Py_tp_methods, graph_methods},
                                    {Py_tp_doc, "A copy of a function's graph."},
                                    {0, NULL}};
static PyType_Spec graph_spec = {"wick._C.Graph", sizeof(GraphObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, graph_slots};

/* graph_parse(text) */
static PyObject *parse(PyObject *self, PyObject *args) {
  const char *text;
  Py_ssize_t length;
  wick_graph *graph;
  if (!PyArg_ParseTuple(args, "s#:graph_parse", &text, &length)) return NULL;
  CHECK_WICK(state_of_module(self), wick_graph_parse(text, (size_t)length, &graph, &check_error));
  return graph_wrap(state_of_module(self), graph);
}

/* ---- Node ---- */

static PyObject *node_kind(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(wick_node_kind(((PartObject *)self)->node));
}
static PyObject *node_scope(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(wick_node_scope(((PartObject *)self)->node));
}
static PyObject *node_ends(PyObject *self, bool inputs) {
  PartObject *part = (PartObject *)self;
  size_t count = inputs ? wick_node_input_count(part->node) : wick_node_output_count(part->node);
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < count; i++) {
    wick_ir_value *value = inputs ? wick_node_input(part->node, i) : wick_node_output(part->node, i);
    if (append(list, value_wrap(part->owner, value))) Py_CLEAR(list);
  }
  return list;
}
static PyObject *node_inputs(PyObject *self, PyObject *unused) {
  (void)unused;
  return node_ends(self, true);
}
static PyObject *node_outputs(PyObject *self, PyObject *unused) {
  (void)unused;
  return node_ends(self, false);
}
static PyObject *node_blocks(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_node_block_count(part->node); i++)
    if (append(list, nodes_of(part->owner, wick_node_block(part->node, i), NULL, false))) Py_CLEAR(list);
  return list;
}
static PyObject *node_schema(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(part->owner->state, wick_node_schema(part->node, &text, &check_error));
  return text_take(text);
}
static PyObject *node_range(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(part->owner->state, wick_node_excerpt(part->node, &text, &check_error));
  return text_take(text);
}
static PyObject *node_attribute_names(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  PyObject *list = PyList_New(0);
  (void)unused;
  for (size_t i = 0; list && i < wick_node_attribute_count(part->node); i++)
    if (append(list, PyUnicode_FromString(wick_node_attribute_name(part->node, i)))) Py_CLEAR(list);
  return list;
}
static PyObject *node_attribute(PyObject *self, PyObject *name) {
  PartObject *part = (PartObject *)self;
  wick_value *value;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  CHECK_WICK(part->owner->state, wick_node_attribute(part->node, text, &value, &check_error));
  return value_to_python(part->owner->state, value);
}
static PyObject *node_repr(PyObject *self) {
  return PyUnicode_FromFormat("<node %s>", wick_node_kind(((PartObject *)self)->node));
}
static void part_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((PartObject *)self)->owner);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyMethodDef node_methods[] = {
    {"kind", node_kind, METH_NOARGS, "\"aten::add\""},
    {"scopeName", node_scope, METH_NOARGS, "\"__module.fc\": where it was traced"},
    {"inputs", node_inputs, METH_NOARGS, NULL},
    {"outputs", node_outputs, METH_NOARGS, NULL},
    {"blocks", node_blocks, METH_NOARGS, "The nodes of each nested block."},
    {"schema", node_schema, METH_NOARGS, "That of its operator, or \"\"."},
    {"sourceRange", node_range, METH_NOARGS, "The lines of the source that it comes from."},
    {"attributeNames", node_attribute_names, METH_NOARGS, NULL},
    {"attribute", node_attribute, METH_O, "attribute(name): its value; None where it is a graph or a type."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot node_slots[] = {{Py_tp_dealloc, part_dealloc},
                                   {Py_tp_repr, node_repr},
                                   {Py_tp_methods, node_methods},
                                   {Py_tp_doc, "A node of a graph."},
                                   {0, NULL}};
static PyType_Spec node_spec = {"wick._C.Node", sizeof(PartObject), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, node_slots};

/* ---- values ---- */

static PyObject *value_name(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(part->owner->state, wick_ir_value_name(part->value, &text, &check_error));
  return text_take(text);
}
static PyObject *value_type(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  char *text;
  (void)unused;
  CHECK_WICK(part->owner->state, wick_ir_value_type(part->value, &text, &check_error));
  return text_take(text);
}
static PyObject *value_node(PyObject *self, PyObject *unused) {
  (void)unused;
  return node_wrap(((PartObject *)self)->owner, wick_ir_value_node(((PartObject *)self)->value));
}
static PyObject *value_constant(PyObject *self, PyObject *unused) {
  PartObject *part = (PartObject *)self;
  wick_value *value;
  (void)unused;
  CHECK_WICK(part->owner->state, wick_ir_value_constant(part->value, &value, &check_error));
  return value_to_python(part->owner->state, value);
}
static PyObject *value_repr(PyObject *self) {
  PyObject *name = value_name(self, NULL), *text = name ? PyUnicode_FromFormat("%%%U", name) : NULL;
  Py_XDECREF(name);
  return text;
}
static PyMethodDef value_methods[] = {{"debugName", value_name, METH_NOARGS, "What stands behind the %."},
                                      {"type", value_type, METH_NOARGS, "Its type, as text."},
                                      {"node", value_node, METH_NOARGS, "The node that gives it, or None."},
                                      {"toIValue", value_constant, METH_NOARGS, "What a constant is, or None."},
                                      {NULL, NULL, 0, NULL}};
static PyType_Slot value_slots[] = {{Py_tp_dealloc, part_dealloc},
                                    {Py_tp_repr, value_repr},
                                    {Py_tp_methods, value_methods},
                                    {Py_tp_doc, "What a node or a block of a graph gives."},
                                    {0, NULL}};
static PyType_Spec value_spec = {"wick._C.GraphValue", sizeof(PartObject), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, value_slots};

static PyMethodDef functions[] = {{"graph_parse", parse, METH_VARARGS, "graph_parse(text): the Graph of its text."},
                                  {NULL, NULL, 0, NULL}};

int add_graph_classes(PyObject *module, ModuleState *state) {
  ProgramState *programs = programs_of(state);
  return program_add_type(module, &graph_spec, &programs->graph_type) ||
                 program_add_type(module, &node_spec, &programs->node_type) ||
                 program_add_type(module, &value_spec, &programs->graph_value_type) ||
                 PyModule_AddFunctions(module, functions)
             ? -1
             : 0;
}
