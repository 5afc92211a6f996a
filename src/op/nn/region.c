/* The operator of regions (call/region.h): puts the call's inputs among the arguments of the region's operators and
 * lets the first anchor's engine do all of it. */
#include "call/call_body.h"
#include "call/region.h"
#include "call/row_extras.h"
#include "op/nn/fused.h"

bool fused_broadcast(const Tensor *t, int ndim, const int64_t *sizes, int64_t *strides) {
  if (t->ndim > ndim) return false;
  for (int d = 0; d < ndim; d++) {
    int own = d - (ndim - t->ndim);
    if (own >= 0 && t->sizes[own] != 1 && t->sizes[own] != sizes[d]) return false;
    strides[d] = own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
  }
  return true;
}

/* What no engine restores itself: vectors, terms, images. */
static Status restore_inputs(const Call *call, uint64_t weights) {
  for (uint32_t i = 0; i < call->input_count; i++)
    if (!(i < 64 && weights >> i & 1) && call->inputs[i].tag == TAG_TENSOR &&
        call->inputs[i].tensor->flags & TENSOR_DROPPED)
      TRY(tensor_restore(call->inputs[i].tensor));
  return OK;
}

static void set_arguments(RegionCall *r) {
  const Region *region = r->region;
  memcpy(r->arguments, region->arguments, region->argument_count * sizeof *r->arguments);
  for (uint32_t i = 0; i < region->given_count; i++)
    r->arguments[region->given[i].argument] = r->call->inputs[region->given[i].input];
}

static Status kernel_region(Call *call) {
  RegionCall r;
  r.call = call;
  r.region = call->body ? call->body->region : NULL;
  if (!r.region) return reason_decline(REASON_NOT_FUSED_FORM);
  assert(call->input_count >= r.region->input_count);
  if (fused_records(call)) return reason_decline(REASON_NOT_FUSED_GRADIENT);
  TRY(restore_inputs(call, r.region->weights));
  set_arguments(&r);
  return r.region->units->anchor->run(&r);
}

/* The anchors', where all of their arguments are there. */
static double flops_region(const Call *call) {
  RegionCall r;
  double flops = 0;
  r.call = (Call *)call;
  r.region = call->body ? call->body->region : NULL;
  if (!r.region) return 0;
  set_arguments(&r);
  if (r.region->units->anchor->flops) return r.region->units->anchor->flops(&r);
  for (uint32_t i = 0; i < r.region->unit_count; i++) {
    const RegionStep *anchor = &r.region->units[i].steps[REGION_ANCHOR];
    Call step = region_step_call(&r, anchor);
    if (anchor->op->row->flops && step.inputs[0].tag == TAG_TENSOR) flops += anchor->op->row->flops(&step);
  }
  return flops;
}

static const OpRow rows[] = {
    {.schema = "wick::region(...) -> ...",
     .extras = &(const RowExtras){.open = "Any... -> Tensor...", .restores = UINT64_MAX},
     .kernel = kernel_region,
     .flops = flops_region,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_ALIASING_SELF | OP_OF_PLANS},
};
OP_TABLE(op_table_region, rows);
