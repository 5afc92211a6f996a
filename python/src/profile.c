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

wick_profile *profile_handle(ModuleState *state, PyObject *object) {
  return Py_TYPE(object) == state->profile_type ? ((ProfileObject *)object)->profile : NULL;
}

static PyObject *profile_text(PyObject *self, PyObject *form) {
  static const char *const names[] = {[WICK_PROFILE_TABLE] = "table",
                                      [WICK_PROFILE_JSON] = "json",
                                      [WICK_PROFILE_TRACE] = "trace",
                                      [WICK_PROFILE_FOLDED] = "folded",
                                      [WICK_PROFILE_BY_OPERATOR] = "by_operator",
                                      [WICK_PROFILE_BY_MODULE] = "by_module",
                                      [WICK_PROFILE_BY_SOURCE] = "by_source"};
  ProfileObject *profile = (ProfileObject *)self;
  char *text;
  uint32_t format = 0;
  if (!PyUnicode_Check(form)) return PyErr_Format(PyExc_TypeError, "text(): a name is expected");
  for (uint32_t i = WICK_PROFILE_TABLE; i < sizeof names / sizeof *names; i++)
    if (!PyUnicode_CompareWithASCIIString(form, names[i])) format = i;
  if (!format)
    return PyErr_Format(PyExc_ValueError,
                        "there is no format %R: table, json, trace, folded, by_operator, by_module, by_source", form);
  CHECK_WICK(profile->state, wick_profile_print(profile->profile, format, &text, &check_error));
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
  if (!profile_handle(state, object)) return PyErr_Format(PyExc_TypeError, "_record_into() takes a Profile or None");
  Py_INCREF(object);
  return profile_swap((ProfileObject *)object);
}

static PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  ProfileObject *made = (ProfileObject *)type->tp_alloc(type, 0);
  (void)args, (void)keywords;
  if (!made) return NULL;
  made->state = PyType_GetModuleState(type);
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
    {"text", profile_text, METH_O,
     "text(format): what was recorded, as \"table\", \"json\", \"trace\" (Chrome's) or \"folded\" (flame graphs)."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {
    {"calls", T_OBJECT, offsetof(ProfileObject, calls), READONLY, "Operators that Python called: (name, begin, end)."},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, profile_new},
                              {Py_tp_dealloc, profile_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_doc, "Profile(): what ran, how often and how long."},
                              {0, NULL}};
static PyType_Spec spec = {"wick.runtime.Profile", sizeof(ProfileObject), 0, Py_TPFLAGS_DEFAULT, slots};
static PyMethodDef functions[] = {
    {"_record_into", record_into, METH_O,
     "_record_into(profile or None): where this thread's calls are recorded from now on; gives what it was."},
    {NULL, NULL, 0, NULL}};

int add_profile(PyObject *module, ModuleState *state) {
  state->profile_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  if (!state->profile_type || PyObject_SetAttrString(module, "Profile", (PyObject *)state->profile_type)) return -1;
  return PyModule_AddFunctions(module, functions);
}
