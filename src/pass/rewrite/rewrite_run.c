/* The walk that applies rewrite rules: rewrite_rule.h has what it promises. */
#include "pass/rewrite/rewrite.h"

#include "pass/rewrite/rewrite_read.h"
#include "pass/types/tensor_facts.h"
#include "report/jit_log.h"

#define FILE_NAME "subgraph_rewrite"

/* ---- what the walk knows ---- */

static bool may_write(const Node *node) {
  return node_schema(node) ? node_writes(node) : node_has_side_effects(node);
}

bool rewrite_graph_writes(RewriteRun *run) {
  if (!run->writes.is_known) run->writes.yes = block_any(run->graph->block, may_write);
  run->writes.is_known = true;
  return run->writes.yes;
}
bool rewrite_graph_changes_tensors(RewriteRun *run) {
  if (!run->changes_tensors.is_known) run->changes_tensors.yes = graph_changes_tensors(run->graph);
  run->changes_tensors.is_known = true;
  return run->changes_tensors.yes;
}
bool rewrite_graph_changes_grad_mode(RewriteRun *run) {
  if (!run->changes_grad_mode.is_known) run->changes_grad_mode.yes = graph_changes_grad_mode(run->graph);
  run->changes_grad_mode.is_known = true;
  return run->changes_grad_mode.yes;
}
AliasDb *rewrite_alias_db(RewriteRun *run) {
  if (!run->aliases) run->aliases = alias_db_new(run->graph, run->scratch);
  return run->aliases;
}

/* ---- what comes in a pattern's place ---- */

static void tell(const RewriteMatch *m, const Value *with) {
  JIT_LOG_UPDATE(m->run->file, "%s: %%%u of " STR_FMT " becomes %%%u", m->rule->name, replaced(m)->unique,
                 STR_ARG(symbol_name(m->node->kind)), with->unique);
}

static Value *pattern_output(const RewriteMatch *m, uint32_t i) {
  return m->at.values[m->at.pattern->indices[m->at.pattern->outputs + i]];
}

/* Of what goes; what was there keeps its own. */
static void give_name(Value *output, Value *with) {
  Str name = output->name;
  if (!name.length || with->name.length || with->node->kind == SYM_prim_Param) return;
  value_set_name(output, STR(""));
  value_set_name(with, name);
}

static void replace(const RewriteMatch *m, Value *output, Value *with) {
  tell(m, with);
  value_replace_all_uses_with(output, with);
  if (m->rule->alone) give_name(output, with);
  if (m->run->aliases && output->type->kind == TYPE_TENSOR) alias_replace_value(m->run->aliases, output, with);
}

static const Type *type_of_term(const RewriteMatch *m, const Term *term) {
  return term->type == TERM_ANY_TYPE ? replaced(m)->type : type_simple((TypeKind)term->type);
}

static Value *new_value(const RewriteMatch *m, const Pattern *to, uint16_t at);

static Value *new_node(const RewriteMatch *m, const Pattern *to, const Term *term) {
  Value **inputs = ARENA_ARRAY(m->run->scratch, Value *, term->input_count + 1);
  for (uint32_t i = 0; i < term->input_count; i++) inputs[i] = new_value(m, to, to->indices[term->inputs + i]);
  return insert_call_before(m->node, to->kinds[term->kinds], type_of_term(m, term), term->input_count, inputs);
}

static Value *new_value(const RewriteMatch *m, const Pattern *to, uint16_t at) {
  const Term *term = &to->terms[at];
  switch ((TermForm)term->form) {
    case TERM_VALUE:
      return bound(m, term->letter);
    case TERM_NODE:
      return new_node(m, to, term);
    case TERM_INT:
      return insert_constant_before(m->node, ivalue_int(term->number), NULL);
    case TERM_NUMBER:
      return insert_constant_before(m->node, ivalue_float(term->number), NULL);
    case TERM_BOOL:
      return insert_constant_before(m->node, ivalue_bool(term->number != 0), NULL);
    default:
      assert(term->form == TERM_NONE);
      return insert_constant_before(m->node, IVALUE_NONE, NULL);
  }
}

static void give_inputs(const RewriteMatch *m, const Pattern *to) {
  const Term *itself = pattern_end(to);
  tell(m, replaced(m));
  for (uint32_t i = 0; i < itself->input_count; i++)
    node_replace_input(m->node, i, new_value(m, to, to->indices[itself->inputs + i]));
}

static bool is_used(const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (value_has_uses(node_output(node, i))) return true;
  return false;
}

/* The code of a replacement from outside, in front of the match's end. */
static void inline_in_place(const RewriteMatch *m, const Graph *code, Value **out) {
  Graph *graph = m->run->graph;
  const Pattern *pattern = m->at.pattern;
  Value **arguments = ARENA_ARRAY(m->run->scratch, Value *, pattern->input_count + 1);
  for (uint32_t i = 0; i < pattern->input_count; i++)
    arguments[i] = m->at.values[pattern->indices[pattern->inputs + i]];
  SourceRange range = graph->range;
  graph->range = m->node->range;
  graph_set_insert_point(graph, m->node);
  Node *before = m->node->prev;
  graph_inline(graph, code, arguments, out);
  for (Node *node = before->next; node != m->node; node = node->next) {
    node_copy_metadata(node, m->node);
    node->inlined = m->node->inlined;
  }
  graph->range = range;
  for (uint32_t i = 0; i < pattern->output_count; i++) {
    const Type *type = pattern_output(m, i)->type;
    if (out[i]->type->kind == type->kind && type->has_refinement) out[i]->type = type;
  }
}

/* ---- applying ---- */

typedef struct Walk {
  RewriteRun *run;
  const ReadRules *rules;
  Value **values; /* as many as the largest pattern has terms */
  Node **nodes;
} Walk;

static bool fits(const RewriteMatch *m) {
  if (m->rule->shapes && !m->run->shapes) return false;
  for (int i = 0; i < REWRITE_CONDITIONS && m->rule->when[i]; i++)
    if (!m->rule->when[i](m)) return false;
  return true;
}

static void replace_outputs(const RewriteMatch *m, const ReadRule *read, Value *made) {
  const Pattern *to = &read->replacement;
  Value **with = ARENA_ARRAY(m->run->scratch, Value *, m->at.pattern->output_count + 1);
  if (read->graph) {
    inline_in_place(m, read->graph, with);
  } else {
    for (uint32_t i = 0; i < m->at.pattern->output_count; i++)
      with[i] = made ? made : new_value(m, to, to->indices[to->outputs + i]);
  }
  for (uint32_t i = 0; i < m->at.pattern->output_count; i++) replace(m, pattern_output(m, i), with[i]);
}

static void destroy_unused(Node **nodes, uint32_t count) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < count; i++) {
      if (!nodes[i] || is_used(nodes[i])) continue;
      node_destroy(nodes[i]);
      nodes[i] = NULL;
      again = true;
    }
  }
}

/* Whether the rule was applied. */
static bool apply(const Walk *w, const ReadRule *read, Node *node, uint32_t output) {
  const RewriteRule *rule = read->rule;
  RewriteMatch m = {.run = w->run, .rule = rule, .node = node, .output = output};
  uint32_t count = 0;
  if (!pattern_match(&read->pattern, node, output, w->values, &m.at) ||
      (rule->alone && !match_is_alone(&m.at, w->nodes, &count)) || !fits(&m))
    return false;
  Value *made = rule->make ? rule->make(&m) : NULL;
  if (rule->make && (!made || made == replaced(&m))) return false;
  if (!jit_opt_limit_rule(w->run->file, rule->name)) {
    if (made && !is_used(made->node)) node_destroy(made->node);
    return false;
  }
  if (!made && !read->graph && pattern_end(&read->replacement)->form == TERM_ITSELF)
    give_inputs(&m, &read->replacement);
  else
    replace_outputs(&m, read, made);
  destroy_unused(w->nodes, count);
  w->run->applied++;
  return true;
}

/* The rules of one kind of end, from the first of them on. */
static bool apply_one(const Walk *w, uint32_t first, Symbol kind, Node *node, uint32_t output) {
  const ReadRules *rules = w->rules;
  bool is_used = value_has_uses(node_output(node, output));
  for (uint32_t i = first; i < rules->end_count && rules->ends[i].kind == kind; i++) {
    const ReadRule *read = &rules->rules[rules->ends[i].rule];
    /* those that take nodes away do so even where nobody wants what these give */
    if ((is_used || read->rule->alone) && apply(w, read, node, output)) return true;
  }
  return false;
}

static void rewrite_node(const Walk *w, Node *node) {
  Symbol kind = node->kind;
  uint32_t first = rules_first_end(w->rules, kind);
  bool is_for_any = w->rules->end_count && w->rules->ends[0].kind == SYMBOL_NONE;
  if (!is_for_any && (first == w->rules->end_count || w->rules->ends[first].kind != kind)) return;
  for (uint32_t i = 0; i < node->output_count && !node->destroyed; i++)
    (void)((is_for_any && apply_one(w, 0, SYMBOL_NONE, node, i)) || apply_one(w, first, kind, node, i));
}

static void walk(const Walk *w, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) walk(w, node->blocks[i]);
    rewrite_node(w, node);
  }
}

static void walk_with(RewriteRun *run, const ReadRules *rules) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < rules->count; i++)
    if (rules->rules[i].pattern.count > most) most = rules->rules[i].pattern.count;
  Walk w = {run, rules, ARENA_ARRAY(run->scratch, Value *, most), ARENA_ARRAY(run->scratch, Node *, most)};
  ptrmap_init(&run->asked, run->scratch);
  walk(&w, run->graph->block);
  run->graph->insert_before = run->graph->block->ret;
}

/* ---- with a table, with rules made for it ---- */

typedef struct TableRun {
  RewriteRun run;
  const RewriteTable *table;
} TableRun;

static void run_table(Arena *scratch, void *argument) {
  TableRun *t = argument;
  const ReadRules *rules = rules_of_table(t->table);
  if (!rules) catch_throw(scratch->catch_point, status_out_of_memory());
  t->run.scratch = scratch;
  walk_with(&t->run, rules);
}

bool rewrite_graph(const RewriteTable *table, Graph *graph, bool shapes, Exec *exec) {
  TableRun t = {{.file = table->file, .graph = graph, .shapes = shapes, .exec = exec}, table};
  graph_with_scratch(graph, run_table, &t);
  return t.run.applied > 0;
}

typedef struct MadeRun {
  RewriteRun run;
  const RewriteRule *rules;
  uint32_t count;
} MadeRun;

static void run_made(Arena *scratch, void *argument) {
  enum { TERMS = 32, INDICES = 64, KINDS = 16 }; /* of one rule */
  MadeRun *t = argument;
  PatternRoom room;
  ReadRules rules = {.rules = ARENA_ARRAY(scratch, ReadRule, t->count + 1),
                     .ends = ARENA_ARRAY(scratch, RuleEnd, KINDS * (size_t)t->count + 1),
                     .end_room = KINDS * t->count};
  pattern_room_init(&room, scratch, TERMS * t->count, INDICES * t->count, KINDS * t->count);
  if (!rules_read(&rules, &room, t->rules, t->count)) catch_throw(scratch->catch_point, status_out_of_memory());
  t->run.scratch = scratch;
  walk_with(&t->run, &rules);
}

uint32_t rewrite_graph_by(Graph *graph, const char *file, uint32_t count, const RewriteRule *rules) {
  MadeRun t = {{.file = file, .graph = graph, .shapes = true}, rules, count};
  graph_with_scratch(graph, run_made, &t);
  return t.run.applied;
}

/* ---- with graphs from outside ---- */

typedef struct GraphsRun {
  RewriteRun run;
  const char *name, *pattern, *replacement;
  Graph *parsed[2];
} GraphsRun;

static Graph *parse(GraphsRun *t, int i, const char *text) {
  return t->parsed[i] = graph_parse(t->run.scratch, t->run.graph->store, str_from(text), NULL, NULL);
}

static void run_parsed(void *argument) {
  GraphsRun *t = argument;
  Arena *scratch = t->run.scratch;
  scratch->catch_point = t->run.graph->arena->catch_point;
  RewriteRule rule = {.name = t->name, .alone = true};
  RuleEnd end = {SYMBOL_NONE, 0};
  PatternRoom room;
  ReadRule read = {.rule = &rule};
  const Graph *from = parse(t, 0, t->pattern);
  pattern_of_graph(from, scratch, &room, &read.pattern);
  read.graph = parse(t, 1, t->replacement);
  if (graph_input_count(from) != graph_input_count(read.graph) ||
      graph_output_count(from) != graph_output_count(read.graph))
    catch_throw(scratch->catch_point,
                status_new(ERROR_INVALID_ARGUMENT, "pattern and replacement differ in inputs or outputs"));
  end.kind = graph_output(from, 0)->node->kind;
  walk_with(&t->run, &(ReadRules){&read, &end, 1, 1, 1});
}

/* What was parsed holds constants: it is disposed of before an error goes on. */
static void run_graphs(Arena *scratch, void *argument) {
  GraphsRun *t = argument;
  t->run.scratch = scratch;
  Status status = arena_protect(t->run.graph->arena, run_parsed, t);
  scratch->catch_point = t->run.graph->arena->catch_point;
  for (int i = 0; i < 2; i++)
    if (t->parsed[i]) graph_dispose(t->parsed[i]);
  if (status) catch_throw(scratch->catch_point, status);
}

uint32_t rewrite_by_graphs(Graph *graph, const char *name, const char *pattern, const char *replacement) {
  GraphsRun t = {{.file = FILE_NAME, .graph = graph}, name, pattern, replacement, {NULL}};
  graph_with_scratch(graph, run_graphs, &t);
  return t.run.applied;
}
