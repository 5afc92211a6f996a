/* Mutates small archives and loads what comes out: whatever it is, it must end in a module or an error, in time. Some
 * mutations change the file's bytes, some the content of one record, packed again with right checksums, so that pickles
 * and code are reached too, some a pickle's tree or the values of a JSON text, so that what it says is reached. What
 * loads is also called, within budgets.
 *
 *   WICK_MUTATIONS=16000       how many mutants of modules; of the other kinds a quarter
 *   WICK_SEED=1                another choice of them
 *   WICK_MUTATE=test_bytecode  that test alone
 *   WICK_MUTANT=12             that mutant alone, as a failure names it */
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../zip_writer.h"
#include "call_methods.h"
#include "mutate_json.h"
#include "mutate_tree.h"
#include "serial/archive/archive.h"

enum { DEFAULT_MUTATIONS = 16000, MAX_FILE = 64 << 10, MAX_SEEDS = 512, GIVE_UP_S = 60 };

static Chance chance; /* of the mutant that is being made */
static size_t random_below(size_t n) {
  return (size_t)chance_below(&chance, n);
}

/* Flips, changes, removes, inserts, doubles or cuts. */
static void mutate(Bytes *b) {
  static const unsigned char telling[] = {0,   1,   0x7f, 0x80, 0xff, '(',  '.', ']', '}', 'R',
                                          'b', 'h', 'q',  ')',  0x81, '\n', ' ', 'X', 'K', 'Q'};
  for (size_t changes = 1 + random_below(4); changes--;) {
    size_t at = random_below(b->length), n = 1 + random_below(8);
    if (!b->length) return;
    switch (random_below(7)) {
      case 0:
        b->data[at] ^= (unsigned char)(1u << random_below(8));
        break;
      case 1:
        b->data[at] = (unsigned char)chance_next(&chance);
        break;
      case 2:
        b->data[at] = telling[random_below(sizeof telling)];
        break;
      case 3: /* remove */
        if (n > b->length - at) n = b->length - at;
        memmove(b->data + at, b->data + at + n, b->length - at - n);
        b->length -= n;
        break;
      case 4: { /* insert a copy of another piece */
        size_t from = random_below(b->length);
        unsigned char piece[8];
        if (n > b->length - from) n = b->length - from;
        memcpy(piece, b->data + from, n);
        put(b, piece, n);
        memmove(b->data + at + n, b->data + at, b->length - n - at);
        memcpy(b->data + at, piece, n);
        break;
      }
      case 5: /* copy a piece over another */
        if (n > b->length - at) n = b->length - at;
        memmove(b->data + at, b->data + random_below(b->length - n + 1), n);
        break;
      default:
        if (random_below(4) == 0) b->length = at;
    }
  }
}

/* One to four changes, mostly one, of the pickle as a tree; false: it is none that trees know. */
typedef struct Structured {
  Arena *arena;
  Bytes *content;
  bool is_bytecode, done;
} Structured;
static void mutate_pickle_in(void *argument) {
  Structured *s = argument;
  StrBuf out = {.max_length = MAX_FILE * 8};
  PickleTree *root = pickle_tree_read(s->arena, s->content->data, s->content->length);
  if (!root) return;
  for (size_t count = 1 + random_below(2) * random_below(4); count--;)
    if (s->is_bytecode)
      bytecode_mutate(s->arena, root, &chance);
    else
      tree_mutate(s->arena, root, &chance);
  pickle_tree_write(root, &out);
  s->content->length = 0;
  put(s->content, out.data, out.length);
  strbuf_dispose(&out);
  s->done = true;
}
static bool mutate_pickle(Bytes *content, bool is_bytecode) {
  Arena arena;
  arena_init(&arena, NULL);
  Structured s = {.arena = &arena, .content = content, .is_bytecode = is_bytecode};
  assert_null(arena_protect(&arena, mutate_pickle_in, &s));
  arena_dispose(&arena);
  return s.done;
}

/* One to four changes, mostly one; false: it is no JSON. */
static bool mutate_json(Bytes *content) {
  bool done = false;
  for (size_t count = 1 + random_below(2) * random_below(4); count--;) {
    size_t length;
    put(content, "", 1);
    char *made = json_mutate((const char *)content->data, content->length - 1, &chance, &length);
    content->length = made ? 0 : content->length - 1;
    if (made) put(content, made, length);
    done |= made != NULL;
    free(made);
  }
  return done;
}

/* What becomes of a file. */
typedef enum Way { WAY_BYTES, WAY_RECORD, WAY_TREE, WAY_BYTECODE, WAY_JSON, WAY_COUNT } Way;
static const char *const way_names[] = {"bytes", "a record's bytes", "a pickle's tree", "bytecode", "JSON"},
                         *const way_records[] = {"", "", ".pkl", "bytecode.pkl", ".json"};
enum {
  EITHER_BYTES = 1 << WAY_BYTES | 1 << WAY_RECORD, /* sets of ways */
  ANY_PICKLE = EITHER_BYTES | 1 << WAY_TREE,
  ANY_JSON = EITHER_BYTES | 1 << WAY_JSON
};

static bool is_wanted(Way way, Str name) {
  return str_ends_with(name, way_records[way]);
}
static void mutate_content(Way way, Str name, Bytes *content) {
  bool is_bytecode = str_ends_with(name, "bytecode.pkl");
  if (way == WAY_RECORD || !(way == WAY_JSON ? mutate_json(content) : mutate_pickle(content, is_bytecode)))
    mutate(content);
}
static size_t choose_record(const Archive *archive, Way way) {
  size_t wanted = 0;
  for (size_t i = 0; i < archive->records.length; i++) wanted += is_wanted(way, archive->records.data[i].name);
  assert_true(wanted > 0);
  size_t left = random_below(wanted), i = 0;
  while (!is_wanted(way, archive->records.data[i].name) || left--) i++;
  return i;
}
/* The archive again, with one record mutated. */
static Bytes mutate_record(const Bytes *original, Way way) {
  ByteSource *source;
  Archive *archive;
  Packed zip = {0};
  assert_null(byte_source_from_memory(original->data, original->length, &source));
  assert_null(archive_open(source, false, 0, &archive));
  size_t chosen = choose_record(archive, way);
  for (size_t i = 0; i < archive->records.length; i++) {
    const ArchiveRecord *record = &archive->records.data[i];
    char *text;
    size_t length;
    Bytes content = {0};
    assert_null(archive_read(archive, record, &text, &length));
    put(&content, text, length);
    if (i == chosen) mutate_content(way, record->name, &content);
    pack_record(&zip, record->name.data, record->name.length, &content);
    free(content.data);
    mem_free(text);
  }
  archive_free(archive);
  byte_source_release(source);
  pack_finish(&zip);
  return zip.file;
}

/* ---- what is done with them ---- */

static size_t loaded, called;
static double longest_s;

static void note_time(const char *what, double taken) {
  if (taken > longest_s) longest_s = taken;
  if (taken > late_s) fail_msg("%s took %.2f s", what, taken);
}

static void load_value(const Bytes *file) {
  wick_value *value;
  wick_error *error;
  char *text;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  if (wick_load_value_memory(NULL, file->data, file->length, &options, &value, &error)) {
    assert_true(wick_error_message(error)[0] != 0);
    assert_int_not_equal(wick_error_status(error), WICK_INTERNAL);
    wick_error_free(error);
    return;
  }
  loaded++;
  if (!wick_value_print(value, &text, NULL)) wick_text_free(text);
  wick_value_release(value);
}

/* NULL: it is an error. */
static wick_module *module_of(const Bytes *file) {
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  if (!wick_load_memory(NULL, file->data, file->length, &options, &module, &error)) return module;
  assert_true(wick_error_message(error)[0] != 0);
  assert_int_not_equal(wick_error_status(error), WICK_INTERNAL);
  wick_error_free(error);
  return NULL;
}
static void call_module(wick_module *module) {
  double longest;
  loaded++;
  called += call_methods(module, &longest);
  note_time("a call", longest);
}
static void load_module(const Bytes *file) {
  wick_module *module = module_of(file);
  if (module) call_module(module);
  wick_module_release(module);
}

/* ---- files ---- */

typedef struct Mutants {
  const char *pattern, *but; /* files of that pattern that don't have `but` in their names */
  unsigned ways;
  void (*load)(const Bytes *file);
} Mutants;

static size_t read_seeds(const Mutants *mutants, Bytes *out) {
  glob_t files;
  size_t count = 0;
  memset(out, 0, MAX_SEEDS * sizeof *out); /* an earlier test may have failed */
  assert_int_equal(glob(mutants->pattern, 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc && count < MAX_SEEDS; i++) {
    FILE *file = mutants->but && strstr(files.gl_pathv[i], mutants->but) ? NULL : fopen(files.gl_pathv[i], "rb");
    if (!file) continue;
    unsigned char *buffer = malloc(MAX_FILE);
    size_t length = fread(buffer, 1, MAX_FILE, file);
    fclose(file);
    if (length < MAX_FILE) put(&out[count++], buffer, length);
    free(buffer);
  }
  globfree(&files);
  assert_true(count > 0);
  return count;
}

static Way choose_way(unsigned ways) {
  unsigned count = (unsigned)__builtin_popcount(ways);
  for (size_t left = count > 1 ? random_below(count) : 0; left--;) ways &= ways - 1;
  return (Way)__builtin_ctz(ways);
}
static Bytes make_mutant(const Mutants *mutants, const Bytes *seed, Way *out_way) {
  Bytes mutated = {0};
  bool is_zip = seed->length > 2 && !memcmp(seed->data, "PK", 2);
  *out_way = is_zip ? choose_way(mutants->ways) : WAY_BYTES;
  if (*out_way != WAY_BYTES) return mutate_record(seed, *out_way);
  put(&mutated, seed->data, seed->length);
  mutate(&mutated);
  return mutated;
}

static uint64_t seed_of_all;
static long running = -1; /* the mutant that is loaded and called; -1: none */

static void tell_running(void) {
  if (running >= 0) fprintf(stderr, "at WICK_SEED=%llu WICK_MUTANT=%ld\n", (unsigned long long)seed_of_all, running);
}
/* A process that hangs ends by this signal. */
static void give_up(int number) {
  tell_running();
  signal(number, SIG_DFL);
  raise(number);
}
static void limit_time(void) {
  struct itimerval timer = {.it_value = {.tv_sec = GIVE_UP_S}};
  signal(SIGPROF, give_up);
  setitimer(ITIMER_PROF, &timer, NULL);
}

/* Each by its own number, so that one can be repeated alone. */
static void run_one(const Mutants *mutants, const Bytes *seeds, size_t seed_count, long number, size_t counts[]) {
  Way way;
  chance = (Chance){seed_of_all * 0x9e3779b97f4a7c15u ^ (uint64_t)number * 0xd1b54a32d192ed03u};
  Bytes mutated = make_mutant(mutants, &seeds[(size_t)number % seed_count], &way);
  counts[way]++;
  limit_time();
  running = number;
  double begin = processor_seconds();
  mutants->load(&mutated);
  note_time("a file", processor_seconds() - begin);
  running = -1;
  free(mutated.data);
}

static void run_mutants(const Mutants *mutants, long count) {
  static Bytes seeds[MAX_SEEDS];
  size_t counts[WAY_COUNT] = {0}, seed_count = read_seeds(mutants, seeds);
  const char *only = getenv("WICK_MUTANT");
  loaded = called = 0;
  longest_s = 0;
  for (size_t i = 0; i < seed_count; i++) mutants->load(&seeds[i]);
  assert_int_equal(loaded, seed_count);
  for (long i = only ? atol(only) : 0; i < (only ? atol(only) + 1 : count); i++)
    run_one(mutants, seeds, seed_count, i, counts);
  for (size_t i = 0; i < seed_count; i++) free(seeds[i].data);
  print_message("%ld mutants of %zu files", count, seed_count);
  for (int way = 0; way < WAY_COUNT; way++)
    if (counts[way]) print_message(", %s %zu", way_names[way], counts[way]);
  print_message(": %zu still loaded, %zu calls returned; at most %.2f s\n", loaded - seed_count, called, longest_s);
}

/* ---- tests ---- */

static long mutation_count(void) {
  const char *count = getenv("WICK_MUTATIONS"), *seed = getenv("WICK_SEED");
  seed_of_all = seed ? strtoull(seed, NULL, 10) : 20220914;
  return count ? atol(count) : DEFAULT_MUTATIONS;
}
static void test_modules(void **state) {
  (void)state;
  run_mutants(&(Mutants){"program/*.pt", ".io.pt", ANY_PICKLE, .load = load_module}, mutation_count());
}
static void test_values(void **state) {
  (void)state;
  run_mutants(&(Mutants){"program/*.io.pt", NULL, ANY_PICKLE, .load = load_value}, mutation_count() / 4);
}
/* Those that load without a map of devices. */
static void test_other_archives(void **state) {
  (void)state;
  run_mutants(&(Mutants){"archive/[!gn]*.pt", ".io.pt", ANY_PICKLE, .load = load_module}, mutation_count() / 4);
}
/* What loads and can be saved loads again. */
static char saved_path[] = "/tmp/wick_mutate_XXXXXX";
static void save_and_load(const Bytes *file) {
  wick_module *module = module_of(file), *again;
  wick_error *error;
  if (!module) return;
  call_module(module);
  if (!wick_module_save(module, NULL, saved_path, NULL, NULL)) {
    if (wick_load(NULL, saved_path, NULL, &again, &error))
      fail_msg("what was saved does not load: %s", wick_error_message(error));
    wick_module_release(again);
  }
  wick_module_release(module);
}
static void run_mobile(Mutants mutants) {
  int file = mkstemp(saved_path);
  assert_true(file >= 0);
  close(file);
  mutants.load = save_and_load;
  run_mutants(&mutants, mutation_count() / 4);
  unlink(saved_path);
  memset(saved_path + sizeof saved_path - 7, 'X', 6);
}
static void test_mobile(void **state) {
  (void)state;
  run_mobile((Mutants){"mobile/*.pt", ".io.pt", ANY_PICKLE});
}
static void test_bytecode(void **state) {
  (void)state;
  run_mobile((Mutants){"mobile/bytecode_*.pt", ".io.pt", 1 << WAY_BYTECODE});
}
/* Files of torch.save before zip. */
static void test_streams(void **state) {
  (void)state;
  run_mutants(&(Mutants){"program/legacy_*.io.pt", NULL, 1 << WAY_BYTES, .load = load_value}, mutation_count() / 4);
}

/* Exported programs, which are called with the recorded arguments as well: others they refuse. */
static wick_value *recorded[MAX_SEEDS]; /* the files of calls, in the seeds' order */
static size_t recorded_count;

static void call_as_recorded(wick_module *module, const wick_value *io) {
  wick_run_options limits = {
      .size = sizeof limits, .threads = 1, .deadline_ns = 200000000, .max_steps = 2000, .max_bytes = 16 << 20};
  wick_value *calls = wick_value_get_text(io, "calls"), *call = calls ? wick_value_item(calls, 0) : NULL,
             *args = call ? wick_value_get_text(call, "args") : NULL, *values[8], *result = NULL;
  size_t count = args ? wick_value_length(args) : 0;
  wick_error *error = NULL;
  for (size_t i = 0; i < count && i < 8; i++) values[i] = wick_value_item(args, i);
  double begin = processor_seconds();
  for (int times = 0; count <= 8 && times < 2; times++) {
    if (wick_run(module, "forward", (const wick_value *const *)values, count, NULL, 0, &limits, &result, &error))
      wick_error_free(error);
    else
      called++, wick_value_release(result);
  }
  note_time("a call", processor_seconds() - begin);
  for (size_t i = 0; i < count && i < 8; i++) wick_value_release(values[i]);
  wick_value_release(args), wick_value_release(call), wick_value_release(calls);
}
static void load_exported(const Bytes *file) {
  wick_module *module = module_of(file);
  if (!module) return;
  call_module(module);
  if (running >= 0) call_as_recorded(module, recorded[(size_t)running % recorded_count]);
  wick_module_release(module);
}
static void test_exported(void **state) {
  (void)state;
  glob_t files;
  assert_int_equal(glob("pt2/*.io.pt", 0, NULL, &files), 0);
  for (recorded_count = 0; recorded_count < files.gl_pathc; recorded_count++)
    assert_int_equal(wick_load_value(NULL, files.gl_pathv[recorded_count], NULL, &recorded[recorded_count], NULL), 0);
  globfree(&files);
  run_mutants(&(Mutants){"pt2/*.pt2", NULL, ANY_JSON, .load = load_exported}, mutation_count() / 4);
  while (recorded_count) wick_value_release(recorded[--recorded_count]);
}

static int tell_failed(void **state) {
  (void)state;
  tell_running();
  running = -1;
  return 0;
}
#define TEST(name) cmocka_unit_test_teardown(name, tell_failed)

static void drop_print(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
}
static void drop_warning(void *user, const char *message) {
  (void)user, (void)message;
}

int main(void) {
  extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
  const struct CMUnitTest tests[] = {TEST(test_modules), TEST(test_values),   TEST(test_other_archives),
                                     TEST(test_mobile),  TEST(test_bytecode), TEST(test_streams),
                                     TEST(test_exported)};
  const char *name = getenv("WICK_MUTATE");
  if (name) cmocka_set_test_filter(name);
  wick_runtime_set_output(NULL, drop_print, drop_warning, NULL);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell_running);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
