/* What operator_call and the forms that write share. */
#pragma once

#include "call/call.h"
#include "call/call_plan.h"
#include "call/row.h"
#include "ivalue/lock.h"

static inline bool sizes_equal(const Tensor *t, int ndim, const int64_t *sizes) {
  return t->ndim == ndim && (ndim == 0 || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0);
}

/* ---- chooser.c ---- */

enum { INPUT_MAY_CHANGE = 1u << 31 }; /* a list that is to be held; beside the flags of tensors */
uint32_t call_list_flags(const List *list);

/* The OR of all tensors' flags: what decides between the short and the long way. */
static inline uint32_t call_input_flags(const Call *call, const CallPlan *plan) {
  uint32_t flags = 0;
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    if (v.tag == TAG_TENSOR)
      flags |= v.tensor->flags;
    else if (v.tag == TAG_LIST && i < CALL_MAX_INPUTS) {
      if (list_may_change(v.list) && (plan->held >> i & 1))
        flags |= INPUT_MAY_CHANGE;
      else if (plan->lists >> i & 1)
        flags |= call_list_flags(v.list);
    }
  }
  return flags;
}

/* Checks dtypes among the arguments; whether a device other than CPU and meta is. */
Status call_check_settings(const Call *call, const CallPlan *plan, bool *out_elsewhere) MUST_CHECK;
/* "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #1 'other'" */
Status call_undefined(uint32_t i, Str name) MUST_CHECK;
/* Where a tensor is unusual or an argument a setting: sets call->form to what runs in place of the row's kernel;
 * *out_device is where results go, the CPU stands for wherever the row puts them. */
Status call_choose(Call *call, const CallPlan *plan, uint32_t flags, Device *out_device) MUST_CHECK;

/* ---- call.c ---- */
ShapeFunction *call_row_shape(const Call *call); /* NULL: the kernel makes its outputs */
Status call_compute_specs(Call *call, ShapeFunction *shape, TensorSpec *specs) MUST_CHECK; /* of call->output_count */
Status call_run_row(Call *call) MUST_CHECK; /* kernel, formula or body, with the outputs as they are */
/* Allocates as the shape function says, then runs. `place`: where results are, NULL: where the row puts them. */
Status call_run_functional(Call *call, const Device *place) MUST_CHECK;
void call_place_result(TensorSpec *spec, Device device);
void call_clear_outputs(Call *call);

Status call_run_held(Call *call,
                     const CallPlan *plan) MUST_CHECK; /* call_held.c: with copies of lists that may change */

/* ---- call_write.c ---- */
Status call_run_inplace(Call *call, const Device *place) MUST_CHECK; /* `name_`: self is the output */
/* `.out` forms: the out tensors take the results' sizes and keep their dtypes. */
Status call_run_out(Call *call, const CallPlan *plan, const Device *place) MUST_CHECK;
Status call_run_writer(Call *call, const CallPlan *plan,
                       const Device *place) MUST_CHECK; /* a row that says itself what it writes */
