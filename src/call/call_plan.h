/* CallPlan: what operator_call needs of a schema, as masks over the first 64 arguments; made once for each operator. */
#pragma once

#include "call/kind_form.h"
#include "call/operator.h"
#include "schema/schema.h"

enum { CALL_MAX_INPUTS = 64, OUTPUT_TENSOR = 0, OUTPUT_LIST, OUTPUT_OTHER };

typedef struct CallPlan {
  const FunctionSchema *schema;
  uint64_t required;   /* Tensor parameters, and lists of them, that are not optional */
  uint64_t optional;   /* Tensor parameters that are */
  uint64_t lists;      /* lists of tensors */
  uint64_t writes;     /* `(a!)` */
  uint64_t held;       /* lists that a kernel reads as they are: call_held.c */
  uint64_t dtypes;     /* ints that are dtypes */
  uint64_t devices;    /* where the results are to be */
  uint64_t restores;   /* arguments whose memory may have been dropped: RowExtras.restores, or nothing is read of it */
  uint64_t taken;      /* row_dtypes_taken */
  uint8_t output_kind; /* OUTPUT_*: of the first return */
  bool asks;           /* there are dtypes, devices or open types: to be checked before anything runs */
  bool direct;         /* a functional operator that writes nothing and views nothing: operator_call's short way */
  bool is_view;        /* a result may share memory with an input that is not written */
  bool records;        /* autograd records this operator, rather than what its kernel or body calls */
  const KindForm *quantized, *sparse;            /* how it runs on such tensors; NULL: as the row says, if at all */
  _Atomic(struct DeviceKernel *) device_kernels; /* how it runs on devices: call/device_kernel.h; NULL: it does not */
  const Operator *functional;                    /* the operator a variant is derived from; itself when it is none */
  /* VARIANT_OUT */
  uint32_t first_out, out_count; /* the out arguments */
  ptrdiff_t options_at; /* where the functional form has dtype, layout, device, pin_memory; -1: nothing was left out */
} CallPlan;

Status call_plan_make(const Operator *op, const CallPlan **out) MUST_CHECK;
static inline Status call_plan(const Operator *op, const CallPlan **out) {
  const CallPlan *plan = atomic_load_explicit(&op->plan, memory_order_acquire);
  if (__builtin_expect(plan == NULL, 0)) return call_plan_make(op, out);
  *out = plan;
  return OK;
}
