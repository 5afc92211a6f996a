/* operator_call: the only way to run an operator. The short way (nothing unusual about the inputs, nothing recorded,
 * nothing written) checks one mask, asks the shape function, allocates, runs; everything else takes the long way below.
 */
#include <assert.h>

#include "call/call_body.h"
#include "call/call_internal.h"
#include "call/device_kernel.h"
#include "call/open_inputs.h"
#include "call/pointwise.h"
#include "call/row_dtypes.h"
#include "call/row_extras.h"
#include "call/torch_version.h"
#include "report/reason.h"
#include "tensor/random.h"
#include "tensor/storage_share.h"

/* ---- running ---- */

ShapeFunction *call_row_shape(const Call *call) {
  const OpRow *row = call->op->row;
  if (__builtin_expect(call->form != NULL && !call->form->fills, 0)) return NULL;
  return row->shape ? row->shape : row->lower ? shape_pointwise : NULL;
}

Status call_compute_specs(Call *call, ShapeFunction *shape, TensorSpec *specs) {
  for (uint32_t i = 0; i < call->output_count && i < CALL_MAX_OUTPUTS; i++) {
    specs[i].dtype = DTYPE_NONE;
    specs[i].device = DEVICE_CPU_0;
    specs[i].flags = 0;
    specs[i].ndim = 0;
    specs[i].has_strides = false;
  }
  return shape(call, specs);
}

/* Counts what a kernel has against a call, which is the body's now; false: the status says something else. */
static bool is_declined(const Call *call, Status status) {
  Reason reason;
  if (!reason_is_decline(status, &reason)) return false;
  const Services *services = call->exec->services;
  if (call->body)
    reason_add_at(&call->body->declined, reason, call->body->name, call->body->range);
  else
    reason_add(reason, (SourceRange){0});
  STATISTIC_ADD(declines);
  if (call->exec->profile && services && services->profile_decline) services->profile_decline(call->exec, reason);
  return true;
}

/* The kernel beside the row's body. *out_done false: the body is to run. */
static Status run_beside(Call *call, const CallPlan *plan, bool *out_done) {
  Kernel *kernel = row_extras(call->op->row)->beside;
  if (!kernel) return OK;
  uint32_t flags = call_input_flags(call, plan);
  Status status;
  if (flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED))
    status = reason_decline(REASON_NOT_FUSED_KIND);
  else if (call->exec->grad_enabled && flags & TENSOR_RECORDS)
    status = reason_decline(REASON_NOT_FUSED_GRADIENT);
  else
    status = kernel(call);
  *out_done = !is_declined(call, status);
  return *out_done ? status : OK;
}

static Status run_body(Call *call) {
  Exec *exec = call->exec;
  const CallPlan *plan;
  bool done = false;
  TRY(call_plan(call->op, &plan));
  TRY(run_beside(call, plan, &done));
  if (done) return OK;
  const Operator *op = plan->functional;
  const Services *services = exec->services;
  if (!services || !services->compile_body || !services->call_function)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": nothing here compiles TorchScript", STR_ARG(op->name));
  struct Function *function = atomic_load_explicit(&op->body, memory_order_acquire);
  if (!function) {
    TRY(services->compile_body(exec, op, &function));
    atomic_store_explicit(&((Operator *)op)->body, function, memory_order_release);
  }
  IValue result = IVALUE_NONE;
  TRY(services->call_function(exec, function, call->inputs, call->input_count, &result));
  if (call->output_count == 1) {
    call_set(call, 0, result);
    return OK;
  }
  Status status = OK;
  if (call->output_count > 1) {
    if (result.tag == TAG_TUPLE && result.tuple->length == call->output_count)
      for (uint32_t i = 0; i < call->output_count; i++) call_set(call, i, ivalue_retain(result.tuple->values[i]));
    else
      status = status_internal(STR_FMT ": its body does not return %u values", STR_ARG(op->name), call->output_count);
  }
  ivalue_release(result);
  return status;
}

/* Beyond all memory, were there elements: what walks its dimensions would not end. */
static bool is_huge_and_empty(const Tensor *t) {
  size_t product = 1;
  if (t->numel) return false;
  for (int d = 0; d < t->ndim; d++)
    if (t->sizes[d] && !size_mul(product, (size_t)t->sizes[d], &product)) return true;
  return product > UINT32_MAX;
}
/* There is nothing to be filled, and no telling how long a kernel would take for it. */
static bool is_nothing(const Call *call) {
  if (!call->output_count || call->outputs[0].tag != TAG_TENSOR || call->outputs[0].tensor->numel) return false;
  bool huge = false;
  for (uint32_t i = 0; i < call->output_count; i++) {
    if (call->outputs[i].tag != TAG_TENSOR || call->outputs[i].tensor->numel) return false;
    huge = huge || is_huge_and_empty(call->outputs[i].tensor);
  }
  return huge && call_row_shape(call);
}

/* Kernel, formula or body, with the outputs as they are. */
Status call_run_row(Call *call) {
  const OpRow *row = call->op->row;
  if (__builtin_expect(call->form != NULL, 0)) return call->form->kernel(call);
  if (row->dtypes) TRY(call_check_dtype(call));
  if (row->kernel) return is_nothing(call) ? OK : row->kernel(call);
  if (row->lower) return pointwise_run(call);
  if (row->body) return run_body(call);
  return status_new(ERROR_UNSUPPORTED, STR_FMT ": needs a node of a graph to run", STR_ARG(call->op->name));
}

void call_clear_outputs(Call *call) {
  for (uint32_t i = 0; i < call->output_count; i++) call_set(call, i, IVALUE_NONE);
}

static bool stands_behind_first(const Call *call, const Tensor *t) {
  for (uint32_t i = 1; i < call->input_count; i++)
    if (call->inputs[i].tag == TAG_TENSOR && call->inputs[i].tensor == t) return true;
  return false;
}

/* A dying input of the result's look, when the kernel may write over it. */
static Tensor *reusable_input(const Call *call, const TensorSpec *spec) {
  uint32_t count = call->op->flags & OP_ALIASING_OK ? call->input_count : call->op->flags & OP_ALIASING_SELF ? 1 : 0;
  for (uint32_t i = 0; i < count && i < 64; i++) {
    if (!(call->dying >> i & 1) || call->inputs[i].tag != TAG_TENSOR) continue;
    Tensor *t = call->inputs[i].tensor;
    if (t->dtype != spec->dtype || t->flags & ~(uint32_t)TENSOR_EMBEDDED || t->autograd || t->extension) continue;
    if (!ref_is_unique(&t->refs) || !storage_is_free_to_write(t->storage)) continue;
    if (!sizes_equal(t, spec->ndim, spec->sizes)) continue;
    if (spec->has_strides ? memcmp(t->strides, spec->strides, (size_t)spec->ndim * sizeof *t->strides) != 0
                          : !t->row_major)
      continue;
    return call->op->flags & OP_ALIASING_OK || !stands_behind_first(call, t) ? t : NULL;
  }
  return NULL;
}

Status call_fill_slot(Call *call, uint32_t i, const TensorSpec *spec) {
  assert(i < call->output_count);
  IValue *slot = &call->outputs[i];
  if (spec->flags & TENSOR_UNDEFINED) {
    call_set(call, i, ivalue_tensor(tensor_undefined()));
    return OK;
  }
  if (slot->tag == TAG_TENSOR) { /* a planned output: taken when it fits */
    const Tensor *t = slot->tensor;
    if (t->dtype == spec->dtype && sizes_equal(t, spec->ndim, spec->sizes) && !(t->flags & TENSOR_UNUSUAL) &&
        spec->device.type == DEVICE_CPU)
      return OK;
    call_set(call, i, IVALUE_NONE);
  }
  if (call->dying && i == 0) {
    Tensor *reused = reusable_input(call, spec);
    if (reused) { /* what follows its content, weights that are kept packed, is to see that it becomes another */
      if (atomic_load_explicit(&reused->storage->followers, memory_order_relaxed)) tensor_bump_version(reused);
      call_set_tensor(call, 0, tensor_retain(reused));
      return OK;
    }
  }
  Tensor *t;
  TRY(tensor_new(spec, &t));
  call_set_tensor(call, i, t);
  return OK;
}

void call_place_result(TensorSpec *spec, Device device) {
  if (device.type == DEVICE_META) spec->flags |= TENSOR_META;
  spec->device = device;
}

/* The functional form: allocate as the shape function says, then run. */
Status call_run_functional(Call *call, const Device *place) {
  ShapeFunction *shape = call_row_shape(call);
  if (shape) {
    TensorSpec specs[CALL_MAX_OUTPUTS];
    TRY(call_compute_specs(call, shape, specs));
    for (uint32_t i = 0; i < call->output_count; i++) {
      if (__builtin_expect(place != NULL, 0)) call_place_result(&specs[i], *place);
      TRY(call_fill_slot(call, i, &specs[i]));
    }
    if (__builtin_expect(place != NULL, 0) && place->type == DEVICE_META && !(call->op->flags & OP_ACCEPT_META))
      return OK;
  }
  return call_run_row(call);
}

static Status run_variant(Call *call, const CallPlan *plan, const Device *place) {
  switch (call->op->variant) {
    case VARIANT_INPLACE:
      return call_run_inplace(call, place);
    case VARIANT_OUT:
      return call_run_out(call, plan, place);
    default:
      return plan->writes ? call_run_writer(call, plan, place) : call_run_functional(call, place);
  }
}

/* ---- lazy conj and neg ---- */

static bool is_lazy(IValue v) {
  return v.tag == TAG_TENSOR && (v.tensor->flags & (TENSOR_CONJ | TENSOR_NEG));
}

static Status resolve(const Tensor *t, int threads, Tensor **out) {
  Tensor *copy;
  TRY(tensor_empty_like(t, &copy));
  Status status = tensor_copy(copy, t, threads);
  if (status != OK)
    tensor_release(copy);
  else
    *out = copy;
  return status;
}

static Status resolve_list(const List *list, int threads, List **out) {
  List *copy;
  TRY(list_copy(list, &copy));
  for (size_t i = 0; i < copy->length; i++) {
    if (!is_lazy(copy->values[i])) continue;
    Tensor *resolved;
    Status status = resolve(copy->values[i].tensor, threads, &resolved);
    if (status != OK) {
      ivalue_release(ivalue_list(copy));
      return status;
    }
    list_set(copy, i, ivalue_tensor(resolved));
  }
  *out = copy;
  return OK;
}

/* Runs with copies in place of lazily conjugated or negated inputs, and writes back into those that are written. */
static Status run_resolved(Call *call, const CallPlan *plan, const Device *place) {
  IValue inputs[CALL_MAX_INPUTS];
  Call inner = *call;
  uint64_t replaced = 0;
  Status status = OK;
  if (call->input_count > CALL_MAX_INPUTS)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": lazily conjugated arguments", STR_ARG(call->op->name));
  for (uint32_t i = 0; i < call->input_count; i++) {
    inputs[i] = call->inputs[i];
    uint64_t bit = (uint64_t)1 << i;
    if (is_lazy(inputs[i])) {
      Tensor *resolved;
      TRY_GOTO(resolve(inputs[i].tensor, call->exec->work.threads, &resolved), done);
      inputs[i] = ivalue_tensor(resolved);
      replaced |= bit;
    } else if ((plan->lists & bit) && inputs[i].tag == TAG_LIST &&
               (call_list_flags(inputs[i].list) & (TENSOR_CONJ | TENSOR_NEG))) {
      List *resolved;
      TRY_GOTO(resolve_list(inputs[i].list, call->exec->work.threads, &resolved), done);
      inputs[i] = ivalue_list(resolved);
      replaced |= bit;
    }
  }
  inner.inputs = inputs;
  inner.dying &= ~replaced;
  TRY_GOTO(run_variant(&inner, plan, place), done);
  for (uint64_t left = replaced & plan->writes; left; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctzll(left);
    if (inputs[i].tag != TAG_TENSOR) continue;
    Tensor *target = call->inputs[i].tensor;
    TRY_GOTO(tensor_copy(target, inputs[i].tensor, call->exec->work.threads), done);
    tensor_bump_version(target);
    for (uint32_t k = 0; k < call->output_count; k++)
      if (call->outputs[k].tag == TAG_TENSOR && call->outputs[k].tensor == inputs[i].tensor)
        call_set_tensor(call, k, tensor_retain(target));
  }
done:
  for (uint64_t left = replaced; left; left &= left - 1) ivalue_release(inputs[__builtin_ctzll(left)]);
  return status;
}

/* ---- the ways in ---- */

static Status run_kind(Call *call, const CallPlan *plan, uint32_t flags, const Device *place) {
  bool is_lazy = flags & (TENSOR_CONJ | TENSOR_NEG);
  bool takes_lazy = call->op->flags & (OP_ACCEPT_CONJ | OP_COMPOSITE) || call->op->row->body;
  return is_lazy && !takes_lazy ? run_resolved(call, plan, place) : run_variant(call, plan, place);
}

/* For a kernel an undefined tensor is None where None may stand. */
static __attribute__((noinline)) Status run_without_undefined(Call *call, const CallPlan *plan, uint32_t flags,
                                                              const Device *place) {
  IValue inputs[CALL_MAX_INPUTS];
  Call inner = *call;
  memcpy(inputs, call->inputs, call->input_count * sizeof *inputs);
  for (uint32_t i = 0; i < call->input_count; i++)
    if (plan->optional >> i & 1 && inputs[i].tag == TAG_TENSOR && !tensor_is_defined(inputs[i].tensor))
      inputs[i] = IVALUE_NONE;
  inner.inputs = inputs;
  return run_kind(&inner, plan, flags, place);
}

static __attribute__((noinline)) Status run_on_default_device(Call *call, const CallPlan *plan) {
  IValue inputs[CALL_MAX_INPUTS];
  Call inner = *call;
  memcpy(inputs, call->inputs, call->input_count * sizeof *inputs);
  for (uint32_t i = 0; i < call->input_count; i++)
    if (plan->devices >> i & 1) inputs[i] = ivalue_device(call->exec->default_device);
  inner.inputs = inputs;
  return operator_run(&inner);
}

Status operator_run(Call *call) {
  const CallPlan *plan;
  TRY(call_plan(call->op, &plan));
  if (plan->devices && call->exec->default_device.type != DEVICE_CPU && call->input_count <= CALL_MAX_INPUTS &&
      call_tells_no_device(call, plan))
    return run_on_default_device(call, plan);
  uint32_t flags = call_input_flags(call, plan);
  const KindForm *given = call->form;
  Device device = DEVICE_CPU_0;
  const Device *place = NULL;
  Status status = OK;
  if (flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED) || plan->dtypes | plan->devices) {
    status = call_choose(call, plan, flags, &device);
    if (device.type != DEVICE_CPU) place = &device;
  }
  bool drops = flags & TENSOR_UNDEFINED && plan->optional && !(call->op->flags & OP_ACCEPT_UNDEFINED) &&
               call->input_count <= CALL_MAX_INPUTS;
  if (!status) status = drops ? run_without_undefined(call, plan, flags, place) : run_kind(call, plan, flags, place);
  call->form = given;
  if (status != OK) call_clear_outputs(call);
  return status;
}

/* The flags of the inputs, views among which may be behind. */
static uint32_t catch_up(const Call *call, uint32_t flags) {
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    if (v.tag == TAG_TENSOR) flags |= tensor_catch_up(v.tensor);
    for (size_t k = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && k < v.list->length; k++)
      if (v.list->values[k].tag == TAG_TENSOR) flags |= tensor_catch_up(v.list->values[k].tensor);
  }
  return flags;
}

static Status call_recorded(Call *call, const CallPlan *plan, uint32_t flags) {
  Exec *exec = call->exec;
  const Services *services = exec->services;
  if (flags & TENSOR_VIEW) flags = catch_up(call, flags);
  if (!exec->grad_enabled || !plan->records || !services) return operator_run(call);
  if (flags & TENSOR_SPARSE && plan->sparse && plan->sparse->composite) return operator_run(call);
  if (flags & TENSOR_RECORDS) {
    call->dying = 0; /* gradients may keep the inputs */
    return services->autograd_record ? services->autograd_record(exec, call) : operator_run(call);
  }
  TRY(operator_run(call));
  return plan->is_view && services->autograd_view ? services->autograd_view(exec, call) : OK;
}

static inline bool is_short(const Exec *exec, const CallPlan *plan, uint32_t flags) {
  return plan->direct && !exec->recorder && !exec->work.is_limited &&
         !(flags &
           (INPUT_MAY_CHANGE | TENSOR_UNUSUAL | TENSOR_UNDEFINED | TENSOR_RECORDS | TENSOR_VIEW | TENSOR_DROPPED));
}

/* Memory that was dropped, but for what the kernel does not read or restores itself. What is recorded is kept by
 * others. */
static Status restore_inputs(const Call *call, const CallPlan *plan, uint32_t flags) {
  const Exec *exec = call->exec;
  bool is_kept = exec->recorder || (exec->grad_enabled && flags & TENSOR_RECORDS);
  for (uint32_t i = 0; i < call->input_count; i++) {
    IValue v = call->inputs[i];
    bool is_restored = i < CALL_MAX_INPUTS ? plan->restores >> i & 1 : plan->restores == UINT64_MAX;
    if (is_restored && !is_kept) continue;
    if (v.tag == TAG_TENSOR) TRY(tensor_restore(v.tensor));
    for (size_t k = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && k < v.list->length; k++)
      if (v.list->values[k].tag == TAG_TENSOR) TRY(tensor_restore(v.list->values[k].tensor));
  }
  return OK;
}

static Status call_with_settings(Call *call, const CallPlan *plan, uint32_t flags);
static Status run_direct(Call *call);

static __attribute__((noinline)) Status call_long(Call *call, const CallPlan *plan, uint32_t flags) {
  Exec *exec = call->exec;
  Recorder *recorder = exec->recorder;
  if (flags & TENSOR_DROPPED) {
    TRY(restore_inputs(call, plan, flags));
    flags &= ~(uint32_t)TENSOR_DROPPED;
    if (is_short(exec, plan, flags)) return plan->asks ? call_with_settings(call, plan, flags) : run_direct(call);
  }
  if (plan->asks && plan->schema->open) TRY(call_check_open(call, plan));
  if (flags & INPUT_MAY_CHANGE) return call_run_held(call, plan);
  if (!recorder) {
    TRY(call_recorded(call, plan, flags));
    return work_check(&exec->work);
  }
  exec->recorder = NULL; /* what the operator calls itself is not part of the trace */
  recorder->inside++;
  Status status = call_recorded(call, plan, flags);
  recorder->inside--;
  exec->recorder = recorder;
  return status ? status : recorder->record(recorder, exec, call);
}

#ifdef WICK_HOSTILE
/* The same numbers with the same strides: what an operator makes of dimensions without strides depends on them. */
static Status copy_with_memory(const Tensor *tensor, Tensor **out) {
  if (!tensor_is_defined(tensor) || tensor->flags & (TENSOR_UNUSUAL | TENSOR_WRAPPED_NUMBER))
    return tensor_clone(tensor, out);
  Storage *memory;
  TRY(storage_new(tensor->storage->bytes, &memory));
  if (tensor->storage->bytes) memcpy(memory->data, tensor->storage->data, tensor->storage->bytes);
  Status status = tensor_from_storage(memory, (DType)tensor->dtype, tensor->ndim, tensor->sizes, tensor->strides,
                                      tensor->offset, out);
  storage_release(memory);
  return status;
}

/* Every argument that may be written over dies: copies of them do, so that a kernel shows that reads what it wrote. */
static Status run_direct(Call *call) {
  enum { MAX_COPIES = 64 };
  IValue copies[MAX_COPIES];
  Call dying = *call;
  Status status = OK;
  if (!(call->op->flags & (OP_ALIASING_OK | OP_ALIASING_SELF)) || call->input_count > MAX_COPIES)
    return call_run_functional(call, NULL);
  for (uint32_t i = 0; i < call->input_count; i++) {
    Tensor *tensor = call_tensor_or_null(call, i), *copy;
    copies[i] = ivalue_retain(call->inputs[i]);
    if (!tensor || status || (status = copy_with_memory(tensor, &copy))) continue;
    ivalue_release(copies[i]);
    copies[i] = ivalue_tensor(copy);
    dying.dying |= (uint64_t)1 << i;
  }
  dying.inputs = copies;
  if (!status) status = call_run_functional(&dying, NULL);
  for (uint32_t i = 0; i < call->input_count; i++) ivalue_release(copies[i]);
  return status;
}
#else
static inline Status run_direct(Call *call) {
  return call_run_functional(call, NULL);
}
#endif

/* dtypes and devices among the arguments, and what the schema does not type, are looked at before anything runs. */
static __attribute__((noinline)) Status call_with_settings(Call *call, const CallPlan *plan, uint32_t flags) {
  bool elsewhere;
  if (plan->schema->open) TRY(call_check_open(call, plan));
  TRY(call_check_settings(call, plan, &elsewhere));
  return elsewhere ? call_long(call, plan, flags) : run_direct(call);
}

/* The kernel of an operator of plans may have left the call to what the operator's node was made from. */
static __attribute__((noinline)) Status call_failed(Call *call, Status status) {
  call_clear_outputs(call);
  if (!is_declined(call, status)) return status;
  const CallBody *body = call->body;
  if (!body || !body->run)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": %s, and it has no body", STR_ARG(call->op->name), status->message);
  status = body->run(body, call);
  if (status) call_clear_outputs(call);
  return status;
}

static inline Status enter(Exec *exec, const Operator *op, Call *call) {
  /* Nodes know the row of their program's version; bodies, and what kernels call, go by the call's. */
  if (__builtin_expect(op->in_torch2 != NULL, 0)) op = operator_in(op, exec->work.torch_version);
  call->exec = exec;
  call->op = op;
  const CallPlan *plan;
  Status status = call_plan(op, &plan);
  if (__builtin_expect(status != OK, 0)) goto failed;
  uint32_t flags = call_input_flags(call, plan);
  if (__builtin_expect(is_short(exec, plan, flags), 1)) {
    status = plan->asks ? call_with_settings(call, plan, flags) : run_direct(call);
  } else {
    status = call_long(call, plan, flags);
  }
  if (__builtin_expect(status == OK, 1)) return OK;
failed:
  return call_failed(call, status);
}

Status operator_call(Exec *exec, const Operator *op, Call *call) {
  call->form = NULL;
  return enter(exec, op, call);
}

Status operator_call_made(Exec *exec, const Operator *op, const KindForm *operation, Call *call) {
  call->form = operation;
  return enter(exec, op, call);
}

Status op_find(OpRef *ref, const Operator **out) {
  const Operator *op = atomic_load_explicit(&ref->op, memory_order_acquire);
  if (!op) {
    op = operator_find_overload(str_from(ref->name), str_from(ref->overload));
    if (!op)
      return status_new(ERROR_UNSUPPORTED, "there is no operator %s%s%s", ref->name, ref->overload[0] ? "." : "",
                        ref->overload);
    atomic_store_explicit(&ref->op, op, memory_order_release);
  }
  *out = op;
  return OK;
}

Status op_call(Exec *exec, OpRef *ref, uint32_t input_count, const IValue *inputs, uint32_t output_count,
               IValue *outputs) {
  const Operator *op;
  for (uint32_t i = 0; i < output_count; i++) outputs[i] = IVALUE_NONE;
  TRY(op_find(ref, &op));
  const CallPlan *plan;
  TRY(call_plan(op, &plan));
  IValue all[CALL_MAX_INPUTS];
  uint32_t wanted = plan->schema->argument_count;
  Call call = {.inputs = inputs, .outputs = outputs, .input_count = input_count, .output_count = output_count};
  if (input_count < wanted && !plan->schema->is_vararg) {
    if (wanted > CALL_MAX_INPUTS) return status_internal("%s: too many arguments", ref->name);
    memcpy(all, inputs, input_count * sizeof *inputs);
    for (uint32_t i = input_count; i < wanted; i++) {
      const Argument *a = &plan->schema->arguments[i];
      if (!a->has_default) return status_internal("%s: missing argument " STR_FMT, ref->name, STR_ARG(a->name));
      all[i] = a->default_value;
    }
    call.inputs = all;
    call.input_count = wanted;
  }
  return operator_call(exec, op, &call);
}

/* ---- accessors ---- */

int call_find_argument(const Call *call, const char *name) {
  return (int)schema_find_argument(operator_schema(call->op), str_from(name));
}

Generator *call_generator(const Call *c, uint32_t i) {
  assert(i < c->input_count);
  return c->inputs[i].tag == TAG_GENERATOR ? c->inputs[i].generator : c->exec->generator;
}

Status call_list_of_inputs(const Call *c, uint32_t count, List **out) {
  assert(count <= c->input_count);
  TRY(list_new(TYPE(TENSOR), count, out));
  for (uint32_t i = 0; i < count; i++) (*out)->values[i] = ivalue_retain(c->inputs[i]);
  (*out)->length = count;
  return OK;
}

Status call_set_tensor_list(Call *c, uint32_t i, size_t count, Tensor *const *tensors) {
  assert(i < c->output_count);
  List *list;
  Status status = list_new(TYPE(TENSOR), count, &list);
  if (status != OK) {
    for (size_t k = 0; k < count; k++) tensor_release(tensors[k]);
    return status;
  }
  for (size_t k = 0; k < count; k++) list->values[k] = ivalue_tensor(tensors[k]);
  list->length = count;
  call_set(c, i, ivalue_list(list));
  return OK;
}

Status call_unsupported_dtype(const Call *c, DType dtype) {
  Str loop = row_dtypes_name(c->op->row);
  if (loop.length)
    return status_new(ERROR_RUNTIME, "\"" STR_FMT "\" not implemented for '%s'", STR_ARG(loop),
                      dtype_scalar_name(dtype));
  Str base = c->op->row->same_as ? str_from(c->op->row->same_as) : c->op->name;
  ptrdiff_t colon = str_rfind_char(base, ':');
  if (colon >= 0) base = str_slice(base, (size_t)colon + 1, base.length);
  if (c->op->variant == VARIANT_INPLACE && !c->op->row->same_as) base.length--;
  return status_new(ERROR_RUNTIME, "\"" STR_FMT "\" not implemented for '%s'", STR_ARG(base), dtype_scalar_name(dtype));
}
