/* The table of back ends and the switches. */
#include "fuse/backend.h"

#include <stdlib.h>

static const char *const names[FUSER_COUNT] = {"default", "none", "tile"};
static const FuseBackend *const backends[FUSER_COUNT] = {[FUSER_TILE] = &fuse_backend_tile};

bool fuser_find(Str name, Fuser *out) {
  for (int i = 0; i < FUSER_COUNT; i++) {
    if (!str_is(name, names[i])) continue;
    *out = (Fuser)i;
    return true;
  }
  return false;
}

enum { DEVICES = sizeof((Runtime *)NULL)->fusers };
static _Atomic uint32_t switched_off; /* bit f: back end f */

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

bool fuse_exists(Fuser fuser, int device_type) {
  if (device_type < 0 || device_type >= DEVICES || fuser >= FUSER_COUNT) return false;
  return fuser <= FUSER_NONE || backends[fuser]->device_type == device_type;
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

const FuseBackend *fuse_backend(const Exec *exec, int device_type) {
  Fuser asked = device_type == DEVICE_CPU ? exec->fuser : FUSER_DEFAULT;
  uint32_t off = atomic_load_explicit(&switched_off, memory_order_relaxed);
  if (!asked) asked = atomic_load_explicit(&exec->runtime->fusers[device_type], memory_order_relaxed);
  if (!asked) asked = environment_fuser();
  if (asked == FUSER_NONE) return NULL;
  for (int i = FUSER_COUNT - 1; i > FUSER_NONE; i--) /* later ones are faster */
    if ((asked == FUSER_DEFAULT || (int)asked == i) && !(off >> i & 1) && backends[i]->device_type == device_type)
      return backends[i];
  return NULL;
}
