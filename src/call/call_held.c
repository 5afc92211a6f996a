/* Kernels read lists as they are. Those that other threads may change are copied for them first, unless the operator
 * writes the list or says that its result is a part of it: such operators go through ivalue.h item by item. */
#include "call/call_internal.h"
#include "ivalue/lock.h"

/* With the lists in it copied, too. A list in itself is of type Any, and ends this. */
static Status copy_list(const List *list, List **out) {
  List *copy;
  TRY(list_copy(list, &copy));
  bool nested = list->element->kind == TYPE_LIST;
  for (size_t i = 0; nested && i < copy->length; i++) {
    List *inner;
    if (copy->values[i].tag != TAG_LIST) continue;
    Status status = copy_list(copy->values[i].list, &inner);
    if (status) {
      ivalue_release(ivalue_list(copy));
      return status;
    }
    list_set(copy, i, ivalue_list(inner));
  }
  *out = copy;
  return OK;
}

/* A result that is the copy of an argument is to be the argument. */
static void give_arguments_back(Call *call, const IValue *inputs, uint64_t held) {
  for (uint32_t k = 0; k < call->output_count; k++)
    for (uint64_t left = held; left && call->outputs[k].tag == TAG_LIST; left &= left - 1) {
      uint32_t i = (uint32_t)__builtin_ctzll(left);
      if (call->outputs[k].list == inputs[i].list) call_set(call, k, ivalue_retain(call->inputs[i]));
    }
}

Status call_run_held(Call *call, const CallPlan *plan) {
  IValue inputs[CALL_MAX_INPUTS];
  Call inner = *call;
  uint64_t held = 0;
  Status status = OK;
  uint32_t count = call->input_count < CALL_MAX_INPUTS ? call->input_count : CALL_MAX_INPUTS;
  if (call->input_count > CALL_MAX_INPUTS)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": lists that threads share", STR_ARG(call->op->name));
  for (uint32_t i = 0; i < count && !status; i++) {
    inputs[i] = call->inputs[i];
    if (!(plan->held >> i & 1) || inputs[i].tag != TAG_LIST || !list_may_change(inputs[i].list)) continue;
    List *copy;
    status = copy_list(inputs[i].list, &copy);
    if (status) break;
    inputs[i] = ivalue_list(copy);
    held |= (uint64_t)1 << i;
  }
  inner.inputs = inputs;
  inner.dying &= ~held;
  if (!status) status = operator_call_made(call->exec, call->op, call->form, &inner);
  if (!status) give_arguments_back(call, inputs, held);
  for (uint64_t left = held; left; left &= left - 1) ivalue_release(inputs[__builtin_ctzll(left)]);
  return status;
}
