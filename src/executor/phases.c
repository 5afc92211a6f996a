/* The lists. What a pass needs of the ones before it stands with the pass; what a list promises stands here. */
#include "executor/phases.h"

#include "autodiff/differentiate.h"
#include "base/queue.h"
#include "executor/executor.h"
#include "fuse/backend.h"
#include "fuse/fuse.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/user_passes.h"

const char *phases_log_file(bool profiles) {
  static const char profiling[] = "profiling_graph_executor_impl";
  return profiles && jit_log_enabled(profiling, JIT_DUMP) ? profiling : "graph_executor";
}

/* `name` is a row's, or of what no row can do. */
static void after_pass(Phases *p, const char *name) {
  Graph *graph = p->graph;
  compile_clock_step(p->clock, name);
  GRAPH_LOG_DUMP(phases_log_file(p->profiles), name, graph);
#ifndef NDEBUG
  Status status = graph_lint(graph);
  if (status) catch_throw(graph->arena->catch_point, status_context(status, "pass %s", name));
#endif
  exec_show(p->exec, p->function, name, graph);
  if (!queue_pause()) catch_throw(graph->arena->catch_point, status_new(ERROR_CANCELLED, "the process ends"));
}

static void after_user_pass(void *phases, const char *name) {
  after_pass(phases, name);
}

/* A row with what only an executor can tell it. */
#define RUN(row, call)              \
  do {                              \
    call;                           \
    after_pass(p, pass_##row.name); \
  } while (0)

typedef const Pass *PassList[];
#define RUN_LIST(list) run_list(p, sizeof(list) / sizeof *(list), (list))
static void run_list(Phases *p, size_t count, const Pass *const *list) {
  for (size_t i = 0; i < count; i++) {
    list[i]->run(p->graph, p->exec);
    after_pass(p, list[i]->name);
  }
}

void run_required_passes(Phases *p) {
  static const PassList passes = {&pass_remove_expands, &pass_normalize_ops, &pass_canonicalize_graph_fuser_ops,
                                  &pass_dead_code_elimination};
  RUN_LIST(passes);
}

/* Rewrites that autograd can see through. */
static void run_optimization(Phases *p) {
  static const PassList passes = {&pass_dead_code_elimination,
                                  &pass_common_subexpression_elimination,
                                  &pass_peephole,
                                  &pass_constant_propagation_mutable,
                                  &pass_constant_pooling,
                                  &pass_loop_unrolling,
                                  &pass_common_subexpression_elimination,
                                  &pass_loop_invariant_code_motion,
                                  &pass_check_inplace};
  RUN_LIST(passes);
}

/* Without a back end the operators stay for passes from outside. */
static void fuse_if_there(Graph *graph, const Exec *exec) {
  if (fuse_chain(exec, DEVICE_CPU))
    graph_fuser(graph, NULL);
  else
    node_refused("graph_executor", graph->block->ret, REASON_NOT_FUSED_SWITCHED_OFF);
}

void run_nondiff_optimization(Phases *p) {
  static const PassList before_fusion = {&pass_lower_tuples, &pass_remove_list_mutation, &pass_remove_tensor_mutation,
                                         &pass_batch_mm,     &pass_quant_fusion,         &pass_fuse_regions,
                                         &pass_concat_opt};
  static const PassList after_fusion = {&pass_use_variadic_cat, &pass_use_variadic_stack, /* cats left with lists */
                                        &pass_concat_in_place};
  if (!p->is_profiled) RUN(decompose_ops, decompose_ops(p->graph)); /* a profiled graph has been through it */
  RUN_LIST(before_fusion);
  RUN(graph_fuser, fuse_if_there(p->graph, p->exec));
  RUN_LIST(after_fusion);
  pass_run_user(p->graph, after_user_pass, p); /* last: wick's own have priority */
  after_pass(p, "user_passes");
}

/* ---- gradients ---- */

static bool type_may_require_grad(const Type *type) {
  if (type->kind == TYPE_TENSOR) return !(type->tensor && type->tensor->requires_grad == 0);
  for (uint32_t i = 0; i < type->count; i++)
    if (type->has_refinement && type_may_require_grad(type->elements[i])) return true;
  return false;
}

/* Whether something that comes from outside may require grad: an input, an attribute, what a guard lets pass. Guards
 * promise nothing of that where somebody writes. */
static bool needs_gradient(const Block *block) {
  for (uint32_t i = 0; !block->owning_node && i < block_input_count(block); i++)
    if (type_may_require_grad(block_input(block, i)->type)) return true;
  BLOCK_EACH(node, block) {
    bool outside = node->kind == SYM_prim_GetAttr || node->kind == SYM_prim_BailOut;
    for (uint32_t i = 0; outside && i < node->output_count; i++)
      if (type_may_require_grad(node_output(node, i)->type)) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (needs_gradient(node->blocks[i])) return true;
  }
  return false;
}

/* A program that asks for gradients itself may ask for those with respect to what it computed on the way, and within a
 * graph of its own autograd would not see how results depend on that. */
static bool asks_for_gradients(const Graph *graph) {
  return graph_has_kind(graph, SYM_aten_grad);
}

/* The backward graph runs under an executor of its own. */
static Status make_callable(void *maker, const Graph *graph, Callable **out) {
  const Phases *p = maker;
  return executor_callable(graph, STR("backward"), p->exec->services, out);
}

static void differentiate_node(Phases *p, Node *node) {
  const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
  Phases forward = *p;
  Gradient gradient;
  differentiate(subgraph->g, p->exec, &gradient);
  exec_show(p->exec, p->function, "backward", gradient.backward);
  forward.graph = gradient.forward;
  if (!p->is_profiled) {
    shape_analysis(gradient.forward, p->exec);
    after_pass(&forward, pass_shape_analysis.name); /* the node fits the subgraph again when it is packed */
  }
  run_optimization(&forward);
  run_nondiff_optimization(&forward);
  pack_gradient(node, &gradient, make_callable, p);
}

static void differentiate_in(Phases *p, Block *block) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_DifferentiableGraph) differentiate_node(p, node);
    for (uint32_t i = 0; i < node->block_count; i++) differentiate_in(p, node->blocks[i]);
  }
}

/* Phases 4 and 5: what can be differentiated goes into graphs of its own, and into those go the rewrites that autograd
 * can't see through; or into the whole when nothing is differentiated. */
static void run_differentiation(Phases *p) {
  if (p->grad_enabled && needs_gradient(p->graph->block)) {
    RUN(remove_dropout, remove_dropout(p->graph)); /* what gives its argument stays outside of subgraphs */
    if (!asks_for_gradients(p->graph)) {
      bool small = p->small_derivatives;
      RUN(create_autodiff_subgraphs, create_autodiff_subgraphs(p->graph, small ? 1 : AUTODIFF_NODE_THRESHOLD));
      RUN(differentiate, differentiate_in(p, p->graph->block));
      RUN(inline_autodiff_subgraphs, inline_autodiff_subgraphs(p->graph, small ? 1 : AUTODIFF_INLINE_THRESHOLD));
    }
  } else {
    run_nondiff_optimization(p);
  }
  RUN(dead_code_elimination, dead_code_elimination(p->graph));
  RUN(check_strict_fusion, check_strict_fusion(p->graph));
}

/* ---- the lists ---- */

void run_specialized(Phases *p) {
  /* phase 0: inlined already; what inlining left */
  static const PassList clean_up = {&pass_lower_grad_of, &pass_specialize_autogradzero, &pass_lower_tuples,
                                    &pass_constant_pooling};
  /* phase 2: what the spec says, through the graph */
  static const PassList learn = {&pass_constant_propagation, &pass_shape_analysis, &pass_requires_grad_analysis};
  after_pass(p, pass_inliner.name);
  RUN_LIST(clean_up);
  /* phase 1: executable, with undefined inputs taken into account */
  run_required_passes(p);
  RUN_LIST(learn);
  /* phase 3: what can still be differentiated */
  run_optimization(p);
  /* phases 4 and 5 */
  run_differentiation(p);
}

void run_last_optimizations(Phases *p) {
  run_optimization(p);
  if (p->grad_enabled)
    RUN(graph_fuser, fuse_if_there(p->graph, p->exec)); /* groups are right for whatever comes */
  else
    run_nondiff_optimization(p);
  RUN(check_strict_fusion, check_strict_fusion(p->graph));
}

void run_profiling_insensitive(Phases *p) {
  static const PassList first = {&pass_lower_grad_of, &pass_clear_undefinedness};
  static const PassList then = {&pass_decompose_ops,         &pass_constant_propagation,
                                &pass_dead_code_elimination, &pass_common_subexpression_elimination,
                                &pass_constant_pooling,      &pass_peephole_no_shapes,
                                &pass_lower_tuples,          &pass_dead_code_elimination,
                                &pass_check_inplace};
  after_pass(p, pass_inliner.name);
  RUN_LIST(first);
  run_required_passes(p);
  RUN_LIST(then);
}

void run_profiling_optimizations(Phases *p) {
  static const PassList guard = {&pass_lower_grad_of, &pass_guard_elimination, &pass_bailout_graph};
  p->is_profiled = true;
  RUN(insert_guards, insert_guards(p->graph, p->grad_enabled));
  RUN_LIST(guard);
  Status status = p->keep_baseline(p);
  if (status) catch_throw(p->graph->arena->catch_point, status);
  compile_clock_step(p->clock, "baseline");
  RUN(specialize_autogradzero, specialize_autogradzero(p->graph));
  run_required_passes(p);
  RUN(constant_propagation, constant_propagation(p->graph, p->exec));
  run_optimization(p);
  run_differentiation(p);
}
