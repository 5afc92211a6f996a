/* dequantize, operator, quantize becomes the quantized operator whose row says so (OpRow.quantizes): patterns for the
 * rewriter are made of the rows. The quantized kernels are operators like others; what is not registered says so by
 * name when it runs. */
#include <assert.h>

#include "call/operator.h"
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/subgraph_rewrite.h"

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
static bool has_defaults(const SubgraphMatch *match, void *argument) {
  const Inner *inner = argument;
  for (uint32_t i = inner->given; i < inner->schema->argument_count && !inner->form->unpack; i++) {
    char name[16];
    IValue constant;
    snprintf(name, sizeof name, "o%u", i);
    const Value *value = match_value(match, name);
    if (!value || !inner->schema->arguments[i].has_default || !value_is_constant(value, &constant) ||
        !ivalue_is_surely_equal(constant, inner->schema->arguments[i].default_value))
      return false;
  }
  return true;
}

static const char *other_arguments(Arena *arena, const Inner *inner) {
  const char *text = "";
  for (uint32_t i = inner->given; i < inner->schema->argument_count; i++)
    text = arena_printf(arena, "%s, %%o%u", text, i);
  return text;
}

/* `relu`: what comes after the operator; "": nothing. */
static const char *pattern_text(Arena *arena, const Inner *inner, const char *relu) {
  const QuantizedForm *form = inner->form;
  const char *others = other_arguments(arena, inner), *second = "  %y : Tensor = aten::dequantize(%b)\n";
  if (form->unpack)
    second = arena_printf(arena,
                          "  %%packed : Tensor, %%bias : Tensor? = %s(%%b)\n"
                          "  %%y : Tensor = aten::dequantize(%%packed)\n",
                          form->unpack);
  return arena_printf(arena,
                      "graph(%%a, %%b, %%scale, %%zero, %%dtype%s):\n"
                      "  %%x : Tensor = aten::dequantize(%%a)\n"
                      "%s"
                      "  %%%s : Tensor = " STR_FMT
                      "(%%x, %%y%s%s)\n"
                      "%s"
                      "  %%q : Tensor = aten::quantize_per_tensor(%%r, %%scale, %%zero, %%dtype)\n"
                      "  return (%%q)",
                      others, second, *relu ? "z" : "r", STR_ARG(inner->name), form->unpack ? ", %bias" : "", others,
                      relu);
}

typedef struct Making {
  Arena *arena;
  uint32_t count;
  RewritePattern *patterns; /* NULL while they are counted */
} Making;

static void add_pattern(Making *m, const Operator *op, const Inner *inner, const char *relu) {
  uint32_t at = m->count++;
  if (!m->patterns) return;
  const char *replacement = arena_printf(m->arena,
                                         "graph(%%a, %%b, %%scale, %%zero, %%dtype%s):\n"
                                         "  %%q : Tensor = " STR_FMT "(%%a, %%b, %%scale, %%zero)\n  return (%%q)",
                                         other_arguments(m->arena, inner), STR_ARG(op->name));
  m->patterns[at] = (RewritePattern){pattern_text(m->arena, inner, relu), replacement, has_defaults, (void *)inner};
}

static void add_patterns(Making *m) {
  m->count = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    const QuantizedForm *form = row_extras(op->row)->quantizes;
    if (!form || op->variant != VARIANT_FUNCTIONAL) continue;
    Inner *inner = ARENA_NEW(m->arena, Inner);
    *inner = inner_of(m->arena, form);
    if (inner->form->relu) {
      add_pattern(m, op, inner, "  %r : Tensor = aten::relu(%z)\n");
      add_pattern(m, op, inner, "  %r : Tensor = aten::relu_(%z)\n");
    } else {
      add_pattern(m, op, inner, "");
    }
  }
}

static void fuse(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Making making = {.arena = scratch};
  add_patterns(&making);
  making.patterns = ARENA_ARRAY(scratch, RewritePattern, making.count);
  add_patterns(&making);
  if (rewrite_subgraphs(graph, making.count, making.patterns)) dead_code_elimination(graph);
}

void quant_fusion(Graph *graph) {
  Symbol quantize = symbol_find(STR("aten::quantize_per_tensor"));
  if (!quantize || !graph_has_kind(graph, quantize)) return;
  graph_with_scratch(graph, fuse, graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After QuantFusion: ", graph);
}

PASS(quant_fusion, RESULTS, quant_fusion(graph), "makes operators between dequantize and quantize quantized ones");
