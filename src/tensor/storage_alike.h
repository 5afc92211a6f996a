/* Storages of equal content, found when they are loaded: the second one shares the memory of the first until one of
 * them is written. Of one heap each, so that runtimes know nothing of each other. */
#pragma once

#include "tensor/tensor.h"

/* Puts a storage that shares the memory of an equal one into the place of *storage, whose reference it takes over;
 * where there is none, others will find this one. *storage is known to nobody else yet. */
Status storage_join_alike(Storage **storage) MUST_CHECK;
