#include "interp/region_read.h"

#include "call/row_extras.h"
#include "ir/constant.h"
#include "schema/schema.h"

enum { MAX_INPUTS = 10 }; /* of an operator that is no anchor */

const Anchor *node_anchor(const Node *node) {
  const Operator *op = node_operator(node);
  if (!op || op->variant != VARIANT_FUNCTIONAL || !row_extras(op->row)->anchor) return NULL;
  const FunctionSchema *schema = operator_schema(op);
  bool is_in_eval = !schema->training || constant_is_bool(node_input(node, schema->training - 1), false);
  return node->input_count == schema->argument_count && is_in_eval ? row_extras(op->row)->anchor : NULL;
}

static bool is_tensor(const Value *value) {
  return value->type->kind == TYPE_TENSOR;
}

bool is_idle_dropout(const Node *node) {
  return node->kind == SYM_aten_dropout && node->input_count == 3 && constant_is_bool(node_input(node, 2), false);
}

/* By statistics that are there. */
static bool is_stored_norm(const Node *node) {
  return node->kind == SYM_aten_batch_norm && node->input_count == 9 && constant_is_bool(node_input(node, 5), false) &&
         node_input(node, 3)->type->kind != TYPE_NONE && node_input(node, 4)->type->kind != TYPE_NONE;
}

static bool is_one(const Value *value) {
  double number;
  return constant_double(value, &number) && number == 1;
}

/* Of the tensor and another one, not of the tensor with itself. */
static bool is_sum(const Node *node, const Value *through) {
  return node->kind == SYM_aten_add && node->input_count == 3 && is_one(node_input(node, 2)) &&
         is_tensor(node_input(node, 0)) && is_tensor(node_input(node, 1)) &&
         (node_input(node, 0) == through) != (node_input(node, 1) == through);
}

static bool is_function(const Node *node, const Anchor *anchor, Arena *arena, Activation *out) {
  const Operator *op = node_operator(node);
  IValue arguments[MAX_INPUTS] = {IVALUE_NONE};
  if (!op || node->output_count != 1 || node->input_count > MAX_INPUTS) return false;
  for (uint32_t i = 1; i < node->input_count; i++)
    if (!value_is_constant(node_input(node, i), &arguments[i])) return false;
  return region_activation(op, node->input_count, arguments, anchor->takes & ANCHOR_KNOWS, arena, out);
}

static bool is_number(const Value *value) {
  return value->type->kind == TYPE_FLOAT || value->type->kind == TYPE_INT;
}
static bool is_product(const Node *node) {
  return (node->kind == SYM_aten_matmul || node->kind == SYM_aten_bmm) && node->input_count == 2;
}
/* One that adds a mask is the product and the sum. */
static bool is_scores(const Node *node) {
  return is_product(node) || (node->kind == SYM_aten_baddbmm && node->input_count == 5 && is_one(node_input(node, 3)) &&
                              is_one(node_input(node, 4)));
}
static bool is_scale(const Node *node) {
  return (node->kind == SYM_aten_mul || node->kind == SYM_aten_div) && node->input_count == 2 &&
         is_number(node_input(node, 1));
}
static bool is_gate(const Node *node) {
  return node->kind == SYM_aten_mul && node->input_count == 2 && is_tensor(node_input(node, 0)) &&
         is_tensor(node_input(node, 1));
}
static bool is_fill(const Node *node) {
  return node->kind == SYM_aten_masked_fill && node->input_count == 3 && is_number(node_input(node, 2));
}

RegionRole region_role_before(const Node *node, const Value *through) {
  if (!through && node->kind == SYM_aten_layer_norm) return REGION_LAYER_NORM;
  if (!through) return is_scores(node) ? REGION_SCORES : is_gate(node) ? REGION_GATE : REGION_ROLES;
  if (is_sum(node, through)) return through->node->kind == SYM_aten_baddbmm ? REGION_ROLES : REGION_MASK;
  if (!node->input_count || node_input(node, 0) != through) return REGION_ROLES;
  if (is_scale(node)) return through->node->kind == SYM_aten_baddbmm ? REGION_ROLES : REGION_SCALE;
  return is_fill(node) && node_input(node, 1) != through ? REGION_FILL : REGION_ROLES;
}

static uint32_t roles_of(const Node *node, const Anchor *anchor, const Value *through) {
  Activation ignored;
  if (!node->input_count) return 0;
  if (is_sum(node, through)) return 1u << REGION_FIRST_SUM | 1u << REGION_SUM;
  if (node_input(node, 0) != through) return 0;
  if (is_stored_norm(node)) return 1u << REGION_NORM;
  if (is_product(node) && node_input(node, 1) != through) return 1u << REGION_RESULT;
  bool is_any = is_function(node, anchor, NULL, &ignored);
  return is_any ? 1u << REGION_FIRST_FUNCTION | 1u << REGION_FUNCTION : 0;
}

RegionRole region_role(const Node *node, const Anchor *anchor, const Value *through, RegionRole last) {
  uint32_t roles = roles_of(node, anchor, through) & anchor->takes;
  int role = last + 1;
  while (role < REGION_ROLES && !(roles >> role & 1)) role++;
  return (RegionRole)role;
}

typedef struct Reader {
  Arena *arena;
  const Graph *graph;
  Region region;
  const Value *through;     /* what the unit gives so far */
  RegionRole role;          /* of the unit's last step */
  uint64_t weights, others; /* bits: inputs that are read as anchors' weights, and otherwise */
  bool has_scores;          /* products are no anchors of it: an anchor takes them along */
  const Value *inputs[REGION_MAX_UNITS], *results[REGION_MAX_UNITS]; /* inputs: of the anchors */
  RegionUnit units[REGION_MAX_UNITS];
  IValue arguments[REGION_MAX_ARGUMENTS];
  RegionGiven given[REGION_MAX_ARGUMENTS];
} Reader;

static RegionUnit *last_unit(Reader *r) {
  return r->region.unit_count ? &r->units[r->region.unit_count - 1] : NULL;
}

/* An argument for each of the node's inputs. */
static bool read_step(Reader *r, const Node *node, RegionRole role) {
  RegionStep *step = &last_unit(r)->steps[role];
  *step = (RegionStep){.op = node_operator(node),
                       .first = r->region.argument_count,
                       .count = (uint16_t)node->input_count,
                       .through = (uint16_t)node->input_count};
  if (r->region.argument_count + node->input_count > REGION_MAX_ARGUMENTS) return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *input = node_input(node, i);
    uint16_t at = r->region.argument_count++;
    r->arguments[at] = IVALUE_NONE;
    if (input == r->through) {
      step->through = (uint16_t)i;
    } else if (input->node == r->graph->block->param) {
      bool is_weight = role == REGION_ANCHOR && row_extras(step->op->row)->restores >> i & 1;
      r->given[r->region.given_count++] = (RegionGiven){at, (uint16_t)input->offset};
      if (input->offset < 64) *(is_weight ? &r->weights : &r->others) |= UINT64_C(1) << input->offset;
    } else if (!value_is_constant(input, &r->arguments[at])) {
      return false;
    }
  }
  r->role = role;
  return true;
}

/* A unit begins with its anchor, or the first with what comes before it. */
static bool begin_unit(Reader *r, const Node *node, bool is_anchor) {
  RegionUnit *unit = last_unit(r);
  if (unit && (!unit->anchor || !is_anchor || r->region.unit_count == REGION_MAX_UNITS)) return false;
  bool follows = unit && node_input(node, 0) == r->through;
  if (r->region.unit_count > 1 && follows != r->region.is_sequence) return false;
  r->region.is_sequence = follows;
  if (!follows) r->through = NULL;
  r->units[r->region.unit_count++] = (RegionUnit){0};
  return true;
}

static bool read_anchor(Reader *r, const Node *node, const Anchor *anchor) {
  RegionUnit *unit = last_unit(r);
  if (!unit || unit->anchor) {
    if (!begin_unit(r, node, true)) return false;
  } else if (node_input(node, 0) != r->through) {
    return false;
  }
  if (!read_step(r, node, REGION_ANCHOR)) return false;
  last_unit(r)->anchor = anchor;
  r->inputs[r->region.unit_count - 1] = node_input(node, 0);
  return true;
}

static bool read_before(Reader *r, const Node *node) {
  if (!r->region.unit_count && !begin_unit(r, node, false)) return false;
  RegionRole role = region_role_before(node, r->through);
  return role < REGION_ROLES && (!r->through || role > r->role) && read_step(r, node, role);
}

static bool read_after(Reader *r, const Node *node, RegionRole role) {
  RegionUnit *unit = last_unit(r);
  if (!read_step(r, node, role)) return false;
  Activation *function = role == REGION_FUNCTION         ? &unit->activation
                         : role == REGION_FIRST_FUNCTION ? &unit->first_activation
                                                         : NULL;
  return !function || is_function(node, unit->anchor, r->arena, function);
}

/* Of what the units give, in their order. */
static bool read_join(Reader *r, const Node *node) {
  uint32_t count = r->region.unit_count;
  int64_t dim;
  if (count < 2 || node->input_count != count + 1 || r->region.argument_count + count + 1 > REGION_MAX_ARGUMENTS ||
      !constant_int(node_input(node, count), &dim))
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (node_input(node, i) != r->results[i]) return false;
  r->region.join = (RegionStep){.op = node_operator(node),
                                .first = r->region.argument_count,
                                .count = (uint16_t)(count + 1),
                                .through = (uint16_t)(count + 1)};
  for (uint32_t i = 0; i < count; i++) r->arguments[r->region.argument_count++] = IVALUE_NONE;
  r->arguments[r->region.argument_count++] = ivalue_int(dim);
  r->through = node_output(node, 0);
  return r->region.join.op != NULL;
}

static bool has_scores(const Graph *subgraph) {
  BLOCK_EACH(node, subgraph->block) {
    const Anchor *anchor = node_anchor(node);
    if (anchor && anchor->needs) return true;
  }
  return false;
}
static const Anchor *anchor_of(const Reader *r, const Node *node) {
  const Anchor *anchor = node_anchor(node);
  return r->has_scores && anchor && !anchor->needs ? NULL : anchor;
}

static bool read_node(Reader *r, const Node *node) {
  const RegionUnit *unit = last_unit(r);
  const Anchor *anchor = anchor_of(r, node);
  if (node->kind == SYM_prim_Constant) return true;
  if (node->output_count != 1 || r->region.join.op) return false;
  if (node->kind == SYM_prim_VarConcat) return read_join(r, node);
  RegionRole role = unit && unit->anchor ? region_role(node, unit->anchor, r->through, r->role) : REGION_ROLES;
  bool is_read = role < REGION_ROLES    ? read_after(r, node, role)
                 : anchor               ? read_anchor(r, node, anchor)
                 : unit && unit->anchor ? is_idle_dropout(node) && node_input(node, 0) == r->through
                                        : read_before(r, node);
  r->through = node_output(node, 0);
  if (r->region.unit_count) r->results[r->region.unit_count - 1] = r->through;
  return is_read;
}

static bool has_its_roles(const RegionUnit *unit) {
  uint32_t roles = 0;
  for (int role = 0; role < REGION_ROLES; role++) roles |= (uint32_t)(unit->steps[role].op != NULL) << role;
  const Anchor *anchor = unit->anchor;
  return !(roles & ~(anchor->takes | 1u << REGION_ANCHOR)) && (roles & anchor->needs) == anchor->needs;
}

static bool has_one_engine(const Reader *r) {
  const RegionUnit *units = r->units;
  for (uint32_t i = 0; i < r->region.unit_count; i++)
    if (!units[i].anchor || units[i].anchor != units->anchor || !has_its_roles(&units[i])) return false;
  uint32_t several = r->region.is_sequence ? ANCHOR_EXPANDS : r->region.join.op ? ANCHOR_PLACES : ANCHOR_JOINS;
  if (r->region.unit_count > 1 && !(units->anchor->takes & several)) return false;
  return !r->region.is_sequence || (r->region.unit_count == 2 && !r->region.join.op);
}

static Str name_of(const Reader *r) {
  StrBuf text = {0};
  for (uint32_t i = 0; i < r->region.unit_count; i++)
    for (int role = 0; role < REGION_ROLES; role++) {
      const Operator *op = r->units[i].steps[role].op;
      if (!op) continue;
      Str name = text.length ? str_after_last(op->name, ':') : op->name;
      strbuf_printf(&text, "%s" STR_FMT, text.length ? " + " : "", STR_ARG(name));
    }
  if (r->region.join.op) strbuf_printf(&text, " + cat");
  Str view = strbuf_view(&text), kept = {arena_strndup(r->arena, view.data, view.length), view.length};
  strbuf_dispose(&text);
  return kept;
}

/* Whether the results are what the units give: all of them, of one input, or the last of a sequence, or joined. */
static bool are_results(const Reader *r) {
  uint32_t count = graph_output_count(r->graph);
  if (r->region.is_sequence || r->region.join.op || r->region.unit_count == 1)
    return count == 1 && graph_output(r->graph, 0) == r->through;
  if (count != r->region.unit_count) return false;
  for (uint32_t i = 0; i < count; i++)
    if (r->inputs[i] != r->inputs[0] || graph_output(r->graph, i) != r->results[i]) return false;
  return true;
}

static const void *copy(Arena *arena, const void *from, size_t count, size_t bytes) {
  return count ? memcpy(arena_alloc_array(arena, count, bytes), from, count * bytes) : NULL;
}

const Region *region_read(const Graph *subgraph, Arena *arena) {
  Reader r = {.arena = arena, .graph = subgraph, .has_scores = has_scores(subgraph)};
  BLOCK_EACH(node, subgraph->block)
  if (!read_node(&r, node)) return NULL;
  if (!r.through || !has_one_engine(&r) || !are_results(&r)) return NULL;
  r.region.weights = r.weights & ~r.others; /* of what is read as it is, too, the memory has to be there */
  r.region.input_count = (uint16_t)graph_input_count(subgraph);
  r.region.units = copy(arena, r.units, r.region.unit_count, sizeof *r.units);
  r.region.arguments = copy(arena, r.arguments, r.region.argument_count, sizeof *r.arguments);
  r.region.given = copy(arena, r.given, r.region.given_count, sizeof *r.given);
  r.region.name = name_of(&r);
  return copy(arena, &r.region, 1, sizeof r.region);
}
