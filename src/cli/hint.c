/* What could have been typed: inputs that a model takes, found by trying. */
#include "cli/hint.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/literal.h"
#include "wick/tensor.h"

enum { MAX_ARGUMENTS = 12, MAX_CANDIDATES = 48, MAX_WORD = 200, MAX_WEIGHTS = 4 };
#define TRYING_NS ((uint64_t)2000000000u)

typedef struct Argument {
  char type[80], name[60];
  bool has_default;
} Argument;
typedef struct Weight {
  char module[80]; /* the class that holds it */
  wick_tensor_spec spec;
} Weight;
typedef struct Hint {
  const HintedCall *call;
  Argument arguments[MAX_ARGUMENTS];
  size_t argument_count;
  Weight weights[MAX_WEIGHTS];
  size_t weight_count;
  char holder[80]; /* while the module is walked through */
  char tensors[MAX_CANDIDATES][MAX_WORD];
  size_t tensor_count;
  wick_module *copy;
  uint64_t deadline;
} Hint;

/* ---- what the method takes ---- */

/* "Tensor ids", "Tensor? pad=None". */
static void add_argument(Hint *h, const char *text, size_t length) {
  char word[200];
  snprintf(word, sizeof word, "%.*s", (int)length, text);
  char *value = strchr(word, '=');
  if (value) *value = 0;
  char *name = strrchr(word, ' ');
  if (!name || h->argument_count == MAX_ARGUMENTS) return;
  *name++ = 0;
  if (!strcmp(name, "self") && !strncmp(word, "__torch__", 9)) return;
  Argument *a = &h->arguments[h->argument_count++];
  snprintf(a->type, sizeof a->type, "%.79s", word);
  snprintf(a->name, sizeof a->name, "%.59s", name);
  a->has_default = value != NULL;
}
/* false: there is no schema. */
static bool read_schema(Hint *h) {
  char *schema = NULL;
  if (wick_module_schema(h->call->module, h->call->method, &schema, NULL)) return false;
  const char *at = strchr(schema, '('), *begin = at ? ++at : NULL;
  int nesting = 0;
  for (; at && *at && nesting >= 0; at++) { /* to the bracket that ends the arguments */
    nesting += *at == '(' || *at == '[' ? 1 : *at == ')' || *at == ']' ? -1 : 0;
    bool ends = nesting < 0 || (!nesting && *at == ',');
    if (!ends) continue;
    while (*begin == ' ') begin++;
    if (at > begin) add_argument(h, begin, (size_t)(at - begin));
    begin = at + 1;
  }
  wick_text_free(schema);
  return true;
}

/* ---- candidates ---- */

static int note_weight(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Hint *h = user;
  (void)name;
  if (wick_value_kind(value) == WICK_OBJECT) snprintf(h->holder, sizeof h->holder, "%s", type ? type : "");
  Weight *weight = &h->weights[h->weight_count];
  if (kind != WICK_PARAMETER || wick_value_kind(value) != WICK_TENSOR) return 0;
  if (wick_tensor_spec_of(value, &weight->spec, NULL) || weight->spec.ndim < 2) return 0;
  const char *dot = strrchr(h->holder, '.');
  snprintf(weight->module, sizeof weight->module, "%s", dot ? dot + 1 : h->holder);
  return ++h->weight_count == MAX_WEIGHTS;
}
__attribute__((format(printf, 2, 3))) static void add_tensor(Hint *h, const char *format, ...) {
  va_list arguments;
  if (h->tensor_count == MAX_CANDIDATES) return;
  va_start(arguments, format);
  vsnprintf(h->tensors[h->tensor_count++], MAX_WORD, format, arguments);
  va_end(arguments);
}
/* What a layer of such a weight may stand at the beginning for. */
static void add_tensors_of(Hint *h, const Weight *weight) {
  static const int sides[] = {224, 32, 28, 64, 8, 128, 256, 299}, lengths[] = {512, 16000, 64, 256};
  const int64_t *sizes = weight->spec.sizes;
  assert(weight->spec.ndim >= 2);
  bool is_embedding = strstr(weight->module, "Embedding") != NULL, transposes = strstr(weight->module, "Transpose");
  long long width = (long long)sizes[transposes ? 0 : 1], rows = (long long)sizes[0];
  if (is_embedding && weight->spec.ndim == 2) {
    add_tensor(h, "randint(%lld,(1,16))", rows);
    add_tensor(h, "randint(%lld,(16,))", rows);
    add_tensor(h, "randint(%lld,(16,1))", rows);
  } else if (weight->spec.ndim == 4 && transposes) {
    for (int side = 1; side <= 8; side *= 2) add_tensor(h, "randn(1,%lld,%d,%d)", width, side, side);
  } else if (weight->spec.ndim == 4) {
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
      add_tensor(h, "randn(1,%lld,%d,%d)", width, sides[i], sides[i]);
  } else if (weight->spec.ndim == 3) {
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      add_tensor(h, "randn(1,%lld,%d)", width, lengths[i]);
      if (width == 1) add_tensor(h, "randn(1,%d)", lengths[i]);
    }
  } else if (weight->spec.ndim == 2) {
    add_tensor(h, "randn(1,%lld)", width);
    add_tensor(h, "randn(1,16,%lld)", width);
    add_tensor(h, "randn(16,1,%lld)", width);
    add_tensor(h, "randn(%lld)", width);
  }
}
static void add_tensors(Hint *h) {
  wick_error *error = NULL;
  wick_module_each(h->call->module, note_weight, h, &error);
  wick_error_free(error);
  for (size_t i = 0; i < h->weight_count; i++) add_tensors_of(h, &h->weights[i]);
  static const char *const others[] = {"randn(2,3)", "randn(1,512)", "randn(4)", "randn(1,3,224,224)",
                                       "randint(100,(1,16))"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) add_tensor(h, "%s", others[i]);
}

static bool is_one_of(const char *word, const char *const *suffixes) {
  size_t length = strlen(word);
  for (; *suffixes; suffixes++) {
    size_t suffix = strlen(*suffixes);
    if (length > suffix && !strcasecmp(word + length - suffix, *suffixes)) return true;
  }
  return false;
}
static bool is_picture(const char *word) {
  return !strchr(word, '(') && is_one_of(word, (const char *const[]){".png", ".jpg", ".jpeg", ".ppm", ".pgm", NULL});
}
static bool is_sound(const char *word) {
  return !strchr(word, '(') && is_one_of(word, (const char *const[]){".wav", ".flac", ".ogg", NULL});
}
static bool is_list_for_tensor(const Argument *argument, const char *word) {
  return !strncmp(argument->type, "Tensor", 6) && argument->type[6] != '[' && *word == '[';
}

/* What stands for an argument in the n-th try, in place of the word (NULL: none was given); false: there is no such
 * try. What has one candidate alone has it in each. */
static bool candidate(const Hint *h, const Argument *argument, const char *word, size_t n, char *out) {
  static const char *const pictures[] = {
      "image(%s, size=224, imagenet)", "image(%s)", "image(%s, size=64)", "image(%s, size=28, crop=28)",
      "image(%s, size=32, crop=32)",   NULL};
  static const char *const sounds[] = {"audio(%s, 16000)", "audio(%s, 8000)", "audio(%s)", NULL};
  static const struct {
    const char *type, *word;
  } plain[] = {{"int", "1"},    {"float", "0.5"}, {"bool", "True"},     {"str", "\"text\""},
               {"number", "1"}, {"int[]", "[1]"}, {"float[]", "[0.5]"}, {"str[]", "[\"text\"]"}};
  const char *const *forms = word && is_picture(word) ? pictures : word && is_sound(word) ? sounds : NULL;
  size_t count = 0;
  if (forms) {
    while (forms[count]) count++;
    if (n >= count) return false;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, MAX_WORD, forms[n], word);
#pragma GCC diagnostic pop
    return true;
  }
  if (word && is_list_for_tensor(argument, word)) /* alone, then as a batch of one */
    return n < 2 && snprintf(out, MAX_WORD, n ? "tensor([%s])" : "tensor(%s)", word) < MAX_WORD;
  if (word) return snprintf(out, MAX_WORD, "%s", word) > 0;
  if (!strncmp(argument->type, "Tensor", 6) && argument->type[6] != '[') {
    if (n >= h->tensor_count) return false;
    return snprintf(out, MAX_WORD, "%s", h->tensors[n]) > 0;
  }
  bool is_rate =
      !strcmp(argument->name, "sr") || !strcmp(argument->name, "rate") || strstr(argument->name, "sample_rate");
  if (is_rate && !strcmp(argument->type, "int")) return snprintf(out, MAX_WORD, "16000") > 0;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (!strcmp(argument->type, plain[i].type)) return snprintf(out, MAX_WORD, "%s", plain[i].word) > 0;
  if (!strcmp(argument->type, "Tensor[]") && n < h->tensor_count)
    return snprintf(out, MAX_WORD, "[%.150s]", h->tensors[n]) > 0;
  return false;
}

/* ---- trying ---- */

typedef struct Try {
  char words[MAX_ARGUMENTS][MAX_WORD];
  size_t count;
  long chunk; /* of --chunk; 0: none */
} Try;
/* What was typed, and candidates for what is missing. false: there is no such try. */
static bool make_try(const Hint *h, size_t n, Try *out) {
  *out = (Try){0};
  for (size_t i = 0; i < h->argument_count; i++) {
    const char *word = (int)i < h->call->count ? h->call->words[i] : NULL;
    if (!word && h->arguments[i].has_default) break;
    if (!candidate(h, &h->arguments[i], word, n, out->words[out->count++])) return false;
  }
  return out->count > 0;
}
/* The value of a word, of sound that is to be cut noise of a piece's length; NULL: it is none. */
static wick_value *value_of(const Hint *h, const Try *t, size_t i) {
  char noise[40];
  Reader reader;
  const char *word = t->words[i];
  if (t->chunk && (int)i < h->call->count && is_sound(h->call->words[i])) {
    snprintf(noise, sizeof noise, "randn(1,%ld)", t->chunk);
    word = noise;
  }
  wick_value *value = literal_read(&reader, word);
  if (value || (int)i >= h->call->count) return value;
  return input_file_read(word, &value) ? value : NULL; /* as it was typed */
}
static bool runs(const Hint *h, const Try *t) {
  wick_value *values[MAX_ARGUMENTS] = {NULL};
  uint64_t now = clock_ns();
  wick_error *error = NULL;
  bool fine = now < h->deadline;
  for (size_t i = 0; fine && i < t->count; i++) fine = (values[i] = value_of(h, t, i)) != NULL;
  wick_run_options limits = {.size = sizeof limits,
                             .executor = WICK_EXECUTOR_SIMPLE,
                             .deadline_ns = fine ? h->deadline - now : 1,
                             .max_bytes = (uint64_t)2 << 30};
  fine = fine && !wick_run(h->copy, h->call->method, (const wick_value *const *)values, t->count, NULL, 0, &limits,
                           NULL, &error);
  wick_error_free(error);
  for (size_t i = 0; i < t->count; i++) wick_value_release(values[i]);
  return fine;
}
static bool find(const Hint *h, Try *out) {
  static const long pieces[] = {512, 256, 480, 1024};
  bool has_sound = false;
  for (size_t n = 0; make_try(h, n, out) && n < MAX_CANDIDATES && clock_ns() < h->deadline; n++)
    if (runs(h, out)) return true;
  for (int i = 0; i < h->call->count; i++) has_sound = has_sound || is_sound(h->call->words[i]);
  if (!has_sound || strcmp(h->call->command, "run") != 0) return false;
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    if (make_try(h, 0, out) && (out->chunk = pieces[i], runs(h, out))) return true;
  return false;
}

/* ---- saying so ---- */

/* As a shell wants it. */
static void put_word(FILE *to, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=";
  char quote = strchr(word, '\'') ? '"' : '\'';
  if (*word && !word[strspn(word, plain)])
    fprintf(to, " %s", word);
  else
    fprintf(to, " %c%s%c", quote, word, quote);
}
static void tell(const Hint *h, const Try *t) {
  char *line = NULL;
  size_t length;
  FILE *to = open_memstream(&line, &length);
  if (!to) return;
  fprintf(to, "wick %s", h->call->command);
  put_word(to, h->call->path);
  for (size_t i = 0; i < t->count; i++) put_word(to, t->words[i]);
  if (t->chunk) fprintf(to, " --chunk %ld,pad", t->chunk);
  if (strcmp(h->call->method, model_default_method(h->call->module)) != 0) fprintf(to, " --method %s", h->call->method);
  if (!fclose(to)) complain(NULL, "this runs: %s", line);
  free(line);
}

static void discard(void *user, const char *text, size_t length) {
  (void)user, (void)text, (void)length;
}
/* Whether something is missing, or given as people do who don't know better. */
static bool can_help(const Hint *h) {
  bool can = false;
  size_t given = (size_t)h->call->count;
  for (size_t i = 0; i < h->argument_count; i++) {
    const char *word = i < given ? h->call->words[i] : NULL;
    if (word && (strstr(word, "**") == word || (strchr(word, '=') && !strchr(word, '(')))) return false; /* by name */
    can = can || (word ? is_picture(word) || is_sound(word) || is_list_for_tensor(&h->arguments[i], word)
                       : !h->arguments[i].has_default);
  }
  return can && given <= h->argument_count;
}

/* One whose state is its own and which prints nothing. false: there is none. */
static bool open_copy(Hint *h) {
  wick_runtime_options quiet = {.size = sizeof quiet, .print = discard};
  ModelOptions options = *h->call->model;
  wick_error *error = NULL;
  options.runtime = NULL;
  if (!options.device_map) options.device_map = DEFAULT_DEVICE_MAP; /* what it replaces was told already */
  if (!wick_runtime_new(&quiet, &options.runtime, &error)) h->copy = model_open(h->call->path, &options, &error);
  wick_error_free(error);
  wick_runtime_release(options.runtime);
  return h->copy != NULL;
}
void hint_inputs(const HintedCall *call) {
  Hint *h = calloc(1, sizeof *h);
  if (!h) return;
  h->call = call;
  if (call->method && read_schema(h) && can_help(h) && open_copy(h)) {
    Try found;
    add_tensors(h);
    h->deadline = clock_ns() + TRYING_NS;
    if (find(h, &found))
      tell(h, &found);
    else
      complain(NULL, "`wick info %s` shows what it takes, `wick help inputs` how inputs are written", call->path);
  }
  wick_module_release(h->copy);
  free(h);
}
