/* Recording. A row is found by a hash table under the profile's lock, which is held for as long as that takes. */
#include <assert.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "call/row.h"
#include "interp/op_profile_internal.h"

OpProfile *op_profile_new(void) {
  OpProfile *p = mem_calloc(1, sizeof *p);
  if (!p) return NULL;
  pthread_mutex_init(&p->lock, NULL);
  arena_init(&p->arena, NULL);
  p->start_ns = clock_now_ns();
  return p;
}

void op_profile_free(OpProfile *p) {
  if (!p) return;
  arena_dispose(&p->arena);
  vec_dispose(&p->rows);
  vec_dispose(&p->keys);
  vec_dispose(&p->events);
  pthread_mutex_destroy(&p->lock);
  mem_free(p);
}

/* ---- what tensors look like ---- */

typedef void TensorVisitor(void *user, const Tensor *t);
static void visit_value(IValue v, TensorVisitor *visit, void *user) {
  if (v.tag == TAG_TENSOR && tensor_is_defined(v.tensor)) visit(user, v.tensor);
  if (v.tag == TAG_LIST && v.list->kind == LIST_VALUES)
    for (size_t i = 0; i < v.list->length; i++)
      if (v.list->values[i].tag == TAG_TENSOR) visit_value(v.list->values[i], visit, user);
}
static void visit_values(const IValue *values, uint32_t count, TensorVisitor *visit, void *user) {
  for (uint32_t i = 0; i < count; i++) visit_value(values[i], visit, user);
}

static void mix(uint64_t *hash, uint64_t word) {
  *hash = (*hash ^ word) * 0x9E3779B97F4A7C15u;
  *hash ^= *hash >> 29;
}
static void hash_tensor(void *user, const Tensor *t) {
  uint64_t *hash = user;
  mix(hash, (uint64_t)t->dtype << 8 | t->ndim);
  for (int d = 0; d < t->ndim; d++) {
    mix(hash, (uint64_t)t->sizes[d]);
    mix(hash, (uint64_t)t->strides[d]);
  }
}
/* Bytes of tensors: of arguments, those whose elements are read. */
static void add_bytes(void *user, const Tensor *t) {
  *(double *)user += (double)t->numel * (double)dtype_size((DType)t->dtype);
}
static void print_tensor(void *user, const Tensor *t) {
  StrBuf *out = user;
  if (out->length) strbuf_puts(out, ", ");
  strbuf_printf(out, "%s[", dtype_name((DType)t->dtype));
  for (int d = 0; d < t->ndim; d++) strbuf_printf(out, "%s%lld", d ? "," : "", (long long)t->sizes[d]);
  strbuf_char(out, ']');
  if (tensor_is_contiguous(t)) return;
  strbuf_puts(out, tensor_is_channels_last(t) ? " channels_last" : " strided");
}

/* ---- rows ---- */

static void print_place(SourceRange range, bool with_column, StrBuf *out) {
  if (!range.source) return;
  range = source_range_original(range);
  uint32_t line, column;
  source_position(range.source, range.begin, &line, &column);
  strbuf_printf(out, "%s:%u", range.source->filename ? range.source->filename : "<source>", line);
  if (with_column) strbuf_printf(out, ":%u", column);
}

/* The place, and what called the code that was inlined there, outwards: `callers` of them at most. */
static void print_places(const DebugPlace *place, uint32_t callers, bool with_columns, StrBuf *out) {
  const DebugInlined *call = place->inlined;
  print_place(place->range, with_columns, out);
  for (uint32_t i = 0; call && i < callers; i++, call = call->caller) {
    strbuf_puts(out, " < ");
    print_place(call->range, with_columns, out);
  }
}

static Str module_of(const DebugPlace *place) {
  for (const DebugInlined *call = place->inlined; call; call = call->caller)
    if (call->instance.length) return call->instance;
  return STR("");
}

static Str keep(OpProfile *p, Str text) {
  return (Str){arena_strndup(&p->arena, text.data, text.length), text.length};
}

typedef struct RowTexts {
  OpProfile *profile;
  OpProfileRow *row;
  const Site *site;
  Str function, module;
  StrBuf place, places, inputs, output;
} RowTexts;
static void keep_texts(void *argument) {
  RowTexts *t = argument;
  t->row->name = keep(t->profile, t->site->name.length || !t->site->op ? t->site->name : t->site->op->name);
  t->row->overload = keep(t->profile, t->site->op ? t->site->op->overload_name : STR(""));
  t->row->function = keep(t->profile, t->function);
  t->row->module = keep(t->profile, t->module);
  t->row->place = keep(t->profile, strbuf_view(&t->place));
  t->row->places = keep(t->profile, strbuf_view(&t->places));
  t->row->inputs = keep(t->profile, strbuf_view(&t->inputs));
  t->row->output = keep(t->profile, strbuf_view(&t->output));
}
static bool is_fused(const Site *site) {
  if (site->callable) return str_equal(site->name, STR("prim::FusionGroup"));
  return site->op && str_equal(site->op->name, STR("wick::region"));
}
static Status describe(OpProfile *p, const Code *code, const Instruction *pc, const Call *call, OpProfileRow *row) {
  enum { MAX_TEXT = 4096, MAX_CALLERS = 2 };
  uint32_t at = (uint32_t)(pc - code->instructions);
  RowTexts t = {.profile = p,
                .row = row,
                .site = &code->sites[pc->a],
                .function = code->name,
                .module = module_of(&code->places[at])};
  t.inputs.max_length = t.output.max_length = MAX_TEXT;
  row->code = code->serial;
  row->pc = at;
  row->is_fused = is_fused(t.site);
  print_places(&code->places[at], MAX_CALLERS, false, &t.place);
  print_places(&code->places[at], UINT32_MAX, true, &t.places);
  visit_values(call->inputs, call->input_count, print_tensor, &t.inputs);
  visit_values(call->outputs, call->output_count, print_tensor, &t.output);
  Status status = arena_protect(&p->arena, keep_texts, &t);
  strbuf_dispose(&t.place);
  strbuf_dispose(&t.places);
  strbuf_dispose(&t.inputs);
  strbuf_dispose(&t.output);
  return status;
}

/* Index of the run's row, made if it is new; PROFILE_MAX_ROWS: there is no room for it. Under the lock. */
static uint32_t find_row(OpProfile *p, const Code *code, const Instruction *pc, const Call *call, uint64_t shapes) {
  OpProfileKey key = {.code = code->serial, .pc = (uint32_t)(pc - code->instructions), .shapes = shapes};
  uint64_t hash = shapes;
  mix(&hash, key.code);
  mix(&hash, key.pc);
  uint32_t *slot = &p->slots[hash % (sizeof p->slots / sizeof *p->slots)];
  for (uint32_t i = *slot; i; i = p->keys.data[i - 1].next) {
    const OpProfileKey *k = &p->keys.data[i - 1];
    if (k->code == key.code && k->pc == key.pc && k->shapes == key.shapes) return i - 1;
  }
  OpProfileRow row = {.least_ns = UINT64_MAX};
  if (p->rows.length == PROFILE_MAX_ROWS || !vec_reserve(&p->rows, p->rows.length + 1) ||
      !vec_reserve(&p->keys, p->keys.length + 1))
    return PROFILE_MAX_ROWS;
  Status status = describe(p, code, pc, call, &row);
  if (status) {
    status_free(status);
    return PROFILE_MAX_ROWS;
  }
  key.next = *slot;
  p->rows.data[p->rows.length++] = row;
  p->keys.data[p->keys.length++] = key;
  return (*slot = (uint32_t)p->rows.length) - 1;
}

static double flops_of(const Site *site, const Call *call) {
  return site->op && site->op->row->flops ? site->op->row->flops(call) : 0;
}

/* Of the operator that runs on this thread. */
enum { NOT_DECLINED = -1 };
typedef struct Running {
  uint64_t inside; /* ns that operators inside it have taken: it nests as the C stack does, across interpreters */
  int declined;    /* a Reason */
} Running;
static _Thread_local Running running;

void op_profile_decline(Exec *exec, int reason) {
  (void)exec;
  running.declined = reason;
}

typedef struct Span {
  uint64_t start, whole, own; /* ns */
  int declined;
} Span;
static void record(OpProfile *p, const Code *code, const Instruction *pc, const Call *call, Span span) {
  MemBudget *budget = mem_budget_enter(NULL); /* what is recorded is not the call's */
  uint64_t shapes = 0;
  double bytes = 0;
  visit_values(call->inputs, call->input_count, hash_tensor, &shapes);
  visit_values(call->outputs, call->output_count, hash_tensor, &shapes);
  for (uint32_t i = 0; i < call->input_count; i++)
    if (!call->op || !operator_reads_metadata(call->op, i)) visit_value(call->inputs[i], add_bytes, &bytes);
  visit_values(call->outputs, call->output_count, add_bytes, &bytes);
  double flops = flops_of(&code->sites[pc->a], call);
  lock_take(&p->lock);
  uint32_t index = find_row(p, code, pc, call, shapes);
  if (index < PROFILE_MAX_ROWS) {
    OpProfileRow *row = &p->rows.data[index];
    row->count++;
    row->ns += span.own;
    if (span.own < row->least_ns) row->least_ns = span.own;
    if (span.declined != NOT_DECLINED) {
      row->declines++;
      row->declined = span.declined;
    } else {
      row->flops += flops;
    }
    row->bytes += bytes;
    OpProfileEvent event = {index, (uint32_t)syscall(SYS_gettid), span.start - p->start_ns, span.whole};
    if (p->events.length == PROFILE_MAX_EVENTS || !vec_push(&p->events, event)) p->dropped_events++;
  } else {
    p->dropped_rows++;
  }
  lock_drop(&p->lock);
  mem_budget_enter(budget);
}

Status op_profile_run(const Code *code, const Instruction *pc, Call *call) {
  assert(pc >= code->instructions && pc < code->instructions + code->instruction_count);
  const Site *site = &code->sites[pc->a];
  Exec *exec = call->exec;
  Running outer = running;
  uint64_t start = clock_now_ns();
  Status status;
  running = (Running){0, NOT_DECLINED};
  if (site->callable)
    status =
        site->callable->run(site->callable, exec, call->inputs, call->input_count, call->outputs, call->output_count);
  else
    status = site->operation ? operator_call_made(exec, site->op, site->operation, call)
                             : operator_call(exec, site->op, call);
  uint64_t whole = clock_now_ns() - start, own = whole > running.inside ? whole - running.inside : 0;
  int declined = running.declined;
  running = (Running){outer.inside + whole, outer.declined};
  if (!status) record(exec->profile, code, pc, call, (Span){start, whole, own, declined});
  return status;
}

void op_profile_add_call(OpProfile *p, uint64_t ns) {
  lock_take(&p->lock);
  p->calls++;
  p->call_ns += ns;
  lock_drop(&p->lock);
}
