/* The four kinds of ByteSource. Ranges are checked in byte_source_read; a file that shrinks under `read` gives an
 * error, under `map` the process a SIGBUS, which is why mapping is the caller's choice. */
#include "serial/archive/byte_source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct FileSource {
  ByteSource base;
  int fd;
} FileSource;
typedef struct MemorySource {
  ByteSource base;
  char *data;
} MemorySource;
typedef struct MapSource {
  MemorySource base;
  int fd;
} MapSource;
typedef struct CallbackSource {
  ByteSource base;
  ByteReadCallback *read;
  void (*release)(void *user);
  void *user;
} CallbackSource;

static Status read_all(int fd, uint64_t offset, void *to, size_t length) {
  char *at = to;
  while (length) {
    ssize_t got = pread(fd, at, length < (1u << 30) ? length : (1u << 30), (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return status_new(ERROR_IO, "cannot read: %s", strerror(errno));
    if (got == 0) return status_new(ERROR_IO, "the file became shorter while it was read");
    at += got;
    offset += (uint64_t)got;
    length -= (size_t)got;
  }
  return OK;
}
static Status file_read(ByteSource *source, uint64_t offset, void *to, size_t length) {
  assert(offset <= source->size && length <= source->size - offset);
  return read_all(((const FileSource *)source)->fd, offset, to, length);
}
static void file_free(ByteSource *source) {
  close(((FileSource *)source)->fd);
  mem_free(source);
}

static Status memory_read(ByteSource *source, uint64_t offset, void *to, size_t length) {
  assert(offset <= source->size && length <= source->size - offset);
  if (length) memcpy(to, ((MemorySource *)source)->data + offset, length);
  return OK;
}
static const void *memory_view(ByteSource *source, uint64_t offset, size_t length) {
  assert(offset <= source->size && length <= source->size - offset);
  (void)length;
  return ((MemorySource *)source)->data + offset;
}
static void memory_free(ByteSource *source) {
  mem_free(source);
}
static bool map_fetch(const ByteSource *source, const void *view, void *to, size_t length) {
  const MapSource *map = (const MapSource *)source;
  uint64_t offset = (uint64_t)((const char *)view - map->base.data);
  assert(offset <= source->size && length <= source->size - offset);
  Status status = read_all(map->fd, offset, to, length);
  status_free(status);
  return !status;
}
/* Not through the mapping: its pages are for data of tensors, and each that is touched brings its neighbors in. */
static Status map_file_read(ByteSource *source, uint64_t offset, void *to, size_t length) {
  return read_all(((MapSource *)source)->fd, offset, to, length);
}
static void map_free(ByteSource *source) {
  munmap(((MemorySource *)source)->data, (size_t)source->size);
  close(((MapSource *)source)->fd);
  mem_free(source);
}

static Status callback_read(ByteSource *source, uint64_t offset, void *to, size_t length) {
  assert(offset <= source->size && length <= source->size - offset);
  const CallbackSource *c = (const CallbackSource *)source;
  if (c->read(c->user, offset, to, length) != 0) return status_new(ERROR_IO, "the read callback failed");
  return OK;
}
static void callback_free(ByteSource *source) {
  const CallbackSource *c = (const CallbackSource *)source;
  if (c->release) c->release(c->user);
  mem_free(source);
}

static Status open_file(const char *path, int *out_fd, uint64_t *out_size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return status_new(ERROR_IO, "cannot open: %s", strerror(errno));
  struct stat info;
  Status status = OK;
  if (fstat(fd, &info) != 0) {
    status = status_new(ERROR_IO, "cannot open: %s", strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    status = status_new(ERROR_IO, "not a regular file");
  }
  if (status) {
    close(fd);
    return status;
  }
  *out_fd = fd;
  *out_size = (uint64_t)info.st_size;
  return OK;
}

Status byte_source_open(const char *path, bool map, ByteSource **out) {
  int fd;
  uint64_t size;
  TRY(open_file(path, &fd, &size));
  if (map && size && size <= SIZE_MAX) {
    void *data = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (data != MAP_FAILED) {
      MapSource *source = mem_calloc(1, sizeof *source);
      if (!source) {
        munmap(data, (size_t)size);
        close(fd);
        return status_out_of_memory();
      }
      source->fd = fd;
      source->base.data = data;
      source->base.base = (ByteSource){.read = map_file_read,
                                       .view = memory_view,
                                       .fetch = map_fetch,
                                       .free = map_free,
                                       .size = size,
                                       .is_private = true};
      ref_init(&source->base.base.refs);
      *out = &source->base.base;
      return OK;
    }
  }
  FileSource *source = mem_calloc(1, sizeof *source);
  if (!source) {
    close(fd);
    return status_out_of_memory();
  }
  ref_init(&source->base.refs);
  source->base.read = file_read;
  source->base.free = file_free;
  source->base.size = size;
  source->fd = fd;
  *out = &source->base;
  return OK;
}

Status byte_source_from_memory(const void *data, size_t length, ByteSource **out) {
  MemorySource *source = mem_calloc(1, sizeof *source);
  if (!source) return status_out_of_memory();
  ref_init(&source->base.refs);
  source->base.read = memory_read;
  source->base.view = memory_view;
  source->base.free = memory_free;
  source->base.size = length;
  source->data = (char *)(uintptr_t)data;
  *out = &source->base;
  return OK;
}

Status byte_source_from_callbacks(ByteReadCallback *read, void (*release)(void *user), void *user, uint64_t size,
                                  ByteSource **out) {
  CallbackSource *source = mem_calloc(1, sizeof *source);
  if (!source) return status_out_of_memory();
  ref_init(&source->base.refs);
  source->base.read = callback_read;
  source->base.free = callback_free;
  source->base.size = size;
  source->read = read;
  source->release = release;
  source->user = user;
  *out = &source->base;
  return OK;
}

ByteSource *byte_source_retain(ByteSource *source) {
  ref_retain(&source->refs);
  return source;
}
void byte_source_release(ByteSource *source) {
  if (source && ref_release(&source->refs)) source->free(source);
}

Status byte_source_read(ByteSource *source, uint64_t offset, void *to, size_t length) {
  if (offset > source->size || length > source->size - offset)
    return status_new(ERROR_DATA, "the file ends early: %llu bytes wanted at offset %llu of %llu",
                      (unsigned long long)length, (unsigned long long)offset, (unsigned long long)source->size);
  return source->read(source, offset, to, length);
}
