/* Devices from outside, and how the library that brings one is found. */
#include <assert.h>

#include "api/handles.h"
#include "call/device_kernel.h"
#include "call/operator.h"
#include "call/operator_library.h"
#include "tensor/device_class.h"
#include "tensor/storage_share.h"
#include "wick/device.h"

/* ---- memory ---- */

typedef struct ForeignDevice ForeignDevice;
typedef struct Place { /* one device of the kind: what its storages hold on to */
  const ForeignDevice *of;
  int32_t index;
} Place;
struct ForeignDevice {
  DeviceClass row; /* first: a device's type leads here */
  wick_device given;
  Place places[];
};

static Status allocate(Device device, size_t bytes, void **out_memory, void **out_context);

static const ForeignDevice *device_of(int type) {
  const DeviceClass *row = device_class(type);
  assert(row && row->allocate == allocate); /* a row of this file: the first member of a ForeignDevice */
  return (const ForeignDevice *)row;
}

static Status took(wick_status status, wick_error *error, const ForeignDevice *device) {
  if (status) return foreign_status(status, error, device->row.name);
  wick_error_free(error);
  return OK;
}

static Status allocate(Device device, size_t bytes, void **out_memory, void **out_context) {
  const ForeignDevice *f = device_of(device.type);
  wick_error *error = NULL;
  wick_status status = f->given.allocate(f->given.user, device.index, bytes, out_memory, &error);
  *out_context = (void *)(uintptr_t)&f->places[device.index];
  return took(status, error, f);
}

static void free_memory(void *context, void *memory, size_t bytes) {
  const Place *place = context;
  place->of->given.free(place->of->given.user, place->index, memory, bytes);
}

static int32_t index_of(Device device) {
  return device.type == DEVICE_CPU ? -1 : device.index;
}

static Status copy(Device to_device, void *to, Device from_device, const void *from, size_t bytes) {
  const ForeignDevice *f = device_of(to_device.type == DEVICE_CPU ? from_device.type : to_device.type);
  wick_error *error = NULL;
  wick_status status =
      f->given.copy(f->given.user, index_of(to_device), to, index_of(from_device), from, bytes, &error);
  return took(status, error, f);
}

static Status fill(Device device, void *memory, size_t count, const void *item, size_t size) {
  const ForeignDevice *f = device_of(device.type);
  wick_error *error = NULL;
  wick_status status = f->given.fill(f->given.user, device.index, memory, count, item, size, &error);
  return took(status, error, f);
}

static Status synchronize(DeviceQueue *queue) {
  const ForeignDevice *f = device_of(queue->device.type);
  wick_error *error = NULL;
  wick_status status = f->given.synchronize(f->given.user, queue->device.index, &error);
  return took(status, error, f);
}

static Status convert(Tensor *to, const Tensor *from) {
  const ForeignDevice *f = device_of(tensor_device(to).type);
  wick_error *error = NULL;
  wick_tensor_view to_view, from_view;
  api_view_tensor(to, &to_view);
  api_view_tensor(from, &from_view);
  wick_status status = f->given.convert(f->given.user, &to_view, &from_view, &error);
  return took(status, error, f);
}

static Status check_device(const wick_device *d) {
  if (!d->name || !d->name[0] || d->type < 1 || d->count < 1 || d->count > 128 || !d->allocate || !d->free ||
      !d->copy || !d->fill || !d->synchronize)
    return status_new(ERROR_INVALID_ARGUMENT,
                      "wick_device: a name, a type, 1 to 128 devices and the functions are "
                      "needed");
  return OK;
}

/* Rows live as long as the process. */
static Status add_device(const wick_device *given) {
  HEAP_SCOPE(NULL);
  TRY(check_device(given));
  ForeignDevice *f = mem_calloc(1, sizeof *f + (size_t)given->count * sizeof f->places[0]);
  char *name = f ? mem_strdup(given->name) : NULL;
  if (!name) {
    mem_free(f);
    return status_out_of_memory();
  }
  f->given = *given;
  for (int32_t i = 0; i < given->count; i++) f->places[i] = (Place){f, i};
  f->row = (DeviceClass){.name = name,
                         .type = (int16_t)given->type,
                         .count = (int16_t)given->count,
                         .allocate = allocate,
                         .free = free_memory,
                         .copy = copy,
                         .fill = fill,
                         .synchronize = synchronize,
                         .convert = given->convert ? convert : NULL};
  Status status = given->type <= INT16_MAX
                      ? device_register(&f->row)
                      : status_new(ERROR_INVALID_ARGUMENT, "wick_device: there is no type %d", given->type);
  if (!status) return OK;
  mem_free(name);
  mem_free(f);
  return status;
}

wick_status wick_device_register(const wick_device *device, wick_error **error) {
  wick_device given;
  API_NEED(device);
  API_TRY(api_copy_options("wick_device", device, sizeof given, &given));
  return api_status(add_device(&given), error);
}

wick_status wick_device_synchronize(int32_t type, int32_t index, wick_error **error) {
  bool fits = type >= 0 && type <= INT16_MAX && index >= 0 && index <= INT16_MAX;
  DeviceQueue queue = {.device = {(int16_t)(fits ? type : -1), (int16_t)(fits ? index : 0)}};
  API_TRY(device_choose(&queue.device));
  return api_status(device_class(type)->synchronize(&queue), error);
}

wick_status wick_device_tensor_of(const wick_value *tensor, wick_tensor_view *out, wick_error **error) {
  API_NEED(tensor);
  API_NEED(out);
  uint32_t size = out->size;
  API_TRY(api_check_size("wick_tensor_view", size));
  if (tensor->value.tag != TAG_TENSOR || !tensor_is_defined(tensor->value.tensor))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  const Tensor *t = tensor->value.tensor;
  if (t->flags & NO_PLAIN_MEMORY & ~(uint32_t)TENSOR_NOT_CPU || t->flags & TENSOR_NEG)
    return api_status(status_new(ERROR_UNSUPPORTED, "the tensor has no plain memory"), error);
  if (t->storage) API_TRY(storage_show(t->storage));
  wick_tensor_view view;
  api_view_tensor(t, &view);
  view.size = size;
  memcpy(out, &view, size < sizeof view ? size : sizeof view);
  return api_status(OK, error);
}

/* ---- kernels ---- */

typedef struct ForeignForm {
  KindForm form; /* first: a call's form leads here */
  KindForms table;
  wick_kernel *kernel;
  void *user;
} ForeignForm;

static Status run_form(Call *call) {
  const ForeignForm *f = (const ForeignForm *)call->form;
  return foreign_run(f->kernel, f->user, call);
}

static Status make_form(const wick_device_kernel *given, ForeignForm **out) {
  if (!given->name || !given->kernel)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_device_kernel: a name and a kernel are needed");
  ForeignForm *f = *out = mem_calloc(1, sizeof *f);
  if (!f) return status_out_of_memory();
  f->form = (KindForm){
      .name = mem_strdup(given->name), .kernel = run_form, .fills = (given->flags & WICK_DEVICE_KERNEL_FILLS) != 0};
  f->table = (KindForms){&f->form, 1};
  f->kernel = given->kernel;
  f->user = given->user;
  return f->form.name ? OK : status_out_of_memory();
}

static void free_form(ForeignForm *f) {
  if (f) mem_free((void *)(uintptr_t)f->form.name);
  mem_free(f);
}

static Status read_kernel(const char **at, wick_device_kernel *out) {
  uint32_t size;
  memcpy(&size, *at, sizeof size); /* an array of structs as the caller knows them */
  TRY(api_copy_options("wick_device_kernel", *at, sizeof *out, out));
  *at += size;
  return OK;
}

/* With `commit` it registers, else it only looks. */
static Status add_kernels(int type, const wick_device_kernel *kernels, size_t count, bool commit) {
  HEAP_SCOPE(NULL);
  const char *at = (const char *)kernels;
  for (size_t i = 0; i < count; i++) {
    wick_device_kernel given;
    ForeignForm *f = NULL;
    TRY(read_kernel(&at, &given));
    Status status = make_form(&given, &f);
    if (!status) status = commit ? device_kernels_register(type, &f->table) : device_kernels_check(&f->table);
    if (status || !commit) free_form(f);
    if (status) return status;
  }
  return OK;
}

wick_status wick_device_kernels_register(int32_t device_type, const wick_device_kernel *kernels, size_t count,
                                         wick_error **error) {
  if (count) API_NEED(kernels);
  API_TRY(operators_prepare());
  API_TRY(add_kernels(device_type, kernels, count, false));
  if (device_type == DEVICE_CPU || !device_class(device_type))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "no device of type %d is registered", device_type), error);
  return api_status(add_kernels(device_type, kernels, count, true), error);
}

/* ---- libraries ---- */

/* Kept: what operator_library_explain answers is the process's. */
const char *device_library_open(int type) {
  StrBuf name = {.max_length = 100};
  strbuf_printf(&name, "libwick_%s", device_type_name(type));
  const char *why_not = "";
  if (device_class(type)) goto done;
  operator_library_open_for(strbuf_view(&name));
  if (!device_class(type)) why_not = operator_library_explain(strbuf_view(&name));
done:
  strbuf_dispose(&name);
  return why_not;
}
