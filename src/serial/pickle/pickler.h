/* Pickler: values as the pickles of archives (protocol 2). Tensors stand as references to storages, which the caller
 * writes; what is shared stays shared. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "call/exec.h"

typedef struct Pickler {
  StrBuf out;
  /* For torch.load: functions of torch._utils have other arguments for it than in the pickles of programs. */
  bool is_eager;
  Exec *exec; /* for classes with a __getstate__ of their own */
  /* Told of the class of every object, of enums and of types in tags. */
  void (*depend)(void *context, const Type *type);
  void *context;
  PtrMap memo;             /* counted value -> number + 1 */
  Map names;               /* strings and "module\nname" of globals -> number + 1 */
  uint32_t count;          /* of numbers given */
  PtrMap storage_index;    /* Storage -> index + 1 */
  VEC(Storage *) storages; /* by key, borrowed; NULL: on the meta device */
  VEC(IValue) held;        /* states: the memo knows them by address */
} Pickler;
void pickler_init(Pickler *pickler, Exec *exec);
void pickler_dispose(Pickler *pickler);
/* One whole pickle in pickler->out. */
Status pickler_write(Pickler *pickler, IValue value) MUST_CHECK;
