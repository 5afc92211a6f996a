/* Functions with arguments, results and gradients that PyTorch recorded (tests/autodiff), and how to run and compare
 * them: what the tests of gradients share. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "api/handles.h"
#include "autodiff/engine.h"
#include "frontend/frontend.h"
#include "interp/interp.h"
#include "tensor/random.h"

enum { MAX_TENSORS = 8 };

typedef struct Tensors {
  uint32_t count;
  Tensor *items[MAX_TENSORS];
} Tensors;

typedef struct Case {
  const Dict *dict;
  Str name;
  Tensors arguments, outputs, seeds, grads;
  bool requires[MAX_TENSORS], random, should_autodiff;
} Case;

static inline IValue field(const Dict *dict, const char *name) {
  String *key;
  IValue value;
  assert_null(string_new(str_from(name), &key));
  bool found;
  assert_null(dict_get(dict, ivalue_string(key), &value, &found));
  if (!found) fail_msg("no '%s' in the record", name);
  ivalue_release(ivalue_string(key));
  ivalue_release(value); /* the record holds it */
  return value;
}

static inline IValue item(IValue list, size_t i) {
  IValue v;
  assert_true(list.tag == TAG_LIST && i < list.list->length);
  v = list_get(list.list, i);
  ivalue_release(v);
  return v;
}

static inline Tensors tensors(const Dict *dict, const char *name) {
  IValue list = field(dict, name);
  Tensors t = {.count = (uint32_t)list.list->length};
  assert_true(t.count <= MAX_TENSORS);
  for (uint32_t i = 0; i < t.count; i++) t.items[i] = item(list, i).tensor;
  return t;
}

static inline bool truth(IValue v) {
  return v.tag == TAG_BOOL ? v.b : v.i != 0;
}

static inline Case case_of(const Dict *dict) {
  Case c = {.dict = dict,
            .name = ivalue_str(field(dict, "name")),
            .arguments = tensors(dict, "arguments"),
            .outputs = tensors(dict, "outputs"),
            .seeds = tensors(dict, "seeds"),
            .grads = tensors(dict, "grads"),
            .random = truth(field(dict, "random")),
            .should_autodiff = truth(field(dict, "should_autodiff_node"))};
  for (uint32_t i = 0; i < c.arguments.count; i++) c.requires[i] = truth(item(field(dict, "requires_grad"), i));
  return c;
}

static inline void check(const Case *c, Status status, const char *what) {
  if (status) fail_msg(STR_FMT ": %s: %s", STR_ARG(c->name), what, status->message);
}

/* ---- compiling ---- */

typedef struct CompiledCase {
  Exec exec; /* in grad mode */
  CompilationUnit *unit;
  Function *function;
} CompiledCase;

static inline void compile_case(const Case *c, CompiledCase *out) {
  *out = (CompiledCase){0};
  exec_init(&out->exec, &api_services);
  out->exec.grad_enabled = true;
  Source *source;
  assert_null(unit_new(&out->unit));
  assert_null(source_new(ivalue_str(field(c->dict, "text")), "case.py", 1, &source));
  check(c, frontend_compile_program(out->unit, &out->exec, source, NULL), "compiling");
  source_release(source);
  out->function = unit_find_function(out->unit, STR("f"));
}

/* ---- running ---- */

static inline Tensor *leaf(const Tensor *from, bool requires) {
  Tensor *t;
  assert_null(tensor_clone(from, &t));
  if (requires) t->flags |= TENSOR_REQUIRES_GRAD;
  return t;
}

static inline Tensors leaves(const Case *c) {
  Tensors t = {.count = c->arguments.count};
  for (uint32_t i = 0; i < t.count; i++) t.items[i] = leaf(c->arguments.items[i], c->requires[i]);
  return t;
}

static inline void release(Tensors *t) {
  for (uint32_t i = 0; i < t->count; i++) tensor_release(t->items[i]);
  t->count = 0;
}

static inline void take(IValue v, Tensors *out) {
  if (v.tag == TAG_TENSOR) {
    assert_true(out->count < MAX_TENSORS);
    out->items[out->count++] = tensor_retain(v.tensor);
    return;
  }
  for (uint32_t i = 0; v.tag == TAG_TUPLE && i < v.tuple->length; i++) take(v.tuple->values[i], out);
}

static inline Tensors run(const Case *c, Exec *exec, const Code *code, const Tensors *arguments) {
  IValue inputs[MAX_TENSORS], result = IVALUE_NONE;
  for (uint32_t i = 0; i < arguments->count; i++) inputs[i] = ivalue_tensor(arguments->items[i]);
  if (c->random) generator_seed(exec->generator, 11);
  check(c, interp_run(exec, code, inputs, arguments->count, &result, 1), "running");
  Tensors out = {0};
  take(result, &out);
  ivalue_release(result);
  return out;
}

static inline Tensors recording(const Tensors *all) {
  Tensors some = {0};
  for (uint32_t i = 0; i < all->count; i++)
    if (all->items[i]->flags & TENSOR_RECORDS) some.items[some.count++] = all->items[i];
  return some;
}

/* Owned; NULL: none. */
static inline Tensors gradients(const Case *c, Exec *exec, const Tensors *outputs, const Tensors *seeds,
                                const Tensors *arguments, bool create_graph) {
  Tensors from = recording(outputs), wanted = recording(arguments), out = {0};
  BackwardOptions options = {.retain_graph = create_graph, .create_graph = create_graph, .allow_unused = true};
  if (from.count != seeds->count) fail_msg(STR_FMT ": %u results require grad", STR_ARG(c->name), from.count);
  check(c, autograd_grad(exec, from.count, from.items, seeds->items, wanted.count, wanted.items, options, out.items),
        create_graph ? "gradients of gradients" : "gradients");
  out.count = wanted.count;
  return out;
}

static inline double *values_of(const Tensor *t, Tensor **out_copy) {
  assert_null(tensor_empty(DTYPE_FLOAT64, t->ndim, t->sizes, out_copy));
  assert_null(tensor_copy(*out_copy, t, 1));
  return tensor_data(*out_copy);
}

static inline void compare(const Case *c, const Tensor *got, const Tensor *expected, double tolerance, const char *what,
                           uint32_t index) {
  Tensor *a, *b;
  if (!got) { /* none where zeros were expected */
    assert_null(tensor_empty(DTYPE_FLOAT64, expected->ndim, expected->sizes, &a));
    tensor_fill_zero(a);
  } else {
    if (!tensor_same_sizes(got, expected)) fail_msg(STR_FMT ": sizes of %s %u", STR_ARG(c->name), what, index);
    values_of(got, &a);
  }
  const double *x = tensor_data(a), *y = values_of(expected, &b);
  for (int64_t i = 0; i < b->numel; i++)
    if (!(fabs(x[i] - y[i]) <= tolerance * (1 + fabs(y[i]))))
      fail_msg(STR_FMT ": %s %u at %d is %.12g, not %.12g", STR_ARG(c->name), what, index, (int)i, x[i], y[i]);
  tensor_release(a);
  tensor_release(b);
}

/* Builds may lack the library that an operator needs; nothing of the case can be checked then. */
static inline bool is_in_this_build(const Case *c, Exec *exec, const Code *code) {
  IValue inputs[MAX_TENSORS], result = IVALUE_NONE;
  Tensors arguments = leaves(c);
  for (uint32_t i = 0; i < arguments.count; i++) inputs[i] = ivalue_tensor(arguments.items[i]);
  Status status = interp_run(exec, code, inputs, arguments.count, &result, 1);
  release(&arguments);
  bool lacks = status && strstr(status->message, "this build has no");
  if (status) status_free(status);
  ivalue_release(result);
  return !lacks;
}
