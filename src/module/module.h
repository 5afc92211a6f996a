/* module: modules as values.
 *
 *   module/module.h       Module, a view on an Object whose class is a module (this file)
 *   module/lower_graph.h  a method's parameters as arguments
 *   module/signature.h    what a method takes and gives, as far as its program says
 *   module/freeze.h       attributes as constants */
#pragma once

#include "ir/unit.h"

typedef struct Exec Exec; /* call/exec.h */

typedef struct Module {
  RefCount refs;
  Object *object;        /* owned */
  CompilationUnit *unit; /* owned */
  Map extra_files;       /* name -> owned String */
} Module;
Status module_new(CompilationUnit *unit, Object *object, Module **out) MUST_CHECK; /* retains both */
void module_release(Module *module);
/* Copies both; the name is the part after extra/. */
Status module_add_extra_file(Module *module, Str name, Str text) MUST_CHECK;
Status module_set_extra_file(Module *module, Str name, Str text) MUST_CHECK; /* the same; replaces */
Function *module_find_method(const Module *module, Str name);
/* Depth-first in declaration order, names joined with dots ("layer1.0.weight"); shared tensors appear under each name.
 */
typedef struct ModuleSlot {
  Str name;
  AttributeKind kind;
  const Type *type;
  Object *object; /* of whom it is the slot */
  uint32_t index;
  IValue value; /* borrowed for the visit; object_set replaces it */
} ModuleSlot;
typedef bool ModuleVisit(void *argument, const ModuleSlot *slot); /* false stops */
Status module_each(const Module *module, bool recurse, ModuleVisit *visit, void *argument) MUST_CHECK;
Status module_train(Module *module, bool training) MUST_CHECK;
/* Parameters and buffers: those of floating dtypes in that one; all on that device. */
Status module_to(Module *module, DType dtype) MUST_CHECK;
Status module_to_device(Module *module, Device device) MUST_CHECK;
/* Parameters and buffers by dotted name; the tensors themselves, not copies. */
Status module_state_dict(const Module *module, Dict **out) MUST_CHECK;
/* Copies the values of a state dict, whose names must be those of module_state_dict; dtypes are converted. When
 * anything does not fit, an error says all that does not, and the module stays as it was. */
Status module_load_state(Module *module, const Dict *state) MUST_CHECK;
