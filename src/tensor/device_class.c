/* The table of device classes, and the CPU's row: large memory comes from the size-class cache. A single storage never
 * exceeds the machine's or the cgroup's memory. */
#include "tensor/device_class.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cache.h"
#include "tensor/device_map.h"

enum { DEVICE_TYPES = 32 };

/* ---- cpu ---- */

static _Atomic size_t storage_limit;
static DeviceOpener *opener;

static size_t machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  size_t bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
  static const char *const files[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (int i = 0; i < 2; i++) {
    FILE *file = fopen(files[i], "re");
    if (!file) continue;
    unsigned long long limit;
    if (fscanf(file, "%llu", &limit) == 1 && limit < bytes) bytes = (size_t)limit;
    fclose(file);
  }
  return bytes;
}

static Status no_room(size_t bytes) {
  return status_new(ERROR_OUT_OF_MEMORY, "can't allocate memory: you tried to allocate %zu bytes", bytes);
}

static Status cpu_allocate(Device device, size_t bytes, void **out_memory, void **out_context) {
  (void)device;
  size_t limit = atomic_load_explicit(&storage_limit, memory_order_relaxed);
  if (limit == 0) {
    limit = machine_memory();
    atomic_store(&storage_limit, limit);
  }
  Heap *heap = heap_current(); /* to which it goes back */
  *out_context = heap;
  if (bytes > limit || !(*out_memory = cache_alloc_in(heap, bytes))) return no_room(bytes);
  return OK;
}

static void cpu_free(void *context, void *memory, size_t bytes) {
  cache_free_in(context, memory, bytes);
}

static Status cpu_copy(Device to_device, void *to, Device from_device, const void *from, size_t bytes) {
  (void)to_device, (void)from_device;
  memmove(to, from, bytes);
  return OK;
}

static Status cpu_fill(Device device, void *memory, size_t count, const void *item, size_t size) {
  (void)device;
  for (size_t i = 0; i < count; i++) memcpy((char *)memory + i * size, item, size);
  return OK;
}

/* Its kernels are done when they return. */
static Status cpu_synchronize(DeviceQueue *queue) {
  (void)queue;
  return OK;
}

static const DeviceClass cpu = {.name = "cpu",
                                .type = DEVICE_CPU,
                                .count = 1,
                                .allocate = cpu_allocate,
                                .free = cpu_free,
                                .copy = cpu_copy,
                                .fill = cpu_fill,
                                .synchronize = cpu_synchronize};

/* ---- the table ---- */

static _Atomic(const DeviceClass *) classes[DEVICE_TYPES] = {[DEVICE_CPU] = &cpu};

const DeviceClass *device_class(int type) {
  return type >= 0 && type < DEVICE_TYPES ? atomic_load_explicit(&classes[type], memory_order_acquire) : NULL;
}

const DeviceClass *device_class_at(int i) {
  for (int type = 0; type < DEVICE_TYPES; type++) {
    const DeviceClass *class = device_class(type);
    if (class && i-- == 0) return class;
  }
  return NULL;
}

Status device_register(const DeviceClass *row) {
  if (!row->name || !row->name[0] || row->type < 0 || row->type >= DEVICE_TYPES || row->type == DEVICE_META ||
      row->count < 1 || !row->allocate || !row->free || !row->copy || !row->fill || !row->synchronize)
    return status_new(ERROR_INVALID_ARGUMENT, "a device class without a name, a type below %d or a function",
                      DEVICE_TYPES);
  const char *known = device_type_name(row->type);
  Device other;
  Status unknown = device_parse(str_from(row->name), &other);
  bool is_other = !unknown && other.type != row->type;
  status_free(unknown);
  if (is_other || (!unknown && strcmp(known, row->name) != 0) || (unknown && strcmp(known, "unknown") != 0))
    return status_new(ERROR_INVALID_ARGUMENT, "device class '%s' of type %d: the name or the type is another's",
                      row->name, row->type);
  const DeviceClass *none = NULL;
  if (!atomic_compare_exchange_strong(&classes[row->type], &none, row))
    return status_new(ERROR_INVALID_ARGUMENT, "device class '%s' is there already", row->name);
  return OK;
}

void device_opener_set(DeviceOpener *brought) {
  opener = brought;
}

const char *device_library_try(int type) {
  return opener ? opener(type) : "";
}

Status device_choose(Device *device) {
  const DeviceClass *class = device_class(device->type);
  if (!class && !*device_library_try(device->type)) class = device_class(device->type);
  if (!class || device->index >= class->count) return device_is_missing(*device);
  if (device->index < 0 && device->type != DEVICE_CPU) device->index = 0;
  return OK;
}
