/* The table of back ends and the switches. */
#include "fuse/backend.h"

#include <stdlib.h>

#include "fuse/compiled.h"

enum { DEVICES = sizeof((Runtime *)NULL)->backends, DEVICE_TYPES = 32 };
static _Atomic(const FuseBackend *) backends[BACKEND_LIMIT] = {
    [BACKEND_TILE] = &fuse_backend_tile, [BACKEND_NATIVE] = &fuse_backend_native};
/* Bit f: back end f; those that calls may take up, of a device type. */
static _Atomic uint32_t switched_off, there[DEVICE_TYPES] = {[DEVICE_CPU] = 1u << BACKEND_TILE | 1u << BACKEND_NATIVE};
_Static_assert(BACKEND_LIMIT <= 32, "a bit for each back end");

bool fuse_backend_find(Str name, BackendNumber *out) {
  static const char *const switches[] = {[BACKEND_DEFAULT] = "default", [BACKEND_NONE] = "none"};
  for (int i = 0; i < BACKEND_LIMIT; i++) {
    const FuseBackend *backend = atomic_load(&backends[i]);
    const char *own = i <= BACKEND_NONE ? switches[i] : backend ? backend->name : NULL;
    if (!own || !str_is(name, own)) continue;
    *out = (BackendNumber)i;
    return true;
  }
  return false;
}

BackendNumber fuse_backend_of_environment(void) {
  static _Atomic int asked; /* the answer plus one */
  int answer = atomic_load_explicit(&asked, memory_order_relaxed);
  if (!answer) {
    BackendNumber number = BACKEND_DEFAULT;
    const char *text = getenv("WICK_BACKEND");
    if (text && !fuse_backend_find(str_from(text), &number)) number = BACKEND_DEFAULT;
    answer = (int)number + 1;
    atomic_store_explicit(&asked, answer, memory_order_relaxed);
  }
  return (BackendNumber)(answer - 1);
}

const FuseBackend *fuse_backend_of(BackendNumber number) {
  const FuseBackend *backend = number < BACKEND_LIMIT ? atomic_load(&backends[number]) : NULL;
  return backend && atomic_load(&there[backend->device_type]) >> number & 1 ? backend : NULL;
}

bool fuse_exists(BackendNumber number, int device_type) {
  if (device_type < 0 || device_type >= DEVICES || number >= BACKEND_LIMIT) return false;
  return number <= BACKEND_NONE || atomic_load(&there[device_type]) >> number & 1;
}

void fuse_set(Runtime *runtime, int device_type, BackendNumber number) {
  if (fuse_exists(number, device_type)) atomic_store(&runtime->backends[device_type], (uint8_t)number);
}

void fuse_set_enabled(BackendNumber number, bool on) {
  if (on)
    atomic_fetch_and(&switched_off, ~(1u << number));
  else
    atomic_fetch_or(&switched_off, 1u << number);
}

uint32_t fuse_all_of(int device_type) {
  if (device_type < 0 || device_type >= DEVICE_TYPES) return 0;
  return atomic_load_explicit(&there[device_type], memory_order_relaxed) &
         ~atomic_load_explicit(&switched_off, memory_order_relaxed);
}

uint32_t fuse_chain(const Exec *exec, int device_type) {
  if (device_type < 0 || device_type >= DEVICE_TYPES) return 0;
  BackendNumber asked = device_type == DEVICE_CPU ? (BackendNumber)exec->backend : BACKEND_DEFAULT;
  if (!asked && device_type < DEVICES)
    asked = atomic_load_explicit(&exec->runtime->backends[device_type], memory_order_relaxed);
  if (!asked) asked = fuse_backend_of_environment();
  if (asked == BACKEND_NONE) return 0;
  uint32_t chain = fuse_all_of(device_type);
  if (asked == BACKEND_DEFAULT) chain &= ~(1u << BACKEND_NATIVE); /* for who asks for it */
  if (asked != BACKEND_DEFAULT)
    chain &= 1u << asked | 1u << BACKEND_TILE; /* who asks for one has what it falls back to */
  return chain;
}

bool fuse_backend_register(const FuseBackend *backend, BackendNumber *out) {
  if (backend->device_type < 0 || backend->device_type >= DEVICE_TYPES) return false;
  for (int i = BACKEND_COUNT; i < BACKEND_LIMIT; i++) {
    const FuseBackend *nobody = NULL;
    if (!atomic_compare_exchange_strong(&backends[i], &nobody, backend)) continue;
    atomic_fetch_or(&there[backend->device_type], 1u << i);
    *out = (BackendNumber)i;
    return true;
  }
  return false;
}

void fuse_backend_unregister(BackendNumber number) {
  const FuseBackend *backend = fuse_backend_of(number);
  if (!backend || number < BACKEND_COUNT) return;
  fuse_set_enabled(number, true);
  atomic_fetch_and(&there[backend->device_type], ~(1u << number));
  fuse_compiled_forget(number); /* the number is nobody's once nothing of it is left */
  atomic_store(&backends[number], NULL);
}
