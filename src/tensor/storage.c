/* Storage: counted bytes. Those of tensors made here come in one block with the tensor (tensor.c); large data comes
 * from the size-class cache. A single storage never exceeds the machine's or the cgroup's memory. */
#include "tensor/tensor.h"

#include <stdio.h>
#include <unistd.h>

#include "base/hostile.h"

static _Atomic size_t storage_limit;

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

static Status check_limit(size_t bytes) {
  size_t limit = atomic_load_explicit(&storage_limit, memory_order_relaxed);
  if (limit == 0) {
    limit = machine_memory();
    atomic_store(&storage_limit, limit);
  }
  if (bytes > limit)
    return status_new(ERROR_OUT_OF_MEMORY, "can't allocate memory: you tried to allocate %zu bytes", bytes);
  return OK;
}

static void free_cached(void *context, void *data, size_t bytes) {
  (void)context;
  cache_free(data, bytes);
}

/* Gives `s`, otherwise initialized, data of its own. */
Status storage_allocate(Storage *s, size_t bytes) {
  s->bytes = bytes;
  if (bytes == 0) return OK;
  TRY(check_limit(bytes));
  s->data = cache_alloc(bytes);
  if (!s->data) return status_new(ERROR_OUT_OF_MEMORY, "can't allocate memory: you tried to allocate %zu bytes", bytes);
  s->free_data = free_cached;
  return OK;
}

Status storage_new(size_t bytes, Storage **out) {
  *out = NULL;
  Storage *s = mem_calloc(1, sizeof *s);
  if (!s) return status_out_of_memory();
  ref_init(&s->refs);
  s->flags = STORAGE_RESIZABLE;
  s->device = DEVICE_CPU_0;
  Status status = storage_allocate(s, bytes);
  if (status)
    mem_free(s);
  else
    *out = s;
  return status;
}

Status storage_from_data(void *data, size_t bytes, void (*free_data)(void *, void *, size_t), void *context,
                         Storage **out) {
  *out = NULL;
  Storage *s = mem_calloc(1, sizeof *s);
  if (!s) return status_out_of_memory();
  ref_init(&s->refs);
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

void storage_destroy(Storage *s) {
  if (s->flags & STORAGE_RESIZABLE) OVERWRITE_RELEASED(s->data, s->bytes); /* wick's own */
  if (s->free_data) s->free_data(s->context, s->data, s->bytes);
  mem_free(s);
}

void storage_release(Storage *s) {
  if (s && ref_release(&s->refs)) storage_destroy(s);
}

Status storage_resize(Storage *s, size_t bytes) {
  if (!(s->flags & STORAGE_RESIZABLE))
    return status_new(ERROR_RUNTIME, "Trying to resize storage that is not resizable");
  Storage fresh = {.bytes = 0};
  TRY(storage_allocate(&fresh, bytes));
  size_t kept = s->bytes < bytes ? s->bytes : bytes;
  if (kept) memcpy(fresh.data, s->data, kept);
  OVERWRITE_RELEASED(s->data, s->bytes);
  if (s->free_data) s->free_data(s->context, s->data, s->bytes);
  s->data = fresh.data;
  s->bytes = bytes;
  s->free_data = fresh.free_data;
  s->context = NULL;
  return OK;
}
