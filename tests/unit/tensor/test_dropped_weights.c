/* A weight whose own order was given up comes back bit for bit however it is asked for: in programs and plans, by the
 * functions of the library, while threads run. Each way is compared with a module whose weights somebody holds, so that
 * they are never dropped. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/reason.h"
#include "wick/dlpack.h"
#include "wick/wick.h"

enum { N = 160, WEIGHTS = 6 };

/* Kernels' orders differ: padded rows, parts of one weight, windows, groups, transforms. */
static const struct {
  const char *name;
  int ndim;
  int64_t sizes[4];
} weights[WEIGHTS] = {{"square", 2, {N, N}},          {"odd", 2, {131, N}},
                      {"joined", 2, {3 * N, N}},      {"filter", 4, {75, 40, 3, 3}},
                      {"grouped", 4, {72, 20, 5, 5}}, {"transformed", 4, {88, 40, 3, 3}}};

static const char forward[] =
    "def forward(self, x, images, reads: bool):\n"
    "    x = torch.nn.functional.linear(x, self.square)\n"
    "    q, k, v = self.joined.chunk(3)\n"
    "    x = torch.nn.functional.linear(x, q) + torch.nn.functional.linear(x, k) * torch.nn.functional.linear(x, v)\n"
    "    x = torch.nn.functional.linear(x, self.odd)\n"
    "    a = torch.conv2d(images, self.filter, None, [2, 2])\n"
    "    b = torch.conv2d(images, self.grouped, None, [2, 2], [1, 1], [1, 1], 2)\n"
    "    c = torch.conv2d(images, self.transformed, None, [1, 1], [1, 1])\n";

/* Expressions over a weight w; a statement before one ends in ";". */
static const char *const reads[] = {"w",
                                    "w + 0",
                                    "w * 2 + w.sigmoid()",
                                    "w.clone()",
                                    "w.detach()",
                                    "w.contiguous()",
                                    "w.flatten(1).t()",
                                    "w.flatten(1).t().contiguous()",
                                    "w.view(-1)",
                                    "w.reshape(-1)[5]",
                                    "w[1:3]",
                                    "w[2]",
                                    "w[..., ::2]",
                                    "w.unbind(0)[1]",
                                    "torch.broadcast_to(w, [2] + w.shape).sum(0)",
                                    "torch.cat([w, w])",
                                    "torch.stack([w, w])",
                                    "torch.where(w > 0, w, -w)",
                                    "w.to(torch.float64)",
                                    "w.half()",
                                    "w.sum()",
                                    "w.abs().amax(0)",
                                    "torch.isnan(w)",
                                    "w.flatten(1).softmax(-1)",
                                    "torch.mm(w.flatten(1), w.flatten(1).t())",
                                    "torch.nn.functional.linear(w.flatten(1), w.flatten(1))",
                                    "u = w.flatten(1);torch.nn.functional.linear(u, u).relu()",
                                    "torch.conv1d(w.flatten(1).t().unsqueeze(0), w.flatten(1).unsqueeze(2))",
                                    "w.index_select(0, torch.tensor([2, 1]))",
                                    "w.flatten().sort()[0]",
                                    "torch.tensor(float(w.flatten()[7]))",
                                    "torch.tensor(w.flatten()[7].item())",
                                    "torch.empty_like(w).copy_(w)",
                                    "torch.zeros_like(w)",
                                    "torch.bernoulli(w.sigmoid() * 0 + 1)",
                                    "torch.equal(w, w) and torch.allclose(w, w, equal_nan=True)",
                                    "w.size(0) + w.stride(0) + w.dim()",
                                    "str(w)",
                                    "[w, w]",
                                    "(w, 1)",
                                    "{'w': w}",
                                    "w.mul_(2);w",
                                    "w[0].fill_(3);w",
                                    "w.zero_();w",
                                    "w.copy_(w * 2);w",
                                    "torch.mul(w, 3, out=w);w",
                                    "w.view(-1)[1:].add_(1);w",
                                    "w += w;w",
                                    "w.set_(w.clone());w"};
enum { READS = sizeof reads / sizeof *reads };

/* ---- modules ---- */

static wick_runtime *runtime_with(uint32_t executor, uint64_t max_bytes) {
  wick_runtime_options options = {.size = sizeof options, .max_bytes = max_bytes};
  wick_executor_options chosen = {.size = sizeof chosen, .executor = executor, .synchronous = 1};
  wick_runtime *runtime;
  assert_int_equal(wick_runtime_new(&options, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(runtime, &chosen, NULL), WICK_OK);
  return runtime;
}

static wick_value *tensor(int ndim, const int64_t *sizes, uint32_t seed, bool any_bits) {
  wick_value *value;
  size_t count = 1;
  for (int d = 0; d < ndim; d++) count *= (size_t)sizes[d];
  uint32_t *bits = malloc(count * sizeof *bits);
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    float number = (float)(int32_t)seed / 4e9f;
    memcpy(&bits[i], &number, sizeof number);
    if (any_bits && i % 97 == 5) bits[i] = seed; /* denormals, infinities, NaNs with whatever they carry */
  }
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, ndim, sizes, &value, NULL), WICK_OK);
  assert_int_equal(wick_tensor_copy_from(value, bits, count * sizeof *bits, NULL), WICK_OK);
  free(bits);
  return value;
}

static char path[] = "/tmp/wick_dropped_XXXXXX";
static int make_file(void **state) {
  (void)state;
  int fd = mkstemp(path);
  return fd < 0 ? 1 : close(fd);
}
static int drop_file(void **state) {
  (void)state;
  return unlink(path);
}

/* `read`: a method's text, and what forward does where it is told to read. */
static wick_module *module_new(wick_runtime *runtime, const char *weight, const char *read, bool any_bits) {
  wick_attribute attributes[WEIGHTS];
  wick_module *module;
  wick_error *error = NULL;
  for (int i = 0; i < WEIGHTS; i++)
    attributes[i] = (wick_attribute){.size = sizeof attributes[i],
                                     .kind = WICK_PARAMETER,
                                     .name = weights[i].name,
                                     .value = tensor(weights[i].ndim, weights[i].sizes, (uint32_t)i + 1, any_bits)};
  wick_module_new(NULL, "Net", attributes, WEIGHTS, &module, &error);
  assert_null(error);
  for (int i = 0; i < WEIGHTS; i++) wick_value_release((wick_value *)(uintptr_t)attributes[i].value);
  char text[4000], before[200] = "";
  const char *end = strrchr(read, ';'), *value = end ? end + 1 : read;
  if (end) snprintf(before, sizeof before, "%.*s", (int)(end - read), read);
  snprintf(text, sizeof text,
           "%s"
           "    if reads:\n"
           "        w = self.%s\n"
           "        %s\n"
           "        return str(%s), x, a, b, c\n"
           "    return '', x, a, b, c\n"
           "def read(self):\n"
           "    w = self.%s\n"
           "    %s\n"
           "    return %s\n",
           forward, weight, *before ? before : "pass", value, weight, *before ? before : "pass", value);
  wick_module_define(module, NULL, text, strlen(text), NULL, &error);
  if (error) print_error("%s: %s\n", read, wick_error_message(error));
  assert_null(error);
  assert_int_equal(wick_module_save(module, NULL, path, NULL, NULL), WICK_OK);
  wick_module_release(module);
  assert_int_equal(wick_load(runtime, path, NULL, &module, NULL), WICK_OK); /* all is the runtime's */
  return module;
}

static wick_value *run(wick_module *module, const char *method, const wick_value *const *arguments, size_t count) {
  wick_value *out = NULL;
  wick_error *error = NULL;
  wick_run(module, method, arguments, count, NULL, 0, NULL, &out, &error);
  if (error) print_error("%s: %s\n", method, wick_error_message(error));
  assert_null(error);
  return out;
}
static wick_value *call(wick_module *module, bool reading) {
  wick_value *arguments[] = {tensor(2, (const int64_t[]){8, N}, 7, false),
                             tensor(4, (const int64_t[]){1, 40, 13, 13}, 8, false), wick_value_bool(reading)};
  wick_value *out = run(module, "forward", (const wick_value *const *)arguments, 3);
  for (int i = 0; i < 3; i++) wick_value_release(arguments[i]);
  return out;
}

static void settle(wick_module *module) {
  for (int i = 0; i < 5; i++) wick_value_release(call(module, false));
}
/* All weights are dropped in the end. */
static void settle_dropping(wick_module *module) {
  uint64_t before = STATISTIC_GET(dropped_weights);
  settle(module);
  assert_int_equal(STATISTIC_GET(dropped_weights) - before, WEIGHTS);
}

/* ---- comparing ---- */

static bool same_values(const wick_value *a, const wick_value *b);

static bool same_texts(char *a, char *b, size_t length) { /* frees both */
  bool is_same = !memcmp(a, b, length);
  wick_text_free(a);
  wick_text_free(b);
  return is_same;
}
static bool same_tensors(const wick_value *a, const wick_value *b) {
  char *bytes[2];
  size_t lengths[2];
  assert_int_equal(wick_tensor_to_npy(a, &bytes[0], &lengths[0], NULL), WICK_OK);
  assert_int_equal(wick_tensor_to_npy(b, &bytes[1], &lengths[1], NULL), WICK_OK);
  return same_texts(bytes[0], bytes[1], lengths[0] < lengths[1] ? lengths[0] : lengths[1]) && lengths[0] == lengths[1];
}
static bool same_items(const wick_value *a, const wick_value *b) {
  bool is_same = wick_value_length(a) == wick_value_length(b);
  for (size_t i = 0; i < wick_value_length(a) && is_same; i++) {
    wick_value *items[2] = {wick_value_item(a, i), wick_value_item(b, i)};
    is_same = same_values(items[0], items[1]);
    wick_value_release(items[0]);
    wick_value_release(items[1]);
  }
  return is_same;
}
static bool same_values(const wick_value *a, const wick_value *b) {
  char *texts[2];
  if (wick_value_kind(a) != wick_value_kind(b)) return false;
  switch (wick_value_kind(a)) {
    case WICK_TENSOR:
      return same_tensors(a, b);
    case WICK_TUPLE:
    case WICK_LIST:
    case WICK_DICT:
      return same_items(a, b);
    default:
      assert_int_equal(wick_value_print(a, &texts[0], NULL), WICK_OK);
      assert_int_equal(wick_value_print(b, &texts[1], NULL), WICK_OK);
      return same_texts(texts[0], texts[1], strlen(texts[0]) + 1);
  }
}
static bool same_results(wick_value *a, wick_value *b) { /* releases both */
  bool is_same = same_values(a, b);
  wick_value_release(a);
  wick_value_release(b);
  return is_same;
}
static wick_value *weight_of(wick_module *module, int which) {
  wick_value *value;
  assert_int_equal(wick_module_get(module, weights[which].name, &value, NULL), WICK_OK);
  return value;
}
static bool same_weights(wick_module *a, wick_module *b) {
  bool is_same = true;
  for (int i = 0; i < WEIGHTS; i++) is_same &= same_results(weight_of(a, i), weight_of(b, i));
  return is_same;
}

/* A module whose weights are dropped, and one whose weights somebody holds, so that they never are. */
typedef struct Pair {
  wick_runtime *runtime;
  wick_module *dropping, *holding;
  wick_value *held[WEIGHTS];
} Pair;
static Pair pair_new(const char *weight, const char *read, bool any_bits) {
  Pair pair = {.runtime = runtime_with(WICK_EXECUTOR_PROFILING, 0)};
  pair.dropping = module_new(pair.runtime, weight, read, any_bits);
  pair.holding = module_new(pair.runtime, weight, read, any_bits);
  for (int i = 0; i < WEIGHTS; i++) pair.held[i] = weight_of(pair.holding, i);
  settle_dropping(pair.dropping);
  uint64_t before = STATISTIC_GET(dropped_weights);
  settle(pair.holding);
  assert_int_equal(STATISTIC_GET(dropped_weights), before);
  return pair;
}
static void pair_dispose(Pair *pair) {
  for (int i = 0; i < WEIGHTS; i++) wick_value_release(pair->held[i]);
  wick_module_release(pair->dropping);
  wick_module_release(pair->holding);
  wick_runtime_release(pair->runtime);
}

/* ---- by programs ---- */

static void methods_read(void **state) {
  (void)state;
  for (int i = 0; i < READS; i++) {
    Pair pair = pair_new(weights[i % WEIGHTS].name, reads[i], false);
    uint64_t restored = STATISTIC_GET(restored_weights);
    for (int times = 0; times < 3; times++) {
      bool is_same = same_results(run(pair.dropping, "read", NULL, 0), run(pair.holding, "read", NULL, 0));
      if (!is_same) print_error("%s\n", reads[i]);
      assert_true(is_same);
    }
    assert_true(STATISTIC_GET(restored_weights) - restored <= 1);
    assert_true(same_results(call(pair.dropping, false), call(pair.holding, false)));
    assert_true(same_weights(pair.dropping, pair.holding));
    pair_dispose(&pair);
  }
}

/* In the plan that runs while they are dropped. */
static void plans_read(void **state) {
  (void)state;
  for (int i = 0; i < READS; i++) {
    Pair pair = pair_new(weights[(i + 2) % WEIGHTS].name, reads[i], false);
    for (int times = 0; times < 3; times++) {
      bool is_same = same_results(call(pair.dropping, true), call(pair.holding, true));
      if (!is_same) print_error("%s\n", reads[i]);
      assert_true(is_same);
      assert_true(same_results(call(pair.dropping, false), call(pair.holding, false)));
    }
    assert_true(same_weights(pair.dropping, pair.holding));
    pair_dispose(&pair);
  }
}

/* Gradients are of the weights as they are. */
static wick_value *gradient_of(wick_module *module) {
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  wick_value *sum, *gradient, *weight;
  wick_error *error = NULL;
  wick_run(module, "read", NULL, 0, NULL, 0, &options, &sum, &error);
  if (!error) wick_backward(NULL, (const wick_value *[]){sum}, NULL, 1, 0, &error);
  if (error) print_error("%s\n", wick_error_message(error));
  assert_null(error);
  weight = weight_of(module, 1);
  assert_int_equal(wick_tensor_grad(weight, &gradient, NULL), WICK_OK);
  assert_int_equal(wick_value_kind(gradient), WICK_TENSOR);
  wick_value_release(sum);
  wick_value_release(weight);
  return gradient;
}
static void gradients_read(void **state) {
  (void)state;
  Pair pair = pair_new("odd", "w.requires_grad_(True);torch.nn.functional.linear(w * 2, w).sum()", false);
  for (int i = 0; i < 3; i++) {
    assert_true(same_results(gradient_of(pair.dropping), gradient_of(pair.holding)));
    assert_true(same_results(call(pair.dropping, false), call(pair.holding, false)));
  }
  pair_dispose(&pair);
}

/* ---- by functions ---- */

static wick_value *op(const char *name, const wick_value *argument) {
  wick_value *out = NULL;
  assert_int_equal(wick_op_call(NULL, name, "", &argument, 1, NULL, 0, &out, NULL), WICK_OK);
  return out;
}

static wick_value *by_data(wick_module *module, int which) {
  wick_value *weight = weight_of(module, which), *copy;
  assert_int_equal(wick_value_copy(weight, &copy, NULL), WICK_OK);
  assert_non_null(wick_tensor_data(weight));
  assert_memory_equal(wick_tensor_data(weight), wick_tensor_data(copy), (size_t)wick_tensor_count(copy) * 4);
  wick_value_release(weight);
  return copy;
}
static wick_value *by_dlpack(wick_module *module, int which) {
  wick_value *weight = weight_of(module, which), *back;
  wick_value *detached = op("aten::detach", weight);
  struct DLManagedTensor *exported;
  assert_int_equal(wick_tensor_to_dlpack(detached, &exported, NULL), WICK_OK);
  assert_int_equal(wick_tensor_from_dlpack(exported, &back, NULL), WICK_OK);
  wick_value_release(weight);
  wick_value_release(detached);
  return back;
}
static wick_value *state_of(wick_module *module) {
  wick_value *dict;
  assert_int_equal(wick_module_state_dict(module, &dict, NULL), WICK_OK);
  return dict;
}
static wick_value *by_state(wick_module *module, int which) {
  wick_value *dict = state_of(module), *weight = wick_value_get_text(dict, weights[which].name);
  wick_value_release(dict);
  return weight;
}
static wick_value *by_copied_state(wick_module *module, int which) {
  wick_value *dict = state_of(module), *copy, *weight;
  assert_int_equal(wick_value_copy(dict, &copy, NULL), WICK_OK);
  weight = wick_value_get_text(copy, weights[which].name);
  wick_value_release(dict);
  wick_value_release(copy);
  return weight;
}
static wick_value *by_saved_state(wick_module *module, int which) {
  wick_value *dict = state_of(module), *loaded, *weight;
  assert_int_equal(wick_save_value(NULL, dict, path, NULL), WICK_OK);
  assert_int_equal(wick_load_value(NULL, path, NULL, &loaded, NULL), WICK_OK);
  weight = wick_value_get_text(loaded, weights[which].name);
  wick_value_release(dict);
  wick_value_release(loaded);
  return weight;
}
static wick_value *by_archive(wick_module *module, int which) {
  wick_module *loaded;
  assert_int_equal(wick_module_save(module, NULL, path, NULL, NULL), WICK_OK);
  assert_int_equal(wick_load(NULL, path, NULL, &loaded, NULL), WICK_OK);
  wick_value *weight = weight_of(loaded, which);
  wick_module_release(loaded);
  return weight;
}
static wick_value *by_clone(wick_module *module, int which) {
  wick_module *clone;
  assert_int_equal(wick_module_clone(module, NULL, 0, &clone, NULL), WICK_OK);
  settle(clone);
  wick_value *weight = weight_of(clone, which);
  wick_module_release(clone);
  return weight;
}
static wick_value *by_sharing_clone(wick_module *module, int which) {
  wick_module *clone;
  assert_int_equal(wick_module_clone(module, NULL, 1, &clone, NULL), WICK_OK);
  settle(clone);
  wick_value *weight = weight_of(clone, which);
  wick_module_release(clone);
  return weight;
}
static wick_value *by_freezing(wick_module *module, int which) {
  wick_module *frozen;
  assert_int_equal(wick_module_train((wick_module *)(uintptr_t)module, 0, NULL), WICK_OK);
  assert_int_equal(wick_module_freeze(module, NULL, (const char *[]){"read"}, 1, &frozen, NULL), WICK_OK);
  wick_value *result = call(module, false), *read = run(module, "read", NULL, 0);
  assert_true(same_results(result, call(frozen, false)));
  assert_true(same_results(read, run(frozen, "read", NULL, 0)));
  wick_module_release(frozen);
  return weight_of(module, which);
}
static wick_value *by_loading_state(wick_module *module, int which) {
  wick_module *other = module_new(NULL, "odd", "w", false);
  wick_value *dict = state_of(module);
  assert_int_equal(wick_module_load_state(other, dict, NULL), WICK_OK);
  wick_value *weight = weight_of(other, which);
  wick_value_release(dict);
  wick_module_release(other);
  return weight;
}
static wick_value *by_view(wick_module *module, int which) {
  wick_value *weight = weight_of(module, which), *view = op("aten::detach", weight);
  wick_value_release(weight);
  settle(module); /* what is seen through the view stays */
  return view;
}

/* All bits, of several weights of one module. */
static void functions_read(void **state) {
  (void)state;
  static wick_value *(*const ways[])(wick_module *, int) = {
      weight_of,  by_data,  by_dlpack,        by_state,    by_copied_state,  by_saved_state,
      by_archive, by_clone, by_sharing_clone, by_freezing, by_loading_state, by_view};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    Pair pair = pair_new("odd", "w", true);
    for (int which = 0; which < WEIGHTS; which++)
      assert_true(same_results(ways[i](pair.dropping, which), weight_of(pair.holding, which)));
    settle(pair.dropping);
    assert_true(same_weights(pair.dropping, pair.holding));
    pair_dispose(&pair);
  }
}

static void dtypes_change(void **state) {
  (void)state;
  Pair pair = pair_new("odd", "w", true);
  assert_int_equal(wick_module_to(pair.dropping, WICK_FLOAT64, NULL), WICK_OK);
  assert_int_equal(wick_module_to(pair.holding, WICK_FLOAT64, NULL), WICK_OK);
  assert_true(same_weights(pair.dropping, pair.holding));
  pair_dispose(&pair);
}

/* ---- how often ---- */

static void what_is_asked_for_stays(void **state) {
  (void)state;
  Pair pair = pair_new("odd", "w", true);
  uint64_t restored = STATISTIC_GET(restored_weights);
  for (int i = 0; i < 6; i++) {
    assert_true(same_weights(pair.dropping, pair.holding));
    settle(pair.dropping);
  }
  assert_int_equal(STATISTIC_GET(restored_weights) - restored, 2 * WEIGHTS);
  pair_dispose(&pair);
}

/* Without room for it, asking fails, and works again when there is. */
static void restoring_may_fail(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_with(WICK_EXECUTOR_PROFILING, 12 << 20);
  wick_module *module = module_new(runtime, "odd", "w", false), *other = module_new(NULL, "odd", "w", false);
  wick_value *filler[200], *weight = NULL;
  size_t fillers = 0;
  settle_dropping(module);
  wick_error *error = NULL;
  while (fillers < 200) {
    wick_value *size = wick_value_int(20000), *list;
    assert_int_equal(wick_value_list((const wick_value *[]){size}, 1, &list, NULL), WICK_OK);
    wick_status status =
        wick_op_call(runtime, "aten::zeros", "", (const wick_value *[]){list}, 1, NULL, 0, &filler[fillers], &error);
    wick_value_release(size);
    wick_value_release(list);
    wick_error_free(error);
    error = NULL;
    if (status) break;
    fillers++;
  }
  assert_true(fillers > 0 && fillers < 200);
  assert_int_equal(wick_module_get(module, "joined", &weight, &error), WICK_OUT_OF_MEMORY);
  wick_error_free(error);
  while (fillers) wick_value_release(filler[--fillers]);
  assert_true(same_weights(module, other));
  wick_module_release(module);
  wick_module_release(other);
  wick_runtime_release(runtime);
}

/* ---- threads ---- */

typedef struct Shared {
  wick_module *module, *other;
  wick_value *result;
  _Atomic int next;
} Shared;

/* Some call, some look at weights in several ways; what they see is what it was. */
static void *work(void *argument) {
  Shared *s = argument;
  int who = s->next++;
  for (int i = 0; i < 8; i++) {
    int which = (who + i) % WEIGHTS;
    if (who % 2) {
      wick_value *result = call(s->module, i % 4 == 3);
      wick_value_release(result);
      wick_value *again = call(s->module, false);
      assert_true(same_values(again, s->result));
      wick_value_release(again);
    } else {
      wick_value *(*const ways[])(wick_module *, int) = {weight_of, by_copied_state, by_clone, by_loading_state};
      assert_true(same_results(ways[i % 4](s->module, which), weight_of(s->other, which)));
    }
  }
  return NULL;
}

static void threads_read(void **state) {
  (void)state;
  enum { THREADS = 6 };
  for (int times = 0; times < 3; times++) {
    Pair pair = pair_new("joined", "w.abs()", false);
    Shared shared = {pair.dropping, pair.holding, call(pair.holding, false), 0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &shared), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    settle(pair.dropping);
    assert_true(same_weights(pair.dropping, pair.holding));
    wick_value_release(shared.result);
    pair_dispose(&pair);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(methods_read),       cmocka_unit_test(plans_read),
                                     cmocka_unit_test(gradients_read),     cmocka_unit_test(functions_read),
                                     cmocka_unit_test(dtypes_change),      cmocka_unit_test(what_is_asked_for_stays),
                                     cmocka_unit_test(restoring_may_fail), cmocka_unit_test(threads_read)};
  return cmocka_run_group_tests(tests, make_file, drop_file);
}
