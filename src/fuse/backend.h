/* Back ends of fusion: what runs a group's kernels. One file each; the tile interpreter is there always. A new one is a
 * row of the table in backend.c.
 *
 * Switches, from the nearest: the call's (Exec.fuser), the runtime's for a device (fuse_set), what WICK_FUSER=none|tile
 * says, the fastest of those that are there for the device. None of them uses a back end that is
 * switched off (fuse_set_enabled). */
#pragma once

#include "call/exec.h"
#include "tile/run.h"

/* ORDER fuser: as in wick.h; Exec.fuser and Runtime.fusers hold it. */
typedef enum Fuser { FUSER_DEFAULT, FUSER_NONE, FUSER_TILE, FUSER_COUNT } Fuser;
bool fuser_find(Str name, Fuser *out);

typedef struct FuseBackend {
  const char *name;
  int device_type; /* DeviceType it computes for */
  /* Prepares a kernel, once; NULL: nothing to prepare. Called on the thread that calls the group. */
  Status (*compile)(const TileKernel *kernel, void **out);
  /* As tile_run. */
  Status (*run)(const TileKernel *kernel, void *compiled, int threads, const TileArgument *arguments,
                Tensor *const *outputs);
  void (*free)(void *compiled);
} FuseBackend;

/* The back end that a call uses for a device; NULL: groups run operator by operator. */
const FuseBackend *fuse_backend(const Exec *exec, int device_type);
/* What groups were compiled for stays. FUSER_DEFAULT: as WICK_FUSER says. */
void fuse_set(Runtime *runtime, int device_type, Fuser fuser);
/* For the whole process. */
void fuse_set_enabled(Fuser fuser, bool enabled);
/* Whether the back end can be asked for on the device. */
bool fuse_exists(Fuser fuser, int device_type);

extern const FuseBackend fuse_backend_tile;
