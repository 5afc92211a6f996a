/* Every operator that writes to its first argument gives in every executor what it gives as written: values, dtype,
 * sizes, strides, whose memory the result is, what is left in the arguments, and the error. Calls are made from the
 * schemas in the registry, so an operator that is added is in here by itself.
 *
 * WICK_WRITES=all runs every combination of dtypes, sizes and layouts, else a sample of them; WICK_WRITES=NAME those of
 * one operator, and prints the calls that succeed. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/ir_fixture.h"
#include "api/handles.h"
#include "executor/executor.h"
#include "frontend/frontend.h"
#include "tensor/random.h"

/* ---- programs ---- */

/* What a str argument may be, by the operator: ways to reduce have several sets of names. */
static const char *text_of(const FunctionSchema *schema) {
  if (str_ends_with(schema->name, "scatter_")) return "add";
  if (str_ends_with(schema->name, "scatter_reduce_")) return "sum";
  return str_ends_with(schema->name, "index_reduce_") ? "prod" : "none";
}

/* The text of an argument's value; false: there is none for such a type. */
static bool value_text(const FunctionSchema *schema, const Argument *argument, bool fractions, StrBuf *out) {
  static const struct {
    const char *name;
    TypeKind kind;
    const char *text;
  } by_name[] = {{"index", TYPE_TENSOR, "index"},
                 {"indices", TYPE_TENSOR, "index"},
                 {"mask", TYPE_TENSOR, "mask"},
                 {"condition", TYPE_TENSOR, "mask"},
                 {"batch1", TYPE_TENSOR, "o.unsqueeze(0)"},
                 {"batch2", TYPE_TENSOR, "o.unsqueeze(0)"},
                 {"vec", TYPE_TENSOR, "o[0]"},
                 {"p", TYPE_TENSOR, "torch.sigmoid(o)"},
                 {"dim", TYPE_INT, "0"},
                 {"dim0", TYPE_INT, "0"},
                 {"dim1", TYPE_INT, "-1"},
                 {"axis0", TYPE_INT, "0"},
                 {"axis1", TYPE_INT, "-1"},
                 {"source", TYPE_INT, "0"},
                 {"destination", TYPE_INT, "-1"},
                 {"storage_offset", TYPE_INT, "0"},
                 {"size", TYPE_LIST, "[2, 3]"},
                 {"stride", TYPE_LIST, "[1, 1]"},
                 {"rounding_mode", TYPE_STRING, "None"}};
  const Type *type = argument->type;
  bool optional = type->kind == TYPE_OPTIONAL;
  if (optional) type = type->elements[0];
  for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++)
    if (type->kind == by_name[i].kind && str_equal(argument->name, str_from(by_name[i].name))) {
      strbuf_puts(out, by_name[i].text);
      return true;
    }
  switch (type->kind) {
    case TYPE_TENSOR:
      strbuf_puts(out, "o");
      return true;
    case TYPE_NUMBER:
      strbuf_puts(out, fractions ? "0.5" : "2");
      return true;
    case TYPE_FLOAT:
      strbuf_puts(out, "0.5");
      return true;
    case TYPE_INT:
      strbuf_puts(out, optional ? "None" : "1");
      return true;
    case TYPE_BOOL:
      strbuf_puts(out, "False");
      return true;
    case TYPE_STRING:
      strbuf_printf(out, "\"%s\"", text_of(schema));
      return true;
    case TYPE_LIST: {
      TypeKind element = (TypeKind)type->elements[0]->kind;
      if (element == TYPE_INT) strbuf_puts(out, "[0]");
      if (element == TYPE_TENSOR) strbuf_puts(out, "[o]");
      if (element == TYPE_OPTIONAL) strbuf_puts(out, "[index]");
      return element == TYPE_INT || element == TYPE_TENSOR || element == TYPE_OPTIONAL;
    }
    default:
      if (optional) strbuf_puts(out, "None");
      return optional;
  }
}

/* "y, o, alpha=2"; `all`: with the arguments that have defaults. */
static bool argument_texts(const FunctionSchema *schema, const char *self, bool all, StrBuf *out) {
  strbuf_puts(out, self);
  for (uint32_t i = 1; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    if (argument->has_default && !all) continue;
    strbuf_puts(out, ", ");
    if (argument->kwarg_only) strbuf_printf(out, STR_FMT "=", STR_ARG(argument->name));
    if (!value_text(schema, argument, all, out)) return false;
  }
  return true;
}

enum { FORMS = 3, ARGUMENTS = 4, RESULTS = 4 };
/* The write to what was made here, to an argument with a view that shows it, to one of two names. */
static bool program_text(const Operator *op, int form, bool all, StrBuf *out) {
  static const char *const before[FORMS] = {"    y = x + x\n    v = y\n", "    y = x\n    v = x.view_as(x)\n",
                                            "    y = x.clone()\n    v = y.detach()\n"};
  static const char *const after[FORMS] = {"    return y, z, torch.logical_not(z), z.stride()\n",
                                           "    return y, z, v, z.stride()\n",
                                           "    w = torch.logical_not(y)\n    return v, z, w, y.stride()\n"};
  Str name = str_slice(op->name, strlen("aten::"), op->name.length);
  strbuf_puts(out, "def f(x: Tensor, o: Tensor, index: Tensor, mask: Tensor):\n");
  strbuf_puts(out, before[form]);
  strbuf_printf(out, "    z = torch.ops.aten." STR_FMT "(", STR_ARG(name));
  bool known = argument_texts(operator_schema(op), "y", all, out);
  strbuf_puts(out, ")\n");
  strbuf_puts(out, after[form]);
  return known;
}

typedef struct Program {
  CompilationUnit *unit;
  Source *source;
  Function *function;
} Program;

static Status program_compile(Program *p, Str text) {
  Exec exec;
  *p = (Program){0};
  exec_init(&exec, &api_services);
  assert_null(unit_new(&p->unit));
  assert_null(source_new(text, "writes.py", 1, &p->source));
  Status status = frontend_compile_program(p->unit, &exec, p->source, NULL);
  if (!status) p->function = unit_find_function(p->unit, STR("f"));
  return status;
}

static void program_dispose(Program *p) {
  unit_release(p->unit);
  source_release(p->source);
}

/* ---- arguments ---- */

static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT64,  DTYPE_INT64,    DTYPE_BOOL,
                               DTYPE_UINT8,   DTYPE_BFLOAT16, DTYPE_COMPLEX64};
typedef struct Shape {
  int ndim;
  int64_t sizes[4];
} Shape;
static const struct {
  Shape self, other;
} pairs[] = {{{2, {2, 3}}, {2, {2, 3}}},
             {{2, {3, 3}}, {2, {3, 3}}},
             {{1, {3}}, {2, {3, 3}}},
             {{3, {1, 3, 3}}, {2, {3, 3}}},
             {{2, {3, 3}}, {1, {3}}},
             {{2, {3, 1}}, {2, {3, 4}}},
             {{4, {2, 3, 2, 2}}, {4, {1, 3, 1, 1}}},
             {{0, {0}}, {1, {3}}},
             {{3, {1, 1, 3}}, {0, {0}}}};
typedef enum Layout { ROW_MAJOR, PERMUTED, CHANNELS_LAST, EXPANDED, SLICED, LAYOUTS } Layout;
enum {
  DTYPES = sizeof dtypes / sizeof *dtypes,
  PAIRS = sizeof pairs / sizeof *pairs,
  CASES = DTYPES * PAIRS * LAYOUTS
};

typedef struct Case {
  DType dtype, other_dtype;
  const Shape *self, *other;
  Layout layout;
  int64_t given; /* elements of the smaller tensor, where the operator may change sizes */
} Case;

static int64_t elements(const Shape *shape) {
  int64_t count = 1;
  for (int i = 0; i < shape->ndim; i++) count *= shape->sizes[i];
  return count;
}

static Case case_of(const Operator *op, uint32_t which) {
  uint32_t dtype = which % DTYPES, pair = which / DTYPES % PAIRS, layout = which / DTYPES / PAIRS;
  bool mixed = which % 5 == 4 && !(op->flags & OP_RESHAPES); /* set_ reads memory of another dtype as its own */
  DType other = mixed ? dtypes[(dtype + 1) % DTYPES] : dtypes[dtype];
  Case c = {dtypes[dtype], other, &pairs[pair].self, &pairs[pair].other, (Layout)layout, INT64_MAX};
  if (op->flags & OP_RESHAPES) c.given = elements(c.self) < elements(c.other) ? elements(c.self) : elements(c.other);
  return c;
}

static void fill(Tensor *t) {
  Tensor *doubles;
  assert_null(tensor_empty(DTYPE_FLOAT64, t->ndim, t->sizes, &doubles));
  double *data = tensor_data(doubles);
  for (int64_t i = 0; i < doubles->numel; i++) data[i] = (double)((i * 5 + 1) % 7) - (t->dtype == DTYPE_UINT8 ? 0 : 2);
  assert_null(tensor_copy(t, doubles, 1));
  tensor_release(doubles);
}

static Tensor *make_tensor(DType dtype, const Shape *shape, Layout layout) {
  int64_t strides[4], whole[4];
  int order[4], n = shape->ndim;
  memcpy(whole, shape->sizes, sizeof whole);
  for (int i = 0; i < n; i++) order[i] = layout == PERMUTED ? i : n - 1 - i; /* innermost first */
  if (layout == CHANNELS_LAST && n == 4) memcpy(order, (int[]){1, 3, 2, 0}, sizeof order);
  if (layout == SLICED && n) whole[n - 1] = 2 * whole[n - 1];
  if (layout == EXPANDED && n) whole[0] = 1;
  int64_t stride = 1;
  for (int i = 0; i < n; i++) {
    strides[order[i]] = stride;
    stride *= whole[order[i]];
  }
  if (layout == SLICED && n) strides[n - 1] = 2;
  if (layout == EXPANDED && n) strides[0] = 0;
  Tensor *base, *t;
  assert_null(tensor_empty(dtype, 1, (int64_t[]){stride}, &base));
  fill(base);
  assert_null(tensor_from_storage(base->storage, dtype, n, shape->sizes, strides, 0, &t));
  tensor_release(base);
  return t;
}

static void make_arguments(const Case *c, IValue arguments[ARGUMENTS]) {
  Tensor *index, *mask;
  assert_null(tensor_empty(DTYPE_INT64, 1, (int64_t[]){1}, &index));
  *(int64_t *)tensor_data(index) = 0;
  assert_null(tensor_empty(DTYPE_BOOL, c->self->ndim, c->self->sizes, &mask));
  fill(mask);
  arguments[0] = ivalue_tensor(make_tensor(c->dtype, c->self, c->layout));
  arguments[1] = ivalue_tensor(make_tensor(c->other_dtype, c->other, c->layout == PERMUTED ? PERMUTED : ROW_MAJOR));
  arguments[2] = ivalue_tensor(index);
  arguments[3] = ivalue_tensor(mask);
}

/* ---- outcomes ---- */

typedef struct Outcome {
  Status status;
  IValue arguments[ARGUMENTS], result;
} Outcome;

static void outcome_make(Program *p, const Case *c, const ExecutorOptions *options, Outcome *out) {
  Exec exec;
  Generator *generator;
  exec_init(&exec, &api_services);
  assert_null(generator_new(7, &generator));
  exec.generator = generator;
  exec.executor = options;
  exec.work.threads = 1;
  *out = (Outcome){0};
  make_arguments(c, out->arguments);
  out->status = executor_call(&exec, p->function, out->arguments, ARGUMENTS, &out->result);
  generator_release(generator);
}

static void outcome_dispose(Outcome *o) {
  status_free(o->status);
  ivalue_release(o->result);
  for (int i = 0; i < ARGUMENTS; i++) ivalue_release(o->arguments[i]);
}

static bool same_elements(const Tensor *a, const Tensor *b) {
  Tensor *x, *y;
  assert_null(tensor_contiguous(a, &x));
  assert_null(tensor_contiguous(b, &y));
  bool same = !x->numel || !memcmp(tensor_data(x), tensor_data(y), (size_t)x->numel * dtype_size((DType)x->dtype));
  tensor_release(x);
  tensor_release(y);
  return same;
}

/* Beyond the elements that were given nobody knows what memory that grew holds. */
static const char *different_tensors(const Tensor *a, const Tensor *b, int64_t given) {
  size_t bytes = (size_t)a->ndim * sizeof(int64_t);
  if (a->dtype != b->dtype) return "another dtype";
  if (a->ndim != b->ndim || memcmp(a->sizes, b->sizes, bytes)) return "other sizes";
  if (memcmp(a->strides, b->strides, bytes)) return "other strides";
  if (a->numel > given) return NULL;
  return same_elements(a, b) ? NULL : "other values";
}

/* Arguments, then the tensors of the result. */
static int tensors_of(const Outcome *o, const Tensor *out[ARGUMENTS + RESULTS]) {
  int count = 0;
  for (int i = 0; i < ARGUMENTS; i++) out[count++] = o->arguments[i].tensor;
  for (int i = 0; i < RESULTS - 1 && !o->status; i++) out[count++] = o->result.tuple->values[i].tensor;
  return count;
}

static const char *difference(const Outcome *a, const Outcome *b, int64_t given) {
  const Tensor *x[ARGUMENTS + RESULTS], *y[ARGUMENTS + RESULTS];
  if (!a->status != !b->status) return a->status ? "no error" : "an error";
  if (a->status && strcmp(a->status->message, b->status->message)) return "another error";
  int count = tensors_of(a, x);
  tensors_of(b, y);
  for (int i = 0; i < count; i++) {
    const char *different = different_tensors(x[i], y[i], given);
    if (different) return different;
    for (int k = 0; k < i; k++)
      if ((x[i]->storage == x[k]->storage) != (y[i]->storage == y[k]->storage)) return "memory shared otherwise";
  }
  return NULL;
}

static void print_outcome(const Outcome *o) {
  StrBuf out = {0};
  const Tensor *tensors[ARGUMENTS + RESULTS];
  int count = tensors_of(o, tensors);
  if (o->status) strbuf_printf(&out, "  %s\n", o->status->message);
  for (int i = 0; i < count; i++) {
    const Tensor *t = tensors[i];
    if (i == 2 || i == 3) continue;
    strbuf_printf(&out, "  %s %s %s: ", dtype_name((DType)t->dtype), SIZES_TEXT(t->ndim, t->sizes),
                  SIZES_TEXT(t->ndim, t->strides));
    assert_null(tensor_print(t, &out));
    strbuf_char(&out, '\n');
  }
  fprintf(stderr, "%s", out.data ? out.data : "");
  strbuf_dispose(&out);
}

/* ---- the comparison ---- */

typedef struct Counts {
  uint32_t operators, calls, succeeded, wrong;
} Counts;

/* Four calls of a fresh program under the executor, all as `expected`. */
static void check_executor(ExecutorMode mode, Str text, const Case *c, const Outcome *expected, Counts *counts) {
  enum { CALLS = 4 };
  Program p;
  ExecutorOptions options = {.mode = mode, .compile_now = true};
  executor_options_complete(&options, &options);
  assert_null(program_compile(&p, text));
  const char *different = NULL;
  for (int call = 0; call < CALLS && !different; call++) {
    Outcome got;
    outcome_make(&p, c, &options, &got);
    counts->calls++;
    different = difference(expected, &got, c->given);
    if (different) {
      fprintf(stderr, "%s in call %d, %s\n" STR_FMT "expected:\n", different, call + 1, executor_mode_name(mode),
              STR_ARG(text));
      print_outcome(expected);
      fprintf(stderr, "got:\n");
      print_outcome(&got);
    }
    outcome_dispose(&got);
  }
  counts->wrong += different != NULL;
  program_dispose(&p);
}

static bool check_case(Str text, const Case *c, Counts *counts) {
  Program p;
  Outcome expected;
  ExecutorOptions options = {.mode = EXECUTOR_SIMPLE};
  executor_options_complete(&options, &options);
  assert_null(program_compile(&p, text));
  outcome_make(&p, c, &options, &expected);
  counts->calls++;
  bool succeeded = !expected.status;
  check_executor(EXECUTOR_SPECIALIZING, text, c, &expected, counts);
  check_executor(EXECUTOR_PROFILING, text, c, &expected, counts);
  outcome_dispose(&expected);
  program_dispose(&p);
  return succeeded;
}

static bool writes_first_argument(const Operator *op) {
  const FunctionSchema *schema = operator_schema(op);
  if (!str_starts_with(op->name, "aten::") || op->library || schema->is_vararg || !schema->argument_count) return false;
  const Argument *self = &schema->arguments[0];
  if (self->type->kind != TYPE_TENSOR || !self->alias || !self->alias->is_write) return false;
  return schema->return_count == 1 && schema->returns[0].type->kind == TYPE_TENSOR;
}

/* How many of its calls gave a result; -1: nothing can be made of its schema. */
static int check_operator(const Operator *op, bool all_cases, bool print, Counts *counts) {
  int succeeded = -1;
  uint32_t at = 0;
  for (int i = 0; i < FORMS * 2; i++) {
    StrBuf text = {0};
    Program p;
    bool known = program_text(op, i / 2, i % 2, &text);
    Status status = known ? program_compile(&p, strbuf_view(&text)) : OK;
    if (known) program_dispose(&p);
    if (known && !status && succeeded < 0) succeeded = 0;
    if (status && print) fprintf(stderr, "%s\n%s", text.data, status->message);
    for (uint32_t c = 0; known && !status && c < CASES; c++) {
      if (!all_cases && (at++ * 2654435761u >> 16) % 64) continue;
      Case one = case_of(op, c);
      bool fine = check_case(strbuf_view(&text), &one, counts);
      succeeded += fine;
      if (fine && print)
        fprintf(stderr, "%s%s, %s %s, layout %d\n", text.data, dtype_name(one.dtype), dtype_name(one.other_dtype),
                SIZES_TEXT(one.self->ndim, one.self->sizes), one.layout);
    }
    status_free(status);
    strbuf_dispose(&text);
  }
  return succeeded;
}

static void test_writes(void **state) {
  (void)state;
  const char *wanted = getenv("WICK_WRITES");
  bool all = wanted && !strcmp(wanted, "all");
  Counts counts = {0};
  uint32_t without = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    if (!writes_first_argument(op) || (wanted && !all && !str_equal(op->name, str_from(wanted)))) continue;
    int succeeded = check_operator(op, wanted != NULL, wanted && !all, &counts);
    counts.operators++;
    counts.succeeded += succeeded > 0;
    if (succeeded <= 0)
      print_message("%s " STR_FMT "." STR_FMT "\n", succeeded ? "no text for" : "no call succeeds of",
                    STR_ARG(op->name), STR_ARG(op->overload_name));
    without += succeeded <= 0;
  }
  print_message("%u operators, %u calls, %u operators with results, %u comparisons failed\n", counts.operators,
                counts.calls, counts.succeeded, counts.wrong);
  assert_int_equal(counts.wrong, 0);
  assert_true(wanted || without * 20 < counts.operators);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
