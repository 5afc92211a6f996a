/* Regions: a memfd that is mapped executable for good and writable for as long as a copy takes, with a bit for each
 * granule; or private pages for one piece of code, which mprotect makes executable once they are written. */
#include "base/machine_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/heap.h"
#include "base/memory.h"

enum { GRANULE = 64, REGION_BYTES = 256 << 10, WORDS = REGION_BYTES / GRANULE / 64 };

typedef struct Region {
  struct Region *next;
  char *start;
  size_t bytes;
  int fd; /* -1: private pages of one piece of code */
  unsigned generation;
  uint32_t pieces;
  uint64_t taken[WORDS];
} Region;

struct MachineCode {
  Region *region;
  size_t offset, size;
};

static struct {
  pthread_mutex_t lock;
  Region *regions; /* guarded, as what follows where nothing else is said */
  size_t mapped, max;
  _Atomic unsigned generation; /* one more with each fork, on both sides */
  _Atomic bool is_refused;
  unsigned refused_ways;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void leave_regions(void) {
  atomic_fetch_add(&store.generation, 1);
}
__attribute__((constructor)) static void watch(void) {
  static const ForkHandler handler = {NULL, leave_regions, leave_regions};
  fork_watch(FORK_CODE, &handler);
}

static bool is_forbidden(void) {
  static _Atomic int asked; /* the answer plus one */
  int answer = atomic_load_explicit(&asked, memory_order_relaxed);
  if (!answer) {
    const char *text = getenv("WICK_NATIVE");
    answer = 1 + (text && !strcmp(text, "0"));
    atomic_store_explicit(&asked, answer, memory_order_relaxed);
  }
  return answer == 2;
}

bool machine_code_is_allowed(void) {
  return !is_forbidden() && !atomic_load_explicit(&store.is_refused, memory_order_relaxed);
}

static size_t page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Room without any access, from which guards stay. NULL: none. */
static char *reserve(size_t bytes) {
  size_t page = page_size();
  char *whole = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return whole == MAP_FAILED ? NULL : whole + page;
}

static void give_back(char *start, size_t bytes) {
  munmap(start - page_size(), bytes + 2 * page_size());
}

/* Where a system may forbid execution of files in memory, it wants to be told (Linux 6.3); an older one knows no such
 * flag. */
static int open_memory(size_t bytes) {
#if defined(__linux__) && defined(SYS_memfd_create)
  const unsigned close_on_exec = 1, executable = 0x10;
  int fd = (int)syscall(SYS_memfd_create, "wick-code", close_on_exec | executable);
  if (fd < 0 && errno == EINVAL) fd = (int)syscall(SYS_memfd_create, "wick-code", close_on_exec);
  if (fd < 0) return -1;
  if (!ftruncate(fd, (off_t)bytes)) return fd;
  close(fd);
#else
  (void)bytes;
#endif
  return -1;
}

/* False: the system has no such, or refuses. */
static bool map_shared(Region *r) {
  if (store.refused_ways & MACHINE_CODE_REFUSE_MEMFD || (r->fd = open_memory(r->bytes)) < 0) return false;
  if ((r->start = reserve(r->bytes))) {
    if (mmap(r->start, r->bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, r->fd, 0) == r->start) return true;
    give_back(r->start, r->bytes);
  }
  close(r->fd);
  return false;
}

static bool write_shared(const Region *r, size_t offset, const void *bytes, size_t size) {
  char *view = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
  if (view == MAP_FAILED) return false;
  memcpy(view + offset, bytes, size);
  munmap(view, r->bytes);
  return true;
}

static bool map_private(Region *r, const void *bytes, size_t size) {
  r->fd = -1;
  if (store.refused_ways & MACHINE_CODE_REFUSE_PROTECT || !(r->start = reserve(r->bytes))) return false;
  if (!mprotect(r->start, r->bytes, PROT_READ | PROT_WRITE)) {
    memcpy(r->start, bytes, size);
    if (!mprotect(r->start, r->bytes, PROT_READ | PROT_EXEC)) return true;
  }
  give_back(r->start, r->bytes);
  return false;
}

/* `count` granules in a row. */
static bool take_granules(Region *r, size_t count, size_t *out_offset) {
  size_t run = 0, total = r->bytes / GRANULE;
  for (size_t i = 0; i < total; i++) {
    run = r->taken[i / 64] >> i % 64 & 1 ? 0 : run + 1;
    if (run < count) continue;
    for (size_t k = i + 1 - count; k <= i; k++) r->taken[k / 64] |= 1ull << k % 64;
    *out_offset = (i + 1 - count) * GRANULE;
    return true;
  }
  return false;
}

static void give_granules(Region *r, size_t offset, size_t count) {
  for (size_t k = offset / GRANULE; count--; k++) r->taken[k / 64] &= ~(1ull << k % 64);
}

static void drop_region(Region *r) {
  for (Region **at = &store.regions; *at; at = &(*at)->next)
    if (*at == r) {
      *at = r->next;
      break;
    }
  store.mapped -= r->bytes;
  give_back(r->start, r->bytes);
  if (r->fd >= 0) close(r->fd);
  mem_free(r);
}

static size_t granules_of(size_t size) {
  return (size + GRANULE - 1) / GRANULE;
}

/* In a region that nobody else may have seen through a fork. */
static bool place_in_old_one(MachineCode *code, const void *bytes) {
  unsigned now = atomic_load(&store.generation);
  for (Region *r = store.regions; r; r = r->next) {
    if (r->fd < 0 || r->generation != now || !take_granules(r, granules_of(code->size), &code->offset)) continue;
    if (write_shared(r, code->offset, bytes, code->size)) {
      code->region = r;
      return true;
    }
    give_granules(r, code->offset, granules_of(code->size));
  }
  return false;
}

static Status place_in_new_one(MachineCode *code, const void *bytes) {
  size_t page = page_size(), own = (code->size + page - 1) / page * page;
  size_t max = store.max ? store.max : (size_t)MACHINE_CODE_MAX;
  if (own > max || store.mapped > max - own)
    return status_new(ERROR_OUT_OF_MEMORY, "machine code of more than %zu bytes", max);
  Region *r = mem_calloc(1, sizeof *r);
  if (!r) return status_out_of_memory();
  r->generation = atomic_load(&store.generation);
  r->bytes = REGION_BYTES;
  bool is_there =
      code->size <= REGION_BYTES && store.mapped <= max - own && max - store.mapped >= REGION_BYTES && map_shared(r);
  if (is_there) {
    bool fits = take_granules(r, granules_of(code->size), &code->offset);
    assert(fits);
    (void)fits;
    if (!write_shared(r, code->offset, bytes, code->size)) {
      give_back(r->start, r->bytes);
      close(r->fd);
      is_there = false;
    }
  }
  if (!is_there) {
    r->bytes = own;
    code->offset = 0;
    if (!map_private(r, bytes, code->size)) {
      bool is_full = errno == ENOMEM && !store.refused_ways;
      mem_free(r);
      if (is_full) return status_out_of_memory();
      atomic_store(&store.is_refused, true);
      return status_new(ERROR_UNSUPPORTED, "the system refuses executable memory");
    }
  }
  store.mapped += r->bytes;
  r->next = store.regions;
  store.regions = r;
  code->region = r;
  return OK;
}

Status machine_code_new(const void *bytes, size_t size, MachineCode **out) {
  HEAP_SCOPE(NULL);
  *out = NULL;
  if (is_forbidden()) return status_new(ERROR_UNSUPPORTED, "WICK_NATIVE=0 forbids machine code");
  if (atomic_load(&store.is_refused)) return status_new(ERROR_UNSUPPORTED, "the system refuses executable memory");
  if (!size || size > MACHINE_CODE_MAX) return status_new(ERROR_INVALID_ARGUMENT, "machine code of %zu bytes", size);
  MachineCode *code = mem_calloc(1, sizeof *code);
  if (!code) return status_out_of_memory();
  code->size = size;
  lock_take(&store.lock);
  Status status = place_in_old_one(code, bytes) ? OK : place_in_new_one(code, bytes);
  if (!status) code->region->pieces++;
  lock_drop(&store.lock);
  if (status) {
    mem_free(code);
    return status;
  }
  char *start = code->region->start + code->offset;
  __builtin___clear_cache(start, start + size);
  *out = code;
  return OK;
}

void machine_code_free(MachineCode *code) {
  if (!code) return;
  lock_take(&store.lock);
  Region *r = code->region;
  if (r->fd >= 0) give_granules(r, code->offset, granules_of(code->size));
  if (--r->pieces == 0) drop_region(r);
  lock_drop(&store.lock);
  mem_free(code);
}

const void *machine_code_start(const MachineCode *code) {
  return code->region->start + code->offset;
}

size_t machine_code_size(const MachineCode *code) {
  return code->size;
}

size_t machine_code_held(void) {
  lock_take(&store.lock);
  size_t bytes = store.mapped;
  lock_drop(&store.lock);
  return bytes;
}

void machine_code_refuse(unsigned ways) {
  lock_take(&store.lock);
  store.refused_ways = ways;
  atomic_store(&store.is_refused, false);
  lock_drop(&store.lock);
}

void machine_code_set_max(size_t bytes) {
  lock_take(&store.lock);
  store.max = bytes;
  lock_drop(&store.lock);
}
