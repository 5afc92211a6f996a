/* Reading a plan's state. */
#include "interp/state.h"

#include <assert.h>

#include "interp/code.h"
#include "ivalue/lock.h"

uint32_t code_state_count(const Code *code) {
  return code->state_count;
}

uint64_t code_serial(const Code *code) {
  return code->serial;
}

Status code_read_state(const Code *code, IValue self, IValue *values) {
  for (uint32_t i = 0; i < code->state_count; i++) {
    const StateRead *read = &code->state[i];
    assert(read->object <= i);
    IValue from = read->object ? values[read->object - 1] : self;
    if (from.tag != TAG_OBJECT || read->slot >= from.object->slot_count)
      return status_new(ERROR_RUNTIME, "an attribute of something that is not an object of its class");
    if (object_is_shared(from.object)) attribute_rely_on(&from.object->class_type->attributes.data[read->slot]);
    values[i] = object_get(from.object, read->slot);
  }
  return OK;
}
