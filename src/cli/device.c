/* Values on other devices. */
#include <stdlib.h>

#include "cli/cli.h"
#include "wick/device.h"

enum { MAX_NESTING = 500 };
typedef struct Move {
  const wick_value *device;
  wick_error **error;
} Move;

static wick_value *moved(const wick_value *value, int nesting, void *context) {
  const Move *move = context;
  static const char *const names[] = {"device"};
  wick_tensor_info info = {.size = sizeof info};
  wick_value *result = NULL;
  switch (wick_value_kind(value)) {
    case WICK_TENSOR:
      if (wick_tensor_info_of(value, &info, NULL)) break; /* an undefined one */
      wick_op_call(NULL, "aten::to", "dtype_layout", (const wick_value *const[]){value, move->device}, 2, names, 1,
                   &result, move->error);
      return result;
    case WICK_LIST:
    case WICK_TUPLE:
    case WICK_DICT:
      if (nesting < MAX_NESTING) return container_of_mapped(value, moved, nesting, context, move->error);
      break;
    default:
      break;
  }
  return wick_value_retain((wick_value *)(uintptr_t)value);
}

wick_value *value_on_device(const wick_value *value, const char *device, wick_error **error) {
  wick_value *where = NULL;
  *error = NULL;
  if (wick_value_device(device, &where, error)) return NULL;
  wick_value *result = moved(value, 0, &(Move){where, error});
  if (!result && !*error) *error = wick_error_new(WICK_OUT_OF_MEMORY, "out of memory");
  wick_value_release(where);
  return result;
}

wick_status value_wait_for_devices(const wick_value *value, wick_error **error) {
  uint32_t kind = wick_value_kind(value);
  wick_tensor_info info = {.size = sizeof info};
  wick_status status = WICK_OK;
  if (kind == WICK_TENSOR && !wick_tensor_info_of(value, &info, NULL) && info.device_type != WICK_DEVICE_CPU)
    return wick_device_synchronize(info.device_type, info.device_index, error);
  if (kind != WICK_LIST && kind != WICK_TUPLE && kind != WICK_DICT) return WICK_OK;
  for (size_t i = 0; !status && i < wick_value_length(value); i++) {
    wick_value *item = wick_value_item(value, i);
    if (item) status = value_wait_for_devices(item, error);
    wick_value_release(item);
  }
  return status;
}

bool inputs_move(Inputs *inputs, const char *device) {
  for (size_t i = 0; device && i < inputs->count; i++) {
    wick_error *error;
    wick_value *there = value_on_device(inputs->values[i], device, &error);
    if (!there) return complain_error(NULL, error), false;
    wick_value_release(inputs->values[i]);
    inputs->values[i] = there;
  }
  return true;
}
