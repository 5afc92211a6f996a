/* Samples that a row takes: its own from samples.txt, else made up from the names and types of its schema, differently
 * on each attempt. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "call/derive.h"
#include "schema/schema.h"

/* ---- rows' own ---- */

/* Lines "aten::name.overload: sample, sample, ...", each of an argument from the first on; the others get their
 * defaults. A row may have several. */
static char *table;
static Map own_index; /* "aten::name.overload" -> line number + 1 of its first */
static struct { Str name, arguments; } own[1024];
static size_t own_lines;

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)size + 1);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  fclose(file);
  return text;
}

void samples_open(const char *path) {
  table = read_file(path);
  map_init(&own_index, NULL);
  for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n")) {
    char *colon = strstr(line, ": ");
    if (*line == '#') continue;
    assert_non_null(colon);
    assert_true(own_lines < sizeof own / sizeof *own);
    Str name = {line, (size_t)(colon - line)};
    own[own_lines].name = name;
    own[own_lines++].arguments = str_from(colon + 2);
    if (!map_has(&own_index, name)) assert_true(map_put(&own_index, name, (void *)(intptr_t)own_lines));
  }
}

/* The row's name in the table: of the functional operator, whose forms take the same. */
static size_t own_first(const Operator *op) {
  Str name, overload;
  StrBuf key = {0};
  assert_true(schema_text_split(str_from(op->row->schema), &name, &overload));
  strbuf_printf(&key, STR_FMT "%s" STR_FMT, STR_ARG(name), overload.length ? "." : "", STR_ARG(overload));
  size_t line = (size_t)(intptr_t)map_get(&own_index, strbuf_view(&key));
  strbuf_dispose(&key);
  return line;
}
static int own_count(const Operator *op) {
  size_t first = own_first(op), count = 0;
  if (!first) return 0;
  while (first - 1 + count < own_lines && str_equal(own[first - 1].name, own[first - 1 + count].name)) count++;
  return (int)count;
}

/* Each with out tensors of every kind. */
static const DType out_dtypes[] = {DTYPE_FLOAT32, DTYPE_INT64, DTYPE_COMPLEX64, DTYPE_BOOL};
enum { OUT_DTYPES = sizeof out_dtypes / sizeof *out_dtypes };
int sample_own_attempts(const Operator *op) {
  return own_count(op) * OUT_DTYPES;
}

/* ---- defaults ---- */
static Sample of_value(IValue v) {
  switch (v.tag) {
    case TAG_INT:
      return sample_int(v.i);
    case TAG_FLOAT:
      return (Sample){.kind = SAMPLE_FLOAT, .real = v.f};
    case TAG_BOOL:
      return (Sample){.kind = SAMPLE_BOOL, .number = v.b};
    case TAG_STRING: {
      char text[SAMPLE_TEXT_LENGTH];
      snprintf(text, sizeof text, STR_FMT, STR_ARG(ivalue_str(v)));
      return sample_text(text);
    }
    case TAG_LIST: {
      Sample items[16];
      size_t count = v.list->length < 16 ? v.list->length : 16;
      for (size_t i = 0; i < count; i++) {
        IValue item = list_get(v.list, i);
        items[i] = of_value(item);
        ivalue_release(item);
      }
      return sample_list(count, items);
    }
    default:
      return (Sample){.kind = SAMPLE_NONE};
  }
}

/* ---- guesses ---- */
typedef struct Guess {
  Chance chance;
  DType dtype;
  int ndim;
  int64_t sizes[SAMPLE_MAX_DIMS];
  bool use_defaults, impossible; /* impossible: a value of a type that is not made here */
} Guess;

static bool name_is_one_of(Str name, const char *const *names) {
  for (; *names; names++)
    if (str_is(name, *names)) return true;
  return false;
}
static bool is_index(Str name) {
  static const char *const names[] = {
      "index",          "indices", "ind",          "target",         "offsets",  "lengths",
      "batch_sizes",    "pivots",  "LU_pivots",    "sorted_indices", "targets",  "input_lengths",
      "target_lengths", "sorter",  "crow_indices", "offset2bag",     "bag_size", NULL};
  return name_is_one_of(name, names);
}
static bool is_mask(Str name) {
  static const char *const names[] = {"mask", "condition", "key_padding_mask", "attn_mask", NULL};
  return name_is_one_of(name, names);
}
static bool is_sizes(Str name) {
  static const char *const names[] = {
      "size", "sizes", "shape", "input_sizes", "self_sizes", "output_size", "normalized_shape", NULL};
  return name_is_one_of(name, names);
}

static Sample guess(Guess *g, const Type *type, const Argument *a);

static Sample guess_tensor(Guess *g, const Argument *a) {
  static const int64_t other[][4] = {{0}, {1, 2}, {1, 3}, {1, 1}, {2, 3, 3}, {2, 2, 3}, {2, 3, 2}, {3, 2, 2, 2}};
  Sample s = sample_tensor(g->dtype, g->ndim, g->sizes);
  if (is_mask(a->name)) s.dtype = DTYPE_BOOL;
  if (chance_below(&g->chance, 6) == 0) {
    const int64_t *sizes = other[chance_below(&g->chance, 8)];
    s = sample_tensor(s.dtype, (int)sizes[0], sizes + 1);
  }
  if (is_index(a->name)) {
    s.dtype = DTYPE_INT64;
    s.fill = FILL_NUMBER;
    s.number = (int64_t)chance_below(&g->chance, 2);
    if (chance_below(&g->chance, 2)) s.ndim = s.ndim ? 1 : 0;
  }
  if (a->is_out || (a->alias && a->alias->is_write)) s.state = STATE_OWN;
  return s;
}
static Sample guess_ints(Guess *g, const Type *element, const Argument *a) {
  Sample items[SAMPLE_MAX_DIMS];
  size_t count = a->broadcast_n > 1 ? (size_t)a->broadcast_n : chance_below(&g->chance, 4);
  int64_t value = (int64_t)chance_below(&g->chance, 4);
  bool copies_sizes = is_sizes(a->name) && chance_below(&g->chance, 3);
  if (copies_sizes) count = (size_t)g->ndim;
  if (a->broadcast_n == 1) count = 1;
  if (count > SAMPLE_MAX_DIMS) count = SAMPLE_MAX_DIMS;
  bool rises = !copies_sizes && chance_below(&g->chance, 2);
  for (size_t i = 0; i < count; i++) {
    items[i] = guess(g, element, a);
    if (items[i].kind == SAMPLE_INT) items[i].number = copies_sizes ? g->sizes[i] : rises ? (int64_t)i : value;
  }
  return sample_list(count, items);
}
static Sample guess_text(Guess *g, const Argument *a) {
  static const char *const texts[] = {"mean", "a",     "sum", "constant", "none",   "L",       "ortho",
                                      "fro",  "trunc", "max", "ij",       "i,i->i", "reduced", "s"};
  (void)a;
  return sample_text(texts[chance_below(&g->chance, 14)]);
}
static Sample guess_dict(Guess *g, const Type *type, const Argument *a) {
  Sample items[2] = {guess(g, type->elements[0], a), guess(g, type->elements[1], a)};
  Sample s = sample_list(2, items);
  s.kind = SAMPLE_DICT;
  return s;
}
static Sample guess_tuple(Guess *g, const Type *type, const Argument *a) {
  Sample items[8];
  for (uint32_t i = 0; i < type->count && i < 8; i++) items[i] = guess(g, type->elements[i], a);
  Sample s = sample_list(type->count < 8 ? type->count : 8, items);
  s.kind = SAMPLE_TUPLE;
  return s;
}
static Sample guess(Guess *g, const Type *type, const Argument *a) {
  Chance *chance = &g->chance;
  switch (type->kind) {
    case TYPE_OPTIONAL:
      if (chance_below(chance, 2)) return (Sample){.kind = SAMPLE_NONE};
      return guess(g, type->elements[0], a);
    case TYPE_TENSOR:
      return guess_tensor(g, a);
    case TYPE_INT:
      if (a->int_kind == INT_SCALAR_TYPE || str_is(a->name, "dtype")) return sample_int(g->dtype);
      if (a->int_kind == INT_LAYOUT || a->int_kind == INT_MEMORY_FORMAT) return sample_int(0);
      return sample_int((int64_t)chance_below(chance, 4));
    case TYPE_NUMBER:
    case TYPE_VAR:
    case TYPE_ANY:
      return sample_int(1 + (int64_t)chance_below(chance, 2));
    case TYPE_FLOAT:
      return (Sample){.kind = SAMPLE_FLOAT, .real = 0.5 * (double)chance_below(chance, 4)};
    case TYPE_COMPLEX:
      return (Sample){.kind = SAMPLE_COMPLEX, .real = 2};
    case TYPE_BOOL:
      return (Sample){.kind = SAMPLE_BOOL, .number = (int64_t)chance_below(chance, 2)};
    case TYPE_STRING:
      return guess_text(g, a);
    case TYPE_DEVICE:
      return (Sample){.kind = SAMPLE_DEVICE, .text = "cpu"};
    case TYPE_GENERATOR:
      return (Sample){.kind = SAMPLE_GENERATOR};
    case TYPE_STORAGE:
      return (Sample){.kind = SAMPLE_STORAGE};
    case TYPE_FUTURE:
      return (Sample){.kind = SAMPLE_FUTURE};
    case TYPE_LIST:
      return guess_ints(g, type->elements[0], a);
    case TYPE_DICT:
      return guess_dict(g, type, a);
    case TYPE_TUPLE:
      return guess_tuple(g, type, a);
    case TYPE_NONE:
      return (Sample){.kind = SAMPLE_NONE};
    default:
      g->impossible = true;
      return (Sample){.kind = SAMPLE_NONE};
  }
}

static void begin_guess(Guess *g, int attempt) {
  static const int64_t sizes[][6] = {{2, 2, 3},          {1, 3}, {2, 3, 3},   {3, 2, 2, 3}, {4, 1, 2, 4, 4},
                                     {5, 1, 2, 4, 4, 4}, {0},    {3, 2, 4, 4}};
  static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT32,   DTYPE_FLOAT32, DTYPE_INT64,
                                 DTYPE_BOOL,    DTYPE_COMPLEX64, DTYPE_FLOAT64};
  *g = (Guess){.chance = {(uint64_t)attempt * 7919}};
  const int64_t *s = sizes[attempt % 8];
  g->ndim = (int)s[0];
  memcpy(g->sizes, s + 1, (size_t)g->ndim * sizeof *s);
  g->dtype = attempt < 12 ? DTYPE_FLOAT32 : dtypes[chance_below(&g->chance, 7)];
  g->use_defaults = attempt % 4 != 3;
}

static bool parse_own(const Operator *op, Str *text, Sample *out) {
  bool read = sample_parse(text, out);
  if (!read) fprintf(stderr, "samples.txt: " STR_FMT ": \"" STR_FMT "\"\n", STR_ARG(op->name), STR_ARG(*text));
  return read;
}

bool sample_guess(const Operator *op, int attempt, SampleCall *out) {
  const FunctionSchema *schema = operator_schema(op);
  Guess g;
  Str text = {"", 0};
  int own_attempts = sample_own_attempts(op);
  bool is_own = attempt < own_attempts;
  if (is_own) text = own[own_first(op) - 1 + (size_t)(attempt / OUT_DTYPES)].arguments;
  begin_guess(&g, is_own ? 0 : attempt - own_attempts);
  out->op = op;
  out->count = 0;
  if (schema->argument_count > SAMPLE_MAX_ARGUMENTS) return false;
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *a = &schema->arguments[i];
    Sample *s = &out->arguments[out->count++];
    if (text.length && !a->is_out) {
      if (!parse_own(op, &text, s)) return false;
      if (s->kind == SAMPLE_TENSOR && a->alias && a->alias->is_write && s->state == STATE_PLAIN) s->state = STATE_OWN;
      continue;
    }
    *s = a->has_default && (g.use_defaults || is_own) ? of_value(a->default_value) : guess(&g, a->type, a);
    if (a->is_out && s->kind == SAMPLE_TENSOR && (is_own || attempt % 2 == 0)) s->ndim = 1, s->sizes[0] = 0;
    if (a->is_out && is_own) s->dtype = out_dtypes[attempt % OUT_DTYPES];
  }
  while (schema->is_vararg && text.length && out->count < SAMPLE_MAX_ARGUMENTS)
    if (!parse_own(op, &text, &out->arguments[out->count++])) return false;
  return !g.impossible;
}
