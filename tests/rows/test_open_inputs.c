/* Everything that has inputs which no schema types, given 16 kinds of values at every place through five ways in: a
 * program's text, bytecode, wick_op_call, the kernel itself (operator_call), and the text of a graph. These are the
 * rows with `Any` and `...`, the operators of plans, and every kind of node. A call must end in a result or an ordinary
 * error, in time, and no message tells an address.
 *
 * Calls run in a child process, so that a crash costs one call and is told.
 *
 *   WICK_OPEN_CALLS=20   calls of each name through each way in
 *   WICK_OPEN_SEED=1     another choice of them
 *   WICK_OPEN=prim::If   that name alone
 *   WICK_OPEN_TELL=1     tells every call and its answer */
#include "hostile_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/node_kind.h"
#include "report/symbol.h"
#include "schema/open_types.h"
#include "wick/wick.h"

enum { MAX_NAMES = 1000, MAX_DEATHS = 200, TEXT = 4000, GIVE_UP_S = 20 };
static const uint64_t deadline_ns = 500000000;
static const double late_s = 3;

typedef struct Progress {
  size_t name, call; /* running */
  size_t calls[DOOR_COUNT], results[DOOR_COUNT], complaints, late;
  char running[TEXT];
} Progress;
static Progress *progress;

static struct {
  Str name;
  const Operator *op;
} names[MAX_NAMES];
static size_t name_count;

/* ---- what there is ---- */

static bool has_open_inputs(const Operator *op) {
  const FunctionSchema *schema = operator_schema(op);
  bool open = schema->is_vararg || schema->is_varret || operator_is_of_plans(op);
  for (uint32_t i = 0; i < schema->argument_count; i++) open |= schema->arguments[i].type->kind == TYPE_ANY;
  return open;
}

static void add(Str name, const Operator *op) {
  const char *only = getenv("WICK_OPEN");
  if (only && !str_is(name, only)) return;
  if (name_count == MAX_NAMES) abort();
  names[name_count].name = name;
  names[name_count++].op = op;
}

static void find_names(void) {
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op))
    if (has_open_inputs(op)) add(op->name, op);
  for (Symbol kind = 1; kind < SYMBOL_KNOWN_COUNT; kind++)
    if (node_kind(kind)->has_row && str_starts_with(symbol_name(kind), "prim::"))
      add(symbol_name(kind), operator_find_symbol(kind));
}

/* ---- one call ---- */

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
  return x ^ x >> 33;
}

/* Most of the time as the schema has it, so that what is wrong is wrong alone. */
static void fit(HostileCall *call, uint64_t state) {
  const FunctionSchema *schema = operator_schema(call->op);
  for (uint8_t i = 0; i <= MAX_GIVEN && !schema_takes_count(schema, call->count); i++)
    call->count = (uint8_t)((call->count + 1) % (MAX_GIVEN + 1));
  for (uint32_t i = 0; i < call->count && schema_takes_count(schema, call->count); i++) {
    state = mix(state + i);
    if (state & 7) call->kinds[i] = hostile_kind_of(schema_input_type(schema, i, call->count), call->kinds[i]);
  }
  if (!schema->is_varret && state >> 16 & 7) call->output_count = (uint8_t)schema->return_count;
  const Type *type = call->output_count ? schema_output_type(schema, 0, call->output_count) : NULL;
  if (type && state >> 20 & 7) call->output_kind = hostile_kind_of(type, call->output_kind);
}

static HostileCall choose(size_t name, size_t number, uint64_t seed) {
  uint64_t state = mix(seed * 1000003 + name * 100003 + number);
  HostileCall call = {.name = names[name].name, .op = names[name].op};
  call.door = (Door)(number % DOOR_COUNT);
  call.count = (uint8_t)(state % (MAX_GIVEN + 1));
  for (uint32_t i = 0; i < MAX_GIVEN; i++) {
    state = mix(state + i + 1);
    call.kinds[i] = state >> 8 & 1 ? (uint8_t)(state % KIND_COUNT) : HOSTILE_NUMBER;
  }
  call.output_count = (uint8_t)(state >> 16 & 3);
  call.output_kind = (uint8_t)((state >> 20) % KIND_COUNT);
  call.attributes = (uint8_t)(state >> 28);
  if (call.op && state >> 40 & 3) fit(&call, state);
  return call;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void complain(const char *what, const char *message) {
  progress->complaints++;
  printf("%s: %s\n  %s\n", what, progress->running, message);
  fflush(stdout);
}

/* A number as large as addresses are, other than those of the call, or one in hexadecimal. */
static bool tells_an_address(const char *message) {
  const uint64_t least = (uint64_t)1 << 32;
  for (const char *at = message; *at;) {
    if (*at < '0' || *at > '9') {
      at++;
      continue;
    }
    char *end;
    if (at[0] == '0' && at[1] == 'x') return true;
    uint64_t number = strtoull(at, &end, 10);
    uint64_t distance =
        number > (uint64_t)hostile_number ? number - (uint64_t)hostile_number : (uint64_t)hostile_number - number;
    if (number > least && distance > 4 && number < (uint64_t)INT64_MAX) return true;
    at = end;
  }
  return false;
}

static void run(const HostileCall *call) {
  StrBuf text = {0};
  Answer answer;
  hostile_print(call, &text);
  snprintf(progress->running, TEXT, "%s", text.data);
  strbuf_dispose(&text);
  struct itimerval timer = {.it_value = {.tv_sec = GIVE_UP_S}};
  setitimer(ITIMER_PROF, &timer, NULL);
  double begin = processor_seconds();
  hostile_run(call, deadline_ns, &answer);
  if (processor_seconds() - begin > late_s) {
    progress->late++;
    printf("late: %s\n", progress->running);
  }
  progress->calls[call->door]++;
  progress->results[call->door] += answer.succeeded;
  if (answer.is_internal) complain("an internal error", answer.message);
  if (tells_an_address(answer.message)) complain("an address", answer.message);
  if (getenv("WICK_OPEN_TELL"))
    printf("%s  -> %s\n", progress->running, answer.succeeded ? "a result" : answer.message);
}

/* ---- all ---- */

static size_t number_from(const char *variable, size_t otherwise) {
  const char *text = getenv(variable);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static int run_child(void) {
  size_t calls = number_from("WICK_OPEN_CALLS", 6) * DOOR_COUNT, seed = number_from("WICK_OPEN_SEED", 0);
  size_t first = progress->call;
  for (size_t name = progress->name; name < name_count; name++, first = 0)
    for (size_t number = first; number < calls; number++) {
      progress->name = name;
      progress->call = number;
      HostileCall call = choose(name, number, seed);
      if (hostile_is_possible(&call)) run(&call);
    }
  return 0;
}

/* true: it came to the end. */
static bool run_in_child(int *out_status) {
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) exit(run_child());
  if (waitpid(child, out_status, 0) != child) abort();
  return *out_status == 0;
}

/* No runner of tests: its handlers of signals would stand before a sanitizer's. */
int main(void) {
  size_t deaths = 0;
  int status = 0;
  progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (progress == MAP_FAILED) return 1;
  find_names();
  while (!run_in_child(&status) && deaths < MAX_DEATHS) {
    printf("ended with %x: %s\n", (unsigned)status, progress->running);
    deaths++;
    progress->call++;
  }
  printf("%zu names; calls and results:", name_count);
  for (int door = 0; door < DOOR_COUNT; door++)
    printf(" %s %zu, %zu;", door_names[door], progress->calls[door], progress->results[door]);
  printf(" %zu crashes, %zu complaints, %zu late\n", deaths, progress->complaints, progress->late);
  bool all = true;
  for (int door = 0; door < DOOR_COUNT; door++) all &= getenv("WICK_OPEN") || progress->results[door];
  return deaths || progress->complaints || progress->late || !all;
}
