/* Matching goes from a pattern's end up the operands. */
#include "pass/rewrite/pattern.h"

#include <assert.h>

#include "ir/constant.h"

enum { MATCH_MAX_SPAN = 4096 /* nodes between the first and the last one of a match */ };

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

static bool is_like(const Node *like, const Node *node) {
  if (node->block_count || like->attribute_count != node->attribute_count) return false;
  for (uint32_t i = 0; i < like->attribute_count; i++) {
    const NodeAttribute *other = node_attribute(node, like->attributes[i].name);
    if (!other || !attribute_equal(&like->attributes[i], other)) return false;
  }
  if (like->kind != SYM_prim_Constant) return true;
  const Type *a = node_output(like, 0)->type, *b = node_output(node, 0)->type;
  return a->kind == b->kind;
}

/* ---- terms ---- */

static bool is_of_kind(const Pattern *pattern, const Term *term, const Node *node) {
  if (term->any_kind) return true;
  for (uint32_t i = 0; i < term->kind_count; i++)
    if (pattern->kinds[term->kinds + i] == node->kind) return true;
  return false;
}

static bool match_term(PatternMatch *m, uint16_t at, Value *value);

static bool has_inputs_of(const Term *term, const Node *node) {
  return term->has_rest ? node->input_count >= term->input_count : node->input_count == term->input_count;
}

static bool match_inputs(PatternMatch *m, const Term *term, const Node *node) {
  if ((term->outputs != OUTPUTS_ANY && node->output_count != term->outputs) || !has_inputs_of(term, node) ||
      (term->like && !is_like(term->like, node)))
    return false;
  for (uint32_t i = 0; i < term->input_count; i++)
    if (!match_term(m, m->pattern->indices[term->inputs + i], node_input(node, i))) return false;
  return true;
}

static bool match_term(PatternMatch *m, uint16_t at, Value *value) {
  const Term *term = &m->pattern->terms[at];
  int64_t i;
  double number;
  if (m->values[at]) return m->values[at] == value;
  if (term->type != TERM_ANY_TYPE && (uint8_t)value->type->kind != term->type) return false;
  m->values[at] = value;
  switch ((TermForm)term->form) {
    case TERM_VALUE:
      return true;
    case TERM_NODE:
      return (term->each_output || value->offset == term->offset) && is_of_kind(m->pattern, term, value->node) &&
             match_inputs(m, term, value->node);
    case TERM_OUTPUT:
      return value->offset == term->offset && match_term(m, term->node, node_output(value->node, 0));
    case TERM_INT:
      return value->type->kind == TYPE_INT && constant_int(value, &i) && i == term->number;
    case TERM_NUMBER:
      return constant_double(value, &number) && number == term->number;
    case TERM_BOOL:
      return constant_is_bool(value, term->number != 0);
    default:
      return false; /* of replacements */
  }
}

/* Outputs that the pattern does not use, or gives only. */
static void bind_outputs(PatternMatch *m) {
  for (uint32_t i = 0; i < m->pattern->count; i++) {
    const Term *term = &m->pattern->terms[i];
    const Value *first = term->form == TERM_OUTPUT ? m->values[term->node] : NULL;
    if (first && !m->values[i]) m->values[i] = node_output(first->node, term->offset);
  }
}

static bool are_bound(const PatternMatch *m, uint32_t at, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!m->values[m->pattern->indices[at + i]]) return false;
  return true;
}

bool pattern_match(const Pattern *pattern, Node *node, uint32_t output, Value **values, PatternMatch *out) {
  const Term *end = pattern_end(pattern);
  assert(end->form == TERM_NODE || end->form == TERM_OUTPUT);
  if (end->form == TERM_NODE && !has_inputs_of(end, node)) return false; /* most that don't fit fail so */
  memset(values, 0, pattern->count * sizeof *values);
  *out = (PatternMatch){pattern, node, output, values};
  if (!match_term(out, pattern->end, node_output(node, output))) return false;
  if (pattern->is_tree) return true;
  bind_outputs(out);
  return are_bound(out, pattern->outputs, pattern->output_count) &&
         are_bound(out, pattern->inputs, pattern->input_count);
}

/* ---- whether the nodes can become one ---- */

static const Term *term_of_value(const PatternMatch *m, const Value *value) {
  for (uint32_t i = 0; i < m->pattern->count; i++)
    if (m->values[i] == value) return &m->pattern->terms[i];
  return NULL;
}

static bool is_among(Node *const *nodes, uint32_t count, const Node *node) {
  for (uint32_t i = 0; i < count; i++)
    if (nodes[i] == node) return true;
  return false;
}

static uint32_t matched_nodes(const PatternMatch *m, Node **out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->pattern->count; i++) {
    if (m->pattern->terms[i].form != TERM_NODE || !m->values[i]) continue;
    Node *node = m->values[i]->node;
    if (node->kind != SYM_prim_Constant && !is_among(out, count, node)) out[count++] = node;
  }
  return count;
}

static bool is_used_within(const PatternMatch *m, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    const Term *term = term_of_value(m, node_output(node, i));
    if (!(term && term->leaves) && node_output(node, i)->uses.length != (term ? term->uses : 0)) return false;
  }
  return true;
}

static bool writes(const Node *node) {
  if (node_has_side_effects(node) || node_writes(node)) return true;
  for (uint32_t b = 0; b < node->block_count; b++) {
    BLOCK_EACH(inner, node->blocks[b]) if (writes(inner)) return true;
  }
  return false;
}

/* What others use may not be needed before the end, where the match's code will stand. */
static bool are_outputs_used_after(const PatternMatch *m, Node *const *nodes, uint32_t count) {
  for (uint32_t i = 0; i < m->pattern->output_count; i++) {
    const Value *output = m->values[m->pattern->indices[m->pattern->outputs + i]];
    for (size_t k = 0; k < output->uses.length; k++) {
      const Node *user = output->uses.data[k].user;
      if (!is_among(nodes, count, user) && node_is_before(user, m->node)) return false;
    }
  }
  return true;
}

bool match_is_alone(const PatternMatch *m, Node **nodes, uint32_t *out_count) {
  uint32_t count = *out_count = matched_nodes(m, nodes), span = 0;
  const Node *first = m->node;
  for (uint32_t i = 0; i < count; i++) {
    if (nodes[i]->owning_block != m->node->owning_block || !is_used_within(m, nodes[i])) return false;
    if (node_is_before(nodes[i], first)) first = nodes[i];
  }
  for (const Node *node = first; node != m->node; node = node->next)
    if (++span > MATCH_MAX_SPAN || (!is_among(nodes, count, node) && writes(node))) return false;
  return are_outputs_used_after(m, nodes, count);
}
