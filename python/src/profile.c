/* Profile: where the time of operators goes, of programs and of those that Python calls. */
#include "py_wick.h"

typedef struct ProfileObject {
  PyObject_HEAD wick_profile *profile;
  ModuleState *state;
} ProfileObject;

static _Thread_local ProfileObject *current; /* owned: what this thread's calls record into */

wick_profile *profile_of_thread(void) {
  return current ? current->profile : NULL;
}

static PyObject *profile_print(PyObject *self, PyObject *format) {
  ProfileObject *profile = (ProfileObject *)self;
  unsigned long number = PyLong_AsUnsignedLong(format);
  char *text;
  if (PyErr_Occurred()) return NULL;
  CHECK_WICK(profile->state, wick_profile_print(profile->profile, (uint32_t)number, &text, &check_error));
  PyObject *made = PyUnicode_FromString(text);
  wick_text_free(text);
  return made;
}

/* Gives what recorded before, or None. */
static PyObject *profile_swap(ProfileObject *next) {
  PyObject *before = (PyObject *)current;
  current = next;
  if (before) return before;
  Py_RETURN_NONE;
}

static PyObject *record_into(PyObject *module, PyObject *object) {
  ModuleState *state = state_of_module(module);
  if (object == Py_None) return profile_swap(NULL);
  if (Py_TYPE(object) != state->profile_type)
    return PyErr_Format(PyExc_TypeError, "_record_into() takes a Profile or None");
  Py_INCREF(object);
  return profile_swap((ProfileObject *)object);
}

static PyObject *new_profile(PyObject *module, PyObject *unused) {
  ModuleState *state = state_of_module(module);
  ProfileObject *made = (ProfileObject *)state->profile_type->tp_alloc(state->profile_type, 0);
  (void)unused;
  if (!made) return NULL;
  made->state = state;
  made->profile = wick_profile_new();
  if (made->profile) return (PyObject *)made;
  Py_DECREF(made);
  return PyErr_NoMemory();
}

static void profile_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_profile_release(((ProfileObject *)self)->profile);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"print", profile_print, METH_O, "print(format): a table (1), JSON (2), Chrome's trace (3), folded stacks (4)."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, profile_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "What ran, how often and how long."},
                              {0, NULL}};
static PyType_Spec spec = {"wick._C.Profile", sizeof(ProfileObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
static PyMethodDef functions[] = {
    {"_new_profile", new_profile, METH_NOARGS, "A Profile in which nothing is yet."},
    {"_record_into", record_into, METH_O,
     "_record_into(profile or None): where this thread's calls are recorded from now on; gives what it was."},
    {NULL, NULL, 0, NULL}};

int add_profile(PyObject *module, ModuleState *state) {
  state->profile_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  return state->profile_type ? PyModule_AddFunctions(module, functions) : -1;
}
