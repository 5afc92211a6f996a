/* See operator_use.h. */
#include "ir/operator_use.h"

#include "ir/node_form.h"

/* The nodes of one emitted graph by overload. */
typedef struct Tally {
  const CompilationUnit *unit;
  PtrMap places; /* overload -> place in counts + 1 */
  VEC(OperatorCount) counts;
  Arena *arena;
  const Node *refused; /* the first */
} Tally;

static void tally_node(Tally *tally, const Node *node) {
  if (kind_is_of_language(node->kind)) return;
  const Operator *overload = node_operator(node);
  if (!overload && !(overload = operator_find_symbol(node->kind))) return;
  size_t place = (size_t)(uintptr_t)ptrmap_get(&tally->places, overload);
  if (!place) {
    vec_arena_push(tally->arena, &tally->counts, ((OperatorCount){.overload = overload, .kind = node->kind}));
    place = tally->counts.length;
    ptrmap_put(&tally->places, overload, (void *)(uintptr_t)place);
  }
  tally->counts.data[place - 1].nodes++;
  if (!tally->refused && !unit_allows_operator(tally->unit, symbol_name(node->kind))) tally->refused = node;
}

static void tally_block(Tally *tally, const Block *block) {
  BLOCK_EACH(node, block) {
    tally_node(tally, node);
    const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
    if (subgraph && subgraph->tag == ATTR_GRAPH) {
      graph_require_stack(subgraph->g);
      tally_block(tally, subgraph->g->block);
    }
    for (uint32_t i = 0; i < node->block_count; i++) tally_block(tally, node->blocks[i]);
  }
}

void function_note_operators(Function *function, Graph *emitted) {
  Arena *kept = &function->unit->store.arena;
  Tally tally = {.unit = function->unit, .arena = emitted->arena};
  ptrmap_init(&tally.places, emitted->arena);
  graph_require_stack(emitted);
  tally_block(&tally, emitted->block);
  OperatorCount *counts = ARENA_ARRAY(kept, OperatorCount, tally.counts.length + 1);
  for (size_t i = 0; i < tally.counts.length; i++) counts[i] = tally.counts.data[i];
  function->operators = counts;
  function->operator_count = (uint32_t)tally.counts.length;
  if (tally.refused)
    graph_fail(emitted, ERROR_COMPILE, tally.refused->range,
               "The operator " STR_FMT " is none of those that the program may use",
               STR_ARG(symbol_name(tally.refused->kind)));
}

/* ---- what is allowed ---- */

void unit_allow_operators(CompilationUnit *unit, const char *lines) {
  Arena *arena = &unit->store.arena;
  Map *allowed = ARENA_NEW(arena, Map);
  map_init(allowed, arena);
  while (*lines) {
    size_t length = strcspn(lines, "\r\n");
    if (length) map_put(allowed, (Str){arena_strndup(arena, lines, length), length}, unit);
    lines += length;
    lines += strspn(lines, "\r\n");
  }
  unit->allowed_operators = allowed;
}

bool unit_allows_operator(const CompilationUnit *unit, Str name) {
  return !unit->allowed_operators || map_has(unit->allowed_operators, name);
}

/* ---- what is used ---- */

static Status count_operators(const CompilationUnit *unit, Map *counts) {
  for (size_t i = 0; i < unit->all_functions.length; i++) {
    const Function *function = unit->all_functions.data[i];
    for (uint32_t k = 0; k < function->operator_count; k++) {
      Str name = symbol_name(function->operators[k].kind);
      uintptr_t nodes = (uintptr_t)map_get(counts, name) + function->operators[k].nodes;
      if (!map_put(counts, name, (void *)nodes)) return status_out_of_memory();
    }
  }
  return OK;
}

Status unit_each_operator(const CompilationUnit *unit, OperatorVisit *visit, void *argument) {
  Map counts;
  map_init(&counts, NULL);
  Status status = count_operators(unit, &counts);
  if (!status)
    for (MapEntry *e = map_next(&counts, NULL); e; e = map_next(&counts, e))
      visit(argument, e->key, (size_t)(uintptr_t)e->value);
  map_dispose(&counts);
  return status;
}

void unit_each_overload(const CompilationUnit *unit, OverloadVisit *visit, void *argument) {
  for (size_t i = 0; i < unit->all_functions.length; i++) {
    const Function *function = unit->all_functions.data[i];
    for (uint32_t k = 0; k < function->operator_count; k++)
      visit(argument, function->operators[k].overload, function->operators[k].nodes);
  }
}

static Status count_with_used(const CompilationUnit *unit, Map *counts) {
  TRY(count_operators(unit, counts));
  for (size_t i = 0; i < unit->used.length; i++) TRY(count_with_used(unit->used.data[i], counts));
  return OK;
}

static void list_refused(const CompilationUnit *unit, const Map *counts, StrBuf *out) {
  for (MapEntry *e = map_next(counts, NULL); e; e = map_next(counts, e)) {
    if (unit_allows_operator(unit, e->key)) continue;
    strbuf_puts(out, out->length ? ", " : "");
    strbuf_str(out, e->key);
  }
}

Status unit_check_operators(const CompilationUnit *unit, const CompilationUnit *used, const char *what) {
  if (!unit->allowed_operators) return OK;
  enum { MAX_TEXT = 1 << 16 };
  StrBuf names = {.max_length = MAX_TEXT};
  Map counts;
  map_init(&counts, NULL);
  Status status = count_with_used(used, &counts);
  if (!status) list_refused(unit, &counts, &names);
  if (!status && names.length)
    status = status_new(ERROR_UNSUPPORTED, "%s uses operators that are not allowed: " STR_FMT, what,
                        STR_ARG(strbuf_view(&names)));
  map_dispose(&counts);
  strbuf_dispose(&names);
  return status;
}
