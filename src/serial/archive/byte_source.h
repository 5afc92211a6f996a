/* ByteSource: the bytes of an archive, wherever they are: a file that is read, a file mapped privately, memory,
 * callbacks. */
#pragma once

#include "base/memory.h"

typedef struct ByteSource {
  /* Reads exactly `length` bytes at `offset`; the caller has checked the range against `size`. */
  Status (*read)(struct ByteSource *source, uint64_t offset, void *to, size_t length);
  /* A pointer to the bytes in place, or NULL when they must be read; valid while the source is retained. */
  const void *(*view)(struct ByteSource *source, uint64_t offset, size_t length);
  /* Of a mapped file: reads what a part of a view showed at first, past the mapping; else NULL. */
  bool (*fetch)(const struct ByteSource *source, const void *view, void *to, size_t length);
  void (*free)(struct ByteSource *source);
  uint64_t size;
  bool is_private; /* what `view` shows may be written: copy on write */
  RefCount refs;
} ByteSource;

/* `map` maps the file privately (writes never reach it); it must then not be cut while in use. */
Status byte_source_open(const char *path, bool map, ByteSource **out) MUST_CHECK;
Status byte_source_from_memory(const void *data, size_t length,
                               ByteSource **out) MUST_CHECK; /* borrowed for the source's life */
/* `read` answers 0 when it delivered all bytes. `release` (may be NULL) is called once, when the source is freed. */
typedef int ByteReadCallback(void *user, uint64_t offset, void *to, size_t length);
Status byte_source_from_callbacks(ByteReadCallback *read, void (*release)(void *user), void *user, uint64_t size,
                                  ByteSource **out) MUST_CHECK;
ByteSource *byte_source_retain(ByteSource *source);
void byte_source_release(ByteSource *source);
/* Checks the range, then reads. */
Status byte_source_read(ByteSource *source, uint64_t offset, void *to, size_t length) MUST_CHECK;
