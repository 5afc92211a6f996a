/* Back ends of fusion: what runs a group's kernels. One file each: a row (FuseBackend), and its line in backend.c's
 * table or a call of fuse_backend_register. The tile interpreter is always there and always ready.
 *
 * A call has a chain of them for a device, the fastest first: a run takes the first that has compiled the kernel for
 * its operands' signature, and what is still being compiled or was refused falls through to the next (fuse/compiled.h).
 *
 * Switches, from the nearest: the call's (Exec.backend, for CPU), the runtime's for a device (fuse_set), what
 * WICK_BACKEND=none|tile|native says, all that are there for the device but native code. None of them uses a back end
 * that is switched off (fuse_set_enabled). */
#pragma once

#include "call/exec.h"
#include "call/runtime.h"
#include "fuse/signature.h"
#include "report/reason.h"

/* ORDER backend: as in wick.h; Exec.backend and Runtime.backends hold it. Registered ones have numbers from
 * BACKEND_COUNT; higher ones are faster. */
typedef enum BackendNumber {
  BACKEND_DEFAULT,
  BACKEND_NONE,
  BACKEND_TILE,
  BACKEND_NATIVE,
  BACKEND_COUNT,
  BACKEND_LIMIT = 16
} BackendNumber;
bool fuse_backend_find(Str name, BackendNumber *out); /* "none", or the name of a row */
BackendNumber fuse_backend_of_environment(void);      /* what WICK_BACKEND says */

typedef struct FuseBackend {
  const char *name;
  int device_type; /* DeviceType it computes for; a group's is its inputs' */
  /* Whether it takes the kernel with such operands: REASON_COUNT, or one of REASON_NOT_COMPILED_..., which is counted.
   * Called once for a signature, on the thread that calls the group, so it is quick. NULL: it takes all. */
  Reason (*supports)(const struct FuseBackend *self, const KernelIr *kernel, const FuseSignature *signature);
  /* Makes what `run` and `bytes` get, on the queue's thread (base/queue.h) for as long as it takes; long ones call
   * queue_pause now and then and end with ERROR_CANCELLED when it says so. No call waits for it. An error is for good,
   * but for ERROR_CANCELLED and ERROR_OUT_OF_MEMORY. NULL: there is nothing to make, kernels run at once. */
  Status (*compile)(const struct FuseBackend *self, KernelIr *kernel, const FuseSignature *signature, void **out);
  /* As tile_run, for operands of the signature; several threads at once; sizes may be 0. After an error the group runs
   * operator by operator. */
  Status (*run)(const KernelIr *kernel, void *compiled, int threads, const TileArgument *arguments,
                Tensor *const *outputs);
  /* What `compiled` holds, for the bound of the process, and its end: both called with a lock held (base/fork.h), so
   * they call nothing of wick's that takes one. Set where `compile` is. */
  size_t (*bytes)(const void *compiled);
  void (*free)(void *compiled);
} FuseBackend;

/* Bit f: back end f is one that a call uses for a device; 0: groups run operator by operator. */
uint32_t fuse_chain(const Exec *exec, int device_type);
/* From now on all calls for its device have it in their chains, first. Borrows the row. False: there is no number left.
 * Libraries come here by wick/backend.h. */
bool fuse_backend_register(const FuseBackend *backend, BackendNumber *out);
/* Frees what it has compiled and waits for the runs and the compilation that are in it; afterwards nothing of it is
 * called. Not within a job of the queue, nor with a lock held. A test hook so far. */
void fuse_backend_unregister(BackendNumber number);
/* What calls may take up under the number; NULL: nothing. For fuse/compiled.h, which keeps it from going meanwhile. */
const FuseBackend *fuse_backend_of(BackendNumber number);

/* What groups were compiled for stays. BACKEND_DEFAULT: as WICK_BACKEND says. */
void fuse_set(Runtime *runtime, int device_type, BackendNumber number);
/* Bit f: back end f is there for the device and not switched off. */
uint32_t fuse_all_of(int device_type);
/* For the whole process. */
void fuse_set_enabled(BackendNumber number, bool enabled);
/* Whether the back end can be asked for on the device. */
bool fuse_exists(BackendNumber number, int device_type);

extern const FuseBackend fuse_backend_tile, fuse_backend_native;
