/* DeviceMap: what stands for devices that a program names and this machine lacks. Text such as "cuda=cpu,cuda:1=cpu" or
 * "*=cpu": FROM=TO, with commas between; a device with its index goes before its type, that before "*", which means
 * every device that is not there. */
#pragma once

#include "tensor/tensor.h"

typedef struct DeviceMap {
  const char *text;          /* NULL: none */
  _Atomic uint32_t replaced; /* device types (bits) that something was put in the place of */
} DeviceMap;

/* Devices whose tensors have memory here (a row of device_class.h), or need none (meta). */
bool device_is_there(Device device);
/* The error of whoever asks for another one. */
Status device_is_missing(Device device) MUST_CHECK;
/* ERROR_INVALID_ARGUMENT: malformed, or to a device that is not there. NULL is allowed. */
Status device_map_check(const char *text) MUST_CHECK;
/* What stands for the device: itself where the map (may be NULL) does not name it. */
Device device_map_apply(DeviceMap *map, Device device);
/* The same for the text that a storage's location is; unknown ones need a "*". *out is a device that is there. */
Status device_map_location(DeviceMap *map, Str location, Device *out) MUST_CHECK;
