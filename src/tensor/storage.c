/* Storage: counted bytes of a device, which its row gives (device_class.h). Those of small tensors on the CPU come in
 * one block with the tensor (tensor.c). */
#include "tensor/device_class.h"

#include <assert.h>

#include "base/hostile.h"
#include "base/lasting.h"
#include "tensor/storage_share.h"

/* Gives `s`, otherwise initialized, memory of its own on its device, which is there. */
Status storage_allocate(Storage *s, size_t bytes) {
  assert(!s->data);
  s->bytes = bytes;
  if (bytes == 0) return OK;
  const DeviceClass *class = device_class(s->device.type);
  TRY(class->allocate(s->device, bytes, s->device.type == DEVICE_CPU ? &s->data : &s->memory, &s->context));
  s->free_data = class->free;
  return OK;
}

static _Atomic uint32_t epoch = 1;

uint32_t storage_epoch(void) {
  return atomic_load_explicit(&epoch, memory_order_relaxed);
}
uint32_t storage_epoch_begin(void) {
  return atomic_fetch_add(&epoch, 1) + 1;
}

Status storage_new(size_t bytes, Storage **out) {
  return storage_new_on(DEVICE_CPU_0, bytes, out);
}

Status storage_new_on(Device device, size_t bytes, Storage **out) {
  *out = NULL;
  TRY(device_choose(&device));
  Storage *s = mem_calloc(1, sizeof *s);
  if (!s) return status_out_of_memory();
  ref_init(&s->refs);
  s->born = storage_epoch();
  s->flags = STORAGE_RESIZABLE;
  s->device = device;
  Status status = storage_allocate(s, bytes);
  if (status)
    mem_free(s);
  else
    *out = s;
  return status;
}

Status storage_new_lasting(size_t bytes, Storage **out) {
  Heap *heap = heap_current();
  void *data = bytes ? lasting_alloc(heap, bytes) : NULL;
  if (bytes && !data) return *out = NULL, status_out_of_memory();
  Status status = storage_from_data(data, bytes, data ? storage_free_lasting : NULL, heap, out);
  if (!status)
    (*out)->flags = STORAGE_RESIZABLE;
  else if (data)
    lasting_free(heap, data, bytes);
  return status;
}

Status storage_from_data(void *data, size_t bytes, void (*free_data)(void *, void *, size_t), void *context,
                         Storage **out) {
  *out = NULL;
  Storage *s = mem_calloc(1, sizeof *s);
  if (!s) return status_out_of_memory();
  ref_init(&s->refs);
  s->born = storage_epoch();
  s->device = DEVICE_CPU_0;
  s->bytes = bytes;
  s->data = data;
  s->free_data = free_data;
  s->context = context;
  *out = s;
  return OK;
}

Storage *storage_retain(const Storage *s) {
  if (s) ref_retain(&((Storage *)s)->refs);
  return (Storage *)s;
}

static __attribute__((noinline)) void let_go_of_others(Storage *s) {
  if (atomic_load(&s->followers)) storage_abandon(s);
  if (!storage_leave_base(s)) return;
  s->data = NULL;
  s->free_data = NULL;
}

void storage_destroy(Storage *s) {
  if (atomic_load_explicit(&s->followers, memory_order_relaxed) || atomic_load_explicit(&s->base, memory_order_relaxed))
    let_go_of_others(s);
  if (s->flags & STORAGE_RESIZABLE) OVERWRITE_RELEASED(s->data, s->bytes); /* wick's own */
  if (s->free_data) s->free_data(s->context, storage_address(s), s->bytes);
  mem_free(s);
}

void storage_release(Storage *s) {
  if (s && ref_release(&s->refs)) storage_destroy(s);
}

bool storage_fetch(const Storage *s, size_t offset, void *to, size_t bytes) {
  assert(offset <= s->bytes && bytes <= s->bytes - offset);
  s = storage_content(s);
  return s->fetch && !atomic_load(&s->version) && !atomic_load(&s->is_shown) && s->fetch(s, offset, to, bytes);
}
bool storage_has_source(const Storage *s) {
  return storage_content(s)->fetch != NULL;
}

Status storage_resize(Storage *s, size_t bytes) {
  if (!(s->flags & STORAGE_RESIZABLE))
    return status_new(ERROR_RUNTIME, "Trying to resize storage that is not resizable");
  Storage fresh = {.device = s->device};
  TRY(storage_allocate(&fresh, bytes));
  size_t kept = s->bytes < bytes ? s->bytes : bytes;
  Status status = OK;
  if (kept)
    status =
        device_class(s->device.type)->copy(s->device, storage_address(&fresh), s->device, storage_address(s), kept);
  if (status) {
    if (fresh.free_data) fresh.free_data(fresh.context, storage_address(&fresh), bytes);
    return status;
  }
  if (!storage_leave_base(s)) {
    OVERWRITE_RELEASED(s->data, s->bytes);
    if (s->free_data) s->free_data(s->context, storage_address(s), s->bytes);
  }
  s->fetch = NULL;
  s->data = fresh.data;
  s->memory = fresh.memory;
  s->bytes = bytes;
  s->free_data = fresh.free_data;
  s->context = fresh.context;
  return OK;
}
