/* Matching goes from the anchor up its operands: each pattern's node has at most one candidate, so that a match costs
 * no more than the pattern is large. */
#include "pass/rewrite/subgraph_matcher.h"

#include <assert.h>

#include "pass/rewrite/rewrite.h"

enum { MATCH_MAX_SPAN = 4096 /* nodes between the first and the last one of a match */ };

static _Noreturn void refuse(const Graph *pattern, const char *why) {
  catch_throw(pattern->arena->catch_point, status_new(ERROR_INVALID_ARGUMENT, "not a pattern: %s", why));
}

static bool is_input(const Value *value) {
  return value->node->kind == SYM_prim_Param;
}

void pattern_check(const Graph *pattern) {
  if (!graph_output_count(pattern)) refuse(pattern, "it has no outputs");
  if (is_input(graph_output(pattern, 0))) refuse(pattern, "its first output is an input");
  if (block_size(pattern->block, PATTERN_MAX_NODES + 1) > PATTERN_MAX_NODES) refuse(pattern, "it is too large");
  BLOCK_EACH(node, pattern->block) {
    if (node->block_count) refuse(pattern, "it has control flow");
    if (node->kind != SYM_prim_CallMethod && node->kind != SYM_prim_CallFunction && node_has_side_effects(node))
      refuse(pattern, "it has effects");
  }
}

/* ---- attributes ---- */

static bool ints_equal(const NodeAttribute *a, const NodeAttribute *b) {
  return a->count == b->count && (!a->count || !memcmp(a->ints, b->ints, a->count * sizeof *a->ints));
}
static bool floats_equal(const NodeAttribute *a, const NodeAttribute *b) {
  for (uint32_t i = 0; i < a->count && i < b->count; i++)
    if (a->floats[i] != b->floats[i]) return false;
  return a->count == b->count;
}
static bool strings_equal(const NodeAttribute *a, const NodeAttribute *b) {
  for (uint32_t i = 0; i < a->count && i < b->count; i++)
    if (!str_equal(a->strings[i], b->strings[i])) return false;
  return a->count == b->count;
}

static bool attribute_equal(const NodeAttribute *a, const NodeAttribute *b) {
  if (a->tag != b->tag) return false;
  switch ((AttributeTag)a->tag) {
    case ATTR_INT:
      return a->i == b->i;
    case ATTR_FLOAT:
      return a->f == b->f;
    case ATTR_COMPLEX:
      return a->c == b->c;
    case ATTR_STRING:
      return str_equal(a->s, b->s);
    case ATTR_TENSOR:
      return a->t == b->t;
    case ATTR_TYPE:
      return type_equal(a->ty, b->ty);
    case ATTR_IVALUE:
      return ivalue_is_surely_equal(a->value, b->value);
    case ATTR_INTS:
      return ints_equal(a, b);
    case ATTR_FLOATS:
      return floats_equal(a, b);
    case ATTR_STRINGS:
      return strings_equal(a, b);
    default:
      return false;
  }
}

static bool attributes_match(const Node *pattern, const Node *node) {
  if (pattern->attribute_count != node->attribute_count) return false;
  for (uint32_t i = 0; i < pattern->attribute_count; i++) {
    const NodeAttribute *other = node_attribute(node, pattern->attributes[i].name);
    if (!other || !attribute_equal(&pattern->attributes[i], other)) return false;
  }
  return true;
}

/* ---- values and nodes ---- */

static bool leaves_pattern(const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (value->uses.data[i].user->kind == SYM_prim_Return) return true;
  return false;
}

static bool bind_node(SubgraphMatch *m, const Node *pattern, Node *node);

static bool bind_value(SubgraphMatch *m, const Value *pattern, Value *value) {
  Value *bound = ptrmap_get(&m->values, pattern);
  if (bound) return bound == value;
  if (!is_input(pattern)) {
    if (pattern->offset != value->offset) return false;
    /* constants may be shared with the rest of the graph, other inner values not */
    if (pattern->node->kind != SYM_prim_Constant && !leaves_pattern(pattern) &&
        pattern->uses.length != value->uses.length)
      return false;
  }
  ptrmap_put(&m->values, pattern, value);
  return is_input(pattern) || bind_node(m, pattern->node, value->node);
}

static bool bind_node(SubgraphMatch *m, const Node *pattern, Node *node) {
  Node *bound = ptrmap_get(&m->nodes, pattern);
  if (bound) return bound == node;
  bool is_constant = pattern->kind == SYM_prim_Constant;
  if (pattern->kind != node->kind || pattern->input_count != node->input_count ||
      pattern->output_count != node->output_count || node->block_count || !attributes_match(pattern, node))
    return false;
  if (!is_constant) {
    if (node->owning_block != m->anchor->owning_block) return false;
    if (node_is_before(node, m->first)) m->first = node;
  } else if (value_is_none(node_output(pattern, 0)) != value_is_none(node_output(node, 0)) ||
             node_output(pattern, 0)->type->kind != node_output(node, 0)->type->kind) {
    return false;
  }
  ptrmap_put(&m->nodes, pattern, node);
  for (uint32_t i = 0; i < pattern->output_count; i++)
    if (!bind_value(m, node_output(pattern, i), node_output(node, i))) return false;
  for (uint32_t i = 0; i < pattern->input_count; i++)
    if (!bind_value(m, node_input(pattern, i), node_input(node, i))) return false;
  return true;
}

static bool is_in_match(const SubgraphMatch *m, const Node *node) {
  BLOCK_EACH(pattern, m->pattern->block) if (ptrmap_get(&m->nodes, pattern) == node) return true;
  return false;
}

static bool writes(const Node *node) {
  if (node_has_side_effects(node) || node_writes(node)) return true;
  for (uint32_t b = 0; b < node->block_count; b++) {
    BLOCK_EACH(inner, node->blocks[b]) if (writes(inner)) return true;
  }
  return false;
}

/* Outputs that others use may not be needed before the anchor, where the match's code will stand, and nobody may write
 * there in between. */
static bool can_be_one(const SubgraphMatch *m) {
  uint32_t span = 0;
  for (const Node *node = m->first; node != m->anchor; node = node->next) {
    if (++span > MATCH_MAX_SPAN) return false;
    if (is_in_match(m, node)) continue;
    if (writes(node)) return false;
  }
  for (uint32_t i = 0; i < graph_output_count(m->pattern); i++) {
    const Value *output = ptrmap_get(&m->values, graph_output(m->pattern, i));
    if (!output) return false;
    for (size_t k = 0; k < output->uses.length; k++) {
      const Node *user = output->uses.data[k].user;
      if (user != m->anchor && !is_in_match(m, user) && node_is_before(user, m->anchor)) return false;
    }
  }
  return true;
}

/* An input that is needed only behind the first node must still be there at the anchor: it is, for the anchor comes
 * last. */
bool subgraph_match(const Graph *pattern, Node *anchor, Arena *arena, SubgraphMatch *out) {
  const Node *last = graph_output(pattern, 0)->node;
  if (last->kind != anchor->kind) return false;
  *out = (SubgraphMatch){.pattern = pattern, .anchor = anchor, .first = anchor};
  ptrmap_init(&out->values, arena);
  ptrmap_init(&out->nodes, arena);
  if (!bind_node(out, last, anchor)) return false;
  for (uint32_t i = 0; i < graph_output_count(pattern); i++)
    if (!ptrmap_has(&out->values, graph_output(pattern, i))) return false;
  return can_be_one(out);
}

Value *match_value(const SubgraphMatch *match, const char *name) {
  Value *value = map_get(&match->pattern->names, str_from(name));
  assert(value); /* rules name what they match */
  return value ? ptrmap_get(&match->values, value) : NULL;
}
