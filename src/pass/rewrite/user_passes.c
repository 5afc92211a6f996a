/* Entries are never freed, so that walks need no lock: a removed one is marked and passed over. */
#include "pass/rewrite/user_passes.h"

#include "base/fork.h"
#include "base/heap.h"

typedef struct Entry {
  struct Entry *_Atomic next;
  _Atomic bool removed;
  char *name;
  UserPass *run;
  void *user;
} Entry;

static struct {
  pthread_mutex_t lock; /* of changes */
  Entry *_Atomic first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static Entry *find(const char *name) {
  for (Entry *e = atomic_load(&registry.first); e; e = atomic_load(&e->next))
    if (!atomic_load(&e->removed) && !strcmp(e->name, name)) return e;
  return NULL;
}

static void append(Entry *entry) {
  struct Entry *_Atomic *link = &registry.first;
  for (Entry *e; (e = atomic_load(link));) link = &e->next;
  atomic_store(link, entry);
}

Status user_pass_add(const char *name, UserPass *run, void *user) {
  HEAP_SCOPE(NULL);
  Entry *entry = mem_calloc(1, sizeof *entry);
  if (entry) entry->name = mem_strdup(name);
  if (!entry || !entry->name) {
    mem_free(entry);
    return status_out_of_memory();
  }
  entry->run = run;
  entry->user = user;
  lock_take(&registry.lock);
  bool is_new = !find(name);
  if (is_new) append(entry);
  lock_drop(&registry.lock);
  if (is_new) return OK;
  mem_free(entry->name);
  mem_free(entry);
  return status_new(ERROR_INVALID_ARGUMENT, "a pass '%s' is registered already", name);
}

bool user_pass_remove(const char *name) {
  lock_take(&registry.lock);
  Entry *entry = find(name);
  if (entry) atomic_store(&entry->removed, true);
  lock_drop(&registry.lock);
  return entry != NULL;
}

bool user_pass_exists(const char *name) {
  return find(name) != NULL;
}

const char *user_pass_name(size_t index) {
  for (Entry *e = atomic_load(&registry.first); e; e = atomic_load(&e->next))
    if (!atomic_load(&e->removed) && index-- == 0) return e->name;
  return NULL;
}

static void run(const Entry *e, Graph *graph) {
  Status status = e->run(e->user, e->name, graph);
  graph->insert_before = graph->block->ret;
  if (!status) status = graph_check(graph);
  if (status) catch_throw(graph->arena->catch_point, status_context(status, "pass %s", e->name));
}

bool user_pass_run(Graph *graph, const char *name) {
  const Entry *entry = find(name);
  if (entry) run(entry, graph);
  return entry != NULL;
}

void pass_run_user(Graph *graph, AfterUserPass *after, void *argument) {
  for (Entry *e = atomic_load(&registry.first); e; e = atomic_load(&e->next)) {
    if (atomic_load(&e->removed)) continue;
    run(e, graph);
    if (after) after(argument, e->name);
  }
}
