/* torch.classes.torchtext.Vocab: methods as torchtext 0.14 has them (https://github.com/pytorch/text). The state is a
 * tuple of version, the default index as a list of one or none, tokens and no tensors; older archives (0.0.1) have the
 * unknown token after the others, whose place is the default. */
#include <pthread.h>

#include "torchtext/vocab_class.h"
#include "torchtext/vocab.h"

#define VOCAB "torchtext.Vocab"
#define SELF "__torch__.torch.classes.torchtext.Vocab self"
#define CHANGED "__torch__.torch.classes.torchtext.Vocab(a!) self"

/* Vocabularies may be changed by one thread while another looks something up. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void drop_vocab(void *data) {
  vocab_free(data);
}

/* ---- making ---- */

static wick_status add_token(Vocab *vocab, const wick_value *token, wick_error **error) {
  size_t length;
  const char *text = wick_value_to_string(token, &length);
  if (vocab_find(vocab, text, length) >= 0)
    return fail(error, WICK_RUNTIME, "Duplicate token found in tokens list: %.200s", text);
  return vocab_insert(vocab, vocab->count, text, length, error);
}

static wick_status add_tokens(Vocab *vocab, const wick_value *tokens, size_t count, wick_call *call,
                              wick_error **error) {
  for (size_t i = 0; i < count; i++) {
    wick_value *token = wick_value_item(tokens, i);
    wick_status status = token ? add_token(vocab, token, error) : fail_memory(error);
    wick_value_release(token);
    if (!status && i % 4096 == 0) status = wick_call_poll(call, error);
    if (status) return status;
  }
  return WICK_OK;
}

static wick_status give_vocab(wick_call *call, Vocab *vocab, wick_status status, wick_error **error) {
  if (status) {
    vocab_free(vocab);
    return status;
  }
  wick_value *self = wick_call_argument(call, 0);
  if (!self) {
    vocab_free(vocab);
    return fail_memory(error);
  }
  pthread_rwlock_wrlock(&lock);
  status = wick_native_set(self, VOCAB, vocab, drop_vocab, error);
  pthread_rwlock_unlock(&lock);
  wick_value_release(self);
  return status;
}

/* (self, tokens, default_index?) */
static wick_status kernel_init(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Vocab *vocab = vocab_new();
  wick_value *tokens = wick_call_argument(call, 1);
  wick_status status = vocab && tokens ? WICK_OK : fail_memory(error);
  if (!status) status = add_tokens(vocab, tokens, wick_value_length(tokens), call, error);
  if (!status) {
    vocab->has_default = !argument_is_none(call, 2);
    vocab->default_index = argument_int(call, 2);
  }
  wick_value_release(tokens);
  return give_vocab(call, vocab, status, error);
}

static wick_status take_state(Vocab *vocab, const wick_value *version, const wick_value *numbers,
                              const wick_value *tokens, const wick_value *tensors, wick_call *call,
                              wick_error **error) {
  const char *text = wick_value_to_string(version, NULL);
  size_t count = wick_value_length(tokens);
  if (wick_value_length(tensors)) return fail(error, WICK_DATA, "Expected `tensors` states to be empty");
  if (strcmp(text, "0.0.1") < 0)
    return fail(error, WICK_DATA, "Found unexpected version for serialized Vocab: %.50s", text);
  bool is_old = strcmp(text, "0.0.2") < 0;
  if (is_old && !count) return fail(error, WICK_DATA, "the state of a Vocab 0.0.1 has no unknown token");
  TRY(add_tokens(vocab, tokens, count - is_old, call, error));
  wick_value *last = wick_value_item(is_old ? tokens : numbers, is_old ? count - 1 : 0);
  size_t length;
  const char *unknown = wick_value_to_string(last, &length);
  vocab->default_index = is_old ? vocab_find(vocab, unknown, length) : wick_value_to_int(last);
  vocab->has_default = is_old || last;
  wick_value_release(last);
  if (is_old && vocab->default_index < 0)
    return fail(error, WICK_DATA, "the unknown token of a Vocab is not among its tokens");
  return WICK_OK;
}

/* (self, (version, numbers, tokens, tensors)) */
static wick_status kernel_setstate(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *state = wick_call_argument(call, 1), *parts[4];
  Vocab *vocab = vocab_new();
  bool is_whole = vocab != NULL;
  for (size_t i = 0; i < 4; i++) is_whole &= (parts[i] = wick_value_item(state, i)) != NULL;
  wick_status status =
      is_whole ? take_state(vocab, parts[0], parts[1], parts[2], parts[3], call, error) : fail_memory(error);
  for (size_t i = 0; i < 4; i++) wick_value_release(parts[i]);
  wick_value_release(state);
  return give_vocab(call, vocab, status, error);
}

/* ---- asking ---- */

/* What a method does with its vocabulary, and with a value for its result. */
typedef wick_status Method(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error);
typedef struct MethodOf {
  Method *method;
  bool changes;
} MethodOf;

static wick_status kernel_method(void *user, wick_call *call, wick_error **error) {
  const MethodOf *of = user;
  void *vocab;
  wick_value *self = wick_call_argument(call, 0), *result = NULL;
  if (!self) return fail_memory(error);
  if (of->changes)
    pthread_rwlock_wrlock(&lock);
  else
    pthread_rwlock_rdlock(&lock);
  wick_status status = wick_native_data(self, VOCAB, &vocab, error);
  if (!status) status = of->method(vocab, call, &result, error);
  pthread_rwlock_unlock(&lock);
  if (!status && result) wick_call_set_result(call, 0, result);
  wick_value_release(result);
  wick_value_release(self);
  return status;
}

static wick_status give(wick_value *value, wick_value **out, wick_error **error) {
  *out = value;
  return value ? WICK_OK : fail_memory(error);
}

static int64_t find_argument(const Vocab *vocab, wick_call *call) {
  size_t length;
  wick_value *token = wick_call_argument(call, 1);
  const char *text = wick_value_to_string(token, &length);
  int64_t position = vocab_find(vocab, text, length);
  wick_value_release(token);
  return position;
}

static wick_status contains(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  return give(wick_value_bool(find_argument(vocab, call) >= 0), out, error);
}

static wick_status position_of(const Vocab *vocab, const wick_value *token, wick_value **out, wick_error **error) {
  size_t length;
  const char *text = wick_value_to_string(token, &length);
  int64_t position = vocab_find(vocab, text, length);
  if (position < 0 && !vocab->has_default)
    return fail(error, WICK_RUNTIME, "Token %.200s not found and default index is not set", text);
  return give(wick_value_int(position < 0 ? vocab->default_index : position), out, error);
}

static wick_status getitem(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  wick_value *token = wick_call_argument(call, 1);
  wick_status status = token ? position_of(vocab, token, out, error) : fail_memory(error);
  wick_value_release(token);
  return status;
}

static wick_status length_of(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)call;
  return give(wick_value_int(vocab->count), out, error);
}

static wick_status get_default(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)call;
  return give(vocab->has_default ? wick_value_int(vocab->default_index) : wick_value_none(), out, error);
}

static wick_status token_at(const Vocab *vocab, int64_t position, wick_value **out, wick_error **error) {
  if (position < 0 || position >= vocab->count)
    return fail(error, WICK_RUNTIME, "Specified index %lld is out of bounds for vocab of size %lld",
                (long long)position, (long long)vocab->count);
  return give(wick_value_string(vocab->tokens[position].text, vocab->tokens[position].length), out, error);
}

static wick_status lookup_token(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  return token_at(vocab, argument_int(call, 1), out, error);
}

/* ---- lists ---- */

typedef wick_status Item(const Vocab *vocab, const wick_value *from, size_t i, wick_value **out, wick_error **error);

static wick_status make_list(const Vocab *vocab, const wick_value *from, size_t count, Item *item, wick_value **out,
                             wick_error **error) {
  wick_value **items = calloc(count + 1, sizeof *items);
  wick_status status = items ? WICK_OK : fail_memory(error);
  for (size_t i = 0; i < count && !status; i++) status = item(vocab, from, i, &items[i], error);
  if (!status) status = wick_value_list((const wick_value *const *)items, count, out, error);
  for (size_t i = 0; items && i < count; i++) wick_value_release(items[i]);
  free(items);
  return status;
}

static wick_status token_item(const Vocab *vocab, const wick_value *from, size_t i, wick_value **out,
                              wick_error **error) {
  (void)from;
  return token_at(vocab, (int64_t)i, out, error);
}
static wick_status token_of_item(const Vocab *vocab, const wick_value *from, size_t i, wick_value **out,
                                 wick_error **error) {
  wick_value *position = wick_value_item(from, i);
  wick_status status = token_at(vocab, wick_value_to_int(position), out, error);
  wick_value_release(position);
  return status;
}
static wick_status position_of_item(const Vocab *vocab, const wick_value *from, size_t i, wick_value **out,
                                    wick_error **error) {
  wick_value *token = wick_value_item(from, i);
  wick_status status = token ? position_of(vocab, token, out, error) : fail_memory(error);
  wick_value_release(token);
  return status;
}

static wick_status of_list(const Vocab *vocab, wick_call *call, Item *item, wick_value **out, wick_error **error) {
  wick_value *list = wick_call_argument(call, 1);
  wick_status status = list ? make_list(vocab, list, wick_value_length(list), item, out, error) : fail_memory(error);
  wick_value_release(list);
  return status;
}
static wick_status lookup_tokens(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  return of_list(vocab, call, token_of_item, out, error);
}
static wick_status lookup_indices(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  return of_list(vocab, call, position_of_item, out, error);
}
static wick_status get_itos(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)call;
  return make_list(vocab, NULL, (size_t)vocab->count, token_item, out, error);
}

static wick_status get_stoi(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)call;
  size_t count = (size_t)vocab->count;
  wick_value **keys = calloc(2 * count + 1, sizeof *keys), **values = keys + count;
  wick_status status = keys ? WICK_OK : fail_memory(error);
  for (size_t i = 0; i < count && !status; i++) {
    status = token_at(vocab, (int64_t)i, &keys[i], error);
    if (!status) status = give(wick_value_int((int64_t)i), &values[i], error);
  }
  if (!status)
    status = wick_value_dict((const wick_value *const *)keys, (const wick_value *const *)values, count, out, error);
  for (size_t i = 0; keys && i < 2 * count; i++) wick_value_release(keys[i]);
  free(keys);
  return status;
}

static wick_status kernel_getstate(void *user, wick_call *call, wick_error **error) {
  (void)user;
  void *data;
  wick_value *self = wick_call_argument(call, 0), *parts[4] = {wick_value_string("0.0.2", 5)}, *number = NULL;
  pthread_rwlock_rdlock(&lock);
  wick_status status = self && parts[0] ? wick_native_data(self, VOCAB, &data, error) : fail_memory(error);
  const Vocab *vocab = status ? NULL : data;
  if (vocab) number = wick_value_int(vocab->default_index);
  if (vocab && !number) status = fail_memory(error);
  if (!status)
    status = wick_value_list((const wick_value *const *)&number, vocab->has_default ? 1 : 0, &parts[1], error);
  if (!status) status = make_list(vocab, NULL, (size_t)vocab->count, token_item, &parts[2], error);
  if (!status) status = wick_value_list(NULL, 0, &parts[3], error);
  pthread_rwlock_unlock(&lock);
  for (size_t i = 0; i < 4; i++) {
    if (!status) wick_call_set_result(call, i, parts[i]);
    wick_value_release(parts[i]);
  }
  wick_value_release(number);
  wick_value_release(self);
  return status;
}

/* ---- changing ---- */

static wick_status insert_at(Vocab *vocab, wick_call *call, int64_t position, wick_error **error) {
  int64_t known = find_argument(vocab, call);
  size_t length;
  wick_value *token = wick_call_argument(call, 1);
  const char *text = wick_value_to_string(token, &length);
  wick_status status;
  if (!token)
    status = fail_memory(error);
  else if (known >= 0)
    status =
        fail(error, WICK_RUNTIME, "Token %.200s already exists in the Vocab with index: %lld", text, (long long)known);
  else
    status = vocab_insert(vocab, position, text, length, error);
  wick_value_release(token);
  return status;
}

static wick_status append_token(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)out;
  return insert_at(vocab, call, vocab->count, error);
}

static wick_status insert_token(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)out;
  int64_t position = argument_int(call, 2);
  if (position < 0 || position > vocab->count)
    return fail(error, WICK_RUNTIME, "Specified index %lld is out of bounds for vocab of size %lld",
                (long long)position, (long long)vocab->count);
  return insert_at(vocab, call, position, error);
}

static wick_status set_default(Vocab *vocab, wick_call *call, wick_value **out, wick_error **error) {
  (void)out, (void)error;
  vocab->has_default = !argument_is_none(call, 1);
  vocab->default_index = argument_int(call, 1);
  return WICK_OK;
}

/* ---- the class ---- */

#define ASK(name, parameters, result, function)                                                  \
  OPERATOR("torchtext::Vocab_" name "(" SELF parameters ") -> " result, .kernel = kernel_method, \
           .user = &(MethodOf){function, false})
#define CHANGE(name, parameters, function)                                                     \
  OPERATOR("torchtext::Vocab_" name "(" CHANGED parameters ") -> ()", .kernel = kernel_method, \
           .user = &(MethodOf){function, true}, .flags = WICK_OPERATOR_SIDE_EFFECTS)
#define STATE "(str, int[], str[], Tensor[])"

static const wick_operator operators[] = {
    OPERATOR("torchtext::Vocab_init(" CHANGED ", str[] tokens, int? default_index=None) -> ()", .kernel = kernel_init,
             .flags = WICK_OPERATOR_SIDE_EFFECTS),
    OPERATOR("torchtext::Vocab_getstate(" SELF ") -> " STATE, .kernel = kernel_getstate),
    OPERATOR("torchtext::Vocab_setstate(" CHANGED ", " STATE " state) -> ()", .kernel = kernel_setstate,
             .flags = WICK_OPERATOR_SIDE_EFFECTS),
    ASK("contains", ", str token", "bool", contains),
    ASK("getitem", ", str token", "int", getitem),
    ASK("len", "", "int", length_of),
    ASK("get_default_index", "", "int?", get_default),
    ASK("lookup_token", ", int index", "str", lookup_token),
    ASK("lookup_tokens", ", int[] indices", "str[]", lookup_tokens),
    ASK("lookup_indices", ", str[] tokens", "int[]", lookup_indices),
    ASK("get_stoi", "", "Dict(str, int)", get_stoi),
    ASK("get_itos", "", "str[]", get_itos),
    CHANGE("append_token", ", str token", append_token),
    CHANGE("insert_token", ", str token, int index", insert_token),
    CHANGE("set_default_index", ", int? index", set_default),
};
static const wick_class_method methods[] = {
    {"__init__", "torchtext::Vocab_init"},
    {"__getstate__", "torchtext::Vocab_getstate"},
    {"__setstate__", "torchtext::Vocab_setstate"},
    {"__contains__", "torchtext::Vocab_contains"},
    {"__getitem__", "torchtext::Vocab_getitem"},
    {"__len__", "torchtext::Vocab_len"},
    {"get_default_index", "torchtext::Vocab_get_default_index"},
    {"lookup_token", "torchtext::Vocab_lookup_token"},
    {"lookup_tokens", "torchtext::Vocab_lookup_tokens"},
    {"lookup_indices", "torchtext::Vocab_lookup_indices"},
    {"get_stoi", "torchtext::Vocab_get_stoi"},
    {"get_itos", "torchtext::Vocab_get_itos"},
    {"append_token", "torchtext::Vocab_append_token"},
    {"insert_token", "torchtext::Vocab_insert_token"},
    {"set_default_index", "torchtext::Vocab_set_default_index"},
};

wick_status vocab_register(wick_error **error) {
  TRY(wick_operators_register(operators, COUNT(operators), error));
  const wick_class vocab = {.size = sizeof vocab, .name = VOCAB, .methods = methods, .method_count = COUNT(methods)};
  return wick_class_register(&vocab, error);
}
