/* Values of programs that Python has classes for: objects, modules, members of enums, NamedTuples, futures. */
#include <string.h>

#include "program.h"

/* ---- from Python ---- */

/* An object as its class's attributes make it. `entry`: ("object", Program, name, names of attributes). */
static wick_value *object_value(ModuleState *state, PyObject *entry, PyObject *object) {
  wick_module *program = program_module(state, PyTuple_GET_ITEM(entry, 1));
  const char *class_name = program ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(entry, 2)) : NULL;
  PyObject *attributes = PyTuple_GET_ITEM(entry, 3);
  if (!class_name) return NULL;
  size_t wanted = (size_t)PyTuple_GET_SIZE(attributes), count = 0;
  const char **names = PyMem_Calloc(wanted + 1, sizeof *names);
  wick_value **values = PyMem_Calloc(wanted + 1, sizeof *values), *made = NULL;
  if (!names || !values) PyErr_NoMemory();
  for (; names && values && count < wanted; count++) {
    PyObject *name = PyTuple_GET_ITEM(attributes, (Py_ssize_t)count), *value = PyObject_GetAttr(object, name);
    names[count] = value ? PyUnicode_AsUTF8(name) : NULL;
    values[count] = names[count] ? value_from_python(state, value) : NULL;
    Py_XDECREF(value);
    if (!values[count]) break;
  }
  if (!PyErr_Occurred()) {
    wick_error *error = NULL;
    wick_status status =
        wick_object_new(program, class_name, names, (const wick_value *const *)values, count, &made, &error);
    if (status) raise_wick(state, status, error);
  }
  for (size_t i = 0; values && i < count; i++) wick_value_release(values[i]);
  PyMem_Free(names), PyMem_Free(values);
  return made;
}

static wick_value *member_value(ModuleState *state, PyObject *entry, PyObject *object) {
  wick_module *program = program_module(state, PyTuple_GET_ITEM(entry, 1));
  const char *class_name = program ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(entry, 2)) : NULL;
  PyObject *name = class_name ? PyObject_GetAttrString(object, "name") : NULL;
  const char *member = name ? PyUnicode_AsUTF8(name) : NULL;
  wick_value *made = NULL;
  if (member) {
    wick_error *error = NULL;
    wick_status status = wick_enum_value(program, class_name, member, &made, &error);
    if (status) raise_wick(state, status, error);
  }
  Py_XDECREF(name);
  return made;
}

static int of_handle(ModuleState *state, PyObject *handle, wick_value **out) {
  wick_value *kept = kept_value(state, handle);
  wick_module *module = kept ? NULL : program_module(state, handle);
  if (!kept && !module) return -1;
  *out = kept ? wick_value_retain(kept) : wick_module_object(module);
  if (*out) return 1;
  PyErr_NoMemory();
  return -1;
}

/* Compiles the class of a member of an enum that no program has named yet; 0: it is none. */
static int know_enum(const ProgramState *programs, PyTypeObject *type) {
  if (Py_TYPE(type) == &PyType_Type || !programs->wrap) return 0; /* enums have a metaclass */
  if (!PyObject_HasAttrString((PyObject *)type, "_member_map_")) return 0;
  PyObject *done = PyObject_CallFunction(programs->wrap, "sO", "enum class", type);
  Py_XDECREF(done);
  return done ? PyDict_Contains(programs->classes, (PyObject *)type) : -1;
}

/* An object of a class that derives from one that programs know stands for an object of that one, with the attributes
 * that programs know; 0: it derives from none. */
static int of_base(ModuleState *state, PyObject *object, wick_value **out) {
  PyObject *order = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(order); i++) {
    PyObject *entry = PyDict_GetItemWithError(programs_of(state)->classes, PyTuple_GET_ITEM(order, i));
    if (!entry && PyErr_Occurred()) return -1;
    if (!entry || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(entry, 0), "object")) continue;
    *out = object_value(state, entry, object);
    return *out ? 1 : -1;
  }
  return 0;
}

int program_value_from(ModuleState *state, PyObject *object, wick_value **out) {
  const ProgramState *programs = programs_of(state);
  PyTypeObject *type = Py_TYPE(object);
  if (type == &PyList_Type || type == &PyTuple_Type || type == &PyDict_Type) return 0;
  if (type == programs->program_type) return of_handle(state, object, out);
  if (type == programs->kept_type) return of_handle(state, object, out);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return 0;
  PyObject *entry = PyDict_GetItemWithError(programs->classes, (PyObject *)type);
  if (entry) {
    bool is_enum = !PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(entry, 0), "enum");
    *out = is_enum ? member_value(state, entry, object) : object_value(state, entry, object);
    return *out ? 1 : -1;
  }
  if (PyErr_Occurred()) return -1;
  if (!_PyType_Lookup(type, programs->name_handle)) {
    int known = know_enum(programs, type);
    if (!known) return of_base(state, object, out);
    return known > 0 ? program_value_from(state, object, out) : known;
  }
  PyObject *handle = PyObject_GetAttr(object, programs->name_handle);
  int known = handle ? of_handle(state, handle, out) : -1;
  Py_XDECREF(handle);
  return known;
}

/* ---- to Python ---- */

static PyObject *items_of(ModuleState *state, const wick_value *value) {
  size_t count = wick_value_length(value);
  PyObject *items = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; items && i < count; i++) {
    PyObject *item = value_to_python(state, wick_value_item(value, i));
    if (!item)
      Py_CLEAR(items);
    else
      PyTuple_SET_ITEM(items, (Py_ssize_t)i, item);
  }
  return items;
}

static PyObject *keys_of(ModuleState *state, const wick_value *value) {
  size_t count = wick_value_length(value);
  PyObject *keys = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; keys && i < count; i++) {
    PyObject *key = value_to_python(state, wick_value_key(value, i));
    if (!key)
      Py_CLEAR(keys);
    else
      PyTuple_SET_ITEM(keys, (Py_ssize_t)i, key);
  }
  return keys;
}

static PyObject *type_name(ModuleState *state, const wick_value *value) {
  char *text;
  CHECK_WICK(state, wick_value_type(value, &text, &check_error));
  return text_take(text);
}

/* wrap(kind, name of the type, names, items). */
static PyObject *wrap_parts(ModuleState *state, const char *kind, const wick_value *value) {
  PyObject *name = type_name(state, value), *made = NULL;
  PyObject *names = !name ? NULL : wick_value_kind(value) == WICK_ENUM ? PyTuple_New(0) : keys_of(state, value);
  PyObject *items = names ? items_of(state, value) : NULL;
  if (items) made = PyObject_CallFunction(programs_of(state)->wrap, "sOOO", kind, name, names, items);
  Py_XDECREF(name), Py_XDECREF(names), Py_XDECREF(items);
  return made;
}

/* The same value, held: wrap(kind, kept). */
static PyObject *wrap_kept(ModuleState *state, const char *kind, const wick_value *value) {
  PyObject *kept = kept_wrap(state, wick_value_retain((wick_value *)(uintptr_t)value));
  PyObject *made = kept ? PyObject_CallFunction(programs_of(state)->wrap, "sO", kind, kept) : NULL;
  Py_XDECREF(kept);
  return made;
}

/* Whether its class is written in C, so that nothing of it can be looked at: 1, 0, or -1 with an error. */
static int is_native(ModuleState *state, const wick_value *object) {
  PyObject *name = type_name(state, object);
  const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
  int native = text ? strncmp(text, "__torch__.torch.classes.", 24) == 0 : -1;
  Py_XDECREF(name);
  return native;
}

static PyObject *object_to_python(ModuleState *state, const wick_value *value) {
  wick_module *module;
  if (wick_module_of_object(value, NULL, &module, NULL)) {
    int native = is_native(state, value);
    return native < 0 ? NULL : native ? wrap_kept(state, "native", value) : wrap_parts(state, "object", value);
  }
  PyObject *program = program_wrap(state, module);
  if (!program) return NULL;
  PyObject *made = PyObject_CallFunction(programs_of(state)->wrap, "sO", "module", program);
  Py_DECREF(program);
  return made;
}

static PyObject *to_python(ModuleState *state, const wick_value *value) {
  uint32_t kind = wick_value_kind(value);
  if (programs_of(state)->wrap && kind == WICK_OBJECT) return object_to_python(state, value);
  if (programs_of(state)->wrap && kind == WICK_ENUM) return wrap_parts(state, "enum", value);
  if (programs_of(state)->wrap && kind == WICK_TUPLE) return wrap_parts(state, "tuple", value);
  if (programs_of(state)->wrap && kind == WICK_FUTURE) return wrap_kept(state, "future", value);
  PyObject *name = type_name(state, value);
  if (name) PyErr_Format(PyExc_TypeError, "a value of type %U can't be shown in Python", name);
  Py_XDECREF(name);
  return NULL;
}

PyObject *program_value_to(ModuleState *state, wick_value *value) {
  PyObject *made = NULL;
  if (!Py_EnterRecursiveCall(" in a value of wick")) {
    made = to_python(state, value);
    Py_LeaveRecursiveCall();
  }
  wick_value_release(value);
  return made;
}

/* ---- what Python tells of its classes ---- */

static PyObject *register_class(PyObject *self, PyObject *args) {
  PyObject *class, *program, *name, *attributes;
  const char *kind;
  ModuleState *state = state_of_module(self);
  if (!PyArg_ParseTuple(args, "OsOUO!:register_class", &class, &kind, &program, &name, &PyTuple_Type, &attributes))
    return NULL;
  if (!program_module(state, program)) return NULL;
  PyObject *entry = Py_BuildValue("(sOOO)", kind, program, name, attributes);
  int failed = !entry || PyDict_SetItem(programs_of(state)->classes, class, entry);
  Py_XDECREF(entry);
  if (failed) return NULL;
  Py_RETURN_NONE;
}

static PyObject *set_wrap(PyObject *self, PyObject *callable) {
  ProgramState *programs = programs_of(state_of_module(self));
  Py_INCREF(callable);
  Py_XSETREF(programs->wrap, callable);
  Py_RETURN_NONE;
}

PyMethodDef object_methods[] = {
    {"register_class", register_class, METH_VARARGS,
     "register_class(class, \"object\" or \"enum\", program, name, attributes): how its objects go to programs."},
    {"set_wrap", set_wrap, METH_O,
     "set_wrap(wrap): what makes objects of Python: wrap(\"module\", program), or wrap(\"object\", \"enum\" or "
     "\"tuple\", name of the type, names, items); wrap(\"enum class\", class) registers it; wrap(\"future\" or "
     "\"native\", kept);\n"
     "wrap(\"arguments\", method, args, kwargs, message) calls with arguments that do not fit as they are, "
     "wrap(\"refused\", ...) says why, wrap(\"autocast\", ...) calls in a region of autocast."},
    {NULL, NULL, 0, NULL}};
