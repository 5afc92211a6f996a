/* What programs add to the module. */
#include "program.h"

int add_programs(PyObject *module, ModuleState *state) {
  ProgramState *programs = PyMem_Calloc(1, sizeof *programs);
  if (!programs) return PyErr_NoMemory(), -1;
  state->program_state = programs;
  programs->classes = PyDict_New();
  programs->name_handle = PyUnicode_InternFromString("_script_handle");
  if (!programs->classes || !programs->name_handle) return -1;
  if (add_program_class(module, state) || add_method_class(module, state) || add_graph_classes(module, state) ||
      add_limits(module, state) || add_kept_class(module, state))
    return -1;
  PyMethodDef *const lists[] = {compile_methods, foreign_methods, object_methods, program_functions};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (PyModule_AddFunctions(module, lists[i])) return -1;
  state->program_value_from = program_value_from;
  state->program_value_to = program_value_to;
  take_output(state);
  return 0;
}

static PyObject **objects_of(ProgramState *programs, size_t i) {
  PyObject **const all[] = {(PyObject **)&programs->program_type,
                            (PyObject **)&programs->method_type,
                            (PyObject **)&programs->graph_base,
                            (PyObject **)&programs->block_base,
                            (PyObject **)&programs->node_base,
                            (PyObject **)&programs->graph_value_base,
                            (PyObject **)&programs->alias_type,
                            (PyObject **)&programs->cancel_type,
                            (PyObject **)&programs->limits_type,
                            (PyObject **)&programs->graph_type,
                            (PyObject **)&programs->block_type,
                            (PyObject **)&programs->node_type,
                            (PyObject **)&programs->graph_value_type,
                            (PyObject **)&programs->kept_type,
                            &programs->classes,
                            &programs->wrap,
                            &programs->name_handle};
  return i < sizeof all / sizeof *all ? all[i] : NULL;
}

int traverse_programs(ModuleState *state, visitproc visit, void *arg) {
  for (size_t i = 0; state->program_state && objects_of(programs_of(state), i); i++)
    Py_VISIT(*objects_of(programs_of(state), i));
  return 0;
}

void clear_programs(ModuleState *state) {
  leave_output(state);
  for (size_t i = 0; state->program_state && objects_of(programs_of(state), i); i++)
    Py_CLEAR(*objects_of(programs_of(state), i));
  if (state->program_state) clear_foreign_functions(programs_of(state));
}
