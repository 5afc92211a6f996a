/* The table of back ends and the switches. */
#include "fuse/backend.h"

#include <stdlib.h>

#include "fuse/compiled.h"

static const char *const names[FUSER_COUNT] = {"default", "none", "tile", "native"};

bool fuser_find(Str name, Fuser *out) {
  for (int i = 0; i < FUSER_COUNT; i++) {
    if (!str_is(name, names[i])) continue;
    *out = (Fuser)i;
    return true;
  }
  return false;
}

enum { DEVICES = sizeof((Runtime *)NULL)->fusers, DEVICE_TYPES = 32 };
static _Atomic(const FuseBackend *) backends[FUSER_LIMIT] = {
    [FUSER_TILE] = &fuse_backend_tile, [FUSER_NATIVE] = &fuse_backend_native};
/* Bit f: back end f; those that calls may take up, of a device type. */
static _Atomic uint32_t switched_off, there[DEVICE_TYPES] = {[DEVICE_CPU] = 1u << FUSER_TILE | 1u << FUSER_NATIVE};
_Static_assert(FUSER_LIMIT <= 32, "a bit for each back end");

static Fuser environment_fuser(void) {
  static _Atomic int asked; /* the answer plus one */
  int answer = atomic_load_explicit(&asked, memory_order_relaxed);
  if (!answer) {
    Fuser fuser = FUSER_DEFAULT;
    const char *text = getenv("WICK_FUSER");
    if (text && !fuser_find(str_from(text), &fuser)) fuser = FUSER_DEFAULT;
    answer = (int)fuser + 1;
    atomic_store_explicit(&asked, answer, memory_order_relaxed);
  }
  return (Fuser)(answer - 1);
}

const FuseBackend *fuse_backend_of(Fuser fuser) {
  const FuseBackend *backend = fuser < FUSER_LIMIT ? atomic_load(&backends[fuser]) : NULL;
  return backend && atomic_load(&there[backend->device_type]) >> fuser & 1 ? backend : NULL;
}

bool fuse_exists(Fuser fuser, int device_type) {
  if (device_type < 0 || device_type >= DEVICES || fuser >= FUSER_LIMIT) return false;
  return fuser <= FUSER_NONE || atomic_load(&there[device_type]) >> fuser & 1;
}

void fuse_set(Runtime *runtime, int device_type, Fuser fuser) {
  if (fuse_exists(fuser, device_type)) atomic_store(&runtime->fusers[device_type], (uint8_t)fuser);
}

void fuse_set_enabled(Fuser fuser, bool on) {
  if (on)
    atomic_fetch_and(&switched_off, ~(1u << fuser));
  else
    atomic_fetch_or(&switched_off, 1u << fuser);
}

uint32_t fuse_all_of(int device_type) {
  if (device_type < 0 || device_type >= DEVICE_TYPES) return 0;
  return atomic_load_explicit(&there[device_type], memory_order_relaxed) &
         ~atomic_load_explicit(&switched_off, memory_order_relaxed);
}

uint32_t fuse_chain(const Exec *exec, int device_type) {
  if (device_type < 0 || device_type >= DEVICE_TYPES) return 0;
  Fuser asked = device_type == DEVICE_CPU ? (Fuser)exec->fuser : FUSER_DEFAULT;
  if (!asked && device_type < DEVICES)
    asked = atomic_load_explicit(&exec->runtime->fusers[device_type], memory_order_relaxed);
  if (!asked) asked = environment_fuser();
  if (asked == FUSER_NONE) return 0;
  uint32_t chain = fuse_all_of(device_type);
  if (asked == FUSER_DEFAULT) chain &= ~(1u << FUSER_NATIVE);          /* for who asks for it */
  if (asked != FUSER_DEFAULT) chain &= 1u << asked | 1u << FUSER_TILE; /* who asks for one has what it falls back to */
  return chain;
}

bool fuse_backend_register(const FuseBackend *backend, Fuser *out) {
  if (backend->device_type < 0 || backend->device_type >= DEVICE_TYPES) return false;
  for (int i = FUSER_COUNT; i < FUSER_LIMIT; i++) {
    const FuseBackend *nobody = NULL;
    if (!atomic_compare_exchange_strong(&backends[i], &nobody, backend)) continue;
    atomic_fetch_or(&there[backend->device_type], 1u << i);
    *out = (Fuser)i;
    return true;
  }
  return false;
}

void fuse_backend_unregister(Fuser fuser) {
  const FuseBackend *backend = fuse_backend_of(fuser);
  if (!backend || fuser < FUSER_COUNT) return;
  fuse_set_enabled(fuser, true);
  atomic_fetch_and(&there[backend->device_type], ~(1u << fuser));
  fuse_compiled_forget(fuser); /* the number is nobody's once nothing of it is left */
  atomic_store(&backends[fuser], NULL);
}
