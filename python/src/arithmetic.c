/* Tensor's number protocol: Python's operators as wick's. */
#include <string.h>

#include "py_wick.h"

/* One of the two is a tensor. */
static ModuleState *state_of_operands(PyObject *a, PyObject *b) {
  PyTypeObject *types[] = {Py_TYPE(a), Py_TYPE(b)};
  for (int i = 0; i < 2; i++)
    if (types[i]->tp_basicsize >= (Py_ssize_t)sizeof(TensorObject) && types[i]->tp_flags & Py_TPFLAGS_HEAPTYPE) {
      ModuleState *state = state_of(i ? b : a);
      if (state && is_tensor(state, i ? b : a)) return state;
      PyErr_Clear();
    }
  return NULL;
}

static bool is_operand(const ModuleState *state, PyObject *object) {
  if (is_tensor(state, object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) return true;
  const PyNumberMethods *methods = Py_TYPE(object)->tp_as_number; /* numbers of NumPy, but not its arrays */
  return methods && (methods->nb_index || methods->nb_float) && strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray");
}

static PyObject *binary(PyObject *a, PyObject *b, const char *name) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || !is_operand(state, a) || !is_operand(state, b)) Py_RETURN_NOTIMPLEMENTED;
  PyObject *arguments[] = {a, b};
  return call_aten(state, name, arguments, 2);
}

/* What has no form for a number on the left: the number becomes a tensor, weak in type promotion as numbers are. */
static PyObject *binary_reflected(PyObject *a, PyObject *b, const char *name, const char *reflected) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || !is_operand(state, a) || !is_operand(state, b)) Py_RETURN_NOTIMPLEMENTED;
  if (is_tensor(state, a)) {
    PyObject *arguments[] = {a, b};
    return call_aten(state, name, arguments, 2);
  }
  PyObject *arguments[] = {b, a};
  return call_aten(state, reflected, arguments, 2);
}

static PyObject *unary(PyObject *self, const char *name) {
  return call_aten(((TensorObject *)self)->state, name, &self, 1);
}

#define BINARY(function, name)                          \
  static PyObject *function(PyObject *a, PyObject *b) { \
    return binary(a, b, name);                          \
  }
#define UNARY(function, name)                 \
  static PyObject *function(PyObject *self) { \
    return unary(self, name);                 \
  }
#define COMMUTATIVE(function, name)                     \
  static PyObject *function(PyObject *a, PyObject *b) { \
    return binary_reflected(a, b, name, name);          \
  }
COMMUTATIVE(add, "aten::add")
COMMUTATIVE(multiply, "aten::mul")
BINARY(floor_divide, "aten::floor_divide")
BINARY(remainder_of, "aten::remainder")
BINARY(matmul, "aten::matmul")
COMMUTATIVE(and, "aten::__and__")
COMMUTATIVE(or, "aten::__or__")
COMMUTATIVE(xor, "aten::__xor__")
BINARY(shift_left, "aten::__lshift__")
BINARY(shift_right, "aten::__rshift__")
UNARY(negative, "aten::neg")
UNARY(absolute, "aten::abs")
UNARY(invert, "aten::bitwise_not")
BINARY(iadd, "aten::add_")
BINARY(isubtract, "aten::sub_")
BINARY(imultiply, "aten::mul_")
BINARY(idivide, "aten::div_")
BINARY(ifloor_divide, "aten::floor_divide_")
BINARY(iremainder, "aten::remainder_")
BINARY(ipower_of, "aten::pow_")
BINARY(iand, "aten::__iand__")
BINARY(ior, "aten::__ior__")
BINARY(ixor, "aten::__ixor__")
BINARY(ishift_left, "aten::__ilshift__")
BINARY(ishift_right, "aten::__irshift__")

static PyObject *subtract(PyObject *a, PyObject *b) {
  return binary_reflected(a, b, "aten::sub", "aten::rsub");
}
/* As torch computes number / tensor: times the reciprocal. */
static PyObject *divide(PyObject *a, PyObject *b) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || is_tensor(state, a) || !is_operand(state, a)) return binary(a, b, "aten::div");
  PyObject *reciprocal = unary(b, "aten::reciprocal"), *arguments[] = {reciprocal, a};
  PyObject *made = reciprocal ? call_aten(state, "aten::mul", arguments, 2) : NULL;
  Py_XDECREF(reciprocal);
  return made;
}
static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(a, b, "aten::pow");
}
static PyObject *ipower(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return ipower_of(a, b);
}
static PyObject *positive(PyObject *self) {
  Py_INCREF(self);
  return self;
}

/* ---- one element as a number ---- */

static PyObject *item(PyObject *self) {
  return PyObject_CallMethod(self, "item", NULL);
}

static int truth(PyObject *self) {
  int64_t count = wick_tensor_count(tensor_value(self));
  if (count != 1) {
    PyErr_Format(PyExc_RuntimeError, "Boolean value of Tensor with %s ambiguous",
                 count ? "more than one value is" : "no values is");
    return -1;
  }
  PyObject *number = item(self);
  int is_true = number ? PyObject_IsTrue(number) : -1;
  Py_XDECREF(number);
  return is_true;
}

static PyObject *as_int(PyObject *self) {
  PyObject *number = item(self), *whole = number ? PyNumber_Long(number) : NULL;
  Py_XDECREF(number);
  return whole;
}
static PyObject *as_float(PyObject *self) {
  PyObject *number = item(self), *real = number ? PyNumber_Float(number) : NULL;
  Py_XDECREF(number);
  return real;
}
static PyObject *as_index(PyObject *self) {
  wick_tensor_info info;
  if (tensor_info(self, &info)) return NULL;
  bool integral = info.dtype <= WICK_INT64 || info.dtype == WICK_BOOL8;
  if (info.count != 1 || !integral)
    return PyErr_Format(PyExc_TypeError, "only integer tensors of a single element can be converted to an index");
  return as_int(self);
}

PyType_Slot tensor_number_slots[] = {{Py_nb_add, add},
                                     {Py_nb_subtract, subtract},
                                     {Py_nb_multiply, multiply},
                                     {Py_nb_true_divide, divide},
                                     {Py_nb_floor_divide, floor_divide},
                                     {Py_nb_remainder, remainder_of},
                                     {Py_nb_power, power},
                                     {Py_nb_matrix_multiply, matmul},
                                     {Py_nb_and, and},
                                     {Py_nb_or, or },
                                     {Py_nb_xor, xor},
                                     {Py_nb_lshift, shift_left},
                                     {Py_nb_rshift, shift_right},
                                     {Py_nb_negative, negative},
                                     {Py_nb_positive, positive},
                                     {Py_nb_absolute, absolute},
                                     {Py_nb_invert, invert},
                                     {Py_nb_inplace_add, iadd},
                                     {Py_nb_inplace_subtract, isubtract},
                                     {Py_nb_inplace_multiply, imultiply},
                                     {Py_nb_inplace_true_divide, idivide},
                                     {Py_nb_inplace_floor_divide, ifloor_divide},
                                     {Py_nb_inplace_remainder, iremainder},
                                     {Py_nb_inplace_power, ipower},
                                     {Py_nb_inplace_and, iand},
                                     {Py_nb_inplace_or, ior},
                                     {Py_nb_inplace_xor, ixor},
                                     {Py_nb_inplace_lshift, ishift_left},
                                     {Py_nb_inplace_rshift, ishift_right},
                                     {Py_nb_bool, truth},
                                     {Py_nb_int, as_int},
                                     {Py_nb_float, as_float},
                                     {Py_nb_index, as_index},
                                     {0, NULL}};
