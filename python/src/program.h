/* What the files of programs share: the state that hangs on ModuleState.program_state, and the handles of Python.
 *
 *   tree.c     nested tuples as trees
 *   compile.c  compiling trees, names from a resolver in Python
 *   program.c  Program: a compiled text or a module; saving and loading
 *   method.c   Method: a function that is called quickly
 *   limits.c   limits of calls, cancelling, profiles; executors and what is kept, of the process
 *   graph.h    Graph, its blocks, nodes and values
 *   foreign.c  functions of Python as operators that programs call
 *   object.c   objects, enums and NamedTuples both ways
 *   kept.c     lists, dicts and futures of programs that Python holds as they are */
#ifndef PY_WICK_PROGRAM_H
#define PY_WICK_PROGRAM_H

#include "py_wick.h"

typedef struct ProgramState {
  PyTypeObject *program_type, *method_type, *graph_base, *block_base, *node_base, *graph_value_base, *alias_type,
      *cancel_type, *limits_type, *kept_type;
  PyTypeObject *graph_type, *block_type, *node_type, *graph_value_type; /* Python's; NULL: not there yet */
  bool has_graph_classes;
  PyObject *last_called;             /* a Program or Method, borrowed: it forgets itself when it goes */
  PyObject *classes;                 /* dict: a class of Python -> (kind, Program, name, names of attributes) */
  PyObject *wrap;                    /* makes Python's objects of parts: wrap(kind, ...); NULL: nobody has set it */
  PyObject *name_handle;             /* "_script_handle" */
  struct ForeignFunction *functions; /* that operators of the process call */
} ProgramState;
static inline ProgramState *programs_of(ModuleState *state) {
  return state->program_state;
}

typedef struct ProgramObject {
  PyObject_HEAD wick_module *module;
  ModuleState *state;
  PyObject *weak_references;
} ProgramObject;
/* A new reference; takes over `module`. */
PyObject *program_wrap(ModuleState *state, wick_module *module);
/* Borrowed; NULL with a TypeError. */
wick_module *program_module(ModuleState *state, PyObject *object);

/* Takes over `function`. */
PyObject *method_wrap(ModuleState *state, wick_function *function);
/* Takes over `value`. */
PyObject *kept_wrap(ModuleState *state, wick_value *value);
wick_value *kept_value(const ModuleState *state, PyObject *object); /* borrowed; NULL: it is no Kept */
/* Takes over `graph`. */
PyObject *graph_wrap(ModuleState *state, wick_graph *graph);
/* Takes over the text; NULL after a failure. */
PyObject *text_take(char *text);

/* The arguments of a vectorcall as wick takes them; free with arguments_free, also after a failure. */
enum { INLINE_ARGUMENTS = 12 };
typedef struct Arguments {
  wick_value *few[INLINE_ARGUMENTS], **values;
  const char *few_names[INLINE_ARGUMENTS], **names;
  size_t count, named;
} Arguments;
int arguments_read(ModuleState *state, Arguments *a, PyObject *const *objects, Py_ssize_t positional, PyObject *names);
void arguments_free(Arguments *a);

/* The tree that nested tuples describe: (kind, children or text, begin, end), with a source as a fifth item where
 * places are in another text: it has `data` (bytes), `file_name` and `first_line`. `texts`: a dict of the sources that
 * `trees` has. -1 with an error. */
int tree_build(ModuleState *state, wick_trees *trees, PyObject *texts, PyObject *description, const wick_tree **out);

int program_value_from(ModuleState *state, PyObject *object, wick_value **out);
PyObject *program_value_to(ModuleState *state, wick_value *value);

/* What the files add to the module. */
extern PyMethodDef compile_methods[], foreign_methods[], object_methods[], program_functions[];
int add_program_class(PyObject *module, ModuleState *state);
int add_method_class(PyObject *module, ModuleState *state);
int add_limits(PyObject *module, ModuleState *state);
PyObject *memory_dict(const wick_memory *memory);
int add_graph_classes(PyObject *module, ModuleState *state);
int add_kept_class(PyObject *module, ModuleState *state);
void take_output(ModuleState *state); /* what programs print goes to Python */
void leave_output(const ModuleState *state);
void clear_foreign_functions(ProgramState *programs); /* the module goes */
int program_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out);

#endif
