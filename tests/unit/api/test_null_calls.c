/* NULL for every pointer of every function of the public headers, and structs whose size is not set. null_calls.inc is
 * made from the headers by null_calls.py, so that none is forgotten: where WICK_NULLABLE does not stand, a function
 * with a status names the argument that is NULL, and any other gives NULL, 0 or "". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wick/wick.h"

/* What good calls are made of; made anew for each. */
typedef struct Fixture {
  const char *program, *more, *ir, *engine, *known_pass, *library, *npy_path;
  char schema[64], pass_name[32], class_name[32], saved_path[64], state_bytes[WICK_GENERATOR_STATE_BYTES];
  char *archive, *npy;
  size_t archive_length, npy_length;
  wick_runtime *runtime;
  wick_module *module, *loaded, *frozen_from, *hooked, *classes;
  wick_value *tensor, *leaf, *loss, *text, *number, *dict, *state, *quantized, *list, *object, *native, *generator,
      *promise;
  const wick_value *tensors[1], *texts[1], *two[2], *three[3], *losses[1], *gradients[1], *leaves[1], *numbers[1];
  wick_value *results[1];
  const char *names[1], *other_name[1], *input_name[1], *preserved[1], *passes[1], *field[1];
  int64_t sizes[1];
  double doubles[1];
  float memory[4];
  const wick_overload *overload;
  wick_archive *archive_file;
  wick_cancel *cancel;
  wick_profile *profile;
  wick_future *future;
  wick_function *function;
  wick_optimizer *optimizer;
  wick_signature *signature;
  wick_attribute attributes[1];
  wick_trees *trees;
  const wick_tree *tree, *children[1];
  wick_graph *graph, *plain;
  wick_block *block;
  wick_node *node, *group, *unused, *nodes[1];
  wick_ir_value *ir_value, *ir_values[1];
  wick_alias *alias;
  wick_call *call;
  wick_function *idle; /* never called: it has no plan */
  wick_promise *no_promise;
  wick_operator operator;
  wick_class class_of;
  wick_device device;
  wick_device_kernel device_kernel;
  wick_backend backend;
  struct DLManagedTensor *managed;
  wick_error *failure, *error;
  struct {
    wick_value *value;
    wick_module *module;
    wick_future *future;
    wick_function *function;
    wick_optimizer *optimizer;
    wick_runtime *runtime;
    wick_trees *trees;
    const wick_tree *tree;
    wick_graph *graph;
    wick_graph *backward;
    wick_node *node;
    wick_block *block;
    wick_ir_value *ir_value;
    struct DLManagedTensor *managed;
    char *text;
    void *data;
    size_t length;
    double number;
    wick_stats stats;
    wick_memory memory;
    wick_tensor_view view;
    wick_quantizer quantizer;
    wick_alias *alias;
    wick_promise *promise;
    int integer;
    wick_archive *archive;
    wick_file_kind kind;
    wick_tensor_spec spec;
    uint32_t number32;
    wick_source_place place;
    wick_inlined_call inlined;
    wick_tensor_facts facts;
    wick_tensor_info info;
    wick_value_info value_info;
    wick_signature *signature;
    wick_parameter parameter;
    uint64_t number64;
    int64_t whole;
  } out;
} Fixture;

/* ---- callbacks ---- */

static const Fixture *current;

static int read_archive(void *user, uint64_t offset, void *to, size_t length) {
  const Fixture *f = current;
  (void)user;
  if (offset + length > f->archive_length) return 1;
  memcpy(to, f->archive + offset, length);
  return 0;
}
static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  (void)user, (void)name, (void)kind, (void)type, (void)value;
  return 0;
}
static int visit_tensor(void *user, const char *name, const wick_value *tensor) {
  (void)user, (void)name, (void)tensor;
  return 0;
}
static int visit_operator(void *user, const char *name, size_t calls, int is_known) {
  (void)user, (void)name, (void)calls, (void)is_known;
  return 0;
}
static int visit_overload(void *user, const wick_overload *overload, const char *unknown_name, size_t calls) {
  (void)user, (void)overload, (void)unknown_name, (void)calls;
  return 0;
}
static void drop(void *user) {
  (void)user;
}
static wick_status backward(void *user, int create_graph, const wick_value *const *grads, size_t grad_count,
                            wick_value **out_grads, size_t input_count, wick_error **error) {
  (void)user, (void)create_graph, (void)grads, (void)grad_count, (void)out_grads, (void)input_count, (void)error;
  return WICK_OK;
}
static wick_status hook(void *user, const wick_value *grad, wick_value **out, wick_error **error) {
  (void)user, (void)grad, (void)out, (void)error;
  return WICK_OK;
}
static void then(void *user, wick_future *future) {
  (void)user, (void)future;
}
static wick_status pass(void *user, wick_graph *graph, wick_error **error) {
  (void)user, (void)graph, (void)error;
  return WICK_OK;
}
static void observe(void *user, const char *function, const char *step, const wick_graph *graph) {
  (void)user, (void)function, (void)step, (void)graph;
}
static wick_status factory(void *user, const wick_node *node, wick_kernel **out_kernel, void **out_state,
                           void (**out_drop)(void *state), wick_error **error) {
  (void)user, (void)node, (void)out_kernel, (void)out_state, (void)out_drop, (void)error;
  return WICK_UNSUPPORTED;
}
static wick_status kernel(void *user, wick_call *call, wick_error **error) {
  (void)user, (void)call, (void)error;
  return WICK_OK;
}

static void part(void *arg, int64_t begin, int64_t end) {
  (void)arg, (void)begin, (void)end;
}

#define CLASS_NAME "null_calls.Known"

/* ---- the fixture ---- */

static void fine(wick_status status, wick_error *error) {
  if (status) print_error("%s\n", wick_error_message(error));
  assert_int_equal(status, WICK_OK);
}
#define FINE(call)                  \
  do {                              \
    wick_error *e = NULL;           \
    wick_status fine_status = call; \
    fine(fine_status, e);           \
  } while (0)

static char *read_whole(const char *path, size_t *out_length) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *data = malloc(1 << 20);
  *out_length = fread(data, 1, 1 << 20, file);
  fclose(file);
  return data;
}

static wick_value *new_tensor(void) {
  wick_value *value;
  FINE(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){1}, &value, &e));
  wick_tensor_view view = {.size = sizeof view};
  FINE(wick_tensor_view_of(value, &view, &e));
  *(float *)view.data = 1;
  return value;
}

static void make_values(Fixture *f) {
  f->tensor = new_tensor();
  f->leaf = new_tensor();
  FINE(wick_tensor_set_requires_grad(f->leaf, 1, &e));
  wick_run_options grad = {.size = sizeof grad, .grad = WICK_GRAD_ON};
  f->leaves[0] = f->leaf;
  f->overload = wick_overload_first("aten::add");
  while (wick_overload_parameter_count(f->overload) != 3) f->overload = wick_overload_next(f->overload);
  FINE(wick_generator_new(1, &f->generator, &e));
  FINE(wick_generator_state(f->generator, f->state_bytes, &e));
  f->three[0] = f->three[1] = f->tensor;
  f->two[0] = f->two[1] = f->tensors[0] = f->gradients[0] = f->tensor;
  FINE(wick_run(f->module, "twice", f->leaves, 1, NULL, 0, &grad, &f->loss, &e));
  f->losses[0] = f->loss;
  f->text = wick_value_string("text", 4);
  f->texts[0] = f->text;
  f->number = wick_value_int(3);
  f->numbers[0] = f->number;
  f->field[0] = "x";
  FINE(wick_value_dict(f->texts, f->tensors, 1, &f->dict, &e));
  FINE(wick_value_list((const wick_value *[]){f->leaf}, 1, &f->list, &e));
  f->object = wick_module_object(f->loaded);
  f->attributes[0] = (wick_attribute){sizeof *f->attributes, WICK_BUFFER, "weight", f->tensor};
  FINE(wick_function_of(f->module, "add", &f->function, &e));
  FINE(wick_module_signature(f->module, "add", &f->signature, &e));
  wick_optimizer_options sgd = {.size = sizeof sgd, .algorithm = WICK_SGD, .rate = 1};
  FINE(wick_optimizer_new(f->list, &sgd, &f->optimizer, &e));
  FINE(wick_module_state_dict(f->loaded, &f->state, &e));
  wick_value *quantize[] = {f->tensor, wick_value_double(0.5), wick_value_int(0), wick_value_int(WICK_QUINT8)};
  FINE(wick_op_call(NULL, "aten::quantize_per_tensor", "", (const wick_value *const *)quantize, 4, NULL, 0,
                    &f->quantized, &e));
  for (int i = 1; i < 4; i++) wick_value_release(quantize[i]);
  f->names[0] = "y";
  f->other_name[0] = "other";
  f->preserved[0] = "b";
  f->passes[0] = "peephole";
  f->sizes[0] = 1;
}

static void make_graph(Fixture *f) {
  f->ir = "graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)\n";
  const char *text =
      "graph(%x : Tensor):\n  %u : Tensor = aten::neg(%x)\n  %y : Tensor = aten::relu(%x)\n"
      "  %g : Tensor = mine::group_0(%x)\n  return (%y)\n"
      "with mine::group_0 = graph(%a : Tensor):\n  %b : Tensor = aten::relu(%a)\n  return (%b)\n";
  FINE(wick_graph_parse(text, strlen(text), &f->graph, &e));
  FINE(wick_alias_new(f->graph, &f->alias, &e));
  FINE(wick_graph_parse(f->ir, strlen(f->ir), &f->plain, &e));
  f->block = wick_graph_block(f->graph);
  f->unused = wick_block_first(f->block);
  f->node = wick_node_next(f->unused);
  f->group = wick_node_next(f->node);
  f->nodes[0] = f->node;
  f->ir_value = wick_block_input(f->block, 0);
  f->ir_values[0] = f->ir_value;
}

static Fixture *fixture_new(void) {
  static int number;
  Fixture *f = calloc(1, sizeof *f);
  current = f;
  f->program =
      "def add(x, y):\n    return x + y\ndef twice(x):\n    return x * 2\ndef forward(input):\n    return input\n";
  static const char classes[] =
      "class Point:\n    def __init__(self, x: int):\n        self.x = x\n"
      "class Color(Enum):\n    RED = 1\n"
      "def one() -> int:\n    return 1\ndef promise():\n    return torch.jit.fork(one)\n"
      "def idle():\n    return 1\n";
  FINE(wick_compile(NULL, classes, strlen(classes), "classes.py", &f->classes, &e));
  FINE(wick_run(f->classes, "promise", NULL, 0, NULL, 0, NULL, &f->promise, &e));
  FINE(wick_function_of(f->classes, "idle", &f->idle, &e));
  f->more = "def third(x):\n    return x\n";
  f->engine = "fbgemm";
  f->known_pass = "null_calls_known";
  f->library = "nowhere.so";
  f->npy_path = "null_calls.npy";
  number++;
  snprintf(f->schema, sizeof f->schema, "null_calls::f%d(Tensor x) -> Tensor", number);
  snprintf(f->pass_name, sizeof f->pass_name, "null_calls_%d", number);
  snprintf(f->saved_path, sizeof f->saved_path, "/tmp/wick_null_calls_%d.pt", (int)getpid());
  f->archive = read_whole("data/shared_state.pt", &f->archive_length);
  FINE(wick_runtime_new(NULL, &f->runtime, &e));
  FINE(wick_compile(NULL, f->program, strlen(f->program), "program.py", &f->module, &e));
  FINE(wick_load(NULL, "data/shared_state.pt", NULL, &f->loaded, &e));
  FINE(wick_load(NULL, "data/shared_state.pt", NULL, &f->frozen_from, &e));
  FINE(wick_module_train(f->frozen_from, 0, &e));
  FINE(wick_load(NULL, "archive/hooks.pt", NULL, &f->hooked, &e));
  f->input_name[0] = "input";
  make_values(f);
  FINE(wick_tensor_to_npy(f->tensor, &f->npy, &f->npy_length, &e));
  f->npy_path = f->saved_path;
  FILE *file = fopen(f->saved_path, "wb");
  fwrite(f->npy, 1, f->npy_length, file);
  fclose(file);
  FINE(wick_archive_open("data/shared_state.pt", NULL, &f->archive_file, &e));
  f->cancel = wick_cancel_new();
  f->profile = wick_profile_new();
  FINE(wick_run_async(f->module, "add", f->two, 2, NULL, 0, NULL, &f->future, &e));
  FINE(wick_future_wait(f->future, 0, NULL, &e)); /* its arguments are changed below */
  FINE(wick_trees_new("x = 1\n", 6, "trees.py", &f->trees, &e));
  FINE(wick_trees_parse(f->trees, &f->tree, &e));
  FINE(wick_tree_new_text(f->trees, "TK_IDENT", "x", 1, 0, 0, &f->children[0], &e));
  make_graph(f);
  FINE(wick_tensor_to_dlpack(f->tensor, &f->managed, &e));
  f->failure = NULL;
  snprintf(f->class_name, sizeof f->class_name, "null_calls.C%d", number);
  f->operator=(wick_operator){.size = sizeof f->operator, .schema = f->schema, .kernel = kernel};
  f->class_of = (wick_class){.size = sizeof f->class_of, .name = f->class_name};
  f->device = (wick_device){.size = sizeof f->device, .type = 23, .name = "none"};
  f->device_kernel = (wick_device_kernel){.size = sizeof f->device_kernel, .name = "aten::mm", .kernel = kernel};
  f->backend = (wick_backend){.size = sizeof f->backend, .name = "none"};
  if (number == 1) FINE(wick_class_register(&(wick_class){.size = sizeof(wick_class), .name = CLASS_NAME}, &e));
  FINE(wick_native_new(CLASS_NAME, NULL, NULL, &f->native, &e));
  (void)wick_pass_register(f->known_pass, pass, NULL, NULL);
  f->out.view.size = sizeof f->out.view;
  f->out.stats.size = sizeof f->out.stats;
  f->out.memory.size = sizeof f->out.memory;
  f->out.quantizer.size = sizeof f->out.quantizer;
  f->out.place.size = sizeof f->out.place;
  f->out.inlined.size = sizeof f->out.inlined;
  f->out.facts.size = sizeof f->out.facts;
  f->out.kind.size = sizeof f->out.kind;
  f->out.info.size = sizeof f->out.info;
  f->out.value_info.size = sizeof f->out.value_info;
  f->out.parameter.size = sizeof f->out.parameter;
  return f;
}

static void fixture_free(Fixture *f) {
  wick_value *values[] = {f->tensor,    f->leaf,  f->loss,      f->text,      f->number,
                          f->dict,      f->state, f->quantized, f->generator, f->results[0],
                          f->out.value, f->list,  f->object,    f->native,    f->promise};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) wick_value_release(values[i]);
  wick_module *modules[] = {f->module, f->loaded, f->frozen_from, f->hooked, f->classes, f->out.module};
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) wick_module_release(modules[i]);
  wick_future_release(f->future);
  wick_future_release(f->out.future);
  wick_function_release(f->function);
  wick_function_release(f->idle);
  wick_function_release(f->out.function);
  wick_signature_release(f->signature);
  wick_signature_release(f->out.signature);
  wick_optimizer_release(f->optimizer);
  wick_optimizer_release(f->out.optimizer);
  wick_archive_release(f->archive_file);
  wick_archive_release(f->out.archive);
  wick_cancel_release(f->cancel);
  wick_profile_release(f->profile);
  wick_runtime_release(f->runtime);
  wick_runtime_release(f->out.runtime);
  wick_trees_release(f->trees);
  wick_trees_release(f->out.trees);
  wick_alias_release(f->alias);
  wick_alias_release(f->out.alias);
  wick_graph_release(f->graph);
  wick_graph_release(f->plain);
  wick_graph_release(f->out.graph);
  wick_graph_release(f->out.backward);
  wick_value *last = NULL;
  if (f->managed && !wick_tensor_from_dlpack(f->managed, &last, NULL)) wick_value_release(last);
  if (f->out.managed && !wick_tensor_from_dlpack(f->out.managed, &last, NULL)) wick_value_release(last);
  wick_text_free(f->out.text);
  wick_text_free(f->npy);
  wick_error_free(f->error);
  wick_error_free(f->failure);
  (void)wick_pass_remove(f->known_pass, NULL);
  (void)wick_pass_remove(f->pass_name, NULL);
  (void)unlink(f->saved_path);
  free(f->archive);
  free(f);
}

/* ---- what is expected ---- */

static int calls, mistakes;

static void mistake(const char *function, const char *argument, const char *what, const char *got) {
  print_error("%s, %s: %s: %s\n", function, argument, what, got);
  mistakes++;
}

static void expect_ok(Fixture *f, const char *function, const char *argument, wick_status status) {
  if (status) mistake(function, argument, "failed", wick_error_message(f->error));
}
static void expect_refusal(Fixture *f, const char *function, const char *argument, wick_status status,
                           const char *word) {
  const char *message = wick_error_message(f->error);
  if (status != WICK_INVALID_ARGUMENT || !strstr(message, word) || !strstr(message, argument))
    mistake(function, argument, status ? "does not say so" : "answered OK", message);
}

/* A managed tensor is taken over on failure, too. */
static bool gives_up(const char *function, const char *argument) {
  return !strcmp(function, "wick_tensor_from_dlpack") && strcmp(argument, "managed") != 0;
}

/* One call: with a fixture of its own, of which `taken` is given up. */
#define CALL(taken, statement)  \
  do {                          \
    Fixture *f = fixture_new(); \
    int nothing = 0;            \
    (void)nothing;              \
    statement;                  \
    calls++;                    \
    fixture_free(f);            \
  } while (0);
#define GIVE_UP(taken) GIVE_UP_##taken
#define GIVE_UP_nothing (void)0
#define GIVE_UP_tensor f->tensor = NULL
#define GIVE_UP_module f->module = NULL
#define GIVE_UP_runtime f->runtime = NULL
#define GIVE_UP_trees f->trees = NULL
#define GIVE_UP_graph f->graph = NULL
#define GIVE_UP_alias f->alias = NULL
#define GIVE_UP_archive_file f->archive_file = NULL
#define GIVE_UP_cancel f->cancel = NULL
#define GIVE_UP_profile f->profile = NULL
#define GIVE_UP_future f->future = NULL
#define GIVE_UP_signature f->signature = NULL
#define GIVE_UP_managed f->managed = NULL
#define GIVE_UP_function f->function = NULL
#define GIVE_UP_optimizer f->optimizer = NULL

#define GOOD_STATUS(function, argument, taken, call) CALL(taken, expect_ok(f, function, argument, call); GIVE_UP(taken))
#define GOOD_FAILS(function, argument, taken, call) CALL(taken, if (!(call)) mistake(function, argument, "worked", ""))
#define GOOD_VOID(function, argument, taken, call) CALL(taken, call; GIVE_UP(taken))
#define GOOD_POINTER(function, argument, taken, call) CALL(taken, release(function, f, (const void *)(call)))
#define GOOD_NUMBER(function, argument, taken, call) CALL(taken, (void)(call))
#define NULLABLE_STATUS(function, argument, taken, call) GOOD_STATUS(function, argument, taken, call)
#define NULLABLE_FAILS(function, argument, taken, call) GOOD_FAILS(function, argument, taken, call)
#define NULLABLE_NUMBER(function, argument, taken, call) GOOD_NUMBER(function, argument, taken, call)
#define NULLABLE_VOID(function, argument, taken, call) CALL(taken, call)
#define NULLABLE_POINTER(function, argument, taken, call) GOOD_POINTER(function, argument, taken, call)
#define NULL_STATUS(function, argument, taken, call)                                  \
  CALL(taken, wick_status s = call; expect_refusal(f, function, argument, s, "NULL"); \
       if (gives_up(function, argument)) GIVE_UP(taken))
#define NULL_FAILS(function, argument, taken, call) NULL_STATUS(function, argument, taken, call)
#define NULL_VOID(function, argument, taken, call) CALL(taken, call)
#define NULL_POINTER(function, argument, taken, call) \
  CALL(taken, const char *p = (const void *)(call);   \
       if (p && !is_empty_answer(function, p)) mistake(function, argument, "answered", "something"))
#define NULL_NUMBER(function, argument, taken, call) \
  CALL(taken, if (call) mistake(function, argument, "answered", "a number"))
#define UNSET_STATUS(function, argument, taken, call) \
  CALL(taken, wick_status s = call; expect_refusal(f, function, "size", s, "is not set"))
#define UNSET_FAILS(function, argument, taken, call) UNSET_STATUS(function, argument, taken, call)
#define UNSET_VOID(function, argument, taken, call) CALL(taken, call)

static bool is_text(const char *function) {
  static const char *const others[] = {"wick_value_",          "wick_cancel_new",       "wick_profile_new",
                                       "wick_error_new",       "wick_module_retain",    "wick_module_object",
                                       "wick_function_retain", "wick_optimizer_retain", "wick_signature_retain",
                                       "wick_call_argument",   "wick_call_result"};
  if (!strcmp(function, "wick_value_to_string")) return true;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strncmp(function, others[i], strlen(others[i]))) return false;
  return true;
}
/* An error made without a message is an error all the same. */
static bool is_empty_answer(const char *function, const void *answer) {
  if (!strcmp(function, "wick_error_new")) return wick_error_free((wick_error *)(uintptr_t)answer), true;
  return is_text(function) && !*(const char *)answer;
}
/* What a maker or reader gave that is the caller's. */
static void release(const char *function, Fixture *f, const void *answer) {
  (void)f;
  void *given = (void *)(uintptr_t)answer;
  if (!strcmp(function, "wick_error_new"))
    wick_error_free(given);
  else if (!strcmp(function, "wick_cancel_new"))
    wick_cancel_release(given);
  else if (!strcmp(function, "wick_profile_new"))
    wick_profile_release(given);
  else if (!strcmp(function, "wick_module_retain"))
    wick_module_release(given);
  else if (!strcmp(function, "wick_function_retain"))
    wick_function_release(given);
  else if (!strcmp(function, "wick_optimizer_retain"))
    wick_optimizer_release(given);
  else if (!strcmp(function, "wick_signature_retain"))
    wick_signature_release(given);
  else if (!is_text(function) && strncmp(function, "wick_overload_", 14) && strcmp(function, "wick_value_identity"))
    wick_value_release(given);
}

static void test_null(void **state) {
  (void)state;
#include "null_calls.inc"
  print_message("%d functions, %d calls\n", FUNCTIONS, calls);
  assert_int_equal(mistakes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_null)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
