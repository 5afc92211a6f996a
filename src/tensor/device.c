/* Device names as PyTorch writes them: "cpu", "cuda:0", and those of device classes. */
#include "tensor/device_class.h"

static const struct {
  int16_t type;
  const char *name;
} devices[] = {
    {DEVICE_CPU, "cpu"}, {DEVICE_CUDA, "cuda"}, {18, "ipu"},    {12, "xpu"}, {2, "mkldnn"},         {3, "opengl"},
    {4, "opencl"},       {5, "ideep"},          {6, "hip"},     {16, "ve"},  {7, "fpga"},           {8, "ort"},
    {9, "xla"},          {17, "lazy"},          {10, "vulkan"}, {13, "mps"}, {DEVICE_META, "meta"}, {15, "hpu"},
};
enum { DEVICE_COUNT = sizeof devices / sizeof *devices };

const char *device_type_name(int type) {
  for (int i = 0; i < DEVICE_COUNT; i++)
    if (devices[i].type == type) return devices[i].name;
  const DeviceClass *class = device_class(type);
  return class ? class->name : "unknown";
}

bool device_equal(Device a, Device b) {
  return a.type == b.type && a.index == b.index;
}

Status device_parse(Str text, Device *out) {
  if (text.length == 0) return status_new(ERROR_RUNTIME, "Device string must not be empty");
  ptrdiff_t colon = str_find_char(text, ':');
  Str name = colon < 0 ? text : str_slice(text, 0, (size_t)colon);
  int64_t index = -1;
  if (colon >= 0) {
    Str digits = str_slice(text, (size_t)colon + 1, text.length);
    bool ok = digits.length > 0 && digits.length <= 3 && !(digits.length > 1 && digits.data[0] == '0');
    for (size_t i = 0; ok && i < digits.length; i++) ok = digits.data[i] >= '0' && digits.data[i] <= '9';
    if (!ok || !str_to_int64(digits, 10, &index) || index > 127)
      return status_new(ERROR_RUNTIME, "Invalid device string: '" STR_FMT "'", STR_ARG(text));
  }
  for (int i = 0; i < DEVICE_COUNT; i++) {
    if (str_is(name, devices[i].name)) {
      *out = (Device){devices[i].type, (int16_t)index};
      return OK;
    }
  }
  const DeviceClass *class;
  for (int i = 0; (class = device_class_at(i)); i++) {
    if (str_is(name, class->name)) {
      *out = (Device){class->type, (int16_t)index};
      return OK;
    }
  }
  StrBuf known = {0};
  for (int i = 0; i < DEVICE_COUNT; i++) strbuf_printf(&known, "%s%s", i ? ", " : "", devices[i].name);
  Status status = status_new(ERROR_RUNTIME, "Expected one of %s device type at start of device string: " STR_FMT,
                             known.data ? known.data : "", STR_ARG(text));
  strbuf_dispose(&known);
  return status;
}

void device_print(Device device, StrBuf *out) {
  strbuf_puts(out, device_type_name(device.type));
  if (device.index >= 0) strbuf_printf(out, ":%d", device.index);
}
