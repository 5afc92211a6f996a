/* Sizes as symbols: an unknown size of an input is a symbol, and a size that is always a symbol's, or always the same
 * result of symbols, gets the same name wherever it appears.
 *
 * Shape functions compute with numbers. So the analysis runs several times, with numbers of its own choice for the
 * symbols; sizes that had the same numbers in all runs are the same. The numbers are products of primes, so that sizes
 * which are computed in different ways differ. What can't be computed for some choice (two symbols that must be equal)
 * keeps the type that shape analysis gives it without symbols. */
#include <assert.h>

#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/types/shape_analysis.h"
#include "type/tensor_type.h"

#define FILE_NAME "symbolic_shape_analysis"

enum { RUNS = 3, MAX_SYMBOLS = 4096 };

/* Numbers of a size in all runs. */
typedef struct Size {
  int64_t in[RUNS];
} Size;

typedef struct Symbolic {
  Graph *graph;
  Exec *exec;
  Arena *arena;
  VEC(Size) symbols;     /* symbol -i - 2 of TensorInfo.sizes at i */
  const Type **inputs;   /* with symbols */
  const Type **plain;    /* by Value.unique: without symbols */
  const Type **in[RUNS]; /* by Value.unique */
} Symbolic;

static int64_t symbol_size(size_t index) {
  return -(int64_t)index - 2;
}

/* 240 divides all sizes: they can be halved, split and regrouped as programs do. */
static Size choose(size_t index) {
  static const int64_t primes[] = {7,  11, 13, 17, 19, 23, 29,  31,  37,  41,  43,  47,  53,  59,  61,  67,
                                   71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149};
  enum { PRIMES = sizeof primes / sizeof *primes };
  Size size;
  for (size_t run = 0; run < RUNS; run++)
    size.in[run] = 240 * primes[(index * (2 * run + 1) + 5 * run) % PRIMES] * (int64_t)(1 + index / PRIMES);
  return size;
}

static void add_symbol(Symbolic *s) {
  Size size = choose(s->symbols.length);
  vec_arena_push(s->arena, &s->symbols, size);
}

static int64_t find_symbol(Symbolic *s, const Size *size) {
  for (size_t i = 0; i < s->symbols.length; i++)
    if (memcmp(&s->symbols.data[i], size, sizeof *size) == 0) return symbol_size(i);
  if (s->symbols.length == MAX_SYMBOLS) return -1;
  vec_arena_push(s->arena, &s->symbols, *size);
  return symbol_size(s->symbols.length - 1);
}

/* ---- symbols in and out of types ---- */

static void name_inputs(Symbolic *s) {
  uint32_t count = graph_input_count(s->graph);
  s->inputs = ARENA_ARRAY(s->arena, const Type *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const Type *type = s->inputs[i] = graph_input(s->graph, i)->type;
    if (type->kind != TYPE_TENSOR || !type->tensor || type->tensor->ndim <= 0) continue;
    TensorInfo info = *type->tensor;
    for (int d = 0; d < info.ndim; d++) {
      int64_t size = info.has_sizes ? info.sizes[d] : -1;
      while (size < -1 && size >= symbol_size(MAX_SYMBOLS - 1) && s->symbols.length < (size_t)(-size - 1))
        add_symbol(s);
      info.sizes[d] = size;
    }
    info.has_sizes = true;
    s->inputs[i] = type_tensor_refined(s->graph->store, &info);
  }
  for (uint32_t i = 0; i < count; i++) { /* symbols that nobody named, after all that somebody did */
    const Type *type = s->inputs[i];
    if (type->kind != TYPE_TENSOR || !type->tensor || type->tensor->ndim <= 0) continue;
    TensorInfo info = *type->tensor;
    for (int d = 0; d < info.ndim; d++) {
      if (info.has_sizes && info.sizes[d] != -1) continue;
      info.sizes[d] = s->symbols.length < MAX_SYMBOLS ? symbol_size(s->symbols.length) : -1;
      if (s->symbols.length < MAX_SYMBOLS) add_symbol(s);
    }
    info.has_sizes = true;
    s->inputs[i] = type_tensor_refined(s->graph->store, &info);
  }
}

static void set_inputs(Symbolic *s, int run) { /* run -1: with symbols */
  for (uint32_t i = 0; i < graph_input_count(s->graph); i++) {
    assert(run >= -1 && run < RUNS);
    const Type *type = s->inputs[i];
    if (run >= 0 && type->kind == TYPE_TENSOR && type->tensor) {
      TensorInfo info = *type->tensor;
      for (int d = 0; d < info.ndim && info.has_sizes; d++)
        if (info.sizes[d] < -1) info.sizes[d] = s->symbols.data[-info.sizes[d] - 2].in[run];
      type = type_tensor_refined(s->graph->store, &info);
    }
    graph_input(s->graph, i)->type = type;
  }
}

static void each_value(Symbolic *s, Block *block, void (*visit)(Symbolic *s, Value *v, const Type **to),
                       const Type **to) {
  for (Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count; i++) visit(s, node_output(node, i), to);
    for (uint32_t i = 0; i < node->block_count; i++) each_value(s, node->blocks[i], visit, to);
  }
}

static void keep_type(Symbolic *s, Value *v, const Type **to) {
  (void)s;
  to[v->unique] = v->type;
}

/* The type that all runs tell of; the plain one where they differ in more than sizes. */
static const Type *combine(Symbolic *s, const Type *const types[RUNS], const Type *plain) {
  const TensorInfo *first = types[0]->tensor;
  if (types[0]->kind != TYPE_TENSOR || !first || !tensor_info_has_sizes(first)) return plain;
  TensorInfo info = *first;
  for (int run = 1; run < RUNS; run++) {
    const TensorInfo *other = types[run]->tensor;
    if (types[run]->kind != TYPE_TENSOR || !other || !tensor_info_has_sizes(other) || other->ndim != first->ndim)
      return plain;
    tensor_info_merge(&info, other);
  }
  for (int d = 0; d < info.ndim; d++) {
    if (info.sizes[d] >= 0) continue;
    Size size;
    for (int run = 0; run < RUNS; run++) size.in[run] = types[run]->tensor->sizes[d];
    info.sizes[d] = find_symbol(s, &size);
  }
  info.has_sizes = true;
  return type_tensor_refined(s->graph->store, &info);
}

static void set_type(Symbolic *s, Value *v, const Type **to) {
  (void)to;
  if (v->node->kind == SYM_prim_Constant || v->node == s->graph->block->param) return;
  const Type *types[RUNS];
  for (int run = 0; run < RUNS; run++) types[run] = s->in[run][v->unique];
  v->type = combine(s, types, s->plain[v->unique]);
}

static void analyse(Arena *scratch, void *argument) {
  Symbolic *s = argument;
  Graph *graph = s->graph;
  s->arena = scratch;
  name_inputs(s);
  shape_analysis_run(graph, s->exec, false);
  s->plain = ARENA_ARRAY(scratch, const Type *, graph->next_unique + 1);
  each_value(s, graph->block, keep_type, s->plain);
  for (int run = 0; run < RUNS; run++) {
    set_inputs(s, run);
    shape_analysis_run(graph, s->exec, true);
    s->in[run] = ARENA_ARRAY(scratch, const Type *, graph->next_unique + 1);
    each_value(s, graph->block, keep_type, s->in[run]);
  }
  each_value(s, graph->block, set_type, NULL);
  set_inputs(s, -1);
}

void symbolic_shape_analysis(Graph *graph, Exec *exec) {
  Symbolic s = {.graph = graph, .exec = exec};
  graph_with_scratch(graph, analyse, &s);
  GRAPH_LOG_DUMP(FILE_NAME, "After PropagateShapesOnGraph: ", graph);
}

PASS(symbolic_shape_analysis, GRADIENTS, symbolic_shape_analysis(graph, exec),
     "sizes of tensors, with symbols for unknown ones");
