/* The registry of operators: an index of the built-in tables by name, made at the first look-up, from which operators
 * are made name by name as they are looked up; and open to rows of libraries. Operators and schemas live as long as the
 * process; a reader-writer lock guards the index, so calls, which hold their Operator already, never meet it. Chains of
 * overloads only grow or skip, and are walked without the lock. */
#include <assert.h>
#include <pthread.h>

#include "base/fork.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/work_limit.h"
#include "call/built_in.h"
#include "call/derive.h"
#include "call/operator_library.h"
#include "call/row_dtypes.h"
#include "call/row_extras.h"
#include "call/row_index.h"
#include "report/symbol.h"
#include "schema/open_types.h"

static struct {
  pthread_rwlock_t lock;
  bool built;
  bool is_whole;                 /* all operators are made and linked in order of registration */
  RowIndex rows;                 /* of built_in()->operators */
  bool is_made[NAME_BUCKETS];    /* the bucket's operators */
  Operator *heads[NAME_BUCKETS]; /* first overloads of names, linked by `other_name` */
  /* One block, so that looking a name up takes no memory: of as much as all built-in rows may give. */
  Operator *operators, **in_order; /* by position */
  char *text;
  size_t operator_count, text_used;
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

static void parse_into(Str line, const OpRow *row, FunctionSchema **out) {
  assert(lock_is_held());
  TypeStore *store = type_store_process();
  const char *kept = arena_strndup(&schemas.arena, line.data, line.length);
  FunctionSchema *schema = schema_parse(&schemas.arena, store, (Str){kept, line.length});
  const char *open = row_extras(row)->open;
  if (open) schema->open = open_types_parse(&schemas.arena, store, schema, str_from(open));
  *out = schema;
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
static Status parse_locked(Str line, const OpRow *row, FunctionSchema **out) {
  Catch here;
  lock_take(&schemas.lock);
  schemas.arena.catch_point = &here;
  if (catch_enter(&here)) parse_into(line, row, out);
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
    status = parse_locked(strbuf_view(&line), row, out);
  strbuf_dispose(&line);
  return status;
}

static FunctionSchema unreadable;
const RowExtras row_without_extras;

Status operator_check_name(const Operator *op) {
  if (!operator_is_of_plans(op)) return OK;
  return status_new(ERROR_UNSUPPORTED, STR_FMT ": only passes make it, nothing else can name it", STR_ARG(op->name));
}

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
  const char *blocked = row_extras(op->row)->blocked;
  schema->is_blocked = blocked && str_is(op->overload_name, blocked);
  FunctionSchema *expected = NULL;
  if (!atomic_compare_exchange_strong(&((Operator *)op)->schema, &expected, schema)) schema = expected;
  return schema;
}

/* ---- operators of rows; the lock is held for writing ---- */

/* The first overload of a name of which operators are made. The lock is held. */
static Operator *head_of(Str name, uint32_t bucket) {
  assert(lock_is_held());
  Operator *head = registry.heads[bucket];
  while (head && !str_equal(head->name, name)) head = head->other_name;
  return head;
}

/* Forms that are written out have precedence over derived ones, in whichever order they come; and `mean.out` belongs to
 * mean.dim, whose row says so, rather than to mean, of which the rule would make it. */
typedef enum Form { FORM_FUNCTIONAL, FORM_INPLACE, FORM_NAMED_OUT, FORM_OUT, FORM_COUNT } Form;

static bool has_form(const OpRow *row, Form form) {
  switch (form) {
    case FORM_FUNCTIONAL:
      return true;
    case FORM_INPLACE:
      return derive_has_form(row, VARIANT_INPLACE);
    case FORM_NAMED_OUT:
      return row->out;
    default:
      return !row->out && derive_has_form(row, VARIANT_OUT);
  }
}

/* Of texts that live as long as the registry. */
static Str join(Str stem, Str ending) {
  if (!ending.length) return stem;
  if (!stem.length) return ending;
  size_t length = stem.length + ending.length;
  char *text = registry.is_whole ? arena_alloc(&registry.arena, length) : registry.text + registry.text_used;
  if (!registry.is_whole) registry.text_used += length;
  memcpy(text, stem.data, stem.length);
  memcpy(text + stem.length, ending.data, ending.length);
  return (Str){text, length};
}

static void enlist(Operator *op) {
  if (registry.last)
    registry.last->following = op;
  else
    first_operator = op;
  registry.last = op;
}

/* Of a built-in row, which has a position; of others when all of those are there. */
static Operator *new_operator(uint32_t position) {
  if (!registry.is_whole) return registry.in_order[position] = &registry.operators[registry.operator_count++];
  Operator *op = ARENA_NEW(&registry.arena, Operator);
  enlist(op);
  return op;
}

/* Of a row that is of PyTorch 2.x alone: reached from the operator that it is a version of, and by no name. */
static Operator *new_successor(void) {
  return registry.is_whole ? ARENA_NEW(&registry.arena, Operator) : &registry.operators[registry.operator_count++];
}
static bool is_successor(const OpRow *row, const OpRow *before) {
  return row->torch == 2 && before->torch != 2 && !strcmp(row->schema, before->schema);
}

/* After the overloads of its name, unless one of that overload name is there; its version of PyTorch 2.x joins it. */
static void add_operator(const OpRow *row, OpVariant variant, Str name, Str overload, uint32_t position,
                         void *library) {
  uint32_t bucket = name_bucket(name);
  Operator *last = NULL, *before = NULL;
  for (Operator *other = head_of(name, bucket); other && !before; other = other->next) {
    if (str_equal(other->overload_name, overload)) before = other;
    last = other;
  }
  if (before && !is_successor(row, before->row)) return;
  Operator *op = before ? new_successor() : new_operator(position);
  op->row = row;
  op->name = name;
  op->overload_name = overload;
  op->variant = (uint8_t)variant;
  op->flags = row->flags & ~(uint32_t)(OP_INPLACE | OP_OUT);
  op->library = library;
  if (before) {
    before->in_torch2 = op;
  } else if (last) {
    last->next = op;
  } else {
    op->other_name = registry.heads[bucket];
    registry.heads[bucket] = op;
  }
}

static void add_form(const OpRow *row, Form form, uint32_t position, void *library) {
  Str name, overload, stem, ending;
  bool is_schema = schema_text_split(str_from(row->schema), &name, &overload);
  assert(is_schema); /* a test looks at the rows' texts, check_row at a library's */
  if (!is_schema) return;
  switch (form) {
    case FORM_FUNCTIONAL:
      add_operator(row, VARIANT_FUNCTIONAL, name, overload, position, library);
      break;
    case FORM_INPLACE:
      add_operator(row, VARIANT_INPLACE, join(name, STR("_")), derive_inplace_overload(row, overload), position,
                   library);
      break;
    default:
      derive_out_overload(row, overload, &stem, &ending);
      add_operator(row, VARIANT_OUT, name, join(stem, ending), position, library);
  }
}

static void make_bucket(uint32_t bucket) {
  assert(lock_is_held() && registry.built);
  if (registry.is_made[bucket]) return;
  const RowIndex *rows = &registry.rows;
  for (Form form = FORM_FUNCTIONAL; form < FORM_COUNT; form++)
    for (uint32_t entry = rows->first[bucket]; entry; entry = rows->next[entry]) {
      const OpRow *row = row_index_row(rows, entry);
      if (row_index_is_inplace(entry) == (form == FORM_INPLACE) && has_form(row, form))
        add_form(row, form, (uint32_t)form * rows->count + (entry - 1) / 2, NULL);
    }
  registry.is_made[bucket] = true;
}

static uint32_t position_count(void) {
  return FORM_COUNT * registry.rows.count;
}

static void make_whole(void) {
  if (registry.is_whole) return;
  for (uint32_t bucket = 0; bucket < NAME_BUCKETS; bucket++) make_bucket(bucket);
  for (uint32_t i = 0; i < position_count(); i++)
    if (registry.in_order[i]) enlist(registry.in_order[i]);
  registry.is_whole = true;
}

/* ---- the index ---- */

static void index_rows(void) {
  row_index_build(&registry.rows, built_in()->operators, &registry.arena);
  size_t operators = registry.rows.operator_count, text = registry.rows.text_bytes;
  size_t bytes = operators * sizeof(Operator) + position_count() * sizeof(Operator *) + text;
  char *block = mem_calloc(1, bytes);
  if (!block) catch_throw(registry.arena.catch_point, status_out_of_memory());
  registry.operators = (Operator *)block;
  registry.in_order = (Operator **)(registry.operators + operators);
  registry.text = (char *)(registry.in_order + position_count());
}

static Status build(void) {
  HEAP_SCOPE(NULL);
  if (registry.built) return OK;
  Catch here;
  arena_init(&registry.arena, &here);
  if (catch_enter(&here)) {
    index_rows();
    registry.built = true;
  } else {
    arena_dispose(&registry.arena);
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

/* The lock is held for reading, before and after; meanwhile it may be let go. */
static const Operator *head_made(Str qualified_name) {
  uint32_t bucket = name_bucket(qualified_name);
  if (!registry.is_made[bucket]) {
    unlock();
    lock_for_writer();
    make_bucket(bucket);
    unlock();
    lock_for_readers();
  }
  return head_of(qualified_name, bucket);
}

static const Operator *find(Str qualified_name) {
  if (!lock_for_reading()) return NULL;
  const Operator *op = head_made(qualified_name);
  unlock();
  return op;
}

const Operator *operator_find(Str qualified_name) {
  const Operator *op = find(qualified_name);
  ptrdiff_t colon = op ? -1 : str_find_char(qualified_name, ':');
  if (colon > 0 && operator_library_open_for(str_slice(qualified_name, 0, (size_t)colon))) op = find(qualified_name);
  return op;
}

/* Leaves the lock held for reading, with all operators made, unless the index can't be built. */
static bool lock_whole_for_reading(void) {
  if (!lock_for_reading()) return false;
  if (registry.is_whole) return true;
  unlock();
  lock_for_writer();
  make_whole();
  unlock();
  lock_for_readers();
  return true;
}

bool operator_space_is_known(Str space) {
  if (!lock_whole_for_reading()) return false;
  bool known = false;
  for (const Operator *op = first_operator; op && !known; op = op->following)
    known = op->name.length > space.length && op->name.data[space.length] == ':' &&
            !memcmp(op->name.data, space.data, space.length);
  unlock();
  return known;
}

const Operator *operator_find_symbol(Symbol name) {
  if (name >= SYMBOL_KNOWN_COUNT) return operator_find(symbol_name(name));
  const Operator *op = atomic_load_explicit(&of_known_symbols[name], memory_order_acquire);
  if (!op) {
    if (!lock_for_reading()) return NULL;
    op = head_made(symbol_name(name));
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
  if (!lock_whole_for_reading()) return NULL;
  unlock();
  return first_operator;
}

size_t operator_similar(Str qualified_name, Str *out, size_t max) {
  enum { LIMIT = 3, KEPT = 16 };
  size_t distances[KEPT], count = 0;
  if (max > KEPT) max = KEPT;
  if (max == 0 || !lock_whole_for_reading()) return 0;
  size_t limit = qualified_name.length < 10 ? 1 : LIMIT; /* short names are near to everything */
  for (const Operator *op = first_operator; op; op = op->following) {
    Str name = op->name;
    size_t longer =
        name.length > qualified_name.length ? name.length - qualified_name.length : qualified_name.length - name.length;
    if (longer > limit || operator_is_of_plans(op) || head_of(name, name_bucket(name)) != op) continue;
    size_t distance = str_distance(qualified_name, name, limit);
    if (distance > limit || distance == 0) continue;
    size_t at = count;
    while (at > 0 && distances[at - 1] > distance) at--;
    if (at >= max) continue;
    if (count < max) count++;
    memmove(&out[at + 1], &out[at], (count - 1 - at) * sizeof *out);
    memmove(&distances[at + 1], &distances[at], (count - 1 - at) * sizeof *distances);
    out[at] = name;
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
  for (const Operator *op = head_of(name, name_bucket(name)); op; op = op->next) {
    if (str_equal(op->overload_name, overload))
      return status_new(ERROR_INVALID_ARGUMENT, "an operator " STR_FMT "%s" STR_FMT " is registered already",
                        STR_ARG(name), overload.length ? "." : "", STR_ARG(overload));
    if (schema_same_arguments(operator_schema(op), schema))
      return status_new(ERROR_INVALID_ARGUMENT, "%s differs from overload \"" STR_FMT "\" at most in what it returns",
                        row->schema, STR_ARG(op->overload_name));
  }
  return OK;
}

static void add_rows(const OpTable *table, void *library) {
  for (Form form = FORM_FUNCTIONAL; form < FORM_COUNT; form++)
    for (size_t i = 0; i < table->count; i++)
      if (has_form(&table->rows[i], form)) add_form(&table->rows[i], form, 0, library);
}

Status operator_register(const OpTable *table, void *library) {
  HEAP_SCOPE(NULL);
  Catch here;
  here.status = OK;
  lock_for_writer();
  Status status = build();
  if (status == OK) make_whole();
  for (size_t i = 0; status == OK && i < table->count; i++) status = check_row(&table->rows[i], table, i);
  if (status == OK) {
    forget_known_symbols();
    registry.arena.catch_point = &here;
    if (catch_enter(&here)) add_rows(table, library);
    registry.arena.catch_point = NULL;
    status = here.status;
  }
  unlock();
  return status;
}

/* The next overload in its place, if there is one. */
static void retire_head(const Operator *head) {
  Operator **link = &registry.heads[name_bucket(head->name)], *next = head->next;
  while (*link != head) link = &(*link)->other_name;
  if (next) next->other_name = head->other_name;
  *link = next ? next : head->other_name;
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
    Operator *head = head_of(op->name, name_bucket(op->name));
    if (head == op) {
      retire_head(op);
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

static bool has_same_forms(const OpRow *a, const OpRow *b) {
  return derive_has_form(a, VARIANT_INPLACE) == derive_has_form(b, VARIANT_INPLACE) &&
         derive_has_form(a, VARIANT_OUT) == derive_has_form(b, VARIANT_OUT);
}
static void check_tables(const OpTable *const *tables, Map *seen, StrBuf *problems) {
  for (const OpTable *const *t = tables; t && *t; t++)
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
      const OpRow *before = map_get(seen, key);
      if (row->torch && !(before && is_successor(row, before) && has_same_forms(row, before)))
        strbuf_printf(problems, "%s: not after the row that it is a version of: " STR_FMT "\n", (*t)->family,
                      STR_ARG(key));
      if (before && !row->torch)
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
  check_tables(built_in()->operators, &seen, problems);
  map_dispose(&seen);
}

bool operator_reads_metadata(const Operator *op, uint32_t i) {
  if (op->variant != VARIANT_FUNCTIONAL) return false;
  return op->flags & OP_METADATA_ONLY || (i > 0 && op->flags & OP_METADATA_OTHERS);
}

bool operator_may_return_argument(const Operator *op) {
  return op->row->body || op->flags & OP_RETURNS_ARGUMENT;
}
