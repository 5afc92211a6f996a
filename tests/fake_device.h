/* A device for tests: "fake", of which there are two. Its memory is no one's to read while the host runs: pages are
 * opened within its own functions and kernels only, so whatever else reads or writes them ends in a fault. Include
 * after cmocka.h. */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "call/call_internal.h"
#include "call/device_kernel.h"
#include "tensor/device_class.h"

enum { FAKE = 20 };

/* ---- memory ---- */

typedef struct FakeBlock {
  void *memory;
  size_t bytes;
  struct FakeBlock *next;
} FakeBlock;
static struct {
  pthread_mutex_t lock;
  FakeBlock *blocks;
  int open;                    /* how often; pages can be read while it is not 0 */
  size_t copies, fills, waits; /* what was asked of it */
  size_t kernels;
  bool has_no_memory, loses_work;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fake_protect_all(int protection) {
  for (FakeBlock *b = fake.blocks; b; b = b->next)
    if (mprotect(b->memory, b->bytes, protection)) abort();
}
static void fake_open(void) {
  pthread_mutex_lock(&fake.lock);
  if (fake.open++ == 0) fake_protect_all(PROT_READ | PROT_WRITE);
  pthread_mutex_unlock(&fake.lock);
}
static void fake_close(void) {
  pthread_mutex_lock(&fake.lock);
  if (--fake.open == 0) fake_protect_all(PROT_NONE);
  pthread_mutex_unlock(&fake.lock);
}

static size_t fake_whole_pages(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

static Status fake_allocate(Device device, size_t bytes, void **out_memory, void **out_context) {
  if (fake.has_no_memory) return status_new(ERROR_OUT_OF_MEMORY, "fake:%d has no %zu bytes", device.index, bytes);
  FakeBlock *b = malloc(sizeof *b);
  b->bytes = fake_whole_pages(bytes);
  pthread_mutex_lock(&fake.lock);
  b->memory = mmap(NULL, b->bytes, fake.open ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (b->memory == MAP_FAILED) abort();
  b->next = fake.blocks;
  fake.blocks = b;
  pthread_mutex_unlock(&fake.lock);
  *out_memory = b->memory;
  *out_context = b;
  return OK;
}
static void fake_free(void *context, void *memory, size_t bytes) {
  FakeBlock *b = context;
  if (b->memory != memory || b->bytes != fake_whole_pages(bytes)) abort();
  pthread_mutex_lock(&fake.lock);
  FakeBlock **at = &fake.blocks;
  while (*at != b) at = &(*at)->next;
  *at = b->next;
  munmap(b->memory, b->bytes);
  pthread_mutex_unlock(&fake.lock);
  free(b);
}
static size_t fake_block_count(void) {
  size_t count = 0;
  for (const FakeBlock *b = fake.blocks; b; b = b->next) count++;
  return count;
}

static Status fake_copy(Device to_device, void *to, Device from_device, const void *from, size_t bytes) {
  if (to_device.type != FAKE && from_device.type != FAKE) abort();
  fake_open();
  memmove(to, from, bytes);
  fake.copies++;
  fake_close();
  return OK;
}
static Status fake_fill(Device device, void *memory, size_t count, const void *item, size_t size) {
  if (device.type != FAKE) abort();
  fake_open();
  for (size_t i = 0; i < count; i++) memcpy((char *)memory + i * size, item, size);
  fake.fills++;
  fake_close();
  return OK;
}

/* Kernels are done at once; a queue only counts who waits for it. */
static DeviceQueue fake_queue = {.device = {FAKE, 0}};
static Status fake_synchronize(DeviceQueue *queue) {
  if (queue != &fake_queue) abort();
  fake.waits++;
  return fake.loses_work ? status_new(ERROR_RUNTIME, "fake:%d lost its work", queue->device.index) : OK;
}

static const DeviceClass fake_class = {.name = "fake",
                                       .type = FAKE,
                                       .count = 2,
                                       .allocate = fake_allocate,
                                       .free = fake_free,
                                       .copy = fake_copy,
                                       .fill = fake_fill,
                                       .synchronize = fake_synchronize};

/* ---- kernels ---- */

/* The tensor as one of the host, for while the memory is open. */
static Tensor *fake_on_host(const Tensor *t) {
  Storage *storage;
  Tensor *view;
  if (tensor_device(t).type == DEVICE_CPU) return tensor_retain(t);
  if (storage_from_data(t->storage->memory, t->storage->bytes, NULL, NULL, &storage)) abort();
  if (tensor_from_storage(storage, (DType)t->dtype, t->ndim, t->sizes, t->strides, t->offset, &view)) abort();
  storage_release(storage);
  return view;
}

/* What the row does on the CPU, on the device's memory. */
static Status fake_kernel(Call *call) {
  IValue inputs[CALL_MAX_INPUTS], outputs[CALL_MAX_OUTPUTS];
  Call inner = *call;
  for (uint32_t i = 0; i < call->input_count; i++)
    inputs[i] = call->inputs[i].tag == TAG_TENSOR ? ivalue_tensor(fake_on_host(call->inputs[i].tensor))
                                                  : ivalue_retain(call->inputs[i]);
  for (uint32_t i = 0; i < call->output_count; i++) outputs[i] = ivalue_tensor(fake_on_host(call->outputs[i].tensor));
  inner.inputs = inputs;
  inner.outputs = outputs;
  inner.form = NULL;
  fake_open();
  Status status = call_run_row(&inner);
  fake.kernels++;
  fake_close();
  for (uint32_t i = 0; i < call->input_count; i++) ivalue_release(inputs[i]);
  for (uint32_t i = 0; i < call->output_count; i++) ivalue_release(outputs[i]);
  return status;
}

static const KindForm fake_forms[] = {
    {"aten::add.Tensor", fake_kernel, .fills = true}, {"aten::add.Scalar", fake_kernel, .fills = true},
    {"aten::mul.Tensor", fake_kernel, .fills = true}, {"aten::mul.Scalar", fake_kernel, .fills = true},
    {"aten::relu", fake_kernel, .fills = true},       {"aten::mm", fake_kernel, .fills = true}};
static KIND_FORMS(fake_kernels, fake_forms);

static void fake_register(void) {
  Status status = device_register(&fake_class);
  if (!status) status = device_kernels_register(FAKE, &fake_kernels);
  if (status) print_error("%s\n", status->message);
  assert_null(status);
}
