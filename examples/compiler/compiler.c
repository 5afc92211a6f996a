/* A compiler in a library of its own: it takes over chains of float32 pointwise operators.
 *
 *   cc -shared -fPIC compiler.c $(pkg-config --cflags wick) -lm -o compiler.so
 *   WICK_BACKEND=none wick dump --library ./compiler.so --stage optimized MODEL INPUT...
 *
 * Passes from outside run after wick's own, which would fuse the chains themselves: hence WICK_BACKEND=none.
 * Three parts, as in every compiler that TorchScript knows: a pass that moves what the compiler can do into nodes of a
 * kind of its own (example::chain, with the operators in its Subgraph), a factory that compiles such a node, once, when
 * the graph around it becomes code, and the kernel that runs what came out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wick/wick.h>

enum { MAX_STEPS = 64 };
typedef enum Step { STEP_RELU, STEP_NEG, STEP_EXP, STEP_TANH, STEP_ABS } Step;
static const char *const kinds[] = {"aten::relu", "aten::neg", "aten::exp", "aten::tanh", "aten::abs"};

static int step_of(const wick_node *node) {
  for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
    if (strcmp(wick_node_kind(node), kinds[i]) == 0) return i;
  return -1;
}

/* ---- the pass ---- */

/* The next step of the chain: the one user of what this one gives. */
static wick_node *next_step(const wick_node *node) {
  wick_ir_value *result = wick_node_output(node, 0);
  wick_node *user = wick_ir_value_use_count(result) == 1 ? wick_ir_value_user(result, 0, NULL) : NULL;
  return user && step_of(user) >= 0 && wick_node_owner(user) == wick_node_owner(node) ? user : NULL;
}

static wick_status group_in(wick_block *block, wick_error **error) {
  wick_node *node = wick_block_first(block);
  while (node) {
    for (size_t i = 0; i < wick_node_block_count(node); i++) {
      wick_status status = group_in(wick_node_block(node, i), error);
      if (status) return status;
    }
    wick_node *chain[MAX_STEPS];
    size_t length = 0;
    if (step_of(node) >= 0)
      for (wick_node *step = node; step && length < MAX_STEPS; step = next_step(step)) chain[length++] = step;
    node = wick_node_next(node);
    if (length < 2) continue;
    while (node && node != chain[length - 1]) node = wick_node_next(node); /* members go: walk on from after them */
    node = node ? wick_node_next(node) : NULL;
    wick_node *group;
    wick_error *why = NULL;
    if (wick_node_group(chain, length, "example::chain", &group, &why)) wick_error_free(why); /* stays as it was */
  }
  return WICK_OK;
}

static wick_status chain_pass(void *user, wick_graph *graph, wick_error **error) {
  (void)user;
  return group_in(wick_graph_block(graph), error);
}

/* ---- the operation ---- */

typedef struct Chain {
  Step steps[MAX_STEPS];
  size_t length;
  wick_graph *plain; /* for what the kernel does not do: other dtypes, gradients */
} Chain;

static float run_step(Step step, float x) {
  switch (step) {
    case STEP_RELU:
      return x < 0 ? 0 : x;
    case STEP_NEG:
      return -x;
    case STEP_EXP:
      return expf(x);
    case STEP_TANH:
      return tanhf(x);
    case STEP_ABS:
      return fabsf(x);
  }
  return x;
}

static wick_status run_plain(Chain *chain, wick_call *call, const wick_value *x, wick_error **error) {
  wick_value *result;
  wick_status status = wick_graph_run(chain->plain, call, &x, 1, &result, 1, error);
  if (!status) wick_call_set_result(call, 0, result);
  wick_value_release(status ? NULL : result);
  return status;
}

static wick_status run_chain(void *state, wick_call *call, wick_error **error) {
  Chain *chain = state;
  wick_value *x = wick_call_argument(call, 0), *dense = NULL, *result = NULL;
  wick_tensor_view from = {.size = sizeof from}, to = {.size = sizeof to};
  wick_status status = x ? WICK_OK : WICK_OUT_OF_MEMORY;
  if (!status && (wick_call_records(call) || wick_tensor_view_of(x, &from, NULL) || from.dtype != WICK_FLOAT32)) {
    status = run_plain(chain, call, x, error);
    wick_value_release(x);
    return status;
  }
  if (!status) status = wick_tensor_contiguous(x, &dense, error);
  if (!status) status = wick_tensor_view_of(dense, &from, error);
  if (!status) status = wick_tensor_new(WICK_FLOAT32, from.ndim, from.sizes, &result, error);
  if (!status) status = wick_tensor_view_of(result, &to, error);
  if (!status) {
    int64_t count = 1;
    for (int i = 0; i < from.ndim; i++) count *= from.sizes[i];
    for (int64_t i = 0; i < count; i++) {
      float value = ((const float *)from.data)[i];
      for (size_t k = 0; k < chain->length; k++) value = run_step(chain->steps[k], value);
      ((float *)to.data)[i] = value;
    }
    wick_call_set_result(call, 0, result);
  }
  wick_value_release(result);
  wick_value_release(dense);
  wick_value_release(x);
  return status;
}

static void drop_chain(void *state) {
  wick_graph_release(((Chain *)state)->plain);
  free(state);
}

static wick_status make_chain(void *user, const wick_node *node, wick_kernel **out_kernel, void **out_state,
                              void (**out_drop)(void *state), wick_error **error) {
  (void)user;
  wick_block *body = wick_node_subgraph(node);
  Chain *chain = body ? calloc(1, sizeof *chain) : NULL;
  if (!chain) {
    *error = wick_error_new(WICK_INVALID_ARGUMENT, "example::chain needs a Subgraph, and memory");
    return WICK_INVALID_ARGUMENT;
  }
  for (wick_node *step = wick_block_first(body); step && chain->length < MAX_STEPS; step = wick_node_next(step))
    if (step_of(step) >= 0) chain->steps[chain->length++] = (Step)step_of(step);
  wick_status status = wick_graph_of_node(node, &chain->plain, error);
  if (status) {
    free(chain);
    return status;
  }
  *out_kernel = run_chain;
  *out_state = chain;
  *out_drop = drop_chain;
  return WICK_OK;
}

WICK_API wick_status wick_library_init(wick_error **error) {
  wick_status status = wick_operation_register("example::chain(...) -> ...", make_chain, NULL, error);
  return status ? status : wick_pass_register("example_chain", chain_pass, NULL, error);
}
