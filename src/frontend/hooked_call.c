/* Calls of modules with the hooks around forward. */
#include "frontend/hooked_call.h"

#include <assert.h>

bool class_has_hooks(const ClassType *class_type) {
  for (int kind = 0; kind < HOOK_KIND_COUNT; kind++)
    if (class_type->hooks[kind].length) return true;
  return false;
}

static Value *call_hook(Emitter *e, SourceRange range, Function *hook, uint32_t count, Value *const *inputs) {
  assert(count <= 3);
  NamedValue arguments[3];
  for (uint32_t i = 0; i < count; i++) arguments[i] = named_argument(STR(""), inputs[i], range);
  SugaredValue *result = sugared_call(sugared_function(e->c, hook), e, range,
                                      &(CallArguments){.count = count, .positional = arguments}, 1);
  return sugared_as_value(result, e, range);
}

/* The positional arguments that a hook's answer stands for. */
static void take_answer(Emitter *e, SourceRange range, Value *answer, CallArguments *call) {
  if (answer->type->kind == TYPE_NONE) return;
  bool is_tuple = answer->type->kind == TYPE_TUPLE;
  uint32_t count = is_tuple ? answer->type->count : 1;
  Value **parts = is_tuple ? emit_tuple_unpack(e, range, answer) : &answer;
  NamedValue *positional = ARENA_ARRAY(e->arena, NamedValue, count + 1);
  for (uint32_t i = 0; i < count; i++) positional[i] = named_argument(STR(""), parts[i], range);
  call->count = count;
  call->positional = positional;
}

static Value *inputs_of(Emitter *e, SourceRange range, const CallArguments *call) {
  Value **values = ARENA_ARRAY(e->arena, Value *, call->count + 1);
  for (uint32_t i = 0; i < call->count; i++) values[i] = call->positional[i].value;
  return emit_tuple(e, range, call->count, values);
}

SugaredValue *hooked_call(Emitter *e, SourceRange range, Value *module, const CallArguments *arguments) {
  assert(module->type->kind == TYPE_CLASS);
  const ClassType *c = module->type->class_type;
  CallArguments call = *arguments;
  for (size_t i = 0; i < c->hooks[HOOK_BEFORE_FORWARD].length; i++) {
    Value *inputs[] = {module, inputs_of(e, range, &call)};
    take_answer(e, range, call_hook(e, range, c->hooks[HOOK_BEFORE_FORWARD].data[i], 2, inputs), &call);
  }
  Value *result = emit_method_call(e, range, module, STR("forward"), &call);
  for (size_t i = 0; i < c->hooks[HOOK_AFTER_FORWARD].length; i++) {
    Value *inputs[] = {module, inputs_of(e, range, &call), result};
    Value *answer = call_hook(e, range, c->hooks[HOOK_AFTER_FORWARD].data[i], 3, inputs);
    if (answer->type->kind != TYPE_NONE) result = answer;
  }
  return sugared_value(e->c, result);
}
