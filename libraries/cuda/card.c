/* Opening cards, and their memory: blocks of a size class are kept when they are given back, up to a bound. */
#include "cuda/card.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGING = 4 << 20, LEAST_BLOCK = 512 };
static Card cards[MAX_CARDS] = {[0 ... MAX_CARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

int card_count(void) {
  int count = 0;
  if (driver.cuDeviceGetCount(&count)) return 0;
  return count < MAX_CARDS ? count : MAX_CARDS;
}

/* Bytes that are kept for reuse: WICK_CUDA_CACHE, in MiB, or 1 GiB. */
static size_t cache_bound(void) {
  const char *text = getenv("WICK_CUDA_CACHE");
  char *end = NULL;
  unsigned long long given = text ? strtoull(text, &end, 10) : 0;
  return text && end != text && !*end && given < 1u << 24 ? (size_t)given << 20 : (size_t)1 << 30;
}

/* Lock held. */
static CUresult open_card(Card *card, int index) {
  CUdevice device;
  int major = 0, minor = 0;
  CUresult result = driver.cuDeviceGet(&device, index);
  if (!result) result = driver.cuDevicePrimaryCtxRetain(&card->context, device);
  if (!result) result = driver.cuCtxSetCurrent(card->context);
  if (!result) result = driver.cuStreamCreate(&card->stream, CU_STREAM_NON_BLOCKING);
  if (!result) result = driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (!result) result = driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  if (!result) result = driver.cuMemHostAlloc(&card->staging, STAGING, 0);
  snprintf(card->architecture, sizeof card->architecture, "--gpu-architecture=compute_%d%d", major, minor);
  card->index = index;
  card->most_kept = cache_bound();
  card->is_open = !result;
  return result;
}

wick_status card_enter(int index, Card **out, wick_error **error) {
  if (index < 0 || index >= MAX_CARDS) return fail(error, WICK_INVALID_ARGUMENT, "CUDA: there is no device %d", index);
  Card *card = *out = &cards[index];
  pthread_mutex_lock(&card->lock);
  CUresult result = card->is_open ? driver.cuCtxSetCurrent(card->context) : open_card(card, index);
  pthread_mutex_unlock(&card->lock);
  return result ? driver_error(error, result, "opening device %d", index) : WICK_OK;
}

wick_status card_enter_any(Card **out, wick_error **error) {
  int index = 0;
  for (int i = 0; i < MAX_CARDS; i++) {
    pthread_mutex_lock(&cards[i].lock);
    bool is_open = cards[i].is_open;
    pthread_mutex_unlock(&cards[i].lock);
    if (is_open) {
      index = i;
      break;
    }
  }
  return card_enter(index, out, error);
}

/* ---- memory ---- */

struct FreeBlock {
  CUdeviceptr memory;
  size_t size;
  uint64_t age; /* the smaller, the longer it is free */
  FreeBlock *next;
};

/* Four classes to each power of two: the number of that which holds `bytes`, and its size. */
static int size_class(size_t bytes, size_t *out_size) {
  size_t step = LEAST_BLOCK / 4, size = LEAST_BLOCK;
  int class = 0;
  for (; size < bytes && class < SIZE_CLASSES - 1; class ++) {
    if (class && class % 4 == 0) step *= 2;
    size += step;
  }
  *out_size = size;
  return size >= bytes ? class : -1;
}

/* Lock held. Gives all that is kept back to the driver, once nothing uses it. */
static CUresult empty_cache(Card *card) {
  CUresult result = driver.cuStreamSynchronize(card->stream);
  for (int i = 0; i < SIZE_CLASSES; i++) {
    while (card->free[i]) {
      FreeBlock *block = card->free[i];
      card->free[i] = block->next;
      CUresult freed = driver.cuMemFree(block->memory);
      if (!result) result = freed;
      free(block);
    }
  }
  card->kept = 0;
  return result;
}

static bool take_kept(Card *card, int class, size_t size, CUdeviceptr *out) {
  FreeBlock *block = card->free[class];
  if (!block) return false;
  card->free[class] = block->next;
  card->kept -= size;
  *out = block->memory;
  free(block);
  return true;
}

wick_status card_allocate(void *user, int32_t index, size_t bytes, void **out_memory, wick_error **error) {
  (void)user;
  Card *card = NULL;
  CUdeviceptr memory = 0;
  size_t size;
  int class = size_class(bytes, &size);
  if (class < 0) return fail(error, WICK_OUT_OF_MEMORY, "CUDA: %zu bytes are more than a device has", bytes);
  wick_status status = card_enter(index, &card, error);
  if (status) return status;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&card->lock);
  if (!take_kept(card, class, size, &memory)) {
    result = driver.cuMemAlloc(&memory, size);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && card->kept) {
      result = empty_cache(card);
      if (!result) result = driver.cuMemAlloc(&memory, size);
    }
  }
  pthread_mutex_unlock(&card->lock);
  if (result) return driver_error(error, result, "allocating %zu bytes on device %d", bytes, index);
  *out_memory = (void *)(uintptr_t)memory;
  return WICK_OK;
}

/* Lock held. Gives the block that is free for longest back to the driver. */
static void give_oldest_back(Card *card) {
  FreeBlock **oldest = NULL;
  for (int i = 0; i < SIZE_CLASSES; i++)
    for (FreeBlock **at = &card->free[i]; *at; at = &(*at)->next)
      if (!oldest || (*at)->age < (*oldest)->age) oldest = at;
  if (!oldest) return;
  FreeBlock *block = *oldest;
  *oldest = block->next;
  card->kept -= block->size;
  driver.cuMemFree(block->memory); /* of work that failed, the next synchronization tells */
  free(block);
}

/* What uses the memory is on the stream before whatever gets it next; cuMemFree itself waits for it. */
void card_free(void *user, int32_t index, void *memory, size_t bytes) {
  (void)user;
  Card *card = NULL;
  size_t size;
  int class = size_class(bytes, &size);
  if (card_enter(index, &card, NULL)) return; /* the context is lost, and its memory */
  pthread_mutex_lock(&card->lock);
  FreeBlock *block = size <= card->most_kept ? malloc(sizeof *block) : NULL;
  while (block && card->kept + size > card->most_kept) give_oldest_back(card);
  if (block) {
    *block = (FreeBlock){address_of(memory), size, card->age++, card->free[class]};
    card->free[class] = block;
    card->kept += size;
  } else {
    driver.cuMemFree(address_of(memory)); /* of work that failed, the next synchronization tells */
  }
  pthread_mutex_unlock(&card->lock);
}

/* ---- copies ---- */

/* Lock held: the staging memory is one. In parts, each waited for. */
static CUresult copy_staged(Card *card, CUdeviceptr there, void *here, bool arrives, size_t bytes) {
  CUresult result = CUDA_SUCCESS;
  for (size_t at = 0; at < bytes && !result; at += STAGING) {
    size_t part = bytes - at < STAGING ? bytes - at : STAGING;
    if (arrives) {
      memcpy(card->staging, (char *)here + at, part);
      result = driver.cuMemcpyHtoDAsync(there + at, card->staging, part, card->stream);
    } else {
      result = driver.cuMemcpyDtoHAsync(card->staging, there + at, part, card->stream);
    }
    if (!result) result = driver.cuStreamSynchronize(card->stream);
    if (!arrives && !result) memcpy((char *)here + at, card->staging, part);
  }
  return result;
}

static CUresult copy_between(Card *to_card, CUdeviceptr to, Card *from_card, CUdeviceptr from, size_t bytes) {
  if (to_card == from_card) return driver.cuMemcpyDtoDAsync(to, from, bytes, to_card->stream);
  CUresult result = driver.cuStreamSynchronize(from_card->stream); /* other streams have an order of their own */
  if (!result) result = driver.cuStreamSynchronize(to_card->stream);
  if (!result)
    result = driver.cuMemcpyPeerAsync(to, to_card->context, from, from_card->context, bytes, to_card->stream);
  return result ? result : driver.cuStreamSynchronize(to_card->stream);
}

wick_status card_copy(void *user, int32_t to_index, void *to, int32_t from_index, const void *from, size_t bytes,
                      wick_error **error) {
  (void)user;
  Card *to_card = NULL, *from_card = NULL;
  CUresult result;
  wick_status status = from_index >= 0 ? card_enter(from_index, &from_card, error) : WICK_OK;
  if (!status && to_index >= 0) status = card_enter(to_index, &to_card, error);
  if (status) return status;
  if (to_card && from_card) {
    result = copy_between(to_card, address_of(to), from_card, address_of(from), bytes);
  } else {
    Card *card = to_card ? to_card : from_card;
    pthread_mutex_lock(&card->lock);
    result = to_card ? copy_staged(card, address_of(to), (void *)(uintptr_t)from, true, bytes)
                     : copy_staged(card, address_of(from), to, false, bytes);
    pthread_mutex_unlock(&card->lock);
  }
  return result ? driver_error(error, result, "copying %zu bytes", bytes) : WICK_OK;
}

/* Items of 8 and 16 bytes whose words are equal are words; others are written once and doubled. */
static CUresult fill_items(Card *card, CUdeviceptr to, size_t count, const void *item, size_t bytes) {
  CUresult result = CUDA_SUCCESS;
  for (size_t at = 0; at < bytes && !result; at += 4) {
    unsigned word;
    memcpy(&word, (const char *)item + at, sizeof word);
    result = driver.cuMemsetD32Async(to + at, word, 1, card->stream);
  }
  for (size_t done = 1; done < count && !result;) {
    size_t more = count - done < done ? count - done : done;
    result = driver.cuMemcpyDtoDAsync(to + done * bytes, to, more * bytes, card->stream);
    done += more;
  }
  return result;
}

static bool are_words_equal(const void *item, size_t bytes) {
  for (size_t at = 4; at < bytes; at += 4)
    if (memcmp(item, (const char *)item + at, 4) != 0) return false;
  return true;
}

wick_status card_fill(void *user, int32_t index, void *memory, size_t count, const void *item, size_t item_bytes,
                      wick_error **error) {
  (void)user;
  Card *card = NULL;
  CUresult result;
  CUdeviceptr to = address_of(memory);
  unsigned char byte;
  unsigned short half;
  unsigned word;
  wick_status status = card_enter(index, &card, error);
  if (status) return status;
  if (item_bytes == 1) {
    memcpy(&byte, item, sizeof byte);
    result = driver.cuMemsetD8Async(to, byte, count, card->stream);
  } else if (item_bytes == 2) {
    memcpy(&half, item, sizeof half);
    result = driver.cuMemsetD16Async(to, half, count, card->stream);
  } else if (are_words_equal(item, item_bytes)) {
    memcpy(&word, item, sizeof word);
    result = driver.cuMemsetD32Async(to, word, count * (item_bytes / 4), card->stream);
  } else {
    result = fill_items(card, to, count, item, item_bytes);
  }
  return result ? driver_error(error, result, "filling %zu items", count) : WICK_OK;
}

wick_status card_synchronize(void *user, int32_t index, wick_error **error) {
  (void)user;
  Card *card = NULL;
  wick_status status = card_enter(index, &card, error);
  if (status) return status;
  CUresult result = driver.cuStreamSynchronize(card->stream);
  return result ? driver_error(error, result, "waiting for device %d", index) : WICK_OK;
}
