/* Rows of the operators that groups are made with; outside of a group they run like any other. */
#include "call/row_extras.h"
#include "ir/graph.h"

typedef struct CutState {
  int64_t chunks, dim;
} CutState;

static void free_state(void *state) {
  mem_free(state);
}

static Status make_state(const Node *node, Kernel *kernel, Kernel **out_kernel, void **out_state,
                         void (**out_free)(void *)) {
  const NodeAttribute *chunks = node_attribute(node, SYM_attr_chunks), *dim = node_attribute(node, SYM_attr_dim);
  CutState *state = mem_calloc(1, sizeof *state);
  if (!state) return status_out_of_memory();
  state->chunks = chunks && chunks->tag == ATTR_INT ? chunks->i : 1;
  state->dim = dim && dim->tag == ATTR_INT ? dim->i : 0;
  *out_kernel = kernel;
  *out_state = state;
  *out_free = free_state;
  return OK;
}

/* prim::ConstantChunk[chunks, dim](Tensor) -> as many tensors as chunks */
static Status kernel_constant_chunk(Call *call) {
  static OpRef chunk = OP_REF("aten::chunk", "");
  const CutState *state = call->state;
  IValue list;
  TRY(op_call(call->exec, &chunk, 3, (IValue[]){call->inputs[0], ivalue_int(state->chunks), ivalue_int(state->dim)}, 1,
              &list));
  Status status = OK;
  if (list.list->length != call->output_count)
    status = status_new(ERROR_RUNTIME, "Expected %u elements in a list but found %zu", call->output_count,
                        list.list->length); /* as unpacking the list says it */
  else
    for (uint32_t i = 0; i < call->output_count; i++) call_set(call, i, ivalue_retain(list.list->values[i]));
  ivalue_release(list);
  return status;
}

/* prim::ChunkSizes[chunks, dim](int[]) -> int[], int[]: of every chunk but the last, of the last */
static Status kernel_chunk_sizes(Call *call) {
  const CutState *state = call->state;
  const List *sizes = call_list(call, 0);
  int64_t dim;
  TRY(dim_wrap(state->dim, (int64_t)sizes->length, &dim));
  if (!sizes->length) return status_new(ERROR_RUNTIME, "chunk expects at least a 1-dimensional tensor");
  if (state->chunks < 1) return status_new(ERROR_RUNTIME, "chunk expects `chunks` to be greater than 0");
  int64_t size = sizes->ints[dim], each = size / state->chunks + (size % state->chunks != 0);
  for (uint32_t i = 0; i < 2; i++) {
    List *result;
    TRY(list_from_ints(sizes->ints, sizes->length, &result));
    result->ints[dim] = i == 0 || each == 0 ? each : size - each * ((size - 1) / each);
    call_set(call, i, ivalue_list(result));
  }
  return OK;
}

/* prim::FusedConcat[dim](Tensor...) -> Tensor */
static Status kernel_fused_concat(Call *call) {
  static OpRef cat = OP_REF("aten::cat", "");
  const CutState *state = call->state;
  List *list;
  TRY(call_list_of_inputs(call, call->input_count, &list));
  Status status = op_call(call->exec, &cat, 2, (IValue[]){ivalue_list(list), ivalue_int(state->dim)}, 1, call->outputs);
  ivalue_release(ivalue_list(list));
  return status;
}

#define FACTORY(name)                                                                                 \
  static Status make_##name(const Node *node, Kernel **kernel, void **state, void (**free)(void *)) { \
    return make_state(node, kernel_##name, kernel, state, free);                                      \
  }                                                                                                   \
  static OpFactory factory_##name = {make_##name};
FACTORY(constant_chunk)
FACTORY(chunk_sizes)
FACTORY(fused_concat)

static const OpRow rows[] = {
    {.schema = "prim::ConstantChunk(...) -> ...",
     .extras = &(const RowExtras){.open = "Tensor -> Tensor...", .restores = 1 /* views of it */},
     .factory = &factory_constant_chunk,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_OF_PLANS},
    {.schema = "prim::ChunkSizes(...) -> ...",
     OPEN("int[] -> int[] int[]"),
     .factory = &factory_chunk_sizes,
     .flags = OP_METADATA_ONLY | OP_ACCEPT_ANY | OP_OF_PLANS},
    {.schema = "prim::FusedConcat(...) -> ...",
     OPEN("Tensor... -> Tensor"),
     .factory = &factory_fused_concat,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_OF_PLANS},
};
OP_TABLE(op_table_fuse, rows);
