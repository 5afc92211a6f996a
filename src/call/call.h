/* call: what operators and calls of them are. An operator is one row of data; the registry finds rows; operator_call is
 * the only way to run one. In reading order:
 *
 *   call/runtime.h   Runtime, what calls share with those after them
 *   call/exec.h      Exec, what every call is given; Services, what is asked of the folders after it
 *   call/call.h      Call and its accessors, operator_call, shape functions (this file)
 *   call/operator.h  Operator, the registry
 *   call/row.h       OpRow, the columns of an operator; call/row_extras.h those that few have
 *   call/torch_version.h  rows that are of PyTorch 2.x alone, and who asks for them
 *   call/convert.h   numbers from outside where a parameter asks for another kind
 *   call/match.h     calls from outside: arguments against a schema
 *
 * for the registry and operator_call:
 *   call/built_in.h       tables of rows, forms and classes, from later folders
 *   call/row_index.h      rows by the names of the operators they give
 *   call/derive.h         in-place and .out forms, made from a row
 *   call/open_inputs.h    values at what a schema leaves open
 *   call/call_plan.h      what operator_call asks of a schema, found once
 *   call/row_dtypes.h     the dtypes a row takes
 *   call/kind_form.h      forms of operators for quantized and sparse tensors
 *   call/device_kernel.h  forms of operators for classes of devices
 *   call/quantized_engine.h  whose arithmetic quantized operators follow
 *   call/operator_library.h  libraries of operators, by name
 *   call/native_class.h   classes whose objects hold a value of C
 *   call/call_body.h      what does a call that a kernel declines
 *   call/call_internal.h  what operator_call and the forms that write share
 *
 * for kernels:
 *   call/results.h    results that are no tensors
 *   call/agree.h      checks that arguments agree
 *   call/options.h    sizes, dtype, layout and device as arguments
 *   call/pointwise.h  rows with a formula
 *   call/region.h     what engines take along
 *
 * A Call is one invocation of an operator. Inputs are borrowed; outputs are owned by the Call until its maker takes
 * them.
 *
 *   static Status kernel_neg(Call *call) {
 *     const Tensor *self = call_tensor(call, 0);
 *     Tensor *out = call_out(call, 0);       // allocated as the shape function said
 *     ...
 *     return OK;
 *   }                                                                                         */
#pragma once

#include <assert.h>

#include "call/exec.h"

typedef struct Generator Generator; /* tensor/random.h */

enum { CALL_MAX_OUTPUTS = 9 };

typedef Status Kernel(struct Call *call);
typedef struct Call {
  Exec *exec;
  const struct Operator *op;
  const IValue *inputs; /* in the order of the schema, defaults filled in; a vararg operator's are all of them */
  IValue *outputs;      /* output_count slots: TAG_NONE, or a tensor to fill */
  uint32_t input_count, output_count;
  uint64_t dying;          /* bit i: nobody needs input i after this call, its memory may be reused */
  const struct Node *node; /* for factories' operations and traces; may be NULL */
  union {
    void *state;           /* a factory's */
    struct CallBody *body; /* call/call_body.h: of other operators, those that may decline; may be NULL */
  };
  const IValue *given; /* for traces: what the caller gave for each parameter, before it was converted; may be NULL */
  const struct KindForm *form; /* runs in place of the row's kernel: call/kind_form.h; NULL: none */
} Call;

/* The only way to call an operator: checks what kinds of tensor the row accepts, resolves lazy conj/neg, asks the shape
 * function, allocates, derives in-place and out forms, runs the kernel (or formula, or body), bumps versions, records
 * for autograd and tracing. Outputs are owned by the caller whatever is returned; on failure they are None. */
Status operator_call(Exec *exec, const struct Operator *op, Call *call) MUST_CHECK;
/* The same for an operation that a factory made, which runs in place of what the row says, with call->state. */
Status operator_call_made(Exec *exec, const struct Operator *op, const struct KindForm *operation,
                          Call *call) MUST_CHECK;
/* A tensor for output i: what is there, if it fits, or a dying input where the row's flags allow that, or a new one.
 * For operator_call, and for composite kernels that compute a result themselves. */
Status call_fill_slot(Call *call, uint32_t i, const TensorSpec *spec) MUST_CHECK;
/* The same below autograd and tracing: for the engine, which calls it for call->op from autograd_record. */
Status operator_run(Call *call) MUST_CHECK;

/* Calls an operator by name from C, e.g. inside a composite kernel. The OpRef caches the lookup.
 *   static OpRef matmul = OP_REF("aten::matmul", "");
 *   TRY(op_call(call->exec, &matmul, 2, (IValue[]){a, b}, 1, &result));
 * Missing trailing arguments take their defaults. Arguments borrowed, outputs owned. */
typedef struct OpRef {
  const char *name, *overload;
  _Atomic(const struct Operator *) op;
} OpRef;
#define OP_REF(name, overload) \
  { name, overload, NULL }
Status op_find(OpRef *ref, const struct Operator **out) MUST_CHECK; /* an error: there is none */
Status op_call(Exec *exec, OpRef *ref, uint32_t input_count, const IValue *inputs, uint32_t output_count,
               IValue *outputs) MUST_CHECK;

/* ---- arguments; the schema was checked, and what it leaves open (OpRow.open), so these only read ---- */
static inline IValue call_value(const Call *c, uint32_t i) {
  assert(i < c->input_count);
  return c->inputs[i];
}
static inline bool call_is_none(const Call *c, uint32_t i) {
  return c->inputs[i].tag == TAG_NONE;
}
static inline Tensor *call_tensor(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_TENSOR);
  return c->inputs[i].tensor;
}
static inline Tensor *call_tensor_or_null(const Call *c, uint32_t i) { /* Tensor?: None and undefined are NULL */
  return c->inputs[i].tag == TAG_TENSOR && tensor_is_defined(c->inputs[i].tensor) ? c->inputs[i].tensor : NULL;
}
static inline int64_t call_int(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_INT);
  return c->inputs[i].i;
}
static inline int64_t call_int_or(const Call *c, uint32_t i, int64_t fallback) {
  return call_is_none(c, i) ? fallback : c->inputs[i].i;
}
static inline bool call_bool(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_BOOL);
  return c->inputs[i].b;
}
static inline double call_double(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_FLOAT);
  return c->inputs[i].f;
}
static inline double call_double_or(const Call *c, uint32_t i, double fallback) {
  return call_is_none(c, i) ? fallback : ivalue_to_double(c->inputs[i]);
}
static inline IValue call_scalar(const Call *c, uint32_t i) {
  return c->inputs[i];
} /* int, float, complex or bool; ivalue_to_* converts */
static inline Str call_str(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_STRING);
  return ivalue_str(c->inputs[i]);
}
static inline DType call_dtype_or(const Call *c, uint32_t i, DType fallback) {
  return call_is_none(c, i) ? fallback : (DType)c->inputs[i].i;
}
static inline List *call_list(const Call *c, uint32_t i) {
  assert(i < c->input_count && c->inputs[i].tag == TAG_LIST);
  return c->inputs[i].list;
}
/* int[] parameters: unboxed. A list is never longer than the caller checks. */
static inline const int64_t *call_ints(const Call *c, uint32_t i, size_t *out_count) {
  assert(call_list(c, i)->kind == LIST_INTS);
  *out_count = c->inputs[i].list->length;
  return c->inputs[i].list->ints;
}
static inline const double *call_doubles(const Call *c, uint32_t i, size_t *out_count) {
  assert(call_list(c, i)->kind == LIST_FLOATS);
  *out_count = c->inputs[i].list->length;
  return c->inputs[i].list->floats;
}
static inline const Tensor *list_tensor(const List *l, size_t i) {
  assert(l->kind == LIST_VALUES && i < l->length && l->values[i].tag == TAG_TENSOR);
  return l->values[i].tensor;
} /* Tensor[]; element None is TAG_NONE in Tensor?[] */
Generator *call_generator(const Call *c, uint32_t i); /* Generator? parameter, else the default; lock around use */

/* The first `count` inputs, of an operator that takes any number of tensors, as a new list of tensors. */
Status call_list_of_inputs(const Call *c, uint32_t count, List **out) MUST_CHECK;
/* Index of a schema argument, or -1. */
int call_find_argument(const Call *call, const char *name);

/* ---- results ---- */
static inline Tensor *call_out(const Call *c, uint32_t i) {
  assert(i < c->output_count && c->outputs[i].tag == TAG_TENSOR);
  return c->outputs[i].tensor;
} /* as the shape function said */
static inline void call_set(Call *c, uint32_t i, IValue value) {
  assert(i < c->output_count);
  ivalue_release(c->outputs[i]);
  c->outputs[i] = value;
} /* takes over */
static inline void call_set_tensor(Call *c, uint32_t i, Tensor *t) {
  call_set(c, i, ivalue_tensor(t));
}
Status call_set_tensor_list(Call *c, uint32_t i, size_t count,
                            Tensor *const *tensors) MUST_CHECK; /* takes over the references */

/* ---- errors ---- */
/* "aten::add: message" is added by operator_call; these build PyTorch's frequent texts. */
Status call_unsupported_dtype(const Call *c, DType dtype) MUST_CHECK; /* "\"add\" not implemented for 'Half'" */

/* ---- shape functions that many rows share (call/shapes.c); specs come with dtype NONE, the CPU, no flags ---- */
Status shape_same_as_first(Call *c, TensorSpec *specs);   /* sizes, dtype, dense strides of input 0 */
Status shape_rows_of_first(Call *c, TensorSpec *specs);   /* sizes and dtype of input 0, row-major */
Status shape_pointwise(Call *c, TensorSpec *specs);       /* broadcast of all tensor inputs, promoted dtype */
Status shape_pointwise_float(Call *c, TensorSpec *specs); /* the same, integral promoted to float32 */
Status shape_pointwise_bool(Call *c, TensorSpec *specs);  /* broadcast, bool */
Status shape_pointwise_real(Call *c, TensorSpec *specs);  /* complex becomes its real dtype (abs, angle) */
/* Sizes of `t`, dense strides in its order of dimensions, its dtype and device. */
void shape_like(const Tensor *t, TensorSpec *spec);
/* Row-major metadata of these sizes; sizes are checked when the tensor is made. */
void shape_set(TensorSpec *spec, DType dtype, int ndim, const int64_t *sizes);
