/* What operator_call and the forms that write share. */
#pragma once

#include "call/call.h"
#include "call/call_plan.h"

static inline bool sizes_equal(const Tensor *t, int ndim, const int64_t *sizes) {
  return t->ndim == ndim && (ndim == 0 || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0);
}

ShapeFunction *call_row_shape(const Call *call); /* NULL: the kernel makes its outputs */
Status call_compute_specs(Call *call, ShapeFunction *shape, TensorSpec *specs) MUST_CHECK; /* of call->output_count */
Status call_fill_slot(Call *call, uint32_t i, const TensorSpec *spec) MUST_CHECK;          /* a tensor for output i */
Status call_run_row(Call *call) MUST_CHECK; /* kernel, formula or body, with the outputs as they are */
Status call_run_functional(Call *call, bool meta) MUST_CHECK; /* allocates as the shape function says, then runs */
void call_clear_outputs(Call *call);

Status call_run_held(Call *call,
                     const CallPlan *plan) MUST_CHECK; /* call_held.c: with copies of lists that may change */

/* ---- call_write.c ---- */
Status call_run_inplace(Call *call, bool meta) MUST_CHECK; /* `name_`: self is the output */
/* `.out` forms: the out tensors take the results' sizes and keep their dtypes. */
Status call_run_out(Call *call, const CallPlan *plan, bool meta) MUST_CHECK;
Status call_run_writer(Call *call, const CallPlan *plan,
                       bool meta) MUST_CHECK; /* a row that says itself what it writes */
