#include "serial/pt2/checks.h"

#include <assert.h>
#include <math.h>

#include "serial/pt2/expression.h"

/* A size that is a formula, and not yet checked. */
typedef struct Pt2Formula {
  const Expression *expression;
  Value *value;
  const char *what; /* "x.size(0)" */
  Str text;
  struct Pt2Formula *next;
} Pt2Formula;

void pt2_checks_init(Pt2Builder *b, Pt2Checks *checks, const Json *program) {
  *checks = (Pt2Checks){.graph = json_get(json_get(program, "graph_module"), "graph"),
                        .ranges = json_get(program, "range_constraints"),
                        .guards = json_array(program, "guards_code")};
  map_init(&checks->sizes, b->graph->arena);
  map_init(&checks->symbols, b->graph->arena);
  map_init(&checks->origins, b->graph->arena);
}

static const char *text_of(Pt2Builder *b, Str name) {
  return arena_strndup(b->graph->arena, name.data, name.length);
}
static void demand(Pt2Builder *b, const char *op, Value *value, Value *bound, const char *message) {
  pt2_raise_if(b, PT2_EMIT(b, op, value, bound), str_from(message), 1, &value);
}
static void demand_int(Pt2Builder *b, const char *op, Value *value, int64_t bound, const char *message) {
  demand(b, op, value, pt2_constant(b, ivalue_int(bound)), message);
}

/* A program that was exported for sizes of 2 and more runs with less, too: the lower bound that export gives to every
 * size that may change is no promise of the model's. */
static void check_range(Pt2Builder *b, const Pt2Checks *checks, Str symbol, Value *value, const char *what) {
  const Json *range = NULL;
  int64_t least, most;
  for (const Json *e = json_first(checks->ranges); e && !range; e = json_next(e))
    if (json_is_object(checks->ranges) && str_equal(json_key(e), symbol)) range = e;
  if (json_int(json_get(range, "min_val"), &least) && least > 2)
    demand_int(b, "aten::lt", value, least,
               arena_printf(b->graph->arena, "%s is {}, at least %lld: the range that it was exported for", what,
                            (long long)least));
  if (json_int(json_get(range, "max_val"), &most) && most < INT64_MAX / 2)
    demand_int(b, "aten::gt", value, most,
               arena_printf(b->graph->arena, "%s is {}, at most %lld: the range that it was exported for", what,
                            (long long)most));
}

static void define_symbol(Pt2Builder *b, Pt2Checks *checks, Str symbol, Value *value, const char *what) {
  map_put(&checks->symbols, symbol, value);
  map_put(&checks->origins, symbol, (void *)(uintptr_t)what);
  check_range(b, checks, symbol, value, what);
}

static void check_equal(Pt2Builder *b, Value *value, Value *expected, const char *what, const char *why) {
  Value *values[2] = {value, expected};
  pt2_raise_if(b, PT2_EMIT(b, "aten::ne", value, expected),
               str_from(arena_printf(b->graph->arena, "%s is {}, expected {}%s", what, why)), 2, values);
}

static void check_expression(Pt2Builder *b, Pt2Checks *checks, Str text, Value *value, const char *what) {
  const Expression *e = expression_read(b, text);
  if (e->kind == EXPRESSION_SYMBOL && !map_has(&checks->symbols, e->symbol)) {
    define_symbol(b, checks, e->symbol, value, what);
  } else if (e->kind == EXPRESSION_SYMBOL) {
    const char *origin = map_get(&checks->origins, e->symbol);
    check_equal(b, value, map_get(&checks->symbols, e->symbol), what, arena_printf(b->graph->arena, ", as %s", origin));
  } else {
    Pt2Formula *formula = ARENA_NEW(b->graph->arena, Pt2Formula);
    *formula = (Pt2Formula){e, value, what, text, checks->formulas};
    checks->formulas = formula;
  }
}

/* {"as_int": 4}, {"as_expr": {"expr_str": ...}}: what a size, or an int, must be. */
static void check_number(Pt2Builder *b, Pt2Checks *checks, const Json *number, Value *value, const char *what) {
  int64_t fixed;
  Str text;
  if (json_int(json_get(number, "as_int"), &fixed))
    demand_int(b, "aten::ne", value, fixed,
               arena_printf(b->graph->arena, "%s is {}, expected %lld: the program was exported for this alone", what,
                            (long long)fixed));
  else if (json_string(json_get(json_get(number, "as_expr"), "expr_str"), &text))
    check_expression(b, checks, text, value, what);
}

static const Json *find_member(const Json *object, Str name) {
  for (const Json *e = json_first(object); json_is_object(object) && e; e = json_next(e))
    if (str_equal(json_key(e), name)) return e;
  return NULL;
}

/* What conditions ask. */
static void add_symbol(Pt2Checks *checks, const char *name, Value *value) {
  map_put(&checks->sizes, str_from(name), value);
}

static void check_sizes(Pt2Builder *b, Pt2Checks *checks, const Json *sizes, Value *tensor, const char *label,
                        uint32_t place) {
  int64_t dim = 0;
  Arena *arena = b->graph->arena;
  if (json_count(sizes) > TENSOR_MAX_DIMS) pt2_fail(b, ERROR_DATA, "an input has too many dimensions");
  demand_int(b, "aten::ne", PT2_EMIT(b, "aten::dim", tensor), (int64_t)json_count(sizes),
             arena_printf(arena, "%s.dim() is {}, expected %zu", label, json_count(sizes)));
  for (const Json *e = json_first(sizes); e; e = json_next(e), dim++) {
    Value *size = PT2_EMIT(b, "aten::size", tensor, pt2_constant(b, ivalue_int(dim)));
    const char *what = arena_printf(arena, "%s.size(%lld)", label, (long long)dim);
    add_symbol(checks, what, size);
    add_symbol(checks, arena_printf(arena, "flat_args[%u].size(%lld)", place, (long long)dim), size);
    check_number(b, checks, e, size, what);
  }
}

void pt2_check_input(Pt2Builder *b, Pt2Checks *checks, Str name, Value *value, const char *label, uint32_t place) {
  if (value->type->kind == TYPE_TENSOR) {
    const Json *sizes = json_array(find_member(json_get(checks->graph, "tensor_values"), name), "sizes");
    if (sizes) check_sizes(b, checks, sizes, value, label, place);
  } else if (value->type->kind == TYPE_INT) {
    add_symbol(checks, label, value);
    add_symbol(checks, arena_printf(b->graph->arena, "flat_args[%u]", place), value);
    check_number(b, checks, find_member(json_get(checks->graph, "sym_int_values"), name), value, label);
  }
}

void pt2_check_constant(Pt2Builder *b, Value *value, IValue constant, const char *label) {
  Arena *arena = b->graph->arena;
  Value *expected = pt2_constant(b, ivalue_retain(constant));
  bool is_none = constant.tag == TAG_NONE, is_nan = constant.tag == TAG_FLOAT && isnan(constant.f);
  Value *differs = is_none  ? PT2_EMIT(b, "aten::__isnot__", value, expected)
                   : is_nan ? PT2_EMIT(b, "aten::eq", value, value)
                            : PT2_EMIT(b, "aten::ne", value, expected);
  pt2_raise_if(b, differs,
               str_from(arena_printf(arena, "%s was %s when the program was exported, and can't be anything else",
                                     label, is_none ? "None" : "another value")),
               0, NULL);
}

/* factor * symbol + rest, where the symbol is nowhere else: what it is then, and what remains is nothing. */
static bool solve(Pt2Builder *b, Pt2Checks *checks, const Pt2Formula *formula) {
  Str symbol;
  int64_t factor, rest;
  if (!expression_is_linear(formula->expression, &symbol, &factor, &rest) || factor < 1 ||
      map_has(&checks->symbols, symbol))
    return false;
  Arena *arena = b->graph->arena;
  Value *scaled = PT2_EMIT(b, "aten::sub", formula->value, pt2_constant(b, ivalue_int(rest)));
  Value *by = pt2_constant(b, ivalue_int(factor));
  Value *remainder = PT2_EMIT(b, "aten::remainder", scaled, by);
  pt2_raise_if(b, PT2_EMIT(b, "aten::ne", remainder, pt2_constant(b, ivalue_int(0))),
               str_from(arena_printf(arena, "%s is {}, expected %lld * n + %lld", formula->what, (long long)factor,
                                     (long long)rest)),
               1, (Value *[]){formula->value});
  define_symbol(b, checks, symbol, PT2_EMIT(b, "aten::floordiv", scaled, by), text_of(b, symbol));
  return true;
}

/* What can't be checked is said whenever the program runs, also one that was saved. */
static void warn_unchecked(Pt2Builder *b, const char *text) {
  Value *message = pt2_string(b, str_from(text)), *level = pt2_constant(b, ivalue_int(2));
  PT2_EMIT(b, "aten::warn", message, level);
}

/* Conditions that the model itself made of sizes. */
static void check_guard(Pt2Builder *b, const Pt2Checks *checks, Str text) {
  Arena *arena = b->graph->arena;
  const Expression *guard = guard_read(b, text);
  Value *holds = guard ? expression_emit(b, guard, &checks->sizes) : NULL;
  if (!holds || holds->type->kind != TYPE_BOOL) {
    warn_unchecked(
        b, arena_printf(arena, "the program was exported for arguments with " STR_FMT ", which wick can't check",
                        PT2_SHORT(text)));
    return;
  }
  char *shown = arena_printf(arena, "the program was exported for sizes with " STR_FMT, PT2_SHORT(text));
  for (char *c = shown; *c; c++)
    if (*c == '{' || *c == '}') *c = '?';
  pt2_raise_if(b, PT2_EMIT(b, "aten::__not__", holds), str_from(shown), 0, NULL);
}

/* Sizes by the same formula are equal, whatever its symbols are. */
static bool check_same_formula(Pt2Builder *b, const Pt2Formula *formula) {
  for (const Pt2Formula *other = formula->next; other; other = other->next)
    if (str_equal(other->text, formula->text)) {
      check_equal(b, formula->value, other->value, formula->what,
                  arena_printf(b->graph->arena, ", as %s", other->what));
      return true;
    }
  return false;
}
static void check_formula(Pt2Builder *b, Pt2Checks *checks, const Pt2Formula *f) {
  Value *expected = expression_emit(b, f->expression, &checks->symbols);
  if (expected)
    check_equal(b, f->value, expected, f->what, "");
  else if (!solve(b, checks, f) && !check_same_formula(b, f) && expression_has_other(f->expression))
    warn_unchecked(b, arena_printf(b->graph->arena, "%s is to be " STR_FMT ", which wick can't check", f->what,
                                   PT2_SHORT(f->text)));
}

void pt2_checks_finish(Pt2Builder *b, Pt2Checks *checks) {
  Str text;
  for (const Pt2Formula *f = checks->formulas; f; f = f->next) check_formula(b, checks, f);
  for (const Json *e = json_first(checks->guards); e; e = json_next(e))
    if (json_string(e, &text)) check_guard(b, checks, text);
}
