/* Reading a plan's state. */
#include "interp/state.h"

#include <assert.h>

#include "interp/code.h"
#include "ivalue/lock.h"
#include "ivalue/snapshot.h"

uint32_t code_state_count(const Code *code) {
  return code->state_count;
}

uint64_t code_serial(const Code *code) {
  return code->serial;
}

static IValue object_of_read(const StateRead *read, IValue self, const IValue *values) {
  return read->object ? values[read->object - 1] : self;
}

const Object *code_state_place(const Code *code, uint32_t i, IValue self, const IValue *values, uint32_t *out_slot) {
  assert(i < code->state_count);
  *out_slot = code->state[i].slot;
  return object_of_read(&code->state[i], self, values).object;
}

Status code_read_state(const Code *code, IValue self, IValue *values) {
  for (uint32_t i = 0; i < code->state_count; i++) {
    const StateRead *read = &code->state[i];
    assert(read->object <= i);
    IValue from = object_of_read(read, self, values);
    if (from.tag != TAG_OBJECT || read->slot >= from.object->slot_count)
      return status_new(ERROR_RUNTIME, "an attribute of something that is not an object of its class");
    if (object_is_shared(from.object)) attribute_rely_on(&from.object->class_type->attributes.data[read->slot]);
    values[i] = object_get(from.object, read->slot);
  }
  return OK;
}
