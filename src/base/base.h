/* base: what everything stands on, with no knowledge of TorchScript. In reading order: */
#pragma once

#include "base/status.h"     /* Status and Error: how functions fail */
#include "base/heap.h"       /* where memory comes from */
#include "base/memory.h"     /* checked sizes, heap, counts, catch points, arenas */
#include "base/str.h"        /* Str, StrBuf, numbers and UTF-8 */
#include "base/vec.h"        /* growing arrays */
#include "base/map.h"        /* hash maps by text and by pointer */
#include "base/cache.h"      /* the size-class cache for blocks of storage */
#include "base/lasting.h"    /* blocks that outlast calls */
#include "base/work.h"       /* what long work needs of its call */
#include "base/work_limit.h" /* when this thread's work is to end */
#include "base/parallel.h"   /* parallel_for */
#include "base/stack.h"      /* native stack left */
#include "base/stamp.h"      /* what is relied on while nobody changes it */
#include "base/hostile.h"    /* a build for tests */
/* For those who ask for them: base/parallel_pool.h, the threads of parallel_for; base/thread.h, how threads start;
 * base/fork.h, what happens around a fork, and locks that none finds taken; base/clock.h, the monotonic clock;
 * base/queue.h, the thread that compiles; base/small_blocks.h, small blocks for reuse; base/output_file.h, files that
 * are written at once; base/processor.h, instruction sets; base/library.h, libraries that are opened when needed;
 * base/machine_code.h, memory whose bytes the processor runs; base/format.h, what texts are printed by;
 * base/copy_short.h, memcpy for short runs. */
