/* The registry of operators: an index by name over the built-in tables, made at the first look-up, and open to rows of
 * libraries. Operators and schemas live as long as the process, in two arenas; a reader-writer lock guards the index,
 * so calls, which hold their Operator already, never meet it. Chains of overloads only grow or skip, and are walked
 * without the lock. */
#include <assert.h>
#include <pthread.h>

#include "base/fork.h"
#include "call/derive.h"
#include "call/operator.h"
#include "call/operator_library.h"
#include "call/row_dtypes.h"

static struct {
  pthread_rwlock_t lock;
  bool built;
  Map index; /* qualified name -> first overload */
  Arena arena;
  Operator *last; /* in order of registration */
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};
static _Atomic(Operator *) first_operator;

/* What the index says of known symbols: most look-ups are of nodes, which have one. NULL: not asked yet. Written with
 * the lock held for reading, emptied with it held for writing. */
static _Atomic(const Operator *) of_known_symbols[SYMBOL_KNOWN_COUNT];
static const Operator no_operator;

static struct {
  pthread_mutex_t lock;
  Arena arena;
} schemas = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- schemas ---- */

static void parse_into(Str line, FunctionSchema **out) {
  assert(lock_is_held());
  const char *kept = arena_strndup(&schemas.arena, line.data, line.length);
  *out = schema_parse(&schemas.arena, type_store_process(), (Str){kept, line.length});
}

static void lock_for_readers(void) {
  lock_enter();
  pthread_rwlock_rdlock(&registry.lock);
}
static void lock_for_writer(void) {
  lock_enter();
  pthread_rwlock_wrlock(&registry.lock);
}
static void unlock(void) {
  pthread_rwlock_unlock(&registry.lock);
  lock_leave();
}

/* Parses under the lock of the arena, which then holds the schema and its text. */
static Status parse_locked(Str line, FunctionSchema **out) {
  Catch here;
  lock_take(&schemas.lock);
  schemas.arena.catch_point = &here;
  if (catch_enter(&here)) parse_into(line, out);
  schemas.arena.catch_point = NULL;
  lock_drop(&schemas.lock);
  return here.status;
}

static Status parse_schema(const OpRow *row, OpVariant variant, FunctionSchema **out) {
  HEAP_SCOPE(NULL);
  StrBuf line = {0};
  Status status;
  *out = NULL;
  if (!derive_schema(row, variant, &line))
    status = status_new(ERROR_SYNTAX, "not a schema: %s", row->schema);
  else if (line.failed)
    status = status_out_of_memory();
  else
    status = parse_locked(strbuf_view(&line), out);
  strbuf_dispose(&line);
  return status;
}

static FunctionSchema unreadable;

Status operator_schema_status(const FunctionSchema *schema) {
  return schema == &unreadable ? status_out_of_memory() : OK;
}

const FunctionSchema *operator_schema(const Operator *op) {
  FunctionSchema *schema = atomic_load_explicit(&op->schema, memory_order_acquire);
  if (schema) return schema;
  WorkLimit *outer = work_limit_enter(NULL); /* schemas are the process's: a call that ends leaves none unread */
  Status status = parse_schema(op->row, op->variant, &schema);
  work_limit_enter(outer);
  if (status != OK) {
    /* Out of memory: the rows' texts are checked by a test, a library's when it registers. */
    status_free(status);
    return &unreadable;
  }
  schema->is_blocked = op->row->blocked && str_is(op->overload_name, op->row->blocked);
  FunctionSchema *expected = NULL;
  if (!atomic_compare_exchange_strong(&((Operator *)op)->schema, &expected, schema)) schema = expected;
  return schema;
}

/* ---- the index; the lock is held for writing, the arena's catch point set ---- */

/* Behind `head`, the first of its name if there is one, unless an overload of that name is there. */
static void append(Operator *op, Operator *head) {
  assert(lock_is_held());
  Operator *last = NULL;
  for (Operator *other = head; other; other = other->next) {
    if (str_equal(other->overload_name, op->overload_name)) return;
    last = other;
  }
  if (last)
    last->next = op;
  else if (!map_put(&registry.index, op->name, op))
    catch_throw(registry.arena.catch_point, status_out_of_memory());
  if (registry.last)
    registry.last->following = op;
  else
    first_operator = op;
  registry.last = op;
}

/* Of texts that live as long as the registry. */
static Str join(Str stem, Str ending) {
  if (!ending.length) return stem;
  if (!stem.length) return ending;
  char *text = arena_alloc(&registry.arena, stem.length + ending.length);
  memcpy(text, stem.data, stem.length);
  memcpy(text + stem.length, ending.data, ending.length);
  return (Str){text, stem.length + ending.length};
}

/* The functional form of a row, and the first operator of its name. */
typedef struct Indexed {
  const OpRow *row;
  Operator *functional, *head;
} Indexed;

static Operator *make_operator(const OpRow *row, OpVariant variant, void *library) {
  Operator *op = ARENA_NEW(&registry.arena, Operator);
  op->row = row;
  op->variant = (uint8_t)variant;
  op->flags = row->flags & ~(uint32_t)(OP_INPLACE | OP_OUT);
  op->library = library;
  return op;
}

static void index_functional(Indexed *indexed, void *library) {
  const OpRow *row = indexed->row;
  Operator *op = make_operator(row, VARIANT_FUNCTIONAL, library);
  if (!schema_text_split(str_from(row->schema), &op->name, &op->overload_name))
    catch_throw(registry.arena.catch_point, status_new(ERROR_SYNTAX, "not a schema: %s", row->schema));
  Operator *head = map_get(&registry.index, op->name);
  append(op, head);
  indexed->functional = op;
  indexed->head = head ? head : op;
}

static void index_inplace(const Indexed *indexed, void *library) {
  Operator *op = make_operator(indexed->row, VARIANT_INPLACE, library);
  op->name = join(indexed->functional->name, STR("_"));
  op->overload_name = derive_inplace_overload(indexed->row, indexed->functional->overload_name);
  append(op, map_get(&registry.index, op->name));
}

static void index_out(const Indexed *indexed, void *library) {
  Operator *op = make_operator(indexed->row, VARIANT_OUT, library);
  Str stem, ending;
  derive_out_overload(indexed->row, indexed->functional->overload_name, &stem, &ending);
  op->name = indexed->functional->name;
  op->overload_name = join(stem, ending);
  append(op, indexed->head);
}

static Indexed *functional_forms(const OpTable *const *tables, size_t *out_count) {
  size_t count = 0;
  for (const OpTable *const *t = tables; *t; t++) count += (*t)->count;
  Indexed *all = ARENA_ARRAY(&registry.arena, Indexed, count + 1);
  *out_count = 0;
  for (const OpTable *const *t = tables; *t; t++)
    for (size_t i = 0; i < (*t)->count; i++) all[(*out_count)++].row = &(*t)->rows[i];
  return all;
}

/* Forms that are written out have precedence over derived ones, in whichever order they come; and `mean.out` belongs to
 * mean.dim, whose row says so, rather than to mean, of which the rule would make it. */
static void index_tables(const OpTable *const *tables, void *library) {
  size_t count;
  Indexed *all = functional_forms(tables, &count);
  for (size_t i = 0; i < count; i++) index_functional(&all[i], library);
  for (size_t i = 0; i < count; i++)
    if (derive_has_form(all[i].row, VARIANT_INPLACE)) index_inplace(&all[i], library);
  for (size_t i = 0; i < count; i++)
    if (all[i].row->out && derive_has_form(all[i].row, VARIANT_OUT)) index_out(&all[i], library);
  for (size_t i = 0; i < count; i++)
    if (derive_has_form(all[i].row, VARIANT_OUT)) index_out(&all[i], library);
}

static Status build(void) {
  HEAP_SCOPE(NULL);
  if (registry.built) return OK;
  Catch here;
  map_init(&registry.index, NULL);
  arena_init(&registry.arena, &here);
  registry.last = NULL;
  if (catch_enter(&here)) {
    index_tables(op_tables, NULL);
    index_tables(graph_op_tables, NULL);
    registry.built = true;
  } else {
    map_dispose(&registry.index);
    arena_dispose(&registry.arena);
    first_operator = NULL;
  }
  registry.arena.catch_point = NULL;
  return here.status;
}

/* Leaves the lock held for reading, unless it fails. */
static Status lock_built_for_reading(void) {
  lock_for_readers();
  if (registry.built) return OK;
  unlock();
  lock_for_writer();
  Status status = build();
  unlock();
  if (status == OK) lock_for_readers();
  return status;
}
/* false when the index can't be built: who says that a name is unknown has asked operators_prepare before. */
static bool lock_for_reading(void) {
  Status status = lock_built_for_reading();
  status_free(status);
  return status == OK;
}

Status operators_prepare(void) {
  TRY(lock_built_for_reading());
  unlock();
  return OK;
}

/* ---- look-up ---- */

static const Operator *find(Str qualified_name) {
  if (!lock_for_reading()) return NULL;
  const Operator *op = map_get(&registry.index, qualified_name);
  unlock();
  return op;
}

const Operator *operator_find(Str qualified_name) {
  const Operator *op = find(qualified_name);
  ptrdiff_t colon = op ? -1 : str_find_char(qualified_name, ':');
  if (colon > 0 && operator_library_open_for(str_slice(qualified_name, 0, (size_t)colon))) op = find(qualified_name);
  return op;
}

bool operator_space_is_known(Str space) {
  if (!lock_for_reading()) return false;
  bool known = false;
  for (const Operator *op = first_operator; op && !known; op = op->following)
    known = op->name.length > space.length && op->name.data[space.length] == ':' &&
            !memcmp(op->name.data, space.data, space.length);
  pthread_rwlock_unlock(&registry.lock);
  return known;
}

const Operator *operator_find_symbol(Symbol name) {
  if (name >= SYMBOL_KNOWN_COUNT) return operator_find(symbol_name(name));
  const Operator *op = atomic_load_explicit(&of_known_symbols[name], memory_order_acquire);
  if (!op) {
    if (!lock_for_reading()) return NULL;
    op = map_get(&registry.index, symbol_name(name));
    atomic_store_explicit(&of_known_symbols[name], op ? op : &no_operator, memory_order_release);
    unlock();
  }
  return op == &no_operator ? NULL : op;
}

static void forget_known_symbols(void) {
  assert(lock_is_held());
  for (uint32_t i = 0; i < SYMBOL_KNOWN_COUNT; i++) atomic_store(&of_known_symbols[i], NULL);
}

const Operator *operator_find_overload(Str qualified_name, Str overload_name) {
  for (const Operator *op = operator_find(qualified_name); op; op = op->next)
    if (str_equal(op->overload_name, overload_name)) return op;
  return NULL;
}

const Operator *operator_find_changed(Str name) {
  const Operator *op = operator_find(name);
  while (op && !op->row->since) op = atomic_load_explicit(&op->next, memory_order_acquire);
  return op;
}

const Operator *operator_next(const Operator *after) {
  if (after) return after->following;
  if (!lock_for_reading()) return NULL;
  unlock();
  return first_operator;
}

size_t operator_similar(Str qualified_name, Str *out, size_t max) {
  enum { LIMIT = 3, KEPT = 16 };
  size_t distances[KEPT], count = 0;
  if (max > KEPT) max = KEPT;
  if (max == 0 || !lock_for_reading()) return 0;
  size_t limit = qualified_name.length < 10 ? 1 : LIMIT; /* short names are near to everything */
  for (MapEntry *e = map_next(&registry.index, NULL); e; e = map_next(&registry.index, e)) {
    size_t longer = e->key.length > qualified_name.length ? e->key.length - qualified_name.length
                                                          : qualified_name.length - e->key.length;
    if (longer > limit) continue;
    size_t distance = str_distance(qualified_name, e->key, limit);
    if (distance > limit || distance == 0) continue;
    size_t at = count;
    while (at > 0 && distances[at - 1] > distance) at--;
    if (at >= max) continue;
    if (count < max) count++;
    memmove(&out[at + 1], &out[at], (count - 1 - at) * sizeof *out);
    memmove(&distances[at + 1], &distances[at], (count - 1 - at) * sizeof *distances);
    out[at] = e->key;
    distances[at] = distance;
  }
  unlock();
  return count;
}

/* ---- registration from outside ---- */

static Status check_row(const OpRow *row, const OpTable *table, size_t position) {
  int ways = !!row->kernel + !!row->lower + !!row->body + !!row->factory;
  if (ways != 1)
    return status_new(ERROR_INVALID_ARGUMENT, "%s: a row needs exactly one of kernel, lower, body and factory",
                      row->schema);
  Str name, overload;
  if (!schema_text_split(str_from(row->schema), &name, &overload))
    return status_new(ERROR_INVALID_ARGUMENT, "not a schema: %s", row->schema);
  FunctionSchema *schema;
  TRY(parse_schema(row, VARIANT_FUNCTIONAL, &schema));
  for (size_t i = 0; i < position; i++) {
    Str other, other_overload;
    if (schema_text_split(str_from(table->rows[i].schema), &other, &other_overload) && str_equal(name, other) &&
        str_equal(overload, other_overload))
      return status_new(ERROR_INVALID_ARGUMENT, "the table has two rows for %s", row->schema);
  }
  for (const Operator *op = map_get(&registry.index, name); op; op = op->next) {
    if (str_equal(op->overload_name, overload))
      return status_new(ERROR_INVALID_ARGUMENT, "an operator " STR_FMT "%s" STR_FMT " is registered already",
                        STR_ARG(name), overload.length ? "." : "", STR_ARG(overload));
    if (schema_same_arguments(operator_schema(op), schema))
      return status_new(ERROR_INVALID_ARGUMENT, "%s differs from overload \"" STR_FMT "\" at most in what it returns",
                        row->schema, STR_ARG(op->overload_name));
  }
  return OK;
}

Status operator_register(const OpTable *table, void *library) {
  HEAP_SCOPE(NULL);
  Catch here;
  here.status = OK;
  lock_for_writer();
  Status status = build();
  for (size_t i = 0; status == OK && i < table->count; i++) status = check_row(&table->rows[i], table, i);
  if (status == OK) {
    const OpTable *const tables[] = {table, NULL};
    forget_known_symbols();
    registry.arena.catch_point = &here;
    if (catch_enter(&here)) index_tables(tables, library);
    registry.arena.catch_point = NULL;
    status = here.status;
  }
  unlock();
  return status;
}

void operator_retire(void *library) {
  HEAP_SCOPE(NULL);
  if (!library || !lock_for_reading()) return;
  unlock();
  lock_for_writer();
  forget_known_symbols();
  for (Operator *op = first_operator, *before = NULL; op; op = op->following) {
    if (op->library != library) {
      before = op;
      continue;
    }
    /* The retired one keeps its links: whoever stands on it walks on. */
    Operator *head = map_get(&registry.index, op->name);
    if (head == op) {
      map_remove(&registry.index, op->name);
      if (op->next && !map_put(&registry.index, ((Operator *)op->next)->name, op->next))
        assert(!"a freed slot is there");
    } else {
      while (head && head->next != op) head = head->next;
      if (head) head->next = op->next;
    }
    if (before)
      before->following = op->following;
    else
      first_operator = op->following;
    if (registry.last == op) registry.last = before;
  }
  unlock();
}

static void check_tables(const OpTable *const *tables, Map *seen, StrBuf *problems) {
  for (const OpTable *const *t = tables; *t; t++)
    for (size_t i = 0; i < (*t)->count; i++) {
      const OpRow *row = &(*t)->rows[i];
      Str text = str_from(row->schema), name, overload;
      if (row->kernel == NULL && !row->lower && !row->body && !row->factory)
        strbuf_printf(problems, "%s: nothing to run: %s\n", (*t)->family, row->schema);
      if (!row_dtypes_is_valid(row)) strbuf_printf(problems, "%s: dtypes: %s\n", (*t)->family, row->schema);
      if (!schema_text_split(text, &name, &overload)) {
        strbuf_printf(problems, "%s: not a schema: %s\n", (*t)->family, row->schema);
        continue;
      }
      Str key = str_slice(text, 0, name.length + (overload.length ? 1 + overload.length : 0));
      if (map_has(seen, key))
        strbuf_printf(problems, "%s: again: " STR_FMT "\n", (*t)->family, STR_ARG(key));
      else if (!map_put(seen, key, (void *)row))
        strbuf_puts(problems, "out of memory\n");
      for (int variant = VARIANT_FUNCTIONAL; variant <= VARIANT_OUT; variant++) {
        if (!derive_has_form(row, (OpVariant)variant)) continue;
        FunctionSchema *schema;
        Status status = parse_schema(row, (OpVariant)variant, &schema);
        if (status != OK) strbuf_printf(problems, "%s: %s: %s\n", (*t)->family, row->schema, status->message);
        status_free(status);
      }
    }
}

void operator_check_tables(StrBuf *problems) {
  Map seen;
  map_init(&seen, NULL);
  check_tables(op_tables, &seen, problems);
  check_tables(graph_op_tables, &seen, problems);
  map_dispose(&seen);
}

bool operator_reads_metadata(const Operator *op, uint32_t i) {
  if (op->variant != VARIANT_FUNCTIONAL) return false;
  return op->flags & OP_METADATA_ONLY || (i > 0 && op->flags & OP_METADATA_OTHERS);
}

bool operator_may_return_argument(const Operator *op) {
  return op->row->body || op->flags & OP_RETURNS_ARGUMENT;
}
