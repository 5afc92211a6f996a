/* torch.classes.torchtext.RegexTokenizer, as torchtext 0.14 has it: ASCII letters become small where it is asked for,
 * patterns are replaced one after the other, and what blanks part are the tokens. The state is (patterns, replacements,
 * to_lower). */
#include "torchtext/tokenizer_class.h"

#include "torchtext/regex.h"

#define TOKENIZER "torchtext.RegexTokenizer"
#define SELF "__torch__.torch.classes.torchtext.RegexTokenizer self"
#define CHANGED "__torch__.torch.classes.torchtext.RegexTokenizer(a!) self"

/* Does not change any more when it is made. */
typedef struct Tokenizer {
  size_t count;
  Regex **patterns;
  wick_value *state[3]; /* as they were given */
  bool to_lower;
} Tokenizer;

static void tokenizer_free(void *data) {
  Tokenizer *t = data;
  if (!t) return;
  for (size_t i = 0; t->patterns && i < t->count; i++) regex_free(t->patterns[i]);
  for (size_t i = 0; i < COUNT(t->state); i++) wick_value_release(t->state[i]);
  free(t->patterns);
  free(t);
}

static wick_status compile(Tokenizer *t, wick_call *call, wick_error **error) {
  t->count = wick_value_length(t->state[0]);
  t->to_lower = wick_value_to_bool(t->state[2]);
  if (t->count != wick_value_length(t->state[1]))
    return fail(error, WICK_INVALID_ARGUMENT, "there are %zu patterns and %zu replacements", t->count,
                wick_value_length(t->state[1]));
  t->patterns = calloc(t->count + 1, sizeof *t->patterns);
  if (!t->patterns) return fail_memory(error);
  for (size_t i = 0; i < t->count; i++) {
    size_t length;
    wick_value *pattern = wick_value_item(t->state[0], i);
    const char *text = wick_value_to_string(pattern, &length);
    wick_status status = pattern ? regex_new(text, length, &t->patterns[i], error) : fail_memory(error);
    wick_value_release(pattern);
    if (!status) status = wick_call_poll(call, error);
    if (status) return status;
  }
  return WICK_OK;
}

/* Takes over the state's values, any of which may be NULL: no memory. */
static wick_status give_tokenizer(wick_call *call, wick_value *const state[3], wick_error **error) {
  Tokenizer *t = calloc(1, sizeof *t);
  wick_value *self = wick_call_argument(call, 0), *unwanted[3] = {NULL};
  bool is_whole = t && self;
  for (size_t i = 0; i < 3; i++) {
    is_whole &= state[i] != NULL;
    *(t ? &t->state[i] : &unwanted[i]) = state[i];
  }
  wick_status status = is_whole ? compile(t, call, error) : fail_memory(error);
  if (!status) {
    status = wick_native_set(self, TOKENIZER, t, tokenizer_free, error);
    t = NULL;
  }
  tokenizer_free(t);
  for (size_t i = 0; i < 3; i++) wick_value_release(unwanted[i]);
  wick_value_release(self);
  return status;
}

/* (self, patterns, replacements, to_lower); lists are copied, for the program may change its own */
static wick_status kernel_init(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *state[3];
  for (size_t i = 0; i < 3; i++) {
    wick_value *given = wick_call_argument(call, i + 1);
    state[i] = NULL;
    if (given && wick_value_copy(given, &state[i], NULL)) state[i] = NULL;
    wick_value_release(given);
  }
  return give_tokenizer(call, state, error);
}

/* (self, (patterns, replacements, to_lower)) */
static wick_status kernel_setstate(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *given = wick_call_argument(call, 1), *state[3];
  for (size_t i = 0; i < 3; i++) state[i] = wick_value_item(given, i);
  wick_value_release(given);
  return give_tokenizer(call, state, error);
}

static wick_status tokenizer_of(wick_call *call, wick_value **out_self, const Tokenizer **out, wick_error **error) {
  void *data;
  *out_self = wick_call_argument(call, 0);
  if (!*out_self) return fail_memory(error);
  TRY(wick_native_data(*out_self, TOKENIZER, &data, error));
  *out = data;
  return WICK_OK;
}

static wick_status kernel_getstate(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *self = NULL;
  const Tokenizer *t = NULL;
  wick_status status = tokenizer_of(call, &self, &t, error);
  for (size_t i = 0; i < 3 && !status; i++) {
    wick_value *copy;
    status = wick_value_copy(t->state[i], &copy, error);
    if (status) break;
    wick_call_set_result(call, i, copy);
    wick_value_release(copy);
  }
  wick_value_release(self);
  return status;
}

static wick_status split(const Text *line, wick_value **out, wick_error **error) {
  size_t count = 0;
  wick_value **tokens = calloc(line->length / 2 + 2, sizeof *tokens);
  wick_status status = tokens ? WICK_OK : fail_memory(error);
  for (size_t begin = 0, at = 0; at <= line->length && !status; at++) {
    if (at < line->length && line->data[at] != ' ') continue;
    if (at > begin) {
      tokens[count] = wick_value_string(line->data + begin, at - begin);
      status = tokens[count++] ? WICK_OK : fail_memory(error);
    }
    begin = at + 1;
  }
  if (!status) status = wick_value_list((const wick_value *const *)tokens, count, out, error);
  while (tokens && count) wick_value_release(tokens[--count]);
  free(tokens);
  return status;
}

static wick_status replace_all(const Tokenizer *t, wick_call *call, Text *line, wick_error **error) {
  for (size_t i = 0; i < t->count; i++) {
    size_t length;
    Text next = {0};
    wick_value *replacement = wick_value_item(t->state[1], i);
    const char *with = wick_value_to_string(replacement, &length);
    wick_status status = replacement ? regex_replace(t->patterns[i], call, line->data ? line->data : "", line->length,
                                                     with, length, &next, error)
                                     : fail_memory(error);
    wick_value_release(replacement);
    free(line->data);
    *line = next;
    if (status) return status;
  }
  return WICK_OK;
}

/* (self, line) -> tokens */
static wick_status kernel_forward(void *user, wick_call *call, wick_error **error) {
  (void)user;
  const Tokenizer *t = NULL;
  wick_value *self = NULL, *given = wick_call_argument(call, 1), *result = NULL;
  Text line = {0};
  size_t length;
  const char *text = wick_value_to_string(given, &length);
  wick_status status = given ? tokenizer_of(call, &self, &t, error) : fail_memory(error);
  if (!status) status = text_append(&line, text, length, error);
  for (size_t i = 0; !status && t->to_lower && i < length; i++)
    if (line.data[i] >= 'A' && line.data[i] <= 'Z') line.data[i] = (char)(line.data[i] + 32);
  if (!status) status = replace_all(t, call, &line, error);
  if (!status) status = split(&line, &result, error);
  if (!status) wick_call_set_result(call, 0, result);
  wick_value_release(result);
  wick_value_release(given);
  wick_value_release(self);
  free(line.data);
  return status;
}

#define STATE "(str[], str[], bool)"
static const wick_operator operators[] = {
    OPERATOR("torchtext::RegexTokenizer_init(" CHANGED ", str[] patterns, str[] replacements, bool to_lower) -> ()",
             .kernel = kernel_init, .flags = WICK_OPERATOR_SIDE_EFFECTS),
    OPERATOR("torchtext::RegexTokenizer_getstate(" SELF ") -> " STATE, .kernel = kernel_getstate),
    OPERATOR("torchtext::RegexTokenizer_setstate(" CHANGED ", " STATE " state) -> ()", .kernel = kernel_setstate,
             .flags = WICK_OPERATOR_SIDE_EFFECTS),
    OPERATOR("torchtext::RegexTokenizer_forward(" SELF ", str line) -> str[]", .kernel = kernel_forward),
};
static const wick_class_method methods[] = {
    {"__init__", "torchtext::RegexTokenizer_init"},
    {"__getstate__", "torchtext::RegexTokenizer_getstate"},
    {"__setstate__", "torchtext::RegexTokenizer_setstate"},
    {"forward", "torchtext::RegexTokenizer_forward"},
};

wick_status tokenizer_register(wick_error **error) {
  TRY(wick_operators_register(operators, COUNT(operators), error));
  const wick_class tokenizer = {
      .size = sizeof tokenizer, .name = TOKENIZER, .methods = methods, .method_count = COUNT(methods)};
  return wick_class_register(&tokenizer, error);
}
