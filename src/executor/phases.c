/* The lists. What a pass needs of the ones before it stands with the pass; what a list promises stands here. */
#include "executor/phases.h"

#include "autodiff/differentiate.h"
#include "executor/executor.h"
#include "executor/queue.h"
#include "fuse/backend.h"
#include "fuse/fuse.h"
#include "pass/pass.h"
#include "pass/rewrite/user_passes.h"

const char *phases_log_file(bool profiles) {
  static const char profiling[] = "profiling_graph_executor_impl";
  return profiles && jit_log_enabled(profiling, JIT_DUMP) ? profiling : "graph_executor";
}

static void after_pass(Phases *p, const char *name) {
  Graph *graph = p->graph;
  compile_clock_step(p->clock, name);
  GRAPH_LOG_DUMP(phases_log_file(p->profiles), name, graph);
#ifndef NDEBUG
  Status status = graph_lint(graph);
  if (status) catch_throw(graph->arena->catch_point, status_context(status, "pass %s", name));
#endif
  if (p->exec->observe) p->exec->observe(p->exec->observe_user, p->function, name, graph);
  if (!queue_pause()) catch_throw(graph->arena->catch_point, status_new(ERROR_CANCELLED, "the process ends"));
}

#define PASS(name, call) \
  do {                   \
    call;                \
    after_pass(p, name); \
  } while (0)

void run_required_passes(Phases *p) {
  PASS("remove_expands", remove_expands(p->graph));
  PASS("normalize_ops", normalize_ops(p->graph));
  PASS("canonicalize_ops", canonicalize_ops(p->graph));
  PASS("dead_code_elimination", eliminate_dead_code(p->graph));
}

/* Rewrites that autograd can see through. */
static void run_optimization(Phases *p) {
  PASS("dead_code_elimination", eliminate_dead_code(p->graph));
  PASS("common_subexpression_elimination", eliminate_common_subexpressions(p->graph));
  PASS("peephole", peephole(p->graph));
  PASS("constant_propagation", constant_propagation(p->graph, p->exec));
  PASS("constant_pooling", constant_pooling(p->graph));
  PASS("loop_unrolling", unroll_loops(p->graph));
  PASS("common_subexpression_elimination", eliminate_common_subexpressions(p->graph));
  PASS("loop_invariant_code_motion", hoist_loop_invariants(p->graph));
  PASS("check_inplace", check_inplace(p->graph));
}

/* Without a back end the operators stay for passes from outside. */
static void fuse_if_there(Graph *graph, const Exec *exec) {
  if (fuse_backend(exec, DEVICE_CPU))
    fuse_graph(graph, NULL);
  else
    node_refused("graph_executor", graph->block->ret, REASON_NOT_FUSED_SWITCHED_OFF);
}

void run_nondiff_optimization(Phases *p) {
  if (!p->is_profiled) PASS("decompose_ops", decompose_ops(p->graph)); /* a profiled graph has been through it */
  PASS("lower_tuples", lower_simple_tuples(p->graph));
  PASS("remove_list_mutation", remove_list_mutation(p->graph));
  PASS("remove_tensor_mutation", remove_tensor_mutation(p->graph));
  PASS("batch_mm", batch_mm(p->graph));
  PASS("quant_fusion", quant_fusion(p->graph));
  PASS("fuse_convolution", fuse_convolution(p->graph));
  PASS("concat_opt", combine_concats(p->graph));
  PASS("graph_fuser", fuse_if_there(p->graph, p->exec));
  PASS("use_variadic_cat", use_variadic_cat(p->graph)); /* groups take the cats that have lists */
  PASS("use_variadic_stack", use_variadic_stack(p->graph));
  PASS("user_passes", pass_run_user(p->graph)); /* last: wick's own have priority */
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
  if (p->exec->observe) p->exec->observe(p->exec->observe_user, p->function, "backward", gradient.backward);
  forward.graph = gradient.forward;
  if (!p->is_profiled) PASS("shape_analysis", propagate_input_shapes(gradient.forward, p->exec));
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
    PASS("remove_dropout", remove_dropout(p->graph)); /* what gives its argument stays outside of subgraphs */
    PASS("create_autodiff_subgraphs", create_autodiff_subgraphs(p->graph, AUTODIFF_NODE_THRESHOLD));
    PASS("differentiate", differentiate_in(p, p->graph->block));
    PASS("inline_autodiff_subgraphs", inline_autodiff_subgraphs(p->graph, AUTODIFF_INLINE_THRESHOLD));
  } else {
    run_nondiff_optimization(p);
  }
  PASS("dead_code_elimination", eliminate_dead_code(p->graph));
}

/* ---- the lists ---- */

void run_specialized(Phases *p) {
  /* phase 0: inlined already; what inlining left */
  PASS("inline", (void)0);
  PASS("lower_grad_of", lower_grad_of(p->graph));
  PASS("specialize_autogradzero", specialize_autogradzero(p->graph));
  PASS("lower_tuples", lower_simple_tuples(p->graph));
  PASS("constant_pooling", constant_pooling(p->graph));
  /* phase 1: executable, with undefined inputs taken into account */
  run_required_passes(p);
  /* phase 2: what the spec says, through the graph */
  PASS("constant_propagation", constant_propagation_immutable(p->graph, p->exec));
  PASS("shape_analysis", propagate_input_shapes(p->graph, p->exec));
  PASS("requires_grad_analysis", propagate_requires_grad(p->graph));
  /* phase 3: what can still be differentiated */
  run_optimization(p);
  /* phases 4 and 5 */
  run_differentiation(p);
}

void run_last_optimizations(Phases *p) {
  run_optimization(p);
  if (p->grad_enabled)
    PASS("graph_fuser", fuse_if_there(p->graph, p->exec)); /* groups are right for whatever comes */
  else
    run_nondiff_optimization(p);
}

void run_profiling_insensitive(Phases *p) {
  PASS("inline", (void)0);
  PASS("lower_grad_of", lower_grad_of(p->graph));
  PASS("clear_undefinedness", clear_undefinedness(p->graph));
  run_required_passes(p);
  PASS("decompose_ops", decompose_ops(p->graph));
  PASS("constant_propagation", constant_propagation_immutable(p->graph, p->exec));
  PASS("dead_code_elimination", eliminate_dead_code(p->graph));
  PASS("common_subexpression_elimination", eliminate_common_subexpressions(p->graph));
  PASS("constant_pooling", constant_pooling(p->graph));
  PASS("peephole", peephole_optimize(p->graph, false));
  PASS("lower_tuples", lower_simple_tuples(p->graph));
  PASS("dead_code_elimination", eliminate_dead_code(p->graph));
  PASS("check_inplace", check_inplace(p->graph));
}

void run_profiling_optimizations(Phases *p) {
  p->is_profiled = true;
  PASS("insert_guards", insert_guards(p->graph, p->grad_enabled));
  PASS("lower_grad_of", lower_grad_of(p->graph));
  PASS("guard_elimination", eliminate_redundant_guards(p->graph, p->exec));
  PASS("insert_bailouts", insert_bailouts(p->graph));
  p->baseline = bailout_baseline(p->graph, p->graph->arena, p->graph->store);
  compile_clock_step(p->clock, "baseline");
  PASS("specialize_autogradzero", specialize_autogradzero(p->graph));
  run_required_passes(p);
  PASS("constant_propagation", constant_propagation_immutable(p->graph, p->exec));
  run_optimization(p);
  run_differentiation(p);
}
