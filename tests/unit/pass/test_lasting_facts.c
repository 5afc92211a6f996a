/* What may be said of a tensor's type in spite of writes, where text of graphs can't say who writes: calls, forks,
 * objects. tests/pass/insert_guards_writes.ir has the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "api/handles.h"
#include "frontend/frontend.h"
#include "pass/types/lasting_facts.h"
#include "type/tensor_type.h"

enum { SIZES = 1, GRAD = 2 };

typedef struct Case {
  const char *text;
  struct {
    const char *value; /* of function f */
    int lasts;
  } values[3];
} Case;

#define RESIZER "def g(t):\n    u = t.t_()\n    return u\n"
#define WRITER "def g(t):\n    u = t.add_(torch.ones([2, 3]))\n    return u\n"
#define READER "def g(t):\n    return t.t()\n"
#define BODY "    a = x.neg()\n    b = x.neg()\n"

static const Case cases[] = {
    {RESIZER "def f(x):\n" BODY "    c = g(a)\n    return a * b\n", {{"x", GRAD}, {"a", GRAD}, {"b", SIZES | GRAD}}},
    {WRITER "def f(x):\n" BODY "    c = g(a)\n    return a * b\n", {{"x", SIZES}, {"a", SIZES}, {"b", SIZES | GRAD}}},
    {READER "def f(x):\n" BODY "    c = g(a)\n    return a * b\n",
     {{"x", SIZES | GRAD}, {"a", SIZES | GRAD}, {"b", SIZES | GRAD}}},
    /* in a branch of what is called, and calls within calls */
    {RESIZER "def h(t, n: int):\n    if n > 1:\n        t = g(t)\n    return t\n"
             "def f(x):\n" BODY "    c = h(a, 2)\n    return a * b\n",
     {{"x", GRAD}, {"a", GRAD}, {"b", SIZES | GRAD}}},
    {RESIZER "def h(t):\n    return g(t)\ndef i(t):\n    return h(t)\ndef j(t):\n    return i(t)\n"
             "def k(t):\n    return j(t)\ndef f(x):\n" BODY "    c = k(a)\n    return a * b\n",
     {{"x", 0}, {"a", 0}, {"b", SIZES | GRAD}}},
    /* forks run beside everything else */
    {RESIZER "def f(x):\n" BODY "    c = torch.jit.fork(g, a)\n    d = a * b\n    return d + torch.jit.wait(c)\n",
     {{"x", GRAD}, {"a", GRAD}, {"b", SIZES | GRAD}}},
    {READER "def f(x):\n" BODY "    c = torch.jit.fork(g, a)\n    d = a * b\n    return d + torch.jit.wait(c)\n",
     {{"x", SIZES | GRAD}, {"a", SIZES | GRAD}, {"b", SIZES | GRAD}}},
    {RESIZER "def f(x):\n" BODY "    l = [torch.jit.fork(g, a)]\n    return a * b\n",
     {{"x", GRAD}, {"a", GRAD}, {"b", SIZES | GRAD}}},
    /* a fork of somebody else */
    {"def f(x, o: Future[Tensor]):\n" BODY "    c = torch.jit.wait(o)\n    return a * b\n",
     {{"x", 0}, {"a", SIZES | GRAD}}},
    /* objects */
    {"class C:\n    def __init__(self, t):\n        self.t = t\n"
     "    def m(self, n: int) -> int:\n        u = self.t.t_()\n        return n\n"
     "def f(x):\n" BODY "    c = C(a)\n    n = c.m(2)\n    return a * b\n",
     {{"x", GRAD}, {"a", GRAD}, {"b", SIZES | GRAD}}},
    /* tuples tell of their elements */
    {"def f(x, y: Tuple[Tensor, Tensor]):\n" BODY "    v = y[0].unsqueeze_(0)\n    return a * v\n",
     {{"y", GRAD}, {"a", SIZES | GRAD}}},
    /* grad mode */
    {"def f(x):\n    with torch.no_grad():\n        a = x * 2\n    return a + x\n", {{"x", SIZES}, {"a", SIZES}}},
};

static Value *find_in(Block *block, const char *text) {
  Str name = str_from(text);
  for (Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count; i++) {
      Str own = node_output(node, i)->name;
      if (str_starts_with(own, text) && (own.length == name.length || own.data[name.length] == '.'))
        return node_output(node, i);
    }
    for (uint32_t i = 0; i < node->block_count; i++) {
      Value *found = find_in(node->blocks[i], text);
      if (found) return found;
    }
  }
  return NULL;
}

/* The type with everything known of every tensor in it. */
static const Type *refined(TypeStore *store, const Type *type) {
  if (type->kind == TYPE_TUPLE) {
    const Type *elements[2] = {refined(store, type->elements[0]), refined(store, type->elements[1])};
    return type_tuple(store, 2, elements);
  }
  TensorInfo info;
  tensor_info_init(&info);
  info.dtype = DTYPE_FLOAT32;
  info.requires_grad = 0;
  info.ndim = 1;
  info.has_sizes = info.has_strides = true;
  info.sizes[0] = 4;
  info.strides[0] = 1;
  return type_tensor_refined(store, &info);
}

static int what_lasts(const Type *type) {
  if (type->kind == TYPE_TUPLE) type = type->elements[0];
  assert_true(type->tensor && type->tensor->dtype == DTYPE_FLOAT32);
  return (type->tensor->has_sizes ? SIZES : 0) | (type->tensor->requires_grad == 0 ? GRAD : 0);
}

static void check(Arena *scratch, void *argument) {
  const Case *c = argument;
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  exec_init(&exec, &api_services);
  assert_null(unit_new(&unit));
  assert_null(source_new(str_from(c->text), "writes.py", 1, &source));
  Status status = frontend_compile_program(unit, &exec, source, NULL);
  if (status) print_error("%s\n%s\n", status->message, c->text);
  assert_null(status);
  Graph *graph = unit_find_function(unit, STR("f"))->graph;
  LastingFacts facts;
  lasting_facts_find(&facts, graph, scratch);
  for (int i = 0; i < 3 && c->values[i].value; i++) {
    Value *v = find_in(graph->block, c->values[i].value);
    assert_non_null(v);
    int lasts = what_lasts(lasting_type(&facts, graph->store, v, refined(graph->store, v->type)));
    if (lasts != c->values[i].lasts) print_error("%%%s:\n%s", c->values[i].value, c->text);
    assert_int_equal(lasts, c->values[i].lasts);
  }
  unit_release(unit);
  source_release(source);
}

static void test_writers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Arena arena;
    arena_init(&arena, NULL);
    check(&arena, (void *)(uintptr_t)&cases[i]);
    arena_dispose(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_writers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
