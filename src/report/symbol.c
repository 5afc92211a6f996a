/* The table of symbols. Known ones have static names; others live in chunks that never move, so that names are read
 * without a lock. Interning takes a lock. */
#include "report/symbol.h"

#include <assert.h>

#include "base/fork.h"
#include "base/heap.h"
#include "base/map.h"

static const char *const known_names[SYMBOL_KNOWN_COUNT] = {"",
#define X(space, name) #space "::" #name,
                                                            KNOWN_SYMBOLS(X)
#undef X
};

enum { CHUNK_SYMBOLS = 1024, MAX_CHUNKS = 1024 };

typedef struct SymbolChunk {
  Str names[CHUNK_SYMBOLS];
} SymbolChunk;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Map by_name;                         /* guarded; name -> symbol as an integer */
static uint32_t known_added;                /* guarded */
static uint32_t count = SYMBOL_KNOWN_COUNT; /* guarded */
static _Atomic(SymbolChunk *) chunks[MAX_CHUNKS];

static bool add_known(void) {
  for (uint32_t i = known_added + 1; i < SYMBOL_KNOWN_COUNT; i++) {
    if (!map_put(&by_name, str_from(known_names[i]), (void *)(uintptr_t)i)) return false;
    known_added = i;
  }
  return true;
}

static Symbol add_new(Str name) {
  assert(lock_is_held());
  uint32_t index = count - SYMBOL_KNOWN_COUNT, chunk_index = index / CHUNK_SYMBOLS;
  if (chunk_index >= MAX_CHUNKS) return SYMBOL_NONE;
  SymbolChunk *chunk = atomic_load_explicit(&chunks[chunk_index], memory_order_relaxed);
  if (!chunk) {
    chunk = mem_calloc(1, sizeof *chunk);
    if (!chunk) return SYMBOL_NONE;
    atomic_store_explicit(&chunks[chunk_index], chunk, memory_order_release);
  }
  char *copy = mem_alloc(name.length + 1);
  if (!copy) return SYMBOL_NONE;
  memcpy(copy, name.data, name.length);
  copy[name.length] = '\0';
  Str kept = {copy, name.length};
  if (!map_put(&by_name, kept, (void *)(uintptr_t)count)) {
    mem_free(copy);
    return SYMBOL_NONE;
  }
  chunk->names[index % CHUNK_SYMBOLS] = kept;
  return count++;
}

static ptrdiff_t find_colons(Str s) {
  for (size_t i = 0; i + 1 < s.length; i++)
    if (s.data[i] == ':' && s.data[i + 1] == ':') return (ptrdiff_t)i;
  return -1;
}

Symbol symbol_intern(Str qualified) {
  HEAP_SCOPE(NULL);
  if (find_colons(qualified) < 0) return SYMBOL_NONE;
  lock_take(&lock);
  Symbol symbol = SYMBOL_NONE;
  if (add_known()) {
    symbol = (Symbol)(uintptr_t)map_get(&by_name, qualified);
    if (symbol == SYMBOL_NONE) symbol = add_new(qualified);
  }
  lock_drop(&lock);
  return symbol;
}

Symbol symbol_find(Str qualified) {
  HEAP_SCOPE(NULL);
  lock_take(&lock);
  Symbol symbol = add_known() ? (Symbol)(uintptr_t)map_get(&by_name, qualified) : SYMBOL_NONE;
  lock_drop(&lock);
  return symbol;
}

Str symbol_name(Symbol symbol) {
  if (symbol < SYMBOL_KNOWN_COUNT) return str_from(known_names[symbol]);
  uint32_t index = symbol - SYMBOL_KNOWN_COUNT;
  return atomic_load_explicit(&chunks[index / CHUNK_SYMBOLS], memory_order_acquire)->names[index % CHUNK_SYMBOLS];
}

Str symbol_space(Symbol symbol) {
  Str name = symbol_name(symbol);
  ptrdiff_t colons = find_colons(name);
  return colons < 0 ? STR("") : str_slice(name, 0, (size_t)colons);
}

Str symbol_base(Symbol symbol) {
  Str name = symbol_name(symbol);
  ptrdiff_t colons = find_colons(name);
  return colons < 0 ? name : str_slice(name, (size_t)colons + 2, name.length);
}
