/* dequantize, operator, quantize becomes the quantized operator whose row says so (OpRow.quantizes): the rules are made
 * of the rows. The quantized kernels are operators like others; what is not registered says so by
 * name when it runs. */
#include <assert.h>

#include "call/row_extras.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"
#include "schema/schema.h"

#define FILE_NAME "quant_fusion"

/* The operator between dequantize and quantize. */
typedef struct Inner {
  const QuantizedForm *form;
  Str name;
  const FunctionSchema *schema;
  uint32_t given; /* how many of its arguments the quantized one has: two tensors, or a tensor, weight and bias */
} Inner;

/* Throws where memory for the schema runs out. */
static Inner inner_of(Arena *arena, const QuantizedForm *form) {
  Str text = str_from(form->of), overload = STR("");
  ptrdiff_t dot = str_find_char(text, '.');
  if (dot >= 0) overload = str_slice(text, (size_t)dot + 1, text.length);
  Inner inner = {form, dot < 0 ? text : str_slice(text, 0, (size_t)dot), NULL, form->unpack ? 3 : 2};
  const Operator *op = operator_find_overload(inner.name, overload);
  assert(op);
  inner.schema = operator_schema(op);
  Status status = operator_schema_status(inner.schema);
  if (status) catch_throw(arena->catch_point, status);
  assert(inner.schema->argument_count >= inner.given);
  return inner;
}

/* A packed argument holds what the others say; beside a tensor they are to be the defaults. */
static bool has_defaults(const RewriteMatch *m) {
  const Inner *inner = m->rule->argument;
  const Node *node = bound(m, 'y')->node;
  if (node->input_count != inner->schema->argument_count) return false;
  for (uint32_t i = inner->given; i < node->input_count && !inner->form->unpack; i++) {
    IValue constant;
    if (!inner->schema->arguments[i].has_default || !value_is_constant(node_input(node, i), &constant) ||
        !ivalue_is_surely_equal(constant, inner->schema->arguments[i].default_value))
      return false;
  }
  return true;
}

static const char *pattern_text(Arena *arena, const Inner *inner) {
  const QuantizedForm *form = inner->form;
  const char *operands = "aten::dequantize(%b)";
  if (form->unpack)
    operands = arena_printf(arena, "aten::dequantize(%s[0](%%b)), %s[1](%%b)", form->unpack, form->unpack);
  return arena_printf(
      arena, "aten::quantize_per_tensor(%s%%y=" STR_FMT "(aten::dequantize(%%a), %s, ...)%s, %%s, %%z, %%d)",
      form->relu ? "aten::relu|aten::relu_(" : "", STR_ARG(inner->name), operands, form->relu ? ")" : "");
}

typedef VEC(RewriteRule) Rules;

static void add_rule(Arena *arena, Rules *rules, const Operator *op, const QuantizedForm *form) {
  Inner *inner = ARENA_NEW(arena, Inner);
  *inner = inner_of(arena, form);
  RewriteRule rule = {.name = arena_printf(arena, STR_FMT, STR_ARG(op->name)),
                      .pattern = pattern_text(arena, inner),
                      .replacement = arena_printf(arena, STR_FMT "(%%a, %%b, %%s, %%z)", STR_ARG(op->name)),
                      .when = {has_defaults},
                      .argument = inner,
                      .alone = true};
  vec_arena_push(arena, rules, rule);
}

static void fuse(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Rules rules = {0};
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    const QuantizedForm *form = row_extras(op->row)->quantizes;
    if (form && op->variant == VARIANT_FUNCTIONAL) add_rule(scratch, &rules, op, form);
  }
  if (rewrite_graph_by(graph, FILE_NAME, (uint32_t)rules.length, rules.data)) dead_code_elimination(graph);
}

void quant_fusion(Graph *graph) {
  Symbol quantize = symbol_find(STR("aten::quantize_per_tensor"));
  if (!quantize || !graph_has_kind(graph, quantize)) return;
  graph_with_scratch(graph, fuse, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After QuantFusion: ", graph);
}

PASS(quant_fusion, RESULTS, quant_fusion(graph), "makes operators between dequantize and quantize quantized ones");
