/* The walk: a match's code is put in front of its anchor, users of its outputs turn to it, and its own nodes go. */
#include "pass/rewrite/subgraph_rewrite.h"

#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "subgraph_rewrite"

typedef struct Rewriter {
  Graph *graph;
  Arena *arena;
  const RewritePattern *rule;
  const Graph *pattern, *replacement;
  VEC(Graph *) parsed;
  uint32_t rewritten;
} Rewriter;

static void replace(Rewriter *r, const SubgraphMatch *m) {
  Graph *graph = r->graph;
  uint32_t inputs = graph_input_count(r->pattern), outputs = graph_output_count(r->pattern);
  Value **arguments = ARENA_ARRAY(r->arena, Value *, inputs + 1),
        **results = ARENA_ARRAY(r->arena, Value *, outputs + 1);
  for (uint32_t i = 0; i < inputs; i++) arguments[i] = ptrmap_get(&m->values, graph_input(r->pattern, i));
  SourceRange range = graph->range;
  graph->range = m->anchor->range;
  graph_set_insert_point(graph, m->anchor);
  Node *before = m->anchor->prev;
  graph_inline(graph, r->replacement, arguments, results);
  for (Node *node = before->next; node != m->anchor; node = node->next) {
    node_copy_metadata(node, m->anchor);
    node->inlined = m->anchor->inlined;
  }
  graph->range = range;
  for (uint32_t i = 0; i < outputs; i++) {
    Value *old = ptrmap_get(&m->values, graph_output(r->pattern, i));
    if (results[i]->type->kind == old->type->kind && old->type->has_refinement) results[i]->type = old->type;
    value_replace_all_uses_with(old, results[i]);
  }
  BLOCK_EACH_REVERSE(pattern, r->pattern->block) {
    Node *node = ptrmap_get(&m->nodes, pattern);
    bool used = !node || pattern->kind == SYM_prim_Constant;
    for (uint32_t i = 0; !used && i < node->output_count; i++) used = value_has_uses(node_output(node, i));
    if (!used) node_destroy(node);
  }
  r->rewritten++;
}

/* Every input of the pattern has a value: one that the pattern does not use can't be passed on. */
static bool binds_inputs(const SubgraphMatch *m) {
  for (uint32_t i = 0; i < graph_input_count(m->pattern); i++)
    if (!ptrmap_has(&m->values, graph_input(m->pattern, i))) return false;
  return true;
}

static void rewrite_block(Rewriter *r, const Block *block) {
  for (Node *node = block->param->next, *next; node != block->ret; node = next) {
    next = node->next; /* a match's nodes are not behind its anchor */
    for (uint32_t i = 0; i < node->block_count; i++) rewrite_block(r, node->blocks[i]);
    SubgraphMatch m;
    if (!subgraph_match(r->pattern, node, r->arena, &m) || !binds_inputs(&m) ||
        (r->rule->filter && !r->rule->filter(&m, r->rule->argument)) || !jit_opt_limit(FILE_NAME))
      continue;
    JIT_LOG_UPDATE(FILE_NAME, "a pattern ends at " STR_FMT, STR_ARG(symbol_name(node->kind)));
    replace(r, &m);
  }
}

static Graph *parse(Rewriter *r, const char *text) {
  vec_arena_reserve(r->arena, &r->parsed, r->parsed.length + 1);
  Graph *graph = graph_parse(r->arena, r->graph->store, str_from(text), NULL, NULL);
  r->parsed.data[r->parsed.length++] = graph;
  return graph;
}

typedef struct Run {
  Rewriter rewriter;
  uint32_t count;
  const RewritePattern *rules;
} Run;

static void run_rules(void *argument) {
  Run *run = argument;
  Rewriter *r = &run->rewriter;
  r->arena->catch_point = r->graph->arena->catch_point;
  for (uint32_t i = 0; i < run->count; i++) {
    r->rule = &run->rules[i];
    r->pattern = parse(r, r->rule->pattern);
    pattern_check(r->pattern);
    r->replacement = parse(r, r->rule->replacement);
    if (graph_input_count(r->pattern) != graph_input_count(r->replacement) ||
        graph_output_count(r->pattern) != graph_output_count(r->replacement))
      catch_throw(r->arena->catch_point,
                  status_new(ERROR_INVALID_ARGUMENT, "pattern and replacement differ in inputs or outputs"));
    rewrite_block(r, r->graph->block);
  }
}

/* What was parsed holds constants: it is disposed of before an error goes on. */
static void run(Arena *scratch, void *argument) {
  Run *run = argument;
  Rewriter *r = &run->rewriter;
  r->arena = scratch;
  Status status = arena_protect(r->graph->arena, run_rules, run);
  scratch->catch_point = r->graph->arena->catch_point;
  for (size_t i = 0; i < r->parsed.length; i++) graph_dispose(r->parsed.data[i]);
  if (status) catch_throw(scratch->catch_point, status);
}

uint32_t rewrite_subgraphs(Graph *graph, uint32_t count, const RewritePattern *rules) {
  Run r = {.rewriter = {.graph = graph}, .count = count, .rules = rules};
  graph_with_scratch(graph, run, &r);
  graph->insert_before = graph->block->ret;
  return r.rewriter.rewritten;
}
