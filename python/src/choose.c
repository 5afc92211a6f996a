/* Which overload a call means, and what a call that fits none is told. */
#include <string.h>

#include "operator.h"

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
    PyObject *schema = lines ? overload_schema_text(self->state, s->overload) : NULL;
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
  const char *name = operator_short_name(self);
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
bool operator_choose(const OperatorObject *self, const CallArguments *call, BoundCall *best) {
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
