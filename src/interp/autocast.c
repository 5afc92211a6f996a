/* Autocast regions. What computes in a reduced dtype there is not built in: a region that would do so is refused, since
 * its results would have another dtype than the program expects. One that is off, or of a device other than the
 * processor, changes nothing here, as in PyTorch. */
#include "interp/task.h"

static bool find_slot(const Object *object, const char *name, IValue *out) {
  ptrdiff_t slot = class_type_find_attribute(object->class_type, str_from(name));
  if (slot < 0) return false;
  *out = object_get((Object *)object, (uint32_t)slot);
  return true;
}

/* torch.autocast and those of torch.cpu.amp and torch.cuda.amp: "__torch__.torch.cpu.amp.autocast_mode.autocast". */
static bool is_autocast(const Type *type) {
  return str_starts_with(type->name, "__torch__.torch.") && str_is(str_after_last(type->name, '.'), "autocast");
}

Status autocast_check_entered(IValue object) {
  IValue enabled = IVALUE_NONE, device = IVALUE_NONE;
  if (object.tag != TAG_OBJECT || !is_autocast(&object.object->class_type->type)) return OK;
  bool refused = find_slot(object.object, "_enabled", &enabled) && enabled.tag == TAG_BOOL && enabled.b &&
                 find_slot(object.object, "device", &device) && device.tag == TAG_STRING &&
                 str_is(ivalue_str(device), "cpu");
  ivalue_release(device);
  ivalue_release(enabled);
  return refused ? status_new(ERROR_UNSUPPORTED,
                              "autocast on cpu is not built in: with enabled=False the region computes in the dtypes "
                              "of its inputs")
                 : OK;
}
