/* operator(name): a callable over all overloads of an operator, which are read when it is first called. */
#include <string.h>

#include "signature.h"

typedef struct OperatorObject {
  PyObject_HEAD vectorcallfunc call;
  ModuleState *state;
  PyObject *name;        /* "aten::add" */
  Signature *signatures; /* NULL: not read yet */
  uint32_t signature_count;
} OperatorObject;

/* ---- the overloads ---- */

/* "aten::add.Tensor" names one overload, "aten::add.default" the one without a name; NULL: all. */
static const char *only_overload(const char *name) {
  const char *colons = strstr(name, "::"), *dot = colons ? strchr(colons, '.') : NULL;
  return dot ? dot + 1 : NULL;
}
static const wick_overload *first_overload(const char *name) {
  char operator[256];
  const char *only = only_overload(name);
  size_t length = only ? (size_t)(only - name) - 1 : strlen(name);
  if (length >= sizeof operator) return NULL;
  memcpy(operator, name, length);
  operator[length] = 0;
  return wick_overload_first(operator);
}
static bool is_wanted(const wick_overload *overload, const char *name) {
  const char *only = only_overload(name);
  char *schema;
  if (!only) return true;
  if (wick_overload_schema(overload, &schema, NULL)) return false;
  size_t length = strcspn(schema, "(");
  const char *dot = memchr(schema, '.', length);
  size_t given = dot ? length - (size_t)(dot + 1 - schema) : 0;
  bool same = dot ? strlen(only) == given && !memcmp(dot + 1, only, given) : !strcmp(only, "default");
  wick_text_free(schema);
  return same;
}

static bool read_signatures(OperatorObject *self) {
  const char *name = PyUnicode_AsUTF8(self->name);
  const wick_overload *first = name ? first_overload(name) : NULL, *o;
  uint32_t count = 0, used = 0;
  if (!name) return false;
  for (o = first; o; o = wick_overload_next(o)) count++;
  Signature *made = PyMem_Calloc(count + 1u, sizeof *made);
  if (!made) return PyErr_NoMemory(), false;
  for (o = first; o && used < count; o = wick_overload_next(o)) {
    bool is_callable;
    if (!is_wanted(o, name)) continue;
    if (!signature_init(self->state, o, &made[used], &is_callable)) break;
    if (is_callable || only_overload(name))
      used++;
    else
      signature_dispose(&made[used]);
  }
  if (PyErr_Occurred()) {
    for (uint32_t i = 0; i < used; i++) signature_dispose(&made[i]);
    PyMem_Free(made);
    return false;
  }
  self->signatures = made;
  self->signature_count = used;
  return true;
}

/* "add": what Python calls it. */
static const char *short_name(const OperatorObject *self) {
  const char *name = PyUnicode_AsUTF8(self->name), *colons = name ? strstr(name, "::") : NULL;
  return colons ? colons + 2 : "";
}

static PyObject *schema_text(ModuleState *state, const wick_overload *overload) {
  char *text;
  CHECK_WICK(state, wick_overload_schema(overload, &text, &check_error));
  PyObject *made = PyUnicode_FromString(text);
  wick_text_free(text);
  return made;
}

/* ---- choosing ---- */

static PyObject *types_of(const CallArguments *call) {
  PyObject *list = PyList_New(0), *comma = NULL, *text = NULL;
  Py_ssize_t named = call->names ? PyTuple_GET_SIZE(call->names) : 0;
  for (Py_ssize_t i = 0; list && i < call->count + named; i++) {
    const char *type = Py_TYPE(call->values[i])->tp_name, *dot = strrchr(type, '.');
    type = dot ? dot + 1 : type;
    PyObject *item = i < call->count
                         ? PyUnicode_FromString(type)
                         : PyUnicode_FromFormat("%U=%s", PyTuple_GET_ITEM(call->names, i - call->count), type);
    if (!item || PyList_Append(list, item)) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  if (list && (comma = PyUnicode_FromString(", "))) text = PyUnicode_Join(comma, list);
  Py_XDECREF(list);
  Py_XDECREF(comma);
  return text;
}

/* One line for each overload that takes out=, or that does not, as the call was. */
static PyObject *refusals(const OperatorObject *self, const CallArguments *call) {
  PyObject *lines = PyUnicode_FromString("");
  for (uint32_t i = 0; lines && i < self->signature_count; i++) {
    const Signature *s = &self->signatures[i];
    BoundCall bound;
    PyObject *why = NULL;
    if (!!s->out_count != !!call->out) continue;
    if (signature_bind(self->state, s, call, &bound, &why)) Py_CLEAR(lines);
    bound_clear(&bound);
    PyObject *schema = lines ? schema_text(self->state, s->overload) : NULL;
    PyObject *line = schema ? PyUnicode_FromFormat("%U\n * %U\n   %U", lines, schema, why ? why : lines) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(why);
    Py_XDECREF(lines);
    lines = line;
  }
  return lines;
}

static uint32_t candidates(const OperatorObject *self, const CallArguments *call, const Signature **only) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < self->signature_count; i++)
    if (!!self->signatures[i].out_count == !!call->out) *only = &self->signatures[i], count++;
  return count;
}

static PyObject *raise_refusal(const OperatorObject *self, const CallArguments *call) {
  const Signature *only = NULL;
  const char *name = short_name(self);
  if (PyErr_Occurred()) return NULL;
  if (candidates(self, call, &only) == 1) {
    BoundCall bound;
    PyObject *why = NULL;
    if (signature_bind(self->state, only, call, &bound, &why) == 0 && why)
      PyErr_Format(PyExc_TypeError, "%s(): %U", name, why);
    bound_clear(&bound);
    Py_XDECREF(why);
    return NULL;
  }
  PyObject *types = types_of(call), *lines = types ? refusals(self, call) : NULL;
  if (lines)
    PyErr_Format(PyExc_TypeError,
                 "%s() received an invalid combination of arguments - got (%U), but expected one of:%U", name, types,
                 lines);
  Py_XDECREF(types);
  Py_XDECREF(lines);
  return NULL;
}

/* The signature that is nearest to the call, the first of equals; false with an error. Nearly always the first that
 * fits at all fits exactly, and is bound in place. */
static bool choose(const OperatorObject *self, const CallArguments *call, BoundCall *best) {
  uint32_t i = 0;
  for (best->fit = FIT_NOT; i < self->signature_count && best->fit == FIT_NOT; i++) {
    if (signature_bind(self->state, &self->signatures[i], call, best, NULL)) {
      bound_clear(best);
      return false;
    }
    if (best->fit == FIT_NOT) bound_clear(best);
  }
  for (; i < self->signature_count && best->fit != FIT_EXACT; i++) {
    BoundCall bound;
    int failed = signature_bind(self->state, &self->signatures[i], call, &bound, NULL);
    if (failed || bound.fit >= best->fit) {
      bound_clear(&bound);
      if (!failed) continue;
      bound_clear(best);
      return false;
    }
    bound_clear(best);
    *best = bound;
  }
  if (best->fit != FIT_NOT) return true;
  raise_refusal(self, call);
  return false;
}

/* ---- running ---- */

/* From so many elements on other threads of Python's may run meanwhile: below, giving the GIL away costs more. */
enum { MANY_ELEMENTS = 4096 };

static bool may_last(const Signature *s, wick_value *const *values) {
  bool sees_tensor = false;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!values[i]) continue;
    if (s->parameters[i].flags & WICK_PARAMETER_LIST && wick_value_length(values[i]) > 64) return true;
    if (s->parameters[i].kind != WICK_TAKES_TENSOR) continue;
    if (wick_tensor_count(values[i]) >= MANY_ELEMENTS) return true;
    sees_tensor = true;
  }
  return !sees_tensor && s->is_factory;
}

static wick_status run(const Signature *s, wick_value *const *values, wick_value **results, wick_error **error) {
  wick_run_options options;
  call_options(&options);
  if (!may_last(s, values))
    return wick_overload_call(NULL, s->overload, (const wick_value *const *)values, s->count, &options, results,
                              s->result_count, error);
  LongCall call;
  long_call_begin(&call, &options);
  wick_status status = wick_overload_call(NULL, s->overload, (const wick_value *const *)values, s->count, &options,
                                          results, s->result_count, error);
  long_call_end(&call);
  return status;
}

/* An operator may give back what it got: then it is the same object of Python's. Takes over `result`. */
static PyObject *tensor_result(ModuleState *state, const BoundCall *bound, wick_value *result) {
  const void *identity = wick_value_identity(result);
  for (uint32_t i = 0; i < bound->signature->count; i++) {
    PyObject *argument = bound->slots[i];
    if (bound->signature->parameters[i].kind != WICK_TAKES_TENSOR || !argument || !is_tensor(state, argument)) continue;
    if (wick_value_identity(tensor_value(argument)) != identity) continue;
    wick_value_release(result);
    Py_INCREF(argument);
    return argument;
  }
  return tensor_wrap(state, result);
}

static PyObject *number_result(PyObject *(*make)(ModuleState *, int64_t), ModuleState *state, wick_value *result) {
  int64_t number = wick_value_to_int(result);
  wick_value_release(result);
  return make(state, number);
}
static PyObject *dtype_of_number(ModuleState *state, int64_t number) {
  return dtype_object(state, (uint32_t)number);
}

/* Takes over `result`. Lists of tensors come as tuples. */
static PyObject *give(ModuleState *state, const BoundCall *bound, const Parameter *p, wick_value *result) {
  uint32_t kind = wick_value_kind(result);
  if (kind == WICK_TENSOR) return tensor_result(state, bound, result);
  if (kind == WICK_INT && p->kind == WICK_TAKES_DTYPE) return number_result(dtype_of_number, state, result);
  if (kind == WICK_INT && p->kind == WICK_TAKES_LAYOUT) return number_result(layout_object, state, result);
  PyObject *made = value_to_python(state, result);
  if (!made || !PyList_CheckExact(made) || p->kind != WICK_TAKES_TENSOR) return made;
  PyObject *tuple = PyList_AsTuple(made);
  Py_DECREF(made);
  return tuple;
}

/* A tuple whose items have the results' names. */
static PyTypeObject *result_type_of(const OperatorObject *self, Signature *s) {
  PyStructSequence_Field fields[MAX_RESULTS + 1] = {{NULL, NULL}};
  char name[128];
  if (s->result_type) return s->result_type;
  for (uint32_t i = 0; i < s->result_count; i++)
    if (!(fields[i].name = PyUnicode_AsUTF8(s->results[i].name))) return NULL;
  snprintf(name, sizeof name, "torch.return_types.%s", short_name(self));
  PyStructSequence_Desc description = {name, NULL, fields, (int)s->result_count};
  return s->result_type = PyStructSequence_NewType(&description);
}

static PyObject *several(const OperatorObject *self, const BoundCall *bound, wick_value **results) {
  Signature *s = (Signature *)bound->signature;
  bool named = PyUnicode_GET_LENGTH(s->results[0].name) > 0 && !s->out_count;
  PyTypeObject *type = named ? result_type_of(self, s) : NULL;
  PyObject *made = named ? (type ? PyStructSequence_New(type) : NULL) : PyTuple_New(s->result_count);
  for (uint32_t i = 0; i < s->result_count; i++) {
    PyObject *item = NULL;
    if (made)
      item = give(self->state, bound, &s->results[i], results[i]);
    else
      wick_value_release(results[i]);
    if (!made) continue;
    if (!item) {
      Py_CLEAR(made);
    } else if (named) {
      PyStructSequence_SET_ITEM(made, i, item);
    } else {
      PyTuple_SET_ITEM(made, i, item);
    }
  }
  return made;
}

static PyObject *finish(const OperatorObject *self, const BoundCall *bound, wick_value **results) {
  const Signature *s = bound->signature;
  if (s->result_count == 0) Py_RETURN_NONE;
  PyObject *made =
      s->result_count == 1 ? give(self->state, bound, &s->results[0], results[0]) : several(self, bound, results);
  if (!made || !bound->requires_grad) return made;
  int wanted = PyObject_IsTrue(bound->requires_grad);
  wick_error *error = NULL;
  wick_status status = WICK_OK;
  if (wanted > 0 && is_tensor(self->state, made)) status = wick_tensor_set_requires_grad(tensor_value(made), 1, &error);
  if (status) raise_wick(self->state, status, error);
  if (wanted < 0 || status) Py_CLEAR(made);
  return made;
}

/* Factories whose dtype follows from their numbers: the default one only where a number is a float. */
static bool has_integral_default(const char *name) {
  static const char *const names[] = {"randint", "randperm", "tril_indices", "triu_indices"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}
static bool dtype_follows_numbers(const char *name) {
  static const char *const names[] = {"arange", "range", "full", "scalar_tensor"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

/* set_default_dtype: what wick would make float32 for want of a dtype. */
static void fill_dtype(const OperatorObject *self, BoundCall *bound) {
  const Signature *s = bound->signature;
  const char *name = short_name(self);
  bool has_float = false;
  if (!s->is_factory || s->is_method || has_integral_default(name)) return;
  for (uint32_t i = 0; i < s->count; i++) {
    PyObject *argument = bound->slots[i];
    if (argument && PyComplex_Check(argument)) return;
    if (argument && s->parameters[i].kind == WICK_TAKES_SCALAR && PyFloat_Check(argument)) has_float = true;
  }
  if (dtype_follows_numbers(name) && !has_float) return;
  for (uint32_t i = 0; i < s->count; i++)
    if (s->parameters[i].kind == WICK_TAKES_DTYPE && !bound->slots[i])
      bound->slots[i] = self->state->dtypes[self->state->default_dtype];
}

static void release_results(wick_value **results, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) wick_value_release(results[i]);
}

static PyObject *run_bound(const OperatorObject *self, BoundCall *bound) {
  const Signature *s = bound->signature;
  wick_value *values[MAX_PARAMETERS], *results[MAX_RESULTS];
  wick_error *error = NULL;
  uint32_t count = 0;
  if (self->state->default_dtype != WICK_FLOAT32) fill_dtype(self, bound);
  for (; count < s->count; count++) {
    PyObject *argument = bound->slots[count];
    values[count] = NULL;
    if (argument && !(values[count] = parameter_convert(self->state, &s->parameters[count], argument))) break;
  }
  PyObject *made = NULL;
  if (count == s->count) {
    wick_status status = run(s, values, results, &error);
    if (status)
      raise_wick(self->state, status, error);
    else if (PyErr_Occurred()) /* what a signal's handler raised */
      release_results(results, s->result_count);
    else
      made = finish(self, bound, results);
  }
  while (count--) wick_value_release(values[count]);
  return made;
}

static PyObject *call_operator(PyObject *callable, PyObject *const *values, size_t count_and_flag, PyObject *names) {
  OperatorObject *self = (OperatorObject *)callable;
  CallArguments call = {values, PyVectorcall_NARGS(count_and_flag), names, NULL};
  if (!self->signatures && !read_signatures(self)) return NULL;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
    PyObject *name = PyTuple_GET_ITEM(names, i);
    bool is_out = name == self->state->name_out || PyUnicode_Compare(name, self->state->name_out) == 0;
    if (is_out && values[call.count + i] != Py_None) call.out = values[call.count + i];
  }
  BoundCall bound;
  if (!choose(self, &call, &bound)) return NULL;
  PyObject *made = run_bound(self, &bound);
  bound_clear(&bound);
  return made;
}

/* ---- the type ---- */

static int operator_traverse(PyObject *object, visitproc visit, void *arg) {
  OperatorObject *self = (OperatorObject *)object;
  Py_VISIT(Py_TYPE(self));
  for (uint32_t i = 0; i < self->signature_count; i++) Py_VISIT(self->signatures[i].result_type);
  return 0;
}

static void operator_dealloc(PyObject *object) {
  OperatorObject *self = (OperatorObject *)object;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  for (uint32_t i = 0; i < self->signature_count; i++) signature_dispose(&self->signatures[i]);
  PyMem_Free(self->signatures);
  Py_XDECREF(self->name);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *operator_repr(PyObject *object) {
  return PyUnicode_FromFormat("<operator %U>", ((OperatorObject *)object)->name);
}

static PyObject *operator_get(PyObject *self, PyObject *object, PyObject *type) {
  (void)type;
  if (object && object != Py_None) return PyMethod_New(self, object);
  Py_INCREF(self);
  return self;
}

static PyObject *operator_get_name(PyObject *object, void *unused) {
  (void)unused;
  return PyUnicode_FromString(short_name((OperatorObject *)object));
}

static PyObject *operator_get_schemas(PyObject *object, void *unused) {
  OperatorObject *self = (OperatorObject *)object;
  const char *name = PyUnicode_AsUTF8(self->name);
  PyObject *list = name ? PyList_New(0) : NULL;
  (void)unused;
  for (const wick_overload *o = list ? first_overload(name) : NULL; o && list; o = wick_overload_next(o)) {
    if (!is_wanted(o, name)) continue;
    PyObject *text = schema_text(self->state, o);
    if (!text || PyList_Append(list, text)) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

static PyObject *operator_get_doc(PyObject *object, void *unused) {
  PyObject *schemas = operator_get_schemas(object, unused), *line = PyUnicode_FromString("\n"), *text = NULL;
  if (schemas && line) text = PyUnicode_Join(line, schemas);
  Py_XDECREF(schemas);
  Py_XDECREF(line);
  return text;
}

static PyObject *operator_get_is_method(PyObject *object, void *unused) {
  OperatorObject *self = (OperatorObject *)object;
  (void)unused;
  if (!self->signatures && !read_signatures(self)) return NULL;
  for (uint32_t i = 0; i < self->signature_count; i++)
    if (self->signatures[i].is_method) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}

static PyObject *operator_get_is_callable(PyObject *object, void *unused) {
  OperatorObject *self = (OperatorObject *)object;
  (void)unused;
  if (!self->signatures && !read_signatures(self)) return NULL;
  return PyBool_FromLong(self->signature_count > 0);
}

static PyObject *operator_reduce(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *module = PyImport_ImportModule("wick._C");
  PyObject *maker = module ? PyObject_GetAttrString(module, "operator") : NULL;
  Py_XDECREF(module);
  return maker ? Py_BuildValue("(N(O))", maker, ((OperatorObject *)object)->name) : NULL;
}

static PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorObject, call), READONLY, NULL},
    {"qualified_name", T_OBJECT, offsetof(OperatorObject, name), READONLY, "\"aten::add\""},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef operator_getters[] = {
    {"__name__", operator_get_name, NULL, NULL, NULL},
    {"__qualname__", operator_get_name, NULL, NULL, NULL},
    {"__doc__", operator_get_doc, NULL, NULL, NULL},
    {"schemas", operator_get_schemas, NULL, "The text of every overload.", NULL},
    {"is_method", operator_get_is_method, NULL, "Whether an overload takes a tensor first.", NULL},
    {"is_callable", operator_get_is_callable, NULL, "Whether an overload takes or gives tensors.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef operator_methods[] = {{"__reduce__", operator_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot operator_slots[] = {
    {Py_tp_dealloc, operator_dealloc}, {Py_tp_traverse, operator_traverse}, {Py_tp_repr, operator_repr},
    {Py_tp_call, PyVectorcall_Call},   {Py_tp_descr_get, operator_get},     {Py_tp_members, operator_members},
    {Py_tp_getset, operator_getters},  {Py_tp_methods, operator_methods},   {0, NULL}};
static PyType_Spec operator_spec = {"wick.Operator", sizeof(OperatorObject), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
                                    operator_slots};

static PyObject *operator_new(ModuleState *state, PyObject *name) {
  OperatorObject *made = (OperatorObject *)state->operator_type->tp_alloc(state->operator_type, 0);
  if (!made) return NULL;
  made->call = call_operator;
  made->state = state;
  Py_INCREF(name);
  made->name = name;
  return (PyObject *)made;
}

static PyObject *operator_of(ModuleState *state, PyObject *name) {
  PyObject *found = PyDict_GetItemWithError(state->operators, name);
  if (found || PyErr_Occurred()) {
    Py_XINCREF(found);
    return found;
  }
  const char *text = PyUnicode_AsUTF8(name);
  if (!text) return NULL;
  if (!first_overload(text)) return PyErr_Format(PyExc_AttributeError, "there is no operator %U", name);
  PyObject *made = operator_new(state, name);
  if (made && PyDict_SetItem(state->operators, name, made)) Py_CLEAR(made);
  return made;
}

PyObject *operator_named(ModuleState *state, const char *qualified_name) {
  PyObject *name = PyUnicode_InternFromString(qualified_name);
  PyObject *found = name ? operator_of(state, name) : NULL;
  Py_XDECREF(name);
  return found;
}

PyObject *call_aten(ModuleState *state, const char *name, PyObject *const *arguments, size_t count) {
  PyObject *operator= operator_named(state, name);
  PyObject *made = operator? PyObject_Vectorcall(operator, arguments, count, NULL) : NULL;
  Py_XDECREF(operator);
  return made;
}

/* ---- the module's ---- */

static PyObject *find_operator(PyObject *module, PyObject *name) {
  ModuleState *state = state_of_module(module);
  if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "the name of an operator is a text");
  return operator_of(state, name);
}

/* Qualified names, each once. */
static PyObject *operator_names(PyObject *module, PyObject *unused) {
  PyObject *names = PySet_New(NULL);
  (void)module, (void)unused;
  for (const wick_overload *o = wick_overload_following(NULL); o && names; o = wick_overload_following(o)) {
    size_t length;
    const char *text = wick_overload_name(o, &length);
    PyObject *name = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    if (!name || PySet_Add(names, name)) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

/* A tensor comes first: the methods of Tensor. */
static bool takes_self(const wick_overload *o) {
  wick_parameter p = {.size = sizeof p};
  return !wick_overload_parameter(o, 0, &p, NULL) && p.kind == WICK_TAKES_TENSOR &&
         !(p.flags & (WICK_PARAMETER_LIST | WICK_PARAMETER_OUT | WICK_PARAMETER_OPTIONAL)) && p.name_length == 4 &&
         !memcmp(p.name, "self", 4);
}

static PyObject *method_names(PyObject *module, PyObject *unused) {
  PyObject *names = PySet_New(NULL);
  (void)module, (void)unused;
  for (const wick_overload *o = wick_overload_following(NULL); o && names; o = wick_overload_following(o)) {
    size_t length;
    const char *text = wick_overload_name(o, &length);
    if (length < 7 || memcmp(text, "aten::", 6) || !takes_self(o)) continue;
    PyObject *name = PyUnicode_FromStringAndSize(text + 6, (Py_ssize_t)length - 6);
    if (!name || PySet_Add(names, name)) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *load_library(PyObject *module, PyObject *path) {
  const char *text = PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
  if (!text) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "the path of a library is a text");
  CHECK_WICK(state_of_module(module), wick_load_library(text, &check_error));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"load_library", load_library, METH_O, "Opens a library that registers operators."},
    {"method_names", method_names, METH_NOARGS,
     "The names of operators of aten that take a tensor `self` first, as a "
     "set."},
    {"operator", find_operator, METH_O, "operator(qualified_name): the callable over all overloads of \"aten::add\"."},
    {"operator_names", operator_names, METH_NOARGS, "The qualified names of all operators, as a set."},
    {NULL, NULL, 0, NULL}};

int add_operators(PyObject *module, ModuleState *state) {
  state->operator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &operator_spec, NULL);
  if (!state->operator_type || PyModule_AddType(module, state->operator_type)) return -1;
  if (!(state->operators = PyDict_New())) return -1;
  return PyModule_AddFunctions(module, functions);
}
