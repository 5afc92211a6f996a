/* Values on other devices. */
#include <stdlib.h>

#include "cli/cli.h"
#include "wick/device.h"

enum { MAX_NESTING = 500 };
typedef struct Move {
  const wick_value *device;
  wick_error **error;
} Move;

static wick_value *moved(const Move *move, const wick_value *value, int nesting);

static wick_value *moved_items(const Move *move, const wick_value *value, int nesting) {
  uint32_t kind = wick_value_kind(value);
  size_t count = wick_value_length(value);
  wick_value **items = calloc(2 * count + 1, sizeof *items), *result = NULL;
  bool fine = items != NULL;
  for (size_t i = 0; fine && i < count; i++) {
    wick_value *item = wick_value_item(value, i);
    items[i] = item ? moved(move, item, nesting + 1) : NULL;
    wick_value_release(item);
    if (kind == WICK_DICT) items[count + i] = wick_value_key(value, i);
    fine = items[i] && (kind != WICK_DICT || items[count + i]);
  }
  const wick_value *const *values = (const wick_value *const *)items;
  if (fine && kind == WICK_LIST) wick_value_list(values, count, &result, move->error);
  if (fine && kind == WICK_TUPLE) wick_value_tuple(values, count, &result, move->error);
  if (fine && kind == WICK_DICT) wick_value_dict(values + count, values, count, &result, move->error);
  for (size_t i = 0; items && i < 2 * count; i++) wick_value_release(items[i]);
  free(items);
  return result;
}

static wick_value *moved(const Move *move, const wick_value *value, int nesting) {
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
      if (nesting < MAX_NESTING) return moved_items(move, value, nesting);
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
  wick_value *result = moved(&(Move){where, error}, value, 0);
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
