/* Kernels for devices hang on the CallPlans of their operators: a call finds them without a look-up by name. */
#include "call/device_kernel.h"

#include "call/call_plan.h"

static Status plan_of(const KindForm *form, CallPlan **out) {
  Str text = str_from(form->name);
  ptrdiff_t dot = str_find_char(text, '.');
  Str name = dot < 0 ? text : str_slice(text, 0, (size_t)dot);
  Str overload = dot < 0 ? STR("") : str_slice(text, (size_t)dot + 1, text.length);
  const Operator *op = operator_find_overload(name, overload);
  const CallPlan *plan;
  if (!op || op->variant != VARIANT_FUNCTIONAL)
    return status_new(ERROR_INVALID_ARGUMENT, "there is no operator %s to have a kernel for a device", form->name);
  TRY(call_plan(op, &plan));
  *out = (CallPlan *)plan;
  return OK;
}

Status device_kernels_check(const KindForms *forms) {
  CallPlan *plan;
  for (size_t i = 0; i < forms->count; i++) {
    if (!forms->rows[i].kernel)
      return status_new(ERROR_INVALID_ARGUMENT, "%s: a form for a device without a kernel", forms->rows[i].name);
    TRY(plan_of(&forms->rows[i], &plan));
  }
  return OK;
}

Status device_kernels_register(int device_type, const KindForms *forms) {
  CallPlan *plan;
  TRY(device_kernels_check(forms));
  for (size_t i = 0; i < forms->count; i++) {
    DeviceKernel *kernel = mem_calloc(1, sizeof *kernel);
    if (!kernel) return status_out_of_memory();
    TRY(plan_of(&forms->rows[i], &plan));
    *kernel = (DeviceKernel){.form = &forms->rows[i],
                             .device_type = device_type,
                             .next = atomic_load_explicit(&plan->device_kernels, memory_order_relaxed)};
    while (!atomic_compare_exchange_weak(&plan->device_kernels, &kernel->next, kernel)) continue;
  }
  return OK;
}

const KindForm *device_kernel_find(const Operator *functional, int device_type) {
  const CallPlan *plan = atomic_load_explicit(&functional->plan, memory_order_acquire);
  if (!plan) return NULL; /* registering makes it */
  for (DeviceKernel *k = atomic_load_explicit(&plan->device_kernels, memory_order_acquire); k; k = k->next)
    if (k->device_type == device_type) return k->form;
  return NULL;
}
