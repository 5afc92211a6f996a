/* Profile: where the time of operators goes, of programs and of those that Python calls. */
#include <time.h>

#include "py_wick.h"

typedef struct ProfileObject {
  PyObject_HEAD wick_profile *profile;
  ModuleState *state;
  PyObject *calls; /* list: (name, begin, end) of each operator that Python called, in nanoseconds of a steady clock */
} ProfileObject;

static _Thread_local ProfileObject *current; /* owned: what this thread's calls record into */

wick_profile *profile_of_thread(void) {
  return current ? current->profile : NULL;
}

uint64_t profile_clock(void) {
  struct timespec now;
  if (!current || clock_gettime(CLOCK_MONOTONIC, &now)) return 0;
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void profile_note(PyObject *name, uint64_t begin) {
  uint64_t end = profile_clock();
  PyObject *call = end ? Py_BuildValue("(OKK)", name, (unsigned long long)begin, (unsigned long long)end) : NULL;
  if (!call || PyList_Append(current->calls, call)) PyErr_Clear();
  Py_XDECREF(call);
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
  made->calls = PyList_New(0);
  if (made->profile && made->calls) return (PyObject *)made;
  Py_DECREF(made);
  return PyErr_NoMemory();
}

static void profile_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  wick_profile_release(((ProfileObject *)self)->profile);
  Py_XDECREF(((ProfileObject *)self)->calls);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"print", profile_print, METH_O, "print(format): a table (1), JSON (2), Chrome's trace (3), folded stacks (4)."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {
    {"calls", T_OBJECT, offsetof(ProfileObject, calls), READONLY, "Operators that Python called: (name, begin, end)."},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, profile_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
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
