/* Derivatives of graphs, as graphs. */
#include "autodiff/differentiate.h"

#include <assert.h>

#include "api/handles.h"
#include "api/ir_handles.h"
#include "ir/graph.h"

typedef struct Differentiate {
  const Graph *from;
  wick_graph *forward, *backward;
  Gradient gradient;
} Differentiate;

static void make_forward(void *argument) {
  Differentiate *d = argument;
  wick_graph *box = d->forward;
  Exec exec;
  api_exec_init(&exec, NULL);
  unit_keep_types(box->types, d->from->store);
  box->graph = graph_copy(d->from, &box->arena, graph_box_types(box));
  differentiate(box->graph, &exec, &d->gradient);
}

static void make_backward(void *argument) {
  Differentiate *d = argument;
  wick_graph *box = d->backward;
  assert(d->gradient.backward && d->gradient.real_outputs == graph_output_count(d->from));
  unit_keep_types(box->types, d->gradient.backward->store);
  box->graph = graph_copy(d->gradient.backward, &box->arena, graph_box_types(box));
}

/* What backward is made of: all of the graph's operators have formulas, and none writes or branches. */
static Status check(const Graph *graph) {
  BLOCK_EACH(node, graph->block) {
    if (node->kind == SYM_prim_Constant || node->kind == SYM_prim_ListConstruct || node_is_differentiable(node))
      continue;
    return status_new(ERROR_UNSUPPORTED, STR_FMT " can't be differentiated in a graph",
                      STR_ARG(symbol_name(node->kind)));
  }
  for (uint32_t i = 0; i < graph_output_count(graph); i++)
    if (graph_output(graph, i)->type->kind != TYPE_TENSOR)
      return status_new(ERROR_UNSUPPORTED, "output %u of the graph is no Tensor", i);
  return OK;
}

static Status put_list(Tuple *tuple, uint32_t at, uint32_t count, const uint32_t *numbers) {
  List *list;
  TRY(list_from_ints(NULL, 0, &list));
  tuple->values[at] = ivalue_list(list);
  for (uint32_t i = 0; i < count; i++) TRY(list_append(list, ivalue_int(numbers[i])));
  return OK;
}

static Status take_ends(const Gradient *g, wick_value **out) {
  Tuple *tuple;
  TRY(tuple_new(5, NULL, &tuple));
  for (uint32_t i = 0; i < 5; i++) tuple->values[i] = ivalue_int(g->real_outputs);
  Status status = put_list(tuple, 1, g->input_vjp_count, g->input_vjps);
  if (!status) status = put_list(tuple, 2, g->captured_input_count, g->captured_inputs);
  if (!status) status = put_list(tuple, 3, g->captured_output_count, g->captured_outputs);
  if (!status) status = put_list(tuple, 4, g->output_vjp_count, g->output_vjps);
  if (!status) return value_box_of(ivalue_tuple(tuple), NULL, out);
  ivalue_release(ivalue_tuple(tuple));
  return status;
}

static Status differentiate_graph(Differentiate *d, wick_value **out_ends) {
  TRY(graph_check(d->from));
  TRY(check(d->from));
  TRY(graph_box_new(NULL, &d->forward));
  TRY(graph_box_fill(d->forward, make_forward, d));
  TRY(graph_box_new(NULL, &d->backward));
  TRY(graph_box_fill(d->backward, make_backward, d));
  return take_ends(&d->gradient, out_ends);
}

wick_status wick_graph_differentiate(const wick_graph *graph, wick_graph **out_forward, wick_graph **out_backward,
                                     wick_value **out_ends, wick_error **error) {
  API_OUT(out_forward);
  API_OUT(out_backward);
  API_OUT(out_ends);
  API_NEED(graph);
  Differentiate d = {.from = graph->graph};
  Status status = differentiate_graph(&d, out_ends);
  if (status) {
    wick_graph_release(d.forward);
    wick_graph_release(d.backward);
  } else {
    *out_forward = d.forward;
    *out_backward = d.backward;
  }
  return api_status(status, error);
}
