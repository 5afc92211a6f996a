/* What the files of graphs share.
 *
 *   graph.c        Graph and Block; making, printing, compiling
 *   graph_node.c   Node
 *   graph_value.c  GraphValue, and AliasDb, which answers about them
 *
 * Blocks, nodes and values are held by handles of Python for as long as these want: a handle keeps its graph, and what
 * is no longer in the graph answers no question but fails. Python's classes derive from these (wick/jit/_graph.py). */
#ifndef PY_WICK_GRAPH_H
#define PY_WICK_GRAPH_H

#include "program.h"

typedef struct GraphObject {
  PyObject_HEAD wick_graph *graph;
  ModuleState *state;
  PyObject *parent; /* the graph that this one is an attribute in, or NULL */
} GraphObject;
typedef struct PartObject {
  PyObject_HEAD GraphObject *owner;
  union {
    void *part;
    wick_block *block;
    wick_node *node;
    wick_ir_value *value;
  };
} PartObject;

/* Takes over `graph`, an attribute of a node of the other one. */
PyObject *graph_wrap_within(GraphObject *outer, wick_graph *graph);
/* New references; None for NULL. */
PyObject *graph_block_wrap(GraphObject *owner, wick_block *block);
PyObject *graph_node_wrap(GraphObject *owner, wick_node *node);
PyObject *graph_value_wrap(GraphObject *owner, wick_ir_value *value);
PyObject *graph_part_wrap(GraphObject *owner, PyTypeObject *type, void *part);
/* Borrowed; NULL with an error: of another class, or no longer there. */
wick_block *graph_block_of(ModuleState *state, PyObject *object);
wick_node *graph_node_of(ModuleState *state, PyObject *object);
wick_ir_value *graph_value_of(ModuleState *state, PyObject *object);
GraphObject *graph_of(ModuleState *state, PyObject *object);
/* A node, or NULL for None; -1 with an error. */
int graph_node_or_none(ModuleState *state, PyObject *object, wick_node **out);
/* The values of a sequence, to be freed with PyMem_Free; NULL with an error. */
wick_ir_value **graph_values_of(ModuleState *state, PyObject *sequence, size_t *out_count);
/* Takes over the item, which may be NULL; nonzero with an error. */
int graph_append(PyObject *list, PyObject *item);

void graph_part_dealloc(PyObject *self);
PyObject *graph_part_compare(PyObject *self, PyObject *other, int op);
Py_hash_t graph_part_hash(PyObject *self);
PyObject *graph_part_owner(PyObject *self, void *unused);

int add_graph_node_class(PyObject *module, ModuleState *state);
int add_graph_value_classes(PyObject *module, ModuleState *state);

#endif
