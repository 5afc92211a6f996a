/* A weight that kernels read in an order of their own is kept in that order alone (tensor/storage_drop.h). */
#pragma once

#include "interp/interp.h"
#include "ivalue/snapshot.h"

/* After a run with the Snapshot in the Code: drops the memory of its weights that were packed and that nobody else has.
 * `self` is the run's first argument, which owns the Snapshot; it is held by the caller and by the object. */
void drop_weights(const Code *code, Snapshot *snapshot, IValue self);
