/* Optimizers: steps of torch.optim._functional over lists of parameters, with the state between steps. */
#include <assert.h>

#include "api/find.h"
#include "api/handles.h"
#include "autodiff/node.h"
#include "executor/executor.h"

/* What a parameter has beside it. NULL: not yet, or not of this algorithm. */
typedef enum Slot { SLOT_FIRST /* velocity, or mean */, SLOT_SECOND, SLOT_MOST, SLOT_STEPS, SLOT_COUNT } Slot;
typedef struct Parameter {
  Tensor *tensor;
  Tensor *state[SLOT_COUNT];
} Parameter;
struct wick_optimizer {
  RefCount refs;
  wick_optimizer_options options;
  wick_module *program;
  size_t count;
  Parameter *parameters;
};

static const char PROGRAM[] =
    "def sgd(params: List[Tensor], grads: List[Tensor], velocities: List[Optional[Tensor]], lr: float,\n"
    "        momentum: float, dampening: float, weight_decay: float, nesterov: bool):\n"
    "    torch.optim._functional.sgd(params, grads, velocities, weight_decay=weight_decay, momentum=momentum, lr=lr,\n"
    "                                dampening=dampening, nesterov=nesterov, maximize=False)\n"
    "def adam(params: List[Tensor], grads: List[Tensor], means: List[Tensor], squares: List[Tensor],\n"
    "         most: List[Tensor], steps: List[Tensor], lr: float, beta1: float, beta2: float, eps: float,\n"
    "         weight_decay: float, amsgrad: bool):\n"
    "    torch.optim._functional.adam(params, grads, means, squares, most, steps, amsgrad=amsgrad, beta1=beta1,\n"
    "                                 beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps, maximize=False)\n"
    "def adamw(params: List[Tensor], grads: List[Tensor], means: List[Tensor], squares: List[Tensor],\n"
    "          most: List[Tensor], steps: List[Tensor], lr: float, beta1: float, beta2: float, eps: float,\n"
    "          weight_decay: float, amsgrad: bool):\n"
    "    torch.optim._functional.adamw(params, grads, means, squares, most, steps, amsgrad=amsgrad, beta1=beta1,\n"
    "                                  beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps, maximize=False)\n";

/* ---- parameters of modules ---- */

typedef struct Parameters {
  List *list;
  PtrMap known;
  Status status;
} Parameters;

static bool visit_parameter(void *argument, const ModuleSlot *slot) {
  Parameters *p = argument;
  if (slot->kind != ATTRIBUTE_PARAMETER || slot->value.tag != TAG_TENSOR || !tensor_records(slot->value.tensor) ||
      ptrmap_get(&p->known, slot->value.tensor))
    return true;
  p->status = ptrmap_put(&p->known, slot->value.tensor, slot->value.tensor)
                  ? list_append(p->list, ivalue_retain(slot->value))
                  : status_out_of_memory();
  return !p->status;
}

static Status parameters_of(const wick_module *module, List **out) {
  Parameters p = {0};
  if (!module->module) return status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no parameters");
  TRY(list_new(TYPE(TENSOR), 0, &p.list));
  ptrmap_init(&p.known, NULL);
  Status status = module_each(module->module, true, visit_parameter, &p);
  if (!status) status = p.status;
  ptrmap_dispose(&p.known);
  *out = p.list;
  if (status) ivalue_release(ivalue_list(p.list));
  return status;
}

static void clear_grad(Tensor *t) {
  if (!t->autograd) return;
  tensor_release(t->autograd->grad);
  t->autograd->grad = NULL;
}

wick_status wick_module_parameters(const wick_module *module, wick_value **out, wick_error **error) {
  List *list;
  API_OUT(out);
  API_NEED(module);
  API_TRY(parameters_of(module, &list));
  return api_status(value_box(ivalue_list(list), out), error);
}

wick_status wick_module_zero_grad(wick_module *module, wick_error **error) {
  List *list;
  API_NEED(module);
  API_TRY(parameters_of(module, &list));
  for (size_t i = 0; i < list->length; i++) clear_grad(list->values[i].tensor);
  ivalue_release(ivalue_list(list));
  return api_status(OK, error);
}

/* ---- making ---- */

static Status check_options(wick_optimizer_options *o) {
#define WRONG(...) return status_new(ERROR_INVALID_ARGUMENT, "wick_optimizer_options: " __VA_ARGS__)
  if (o->algorithm < WICK_SGD || o->algorithm > WICK_ADAMW) WRONG("algorithm %u", o->algorithm);
  if (!(o->rate > 0)) WRONG("rate %g is not above 0", o->rate);
  if (!(o->momentum >= 0)) WRONG("momentum %g", o->momentum);
  if (o->nesterov && (!(o->momentum > 0) || o->dampening != 0)) WRONG("nesterov needs momentum and no dampening");
  if (o->algorithm == WICK_ADAMW && o->weight_decay == 0) o->weight_decay = 0.01;
  if (o->algorithm == WICK_ADAMW && o->weight_decay < 0) o->weight_decay = 0;
  if (!(o->weight_decay >= 0)) WRONG("weight_decay %g", o->weight_decay);
  if (o->beta1 == 0) o->beta1 = 0.9;
  if (o->beta2 == 0) o->beta2 = 0.999;
  if (o->eps == 0) o->eps = 1e-8;
  if (!(o->beta1 > 0 && o->beta1 < 1 && o->beta2 > 0 && o->beta2 < 1)) WRONG("betas %g, %g", o->beta1, o->beta2);
  if (!(o->eps > 0)) WRONG("eps %g", o->eps);
#undef WRONG
  return OK;
}

static Status take_parameters(wick_optimizer *optimizer, const List *list) {
  optimizer->parameters = mem_calloc(list->length + 1, sizeof *optimizer->parameters);
  if (!optimizer->parameters) return status_out_of_memory();
  for (size_t i = 0; i < list->length; i++) {
    IValue item = list_get(list, i);
    if (item.tag != TAG_TENSOR || !tensor_is_defined(item.tensor) || !dtype_is_floating((DType)item.tensor->dtype) ||
        item.tensor->flags & TENSOR_HAS_GRAD_FN) {
      ivalue_release(item);
      return status_new(ERROR_INVALID_ARGUMENT, "parameter %zu is no leaf of a floating dtype", i);
    }
    optimizer->parameters[optimizer->count++].tensor = item.tensor; /* retained */
  }
  return OK;
}

wick_status wick_optimizer_new(const wick_value *parameters, const wick_optimizer_options *options,
                               wick_optimizer **out, wick_error **error) {
  wick_optimizer_options o;
  List *list;
  API_OUT(out);
  API_NEED(parameters);
  API_NEED(options);
  API_TRY(api_copy_options("wick_optimizer_options", options, sizeof o, &o));
  API_TRY(check_options(&o));
  if (parameters->value.tag != TAG_LIST)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_optimizer_new: parameters is no list"), error);
  wick_optimizer *optimizer = mem_calloc(1, sizeof *optimizer);
  if (!optimizer) return api_status(status_out_of_memory(), error);
  ref_init(&optimizer->refs);
  optimizer->options = o;
  runtime_retain(o.runtime);
  Status status = list_hold(parameters->value.list, &list);
  if (!status) {
    status = take_parameters(optimizer, list);
    ivalue_release(ivalue_list(list));
  }
  wick_status code = status ? api_status(status, error)
                            : wick_compile(o.runtime, PROGRAM, sizeof PROGRAM - 1, NULL, &optimizer->program, error);
  if (code) {
    wick_optimizer_release(optimizer);
    return code;
  }
  *out = optimizer;
  return WICK_OK;
}
wick_optimizer *wick_optimizer_retain(wick_optimizer *optimizer) {
  if (optimizer) ref_retain(&optimizer->refs);
  return optimizer;
}
void wick_optimizer_release(wick_optimizer *optimizer) {
  if (!optimizer || !ref_release(&optimizer->refs)) return;
  for (size_t i = 0; i < optimizer->count; i++) {
    for (int slot = 0; slot < SLOT_COUNT; slot++) tensor_release(optimizer->parameters[i].state[slot]);
    tensor_release(optimizer->parameters[i].tensor);
  }
  mem_free(optimizer->parameters);
  wick_module_release(optimizer->program);
  wick_runtime_release(optimizer->options.runtime);
  mem_free(optimizer);
}

/* ---- stepping ---- */

/* The arguments of a step: a list for each of params, grads and the slots. */
enum { LIST_PARAMS, LIST_GRADS, LIST_SLOTS, LIST_COUNT = LIST_SLOTS + SLOT_COUNT };

/* Zeros before the first step. */
static Status state_of(Parameter *p, Slot slot) {
  assert(slot < SLOT_COUNT);
  if (p->state[slot]) return OK;
  if (slot == SLOT_STEPS) {
    TRY(tensor_empty(DTYPE_FLOAT32, 0, NULL, &p->state[slot]));
  } else {
    TRY(tensor_empty_like(p->tensor, &p->state[slot]));
  }
  return tensor_zero(p->state[slot]);
}

static Status add_parameter(const wick_optimizer *optimizer, Parameter *p, IValue *lists) {
  bool is_sgd = optimizer->options.algorithm == WICK_SGD;
  TRY(list_append(lists[LIST_PARAMS].list, ivalue_tensor(tensor_retain(p->tensor))));
  TRY(list_append(lists[LIST_GRADS].list, ivalue_tensor(tensor_retain(p->tensor->autograd->grad))));
  for (int slot = 0; slot < SLOT_COUNT; slot++) {
    if (is_sgd ? slot != SLOT_FIRST : slot == SLOT_MOST && !optimizer->options.amsgrad) continue;
    if (!is_sgd) TRY(state_of(p, (Slot)slot));
    IValue state = p->state[slot] ? ivalue_tensor(tensor_retain(p->state[slot])) : IVALUE_NONE;
    TRY(list_append(lists[LIST_SLOTS + slot].list, state));
  }
  return OK;
}

static Status run_step(wick_optimizer *optimizer, IValue *lists) {
  static const char *const names[] = {[WICK_SGD] = "sgd", [WICK_ADAM] = "adam", [WICK_ADAMW] = "adamw"};
  const wick_optimizer_options *o = &optimizer->options;
  IValue sgd[] = {lists[LIST_PARAMS],
                  lists[LIST_GRADS],
                  lists[LIST_SLOTS + SLOT_FIRST],
                  ivalue_float(o->rate),
                  ivalue_float(o->momentum),
                  ivalue_float(o->dampening),
                  ivalue_float(o->weight_decay),
                  ivalue_bool(o->nesterov != 0)};
  IValue adam[] = {lists[LIST_PARAMS],
                   lists[LIST_GRADS],
                   lists[LIST_SLOTS + SLOT_FIRST],
                   lists[LIST_SLOTS + SLOT_SECOND],
                   lists[LIST_SLOTS + SLOT_MOST],
                   lists[LIST_SLOTS + SLOT_STEPS],
                   ivalue_float(o->rate),
                   ivalue_float(o->beta1),
                   ivalue_float(o->beta2),
                   ivalue_float(o->eps),
                   ivalue_float(o->weight_decay),
                   ivalue_bool(o->amsgrad != 0)};
  bool is_sgd = o->algorithm == WICK_SGD;
  Exec exec;
  Function *function;
  IValue nothing;
  TRY(module_find(optimizer->program, names[o->algorithm], &function));
  api_exec_init(&exec, o->runtime);
  HEAP_SCOPE(exec.runtime->heap);
  exec.grad_enabled = false;
  return executor_call(&exec, function, is_sgd ? sgd : adam,
                       is_sgd ? sizeof sgd / sizeof *sgd : sizeof adam / sizeof *adam, &nothing);
}

/* Steps may put other tensors into the lists of states. */
static void keep_states(wick_optimizer *optimizer, const IValue *lists) {
  for (size_t i = 0, at = 0; i < optimizer->count; i++) {
    Parameter *p = &optimizer->parameters[i];
    if (!p->tensor->autograd || !p->tensor->autograd->grad) continue;
    for (int slot = 0; slot < SLOT_COUNT; slot++) {
      IValue state;
      if (!list_find(lists[LIST_SLOTS + slot].list, at, &state)) continue;
      tensor_release(p->state[slot]);
      p->state[slot] = state.tag == TAG_TENSOR ? state.tensor : NULL;
    }
    at++;
  }
}

static Status step(wick_optimizer *optimizer) {
  IValue lists[LIST_COUNT] = {0};
  Status status = OK;
  const Type *maybe = type_optional(type_store_process(), TYPE(TENSOR));
  bool is_sgd = optimizer->options.algorithm == WICK_SGD;
  for (int i = 0; i < LIST_COUNT && !status; i++) {
    List *list;
    status = list_new(is_sgd && i == LIST_SLOTS + SLOT_FIRST ? maybe : TYPE(TENSOR), optimizer->count, &list);
    if (!status) lists[i] = ivalue_list(list);
  }
  for (size_t i = 0; i < optimizer->count && !status; i++) {
    Parameter *p = &optimizer->parameters[i];
    if (p->tensor->autograd && p->tensor->autograd->grad) status = add_parameter(optimizer, p, lists);
  }
  if (!status) status = run_step(optimizer, lists);
  if (!status) keep_states(optimizer, lists);
  for (int i = 0; i < LIST_COUNT; i++) ivalue_release(lists[i]);
  return status;
}

wick_status wick_optimizer_step(wick_optimizer *optimizer, wick_error **error) {
  API_NEED(optimizer);
  return api_status(step(optimizer), error);
}
wick_status wick_optimizer_zero_grad(wick_optimizer *optimizer, wick_error **error) {
  API_NEED(optimizer);
  for (size_t i = 0; i < optimizer->count; i++) clear_grad(optimizer->parameters[i].tensor);
  return api_status(OK, error);
}
wick_status wick_optimizer_set_rate(wick_optimizer *optimizer, double rate, wick_error **error) {
  API_NEED(optimizer);
  if (!(rate > 0)) return api_status(status_new(ERROR_INVALID_ARGUMENT, "rate %g is not above 0", rate), error);
  optimizer->options.rate = rate;
  return api_status(OK, error);
}
