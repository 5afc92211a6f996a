/* FuseCompiled: a kernel as a back end compiled it for operands of one signature. A kernel keeps a list of them.
 *
 * A run that finds none for its signature asks the back end whether it takes the kernel, leaves a job with the queue
 * (base/queue.h) and goes on with the next back end; later runs find what was made, without a lock. What back ends hold
 * is bounded for the process, together: what runs have not used since room was last wanted goes first. What went, or
 * found no room, comes back when something else has gone. */
#pragma once

#include "base/hostile.h"
#include "fuse/backend.h"

typedef struct FuseCompiled FuseCompiled;
typedef struct FuseCompiledList {
  _Atomic(FuseCompiled *) first;
  _Atomic uint32_t count;
  _Atomic bool was_full;
  uint32_t most; /* signatures; 0: FUSE_MAX_SIGNATURES */
} FuseCompiledList;

enum { FUSE_MAX_SIGNATURES = 16 }; /* of a kernel, for all back ends together */
typedef struct FuseHeld {
  size_t count, bytes;
} FuseHeld;
#define FUSE_MAX_HELD ((FuseHeld){CACHE_ENTRIES(1024), (size_t)64 << 20})

/* The fastest of the chain that is ready for such operands, for one run: fuse_compiled_leave ends it. NULL: none is.
 * Those that were not asked yet are. `range` is where reasons are counted. */
FuseCompiled *fuse_compiled_enter(FuseCompiledList *list, KernelIr *kernel, uint32_t chain,
                                  const FuseSignature *signature, SourceRange range);
/* The same for operators by themselves, which have nothing else to run by: compiles on this thread, or waits for it.
 * The error is why no back end of the chain takes such operands. */
Status fuse_compiled_enter_now(FuseCompiledList *list, KernelIr *kernel, uint32_t chain, const FuseSignature *signature,
                               FuseCompiled **out) MUST_CHECK;
Status fuse_compiled_run(FuseCompiled *compiled, int threads, const TileArgument *arguments,
                         Tensor *const *outputs) MUST_CHECK;
void fuse_compiled_leave(FuseCompiled *compiled);
/* When no run is in it any more. */
void fuse_compiled_list_dispose(FuseCompiledList *list);

/* Frees what the back end has compiled, when no run is in it and no compilation under way: waits for both. */
void fuse_compiled_forget(BackendNumber number);
/* Frees what no run is in; what is called again is compiled again. */
size_t fuse_trim(void);                /* bytes */
FuseHeld fuse_held(void);              /* test hook */
void fuse_set_max_held(FuseHeld most); /* test hook */
