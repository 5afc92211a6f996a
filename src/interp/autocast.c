/* Autocast regions that the pass of that name has not seen, in graphs that somebody runs by hand: one that would
 * compute in a reduced dtype is refused, since its results would have another dtype than the program expects. One that
 * is off, or of a device other than the processor, changes nothing here, as in PyTorch. */
#include "interp/task.h"

static bool find_slot(const Object *object, const char *name, IValue *out) {
  ptrdiff_t slot = class_type_find_attribute(object->class_type, str_from(name));
  if (slot < 0) return false;
  *out = object_get((Object *)object, (uint32_t)slot);
  return true;
}

Status autocast_check_entered(IValue object) {
  IValue enabled = IVALUE_NONE, device = IVALUE_NONE;
  if (object.tag != TAG_OBJECT || !type_is_autocast(&object.object->class_type->type)) return OK;
  bool refused = find_slot(object.object, "_enabled", &enabled) && enabled.tag == TAG_BOOL && enabled.b &&
                 find_slot(object.object, "device", &device) && device.tag == TAG_STRING &&
                 str_is(ivalue_str(device), "cpu");
  ivalue_release(device);
  ivalue_release(enabled);
  return refused ? status_new(ERROR_UNSUPPORTED,
                              "the graph has an autocast region: run the pass autocast over it first, with calls "
                              "inlined")
                 : OK;
}
