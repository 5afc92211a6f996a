/* The alias analysis: what points where, who writes, what may move; and how long it takes. */
#include "ir_fixture.h"

#include <math.h>
#include <time.h>

#include "ir/alias_db.h"
#include "ir/ir.h"

typedef struct Fixture {
  IrText ir;
  Arena arena;
  AliasDb *db;
} Fixture;

static void begin(Fixture *f, const char *text) {
  ir_parse(&f->ir, text);
  arena_init(&f->arena, &f->ir.catch_point);
  if (catch_enter(&f->ir.catch_point)) f->db = alias_db_new(f->ir.graph, &f->arena);
  assert_null(f->ir.catch_point.status);
}
static void end(Fixture *f) {
  arena_dispose(&f->arena);
  ir_dispose(&f->ir);
}

static Value *find_in(const Block *block, const char *name) {
  for (uint32_t i = 0; i < block_input_count(block); i++)
    if (str_is(block_input(block, i)->name, name)) return block_input(block, i);
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->output_count; i++)
      if (str_is(node_output(node, i)->name, name)) return node_output(node, i);
    for (uint32_t b = 0; b < node->block_count; b++) {
      Value *found = find_in(node->blocks[b], name);
      if (found) return found;
    }
  }
  return NULL;
}
static Value *find(Fixture *f, const char *name) {
  Value *value = find_in(f->ir.graph->block, name);
  if (!value) fail_msg("no value %%%s", name);
  return value;
}
static bool alias(Fixture *f, const char *a, const char *b) {
  return alias_may_alias(f->db, find(f, a), find(f, b));
}
static bool contain(Fixture *f, const char *a, const char *b) {
  return alias_may_contain_alias(f->db, find(f, a), find(f, b));
}
static bool before(Fixture *f, const char *a, const char *b) {
  return alias_could_move_before(f->db, find(f, a)->node, find(f, b)->node);
}
static bool after(Fixture *f, const char *a, const char *b) {
  return alias_could_move_after(f->db, find(f, a)->node, find(f, b)->node);
}

#define CONSTANTS                               \
  "  %zero : int = prim::Constant[value=0]()\n" \
  "  %one : int = prim::Constant[value=1]()\n"

static const char foo[] = "graph(%a : Tensor,\n      %b : Tensor):\n" CONSTANTS
                          "  %four : int = prim::Constant[value=4]()\n"
                          "  %c : Tensor = aten::mul(%b, %one)\n"
                          "  %a2 : Tensor = aten::add_(%a, %one, %one)\n"
                          "  %m : Tensor = aten::max(%a2)\n"
                          "  %g : Tensor = aten::gt(%m, %four)\n"
                          "  %t : bool = aten::Bool(%g)\n"
                          "  %r : Tensor = prim::If(%t)\n"
                          "    block0():\n      %r1 : Tensor = aten::select(%a2, %zero, %zero)\n      -> (%r1)\n"
                          "    block1():\n      %r2 : Tensor = aten::select(%b, %zero, %zero)\n      -> (%r2)\n"
                          "  %out : (Tensor, Tensor) = prim::TupleConstruct(%c, %r)\n"
                          "  return (%out)\n";

static void test_foo(void **state) {
  (void)state;
  Fixture f;
  begin(&f, foo);
  StrBuf text = {0};
  alias_print(f.db, &text);
  assert_text(&text,
              "===1. ALIAS DB===\n"
              "%a points to: WILDCARD for type Tensor\n"
              "%b points to: WILDCARD for type Tensor\n"
              "%a2 points to: %a\n"
              "%r1 points to: %a2\n"
              "%r2 points to: %b\n"
              "%r points to: %r2, %r1\n"
              "%out contains: %r, %c\n"
              "===2. WRITES===\n"
              "%a2 : Tensor = aten::add_(%a, %one, %one)\n"
              "  writes to: WILDCARD for type Tensor\n");
  assert_true(alias(&f, "a", "b") && alias(&f, "r", "a") && alias(&f, "r", "b"));
  assert_false(alias(&f, "c", "a") || alias(&f, "c", "r") || alias(&f, "out", "r"));
  assert_true(contain(&f, "out", "r") && contain(&f, "out", "c") && contain(&f, "out", "a"));
  assert_true(alias_has_writers(f.db, find(&f, "b")) && !alias_has_writers(f.db, find(&f, "c")));
  end(&f);
}

/* x and y come from outside and may be one; fresh is made here. */
static const char hazards[] = "graph(%x : Tensor,\n      %y : Tensor,\n      %sizes : int[]):\n" CONSTANTS
                              "  %fresh : Tensor = aten::mul(%x, %one)\n"
                              "  %read1 : Tensor = aten::mul(%y, %one)\n"
                              "  %write1 : Tensor = aten::add_(%x, %one, %one)\n"
                              "  %read2 : Tensor = aten::mul(%y, %one)\n"
                              "  %write2 : Tensor = aten::mul_(%y, %one)\n"
                              "  %view : Tensor = aten::view(%fresh, %sizes)\n"
                              "  %before : Tensor = aten::neg(%fresh)\n"
                              "  %local : Tensor = aten::relu_(%view)\n"
                              "  %local2 : Tensor = aten::mul_(%fresh, %one)\n"
                              "  %after : Tensor = aten::neg(%fresh)\n"
                              "  return (%read1, %read2, %before, %after)\n";

static void test_hazards(void **state) {
  (void)state;
  Fixture f;
  begin(&f, hazards);
  assert_false(before(&f, "write2", "write1")); /* WAW, through an alias */
  assert_false(before(&f, "local2", "local"));  /* WAW, through a view */
  assert_false(after(&f, "read1", "write1"));   /* WAR */
  assert_false(after(&f, "before", "local"));
  assert_false(before(&f, "read2", "write1")); /* RAW */
  assert_false(before(&f, "after", "local2"));
  assert_true(after(&f, "read1", "fresh") && before(&f, "read1", "write1"));
  assert_false(before(&f, "local", "fresh")); /* data */
  /* memory made here: what reads and writes it may fail, and then the writes to what comes from outside are there or
   * not */
  assert_false(before(&f, "local", "write1"));
  assert_false(before(&f, "before", "write1"));
  assert_false(after(&f, "write2", "after"));
  end(&f);
}

/* The same of memory that is made here alone: whether it was written nobody sees. */
static void test_hazards_within(void **state) {
  (void)state;
  Fixture f;
  begin(&f, "graph(%z : Tensor):\n" CONSTANTS
            "  %x : Tensor = aten::mul(%z, %one)\n"
            "  %y : Tensor = aten::neg(%x)\n"
            "  %write1 : Tensor = aten::add_(%x, %one, %one)\n"
            "  %read2 : Tensor = aten::mul(%x, %one)\n"
            "  %write2 : Tensor = aten::mul_(%x, %one)\n"
            "  %local : Tensor = aten::relu_(%y)\n"
            "  %after : Tensor = aten::neg(%y)\n"
            "  return (%read2, %after)\n");
  assert_true(before(&f, "local", "write1"));
  assert_false(before(&f, "after", "local"));
  assert_true(after(&f, "write2", "after"));
  assert_true(after(&f, "write1", "after")); /* write2 and read2 come along */
  assert_true(alias_move_after(f.db, find(&f, "write1")->node, find(&f, "after")->node));
  assert_true(node_is_before(find(&f, "write1")->node, find(&f, "read2")->node));
  assert_true(node_is_before(find(&f, "read2")->node, find(&f, "write2")->node));
  assert_null(graph_lint(f.ir.graph));
  end(&f);
}

static void test_barrier(void **state) {
  (void)state;
  Fixture f;
  begin(&f, "graph(%x : Tensor):\n" CONSTANTS
            "  %none : NoneType = prim::Constant()\n"
            "  %fresh : Tensor = aten::mul(%x, %one)\n"
            "  %pure : Tensor = aten::neg(%fresh)\n"
            "  %write : Tensor = aten::add_(%fresh, %one, %one)\n"
            "  %drawn : Tensor = aten::rand_like(%x, %none, %none, %none, %none, %none)\n"
            "  %other : Tensor = aten::mul(%x, %one)\n"
            "  %guarded : Tensor = prim::BailOut[index=0](%x, %fresh)\n"
            "  %late : Tensor = aten::neg(%guarded)\n"
            "  %free : Tensor = aten::neg(%other)\n"
            "  return (%pure, %late, %free)\n");
  assert_false(after(&f, "write", "guarded"));
  assert_false(after(&f, "drawn", "guarded"));
  assert_true(after(&f, "other", "guarded"));
  assert_true(before(&f, "free", "guarded"));
  assert_false(before(&f, "late", "guarded"));
  end(&f);
}

static void test_containers(void **state) {
  (void)state;
  Fixture f;
  begin(&f, "graph(%x : Tensor,\n      %l : Tensor[]):\n" CONSTANTS
            "  %a : Tensor = aten::mul(%x, %one)\n"
            "  %b : Tensor = aten::mul(%x, %one)\n"
            "  %c : Tensor = aten::mul(%x, %one)\n"
            "  %d : Tensor = aten::mul(%x, %one)\n"
            "  %v : Tensor = aten::select(%c, %zero, %zero)\n"
            "  %list : Tensor[] = prim::ListConstruct(%a)\n"
            "  %cat : Tensor = aten::cat(%list, %zero)\n"
            "  %heap : Tensor[] = prim::ListConstruct(%b)\n"
            "  %l2 : Tensor[] = aten::append(%heap, %v)\n"
            "  %got : Tensor = aten::__getitem__(%heap, %zero)\n"
            "  %w : Tensor = aten::add_(%got, %one, %one)\n"
            "  %t : (Tensor[], int) = prim::TupleConstruct(%heap, %one)\n"
            "  return (%t)\n");
  assert_true(contain(&f, "list", "a") && !contain(&f, "list", "x") && !alias(&f, "cat", "a"));
  assert_true(contain(&f, "heap", "b") && contain(&f, "l", "b"));
  /* a view escapes with the memory it shows, so that its base does */
  assert_true(alias(&f, "got", "c") && alias(&f, "got", "x") && alias_has_writers(f.db, find(&f, "c")));
  assert_true(alias(&f, "l2", "heap") && !alias(&f, "heap", "l"));
  assert_false(alias_has_writers(f.db, find(&f, "d")) || alias_has_writers(f.db, find(&f, "a")));
  assert_true(contain(&f, "t", "b") && !alias_is_wildcard(f.db, find(&f, "d")));
  assert_false(before(&f, "got", "l2")); /* appending writes to what indexing reads */
  assert_true(alias_safe_to_change(f.db, find(&f, "d"), find(&f, "cat")));
  end(&f);
}

/* What a loop carries may be what any iteration before left there. */
static void test_loop(void **state) {
  (void)state;
  Fixture f;
  begin(&f, "graph(%x : Tensor,\n      %n : int,\n      %go : bool):\n" CONSTANTS
            "  %p : Tensor = aten::mul(%x, %one)\n"
            "  %q : Tensor = aten::mul(%x, %one)\n"
            "  %r : Tensor, %s : Tensor = prim::Loop(%n, %go, %p, %q)\n"
            "    block0(%i : int, %c : Tensor, %d : Tensor):\n"
            "      %w : Tensor = aten::add_(%c, %one, %one)\n"
            "      -> (%go, %d, %c)\n"
            "  %u : Tensor = aten::neg(%q)\n"
            "  return (%r, %s, %u)\n");
  assert_true(alias(&f, "r", "q") && alias(&f, "r", "p") && alias(&f, "c", "q") && !alias(&f, "r", "x"));
  assert_true(alias_has_writers(f.db, find(&f, "q")));
  assert_false(alias_could_move_before(f.db, find(&f, "u")->node, find(&f, "r")->node));
  end(&f);
}

/* ---- time ---- */

static double seconds(void) { /* of this thread's work, whatever else the machine does */
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Views, writes to them, lists, branches whose results may be any of many: `repeats` times eight nodes. */
static void generate(StrBuf *text, int repeats) {
  strbuf_puts(
      text, "graph(%x : Tensor,\n      %s : int[],\n      %t : bool):\n" CONSTANTS "  %r0 : Tensor = aten::neg(%x)\n");
  for (int i = 0; i < repeats; i++)
    strbuf_printf(text,
                  "  %%a%d : Tensor = aten::mul(%%r%d, %%one)\n"
                  "  %%v%d : Tensor = aten::view(%%a%d, %%s)\n"
                  "  %%w%d : Tensor = aten::add_(%%v%d, %%one, %%one)\n"
                  "  %%l%d : Tensor[] = prim::ListConstruct(%%a%d, %%w%d)\n"
                  "  %%c%d : Tensor = aten::cat(%%l%d, %%zero)\n"
                  "  %%h%d : Tensor[] = prim::ListConstruct(%%c%d)\n"
                  "  %%g%d : Tensor[] = aten::append(%%h%d, %%w%d)\n"
                  "  %%r%d : Tensor = prim::If(%%t)\n"
                  "    block0():\n      -> (%%r%d)\n"
                  "    block1():\n      %%n%d : Tensor = aten::neg(%%x)\n      -> (%%n%d)\n",
                  i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i + 1, i, i, i);
  strbuf_printf(text, "  return (%%r%d)\n", repeats);
}

static double build_time(int repeats) {
  StrBuf text = {0};
  generate(&text, repeats);
  Fixture f;
  begin(&f, text.data);
  strbuf_dispose(&text);
  double best = 1e9;
  for (int run = 0; run < 3; run++) {
    arena_dispose(&f.arena);
    arena_init(&f.arena, &f.ir.catch_point);
    double start = seconds();
    if (catch_enter(&f.ir.catch_point)) {
      f.db = alias_db_new(f.ir.graph, &f.arena);
      assert_false(alias_has_writers(f.db, graph_output(f.ir.graph, 0))); /* the first question builds it */
    }
    double elapsed = seconds() - start;
    if (elapsed < best) best = elapsed;
  }
  char last[16];
  snprintf(last, sizeof last, "r%d", repeats);
  assert_false(alias(&f, last, "x"));
  end(&f);
  return best;
}

static void test_time(void **state) {
  (void)state;
  double small = build_time(250), large = build_time(2500);
  for (int i = 0; i < 5 && large >= 30 * small + 0.05; i++) /* measures may be too large, but none is too small */
    small = fmin(small, build_time(250)), large = fmin(large, build_time(2500));
  print_message("20,000 nodes in %.1f ms, 2,000 in %.2f ms\n", 1e3 * large, 1e3 * small);
  assert_true(large < 30 * small + 0.05); /* near-linear */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_foo),     cmocka_unit_test(test_hazards),    cmocka_unit_test(test_hazards_within),
      cmocka_unit_test(test_barrier), cmocka_unit_test(test_containers), cmocka_unit_test(test_loop),
      cmocka_unit_test(test_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
