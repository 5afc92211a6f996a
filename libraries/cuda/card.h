/* Card: one CUDA device with its context, its one stream, and its memory. All work goes to the stream, in order, so
 * that memory which is given back can be given out again at once: what comes after comes after.
 *
 * A card's context is made when something of it is first asked for. */
#ifndef CUDA_CARD_H
#define CUDA_CARD_H

#include <pthread.h>

#include "cuda/driver.h"

enum { MAX_CARDS = 128, SIZE_CLASSES = 160 };

typedef struct FreeBlock FreeBlock;
typedef struct Card {
  pthread_mutex_t lock;
  int index;
  bool is_open;
  CUcontext context;
  CUstream stream;
  char architecture[32]; /* "--gpu-architecture=compute_90" */
  /* guarded by the lock */
  FreeBlock *free[SIZE_CLASSES];
  size_t kept, most_kept; /* bytes in free blocks, and their bound: beyond it, those go that are free for longest */
  uint64_t age;
  void *staging; /* pinned memory of the host: copies from and to pageable memory go through it */
} Card;

/* The card, open, with its context the thread's. */
wick_status card_enter(int index, Card **out, wick_error **error);
/* One that is open already, or the first. */
wick_status card_enter_any(Card **out, wick_error **error);
int card_count(void);

wick_status card_allocate(void *user, int32_t index, size_t bytes, void **out_memory, wick_error **error);
void card_free(void *user, int32_t index, void *memory, size_t bytes);
wick_status card_copy(void *user, int32_t to_index, void *to, int32_t from_index, const void *from, size_t bytes,
                      wick_error **error);
wick_status card_fill(void *user, int32_t index, void *memory, size_t count, const void *item, size_t item_bytes,
                      wick_error **error);
wick_status card_synchronize(void *user, int32_t index, wick_error **error);

static inline CUdeviceptr address_of(const void *memory) {
  return (CUdeviceptr)(uintptr_t)memory;
}

#endif
