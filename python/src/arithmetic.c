/* Tensor's number protocol: Python's operators as wick's. */
#include <string.h>

#include "override.h"
#include "trace.h"

static int truth(PyObject *self);

/* Classes of ours and those derived from them have our slot, unless they define __bool__. */
static bool has_our_slots(PyObject *object) {
  const PyNumberMethods *methods = Py_TYPE(object)->tp_as_number;
  return methods && methods->nb_bool == truth;
}

/* One of the two is a tensor. */
static ModuleState *state_of_operands(PyObject *a, PyObject *b) {
  if (has_our_slots(a)) return ((TensorObject *)a)->state;
  if (has_our_slots(b)) return ((TensorObject *)b)->state;
  for (int i = 0; i < 2; i++) {
    ModuleState *state = state_of(i ? b : a);
    if (state && is_tensor(state, i ? b : a)) return state;
    PyErr_Clear();
  }
  return NULL;
}

/* The operators that the slots call, looked up once for each module. */
enum Arithmetic {
  ARITHMETIC_AND,
  ARITHMETIC_IAND,
  ARITHMETIC_ILSHIFT,
  ARITHMETIC_IOR,
  ARITHMETIC_IRSHIFT,
  ARITHMETIC_IXOR,
  ARITHMETIC_LSHIFT,
  ARITHMETIC_OR,
  ARITHMETIC_RSHIFT,
  ARITHMETIC_XOR,
  ARITHMETIC_ABS,
  ARITHMETIC_ADD,
  ARITHMETIC_ADD_,
  ARITHMETIC_BITWISE_NOT,
  ARITHMETIC_DIV,
  ARITHMETIC_DIV_,
  ARITHMETIC_FLOOR_DIVIDE,
  ARITHMETIC_FLOOR_DIVIDE_,
  ARITHMETIC_MATMUL,
  ARITHMETIC_MUL,
  ARITHMETIC_MUL_,
  ARITHMETIC_NEG,
  ARITHMETIC_POW,
  ARITHMETIC_POW_,
  ARITHMETIC_RECIPROCAL,
  ARITHMETIC_REMAINDER,
  ARITHMETIC_REMAINDER_,
  ARITHMETIC_RSUB,
  ARITHMETIC_SUB,
  ARITHMETIC_SUB_,
  ARITHMETIC_LT,
  ARITHMETIC_LE,
  ARITHMETIC_EQ,
  ARITHMETIC_NE,
  ARITHMETIC_GT,
  ARITHMETIC_GE,
  ARITHMETIC_END
};
static const char *const names[ARITHMETIC_END] = {[ARITHMETIC_AND] = "aten::__and__",
                                                  [ARITHMETIC_IAND] = "aten::__iand__",
                                                  [ARITHMETIC_ILSHIFT] = "aten::__ilshift__",
                                                  [ARITHMETIC_IOR] = "aten::__ior__",
                                                  [ARITHMETIC_IRSHIFT] = "aten::__irshift__",
                                                  [ARITHMETIC_IXOR] = "aten::__ixor__",
                                                  [ARITHMETIC_LSHIFT] = "aten::__lshift__",
                                                  [ARITHMETIC_OR] = "aten::__or__",
                                                  [ARITHMETIC_RSHIFT] = "aten::__rshift__",
                                                  [ARITHMETIC_XOR] = "aten::__xor__",
                                                  [ARITHMETIC_ABS] = "aten::abs",
                                                  [ARITHMETIC_ADD] = "aten::add",
                                                  [ARITHMETIC_ADD_] = "aten::add_",
                                                  [ARITHMETIC_BITWISE_NOT] = "aten::bitwise_not",
                                                  [ARITHMETIC_DIV] = "aten::div",
                                                  [ARITHMETIC_DIV_] = "aten::div_",
                                                  [ARITHMETIC_FLOOR_DIVIDE] = "aten::floor_divide",
                                                  [ARITHMETIC_FLOOR_DIVIDE_] = "aten::floor_divide_",
                                                  [ARITHMETIC_MATMUL] = "aten::matmul",
                                                  [ARITHMETIC_MUL] = "aten::mul",
                                                  [ARITHMETIC_MUL_] = "aten::mul_",
                                                  [ARITHMETIC_NEG] = "aten::neg",
                                                  [ARITHMETIC_POW] = "aten::pow",
                                                  [ARITHMETIC_POW_] = "aten::pow_",
                                                  [ARITHMETIC_RECIPROCAL] = "aten::reciprocal",
                                                  [ARITHMETIC_REMAINDER] = "aten::remainder",
                                                  [ARITHMETIC_REMAINDER_] = "aten::remainder_",
                                                  [ARITHMETIC_RSUB] = "aten::rsub",
                                                  [ARITHMETIC_SUB] = "aten::sub",
                                                  [ARITHMETIC_SUB_] = "aten::sub_",
                                                  [ARITHMETIC_LT] = "aten::lt",
                                                  [ARITHMETIC_LE] = "aten::le",
                                                  [ARITHMETIC_EQ] = "aten::eq",
                                                  [ARITHMETIC_NE] = "aten::ne",
                                                  [ARITHMETIC_GT] = "aten::gt",
                                                  [ARITHMETIC_GE] = "aten::ge"};
_Static_assert((int)ARITHMETIC_END == (int)ARITHMETIC_COUNT, "the state has room for each");

static PyObject *call_arithmetic(ModuleState *state, enum Arithmetic what, PyObject *const *arguments, size_t count) {
  PyObject **slot = &state->arithmetic[what];
  if (!*slot && !(*slot = operator_named(state, names[what]))) return NULL;
  PyObject *made = PyObject_Vectorcall(*slot, arguments, count, NULL);
  if (made || !state->has_overrides || !PyErr_ExceptionMatches(PyExc_TypeError)) return made;
  if (!override_wanted(state, arguments, (Py_ssize_t)count)) return NULL;
  PyErr_Clear(); /* what overrides the operator does not take the other operand: Python asks that one */
  Py_RETURN_NOTIMPLEMENTED;
}

static bool is_operand(const ModuleState *state, PyObject *object) {
  if (is_tensor(state, object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) return true;
  if (override_has(state, Py_TYPE(object))) return true;
  const PyNumberMethods *methods = Py_TYPE(object)->tp_as_number; /* numbers of NumPy, but not its arrays */
  return methods && (methods->nb_index || methods->nb_float) && strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray");
}

static PyObject *binary(PyObject *a, PyObject *b, enum Arithmetic name) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || !is_operand(state, a) || !is_operand(state, b)) Py_RETURN_NOTIMPLEMENTED;
  PyObject *arguments[] = {a, b};
  return call_arithmetic(state, name, arguments, 2);
}

/* What has no form for a number on the left: the number becomes a tensor, weak in type promotion as numbers are. */
static PyObject *binary_reflected(PyObject *a, PyObject *b, enum Arithmetic name, enum Arithmetic reflected) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || !is_operand(state, a) || !is_operand(state, b)) Py_RETURN_NOTIMPLEMENTED;
  if (is_tensor(state, a)) {
    PyObject *arguments[] = {a, b};
    return call_arithmetic(state, name, arguments, 2);
  }
  PyObject *arguments[] = {b, a};
  return call_arithmetic(state, reflected, arguments, 2);
}

static PyObject *unary(PyObject *self, enum Arithmetic name) {
  return call_arithmetic(((TensorObject *)self)->state, name, &self, 1);
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
COMMUTATIVE(add, ARITHMETIC_ADD)
COMMUTATIVE(multiply, ARITHMETIC_MUL)
BINARY(floor_divide, ARITHMETIC_FLOOR_DIVIDE)
BINARY(remainder_of, ARITHMETIC_REMAINDER)
COMMUTATIVE(and, ARITHMETIC_AND)
COMMUTATIVE(or, ARITHMETIC_OR)
COMMUTATIVE(xor, ARITHMETIC_XOR)
BINARY(shift_left, ARITHMETIC_LSHIFT)
BINARY(shift_right, ARITHMETIC_RSHIFT)
UNARY(negative, ARITHMETIC_NEG)
UNARY(absolute, ARITHMETIC_ABS)
UNARY(invert, ARITHMETIC_BITWISE_NOT)
BINARY(iadd, ARITHMETIC_ADD_)
BINARY(isubtract, ARITHMETIC_SUB_)
BINARY(imultiply, ARITHMETIC_MUL_)
BINARY(idivide, ARITHMETIC_DIV_)
BINARY(ifloor_divide, ARITHMETIC_FLOOR_DIVIDE_)
BINARY(iremainder, ARITHMETIC_REMAINDER_)
BINARY(ipower_of, ARITHMETIC_POW_)
BINARY(iand, ARITHMETIC_IAND)
BINARY(ior, ARITHMETIC_IOR)
BINARY(ixor, ARITHMETIC_IXOR)
BINARY(ishift_left, ARITHMETIC_ILSHIFT)
BINARY(ishift_right, ARITHMETIC_IRSHIFT)

/* Of tensors alone. */
static PyObject *matmul(PyObject *a, PyObject *b) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || !is_tensor(state, a) || !is_tensor(state, b)) Py_RETURN_NOTIMPLEMENTED;
  return binary(a, b, ARITHMETIC_MATMUL);
}
static PyObject *subtract(PyObject *a, PyObject *b) {
  return binary_reflected(a, b, ARITHMETIC_SUB, ARITHMETIC_RSUB);
}
/* As torch computes number / tensor: times the reciprocal. */
static PyObject *divide(PyObject *a, PyObject *b) {
  ModuleState *state = state_of_operands(a, b);
  if (!state || is_tensor(state, a) || !is_operand(state, a)) return binary(a, b, ARITHMETIC_DIV);
  PyObject *reciprocal = unary(b, ARITHMETIC_RECIPROCAL), *arguments[] = {reciprocal, a};
  PyObject *made = reciprocal ? call_arithmetic(state, ARITHMETIC_MUL, arguments, 2) : NULL;
  Py_XDECREF(reciprocal);
  return made;
}
static PyObject *power(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(a, b, ARITHMETIC_POW);
}
static PyObject *ipower(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return ipower_of(a, b);
}
static PyObject *positive(PyObject *self) {
  Py_INCREF(self);
  return self;
}

static PyObject *compare(PyObject *self, PyObject *other, int op) {
  static const unsigned char of_op[] = {[Py_LT] = ARITHMETIC_LT, [Py_LE] = ARITHMETIC_LE, [Py_EQ] = ARITHMETIC_EQ,
                                        [Py_NE] = ARITHMETIC_NE, [Py_GT] = ARITHMETIC_GT, [Py_GE] = ARITHMETIC_GE};
  ModuleState *state = ((TensorObject *)self)->state;
  if (!is_operand(state, other)) Py_RETURN_NOTIMPLEMENTED;
  PyObject *arguments[] = {self, other};
  return call_arithmetic(state, of_op[op], arguments, 2);
}

/* ---- one element as a number ---- */

static PyObject *item(PyObject *self) {
  return call_method(self, "item", NULL);
}

/* The only element; a trace is told what it becomes. */
static PyObject *item_as(PyObject *self, const char *what) {
  if (!wick_trace_is_on()) return item(self);
  if (trace_warn_python(what)) return NULL;
  wick_trace_pause();
  PyObject *number = item(self);
  wick_trace_resume();
  return number;
}

static int truth(PyObject *self) {
  ModuleState *state = ((TensorObject *)self)->state;
  if (override_applies(state, self)) {
    PyObject *made = override_slot(state, "__bool__", &self, 1);
    int answer = made ? PyObject_IsTrue(made) : -1;
    Py_XDECREF(made);
    return answer;
  }
  int64_t count = wick_tensor_count(tensor_value(self));
  if (count != 1) {
    PyErr_Format(PyExc_RuntimeError, "Boolean value of Tensor with %s ambiguous",
                 count ? "more than one value is" : "no values is");
    return -1;
  }
  PyObject *number = item_as(self, "boolean");
  int is_true = number ? PyObject_IsTrue(number) : -1;
  Py_XDECREF(number);
  return is_true;
}

static PyObject *as_int(PyObject *self) {
  ModuleState *state = ((TensorObject *)self)->state;
  if (override_applies(state, self)) return override_slot(state, "__int__", &self, 1);
  PyObject *number = item_as(self, "integer"), *whole = number ? PyNumber_Long(number) : NULL;
  Py_XDECREF(number);
  return whole;
}
static PyObject *as_float(PyObject *self) {
  ModuleState *state = ((TensorObject *)self)->state;
  if (override_applies(state, self)) return override_slot(state, "__float__", &self, 1);
  PyObject *number = item_as(self, "float"), *real = number ? PyNumber_Float(number) : NULL;
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
                                     {Py_tp_richcompare, compare},
                                     {0, NULL}};
