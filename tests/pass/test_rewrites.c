/* Each pass alone: programs that it changes do the same afterwards. pass/programs/<pass>.py, and <pass>.<part>.py,
 * hold functions, <pass>.ir graphs between lines "===", all made for that pass. What a graph does that can't run
 * as written says another one after a line "---". A function `fails_...` has an error with all arguments. Lines at
 * the start of the file may say
 *
 *   # with: name name...    the passes that run, if others are needed before or after it
 *   # tolerance: 1e-5       what may differ, where sums change their order
 *   # loses errors          what is not needed any more does not fail
 *   # another error: why   an error may be another one that the program has
 *   # rewrites nothing      the pass only looks
 *
 * Every program runs with the arguments of each set below, as written and as rewritten: with types of the arguments in
 * the graph and without. Results, arguments afterwards, dtypes, sizes, strides, shared memory, requires_grad, gradients
 * and errors must agree; each program must be changed; every pass that keeps results must have programs.
 * WICK_REWRITE=pass runs one and prints its graphs. */
#include <dirent.h>
#include <stdlib.h>

#include "../unit/ir_fixture.h"
#include "../unit/outcome.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "tensor/random.h"
#include "type/tensor_type.h"

enum { MAX_PASSES = 256, MAX_ARGUMENTS = 8, MAX_OUTPUTS = 8, MAX_NAMES = 8 };

/* ---- sets of arguments ---- */

typedef enum Layout { DENSE, TURNED, STEPPED, EXPANDED } Layout;
typedef struct Spec {
  DType dtype;
  int ndim;
  int64_t sizes[4];
  Layout layout;
  bool requires_grad;
} Spec;
typedef enum Sharing { APART, SAME, VIEWS } Sharing;
/* The k-th tensor of a program is as specs[k % 3] says. */
typedef struct Set {
  const char *name;
  Spec specs[3];
  Sharing sharing; /* SAME: all are one tensor, VIEWS: all after the first show parts of its memory */
  bool grad_mode, flag;
} Set;

#define F32 DTYPE_FLOAT32
#define F64 DTYPE_FLOAT64
#define EACH(...)                   \
  {                                 \
    {__VA_ARGS__}, {__VA_ARGS__}, { \
      __VA_ARGS__                   \
    }                               \
  }
static const Set sets[] = {
    {"square", EACH(F32, 2, {3, 3}), .flag = true},
    {"double that requires grad", EACH(F64, 2, {3, 3}, .requires_grad = true), .grad_mode = true, .flag = true},
    {"one requires grad",
     {{F32, 2, {3, 3}, .requires_grad = true}, {F32, 2, {3, 3}}, {F32, 2, {3, 3}}},
     .grad_mode = true},
    {"another requires grad",
     {{F32, 2, {3, 3}}, {F32, 2, {3, 3}, .requires_grad = true}, {F32, 2, {3, 3}}},
     .grad_mode = true,
     .flag = true},
    {"requires grad without grad mode", EACH(F32, 2, {3, 3}, .requires_grad = true), .flag = true},
    {"turned", {{F32, 2, {3, 3}, TURNED}, {F32, 2, {3, 3}}, {F32, 2, {3, 3}, TURNED}}, .flag = true},
    {"stepped",
     {{F32, 2, {3, 3}, STEPPED, true}, {F32, 2, {3, 3}, STEPPED}, {F32, 2, {3, 3}, TURNED}},
     .grad_mode = true},
    {"expanded", {{F32, 2, {3, 3}, EXPANDED}, {F32, 2, {3, 3}}, {F32, 2, {3, 3}, EXPANDED}}, .flag = true},
    {"broadcast",
     {{F32, 2, {3, 3}, .requires_grad = true}, {F32, 1, {3}, .requires_grad = true}, {F32, 2, {1, 3}}},
     .grad_mode = true},
    {"broadcast to the second", {{F32, 1, {3}}, {F32, 2, {3, 3}}, {F32, 2, {3, 1}}}, .flag = true},
    {"no dimensions", {{F32, 0, {0}}, {F64, 0, {0}}, {F32, 0, {0}}}, .flag = true},
    {"some without dimensions",
     {{F32, 2, {3, 3}, .requires_grad = true}, {F64, 0, {0}}, {DTYPE_INT64, 0, {0}}},
     .grad_mode = true},
    {"no elements", EACH(F32, 2, {0, 3}, .requires_grad = true), .grad_mode = true, .flag = true},
    {"no columns", EACH(F32, 2, {3, 0})},
    {"ints", EACH(DTYPE_INT64, 2, {3, 3}), .flag = true},
    {"bools", EACH(DTYPE_BOOL, 2, {3, 3})},
    {"bytes and ints", {{DTYPE_UINT8, 2, {3, 3}}, {DTYPE_INT32, 2, {3, 3}}, {DTYPE_BOOL, 2, {3, 3}}}, .flag = true},
    {"half", EACH(DTYPE_FLOAT16, 2, {3, 3})},
    {"bfloat16", EACH(DTYPE_BFLOAT16, 2, {3, 3}, .requires_grad = true), .grad_mode = true, .flag = true},
    {"complex", EACH(DTYPE_COMPLEX64, 2, {3, 3}, .requires_grad = true), .grad_mode = true},
    {"mixed",
     {{F32, 2, {3, 3}, .requires_grad = true}, {F64, 2, {3, 3}}, {DTYPE_INT64, 2, {3, 3}}},
     .grad_mode = true,
     .flag = true},
    {"ints first", {{DTYPE_INT64, 2, {3, 3}}, {F32, 2, {3, 3}}, {F64, 2, {3, 3}}}},
    {"one tensor", EACH(F32, 2, {3, 3}), .sharing = SAME, .flag = true},
    {"one tensor that requires grad", EACH(F32, 2, {3, 3}, .requires_grad = true), .sharing = SAME, .grad_mode = true},
    {"views", EACH(F32, 2, {3, 3}), .sharing = VIEWS, .flag = true},
    {"other sizes", {{F32, 2, {3, 3}}, {F32, 2, {2, 4}}, {F32, 1, {5}}}, .flag = true},
    {"three dimensions", EACH(F32, 3, {2, 3, 3}, .requires_grad = true), .grad_mode = true, .flag = true},
    {"one sample", EACH(F32, 4, {1, 3, 4, 4})},
    {"four dimensions", EACH(F32, 4, {2, 3, 4, 4}, .requires_grad = true), .grad_mode = true, .flag = true},
    {"four dimensions, turned", EACH(F32, 4, {2, 3, 4, 4}, TURNED)},
    {"wide", {{F32, 2, {3, 3}}, {F32, 2, {3, 4}}, {F32, 2, {3, 1}}}, .flag = true},
    {"tall", {{F32, 2, {4, 3}, .requires_grad = true}, {F32, 2, {3, 3}}, {F32, 2, {1, 3}}}, .grad_mode = true},
};
enum { SETS = sizeof sets / sizeof *sets };

/* Strides by which `spec` lies in memory; how many elements that takes. */
static int64_t strides_of(const Spec *spec, int64_t *strides) {
  int64_t step = spec->layout == STEPPED ? 2 : 1;
  for (int i = 0; i < spec->ndim; i++) {
    int dim = spec->layout == TURNED ? i : spec->ndim - 1 - i;
    strides[dim] = step;
    step *= spec->sizes[dim];
  }
  if (spec->layout == EXPANDED && spec->ndim) strides[0] = 0;
  return step > 0 ? step : 1;
}

static Tensor *memory_of(DType dtype, int64_t count, int which) {
  Tensor *wide, *t;
  assert_null(tensor_empty(DTYPE_FLOAT64, 1, &count, &wide));
  double *data = tensor_data(wide);
  for (int64_t i = 0; i < count; i++) data[i] = (double)((i * 7 + which * 5) % 11) * 0.5 - 1.5 + which;
  if (dtype == DTYPE_BOOL)
    for (int64_t i = 0; i < count; i++) data[i] = (i + which) % 3 != 0;
  if (dtype == DTYPE_UINT8)
    for (int64_t i = 0; i < count; i++) data[i] = fabs(data[i]);
  assert_null(tensor_to_dtype(wide, dtype, &t));
  tensor_release(wide);
  return t;
}

typedef struct Arguments {
  const Set *set;
  IValue values[MAX_ARGUMENTS];
  uint32_t count;
  Tensor *tensors[MAX_ARGUMENTS * 4]; /* all that are within, owned */
  int tensor_count;
} Arguments;

static Tensor *next_tensor(Arguments *a) {
  const Spec *spec = &a->set->specs[a->tensor_count % 3];
  Tensor *t, *first = a->tensor_count ? a->tensors[0] : NULL;
  int64_t strides[4];
  int64_t count = strides_of(spec, strides);
  if (first && a->set->sharing == SAME) {
    t = tensor_retain(first);
  } else {
    Tensor *memory =
        first && a->set->sharing == VIEWS ? tensor_retain(first) : memory_of(spec->dtype, count + 16, a->tensor_count);
    int64_t offset = first && a->set->sharing == VIEWS ? a->tensor_count : 0;
    assert_null(tensor_from_storage(memory->storage, spec->dtype, spec->ndim, spec->sizes, strides, offset, &t));
    tensor_release(memory);
    if (spec->requires_grad) t->flags |= TENSOR_REQUIRES_GRAD;
  }
  assert_true(a->tensor_count < MAX_ARGUMENTS * 4);
  a->tensors[a->tensor_count++] = t;
  return t;
}

static IValue argument_of(Arguments *a, const Type *type) {
  List *list;
  switch (type->kind) {
    case TYPE_TENSOR:
      return ivalue_retain(ivalue_tensor(next_tensor(a)));
    case TYPE_INT:
      return ivalue_int(a->set->flag ? 3 : 1);
    case TYPE_FLOAT:
      return ivalue_float(a->set->flag ? 0.5 : 2);
    case TYPE_BOOL:
      return ivalue_bool(a->set->flag);
    case TYPE_OPTIONAL:
      return a->set->flag ? argument_of(a, type->elements[0]) : IVALUE_NONE;
    case TYPE_LIST:
      assert_null(list_new(type->elements[0], 3, &list));
      for (int i = 0; i < 3; i++) assert_null(list_append(list, argument_of(a, type->elements[0])));
      return (IValue){.tag = TAG_LIST, .list = list};
    default:
      fail_msg("no argument of such a type");
      return IVALUE_NONE;
  }
}

static void arguments_init(Arguments *a, const Set *set, const Graph *graph) {
  *a = (Arguments){.set = set, .count = graph_input_count(graph)};
  assert_true(a->count <= MAX_ARGUMENTS);
  for (uint32_t i = 0; i < a->count; i++) a->values[i] = argument_of(a, graph_input(graph, i)->type);
}
static void arguments_dispose(Arguments *a) {
  for (uint32_t i = 0; i < a->count; i++) ivalue_release(a->values[i]);
  for (int i = 0; i < a->tensor_count; i++) tensor_release(a->tensors[i]);
}

/* ---- runs ---- */

typedef struct Outcome {
  Arguments arguments;
  IValue results[MAX_OUTPUTS];
  uint32_t result_count;
  Status status, backward;
} Outcome;

static void run_graph(Exec *exec, const Graph *graph, const Set *set, Outcome *out) {
  Code *code;
  *out = (Outcome){.result_count = graph_output_count(graph)};
  assert_true(out->result_count <= MAX_OUTPUTS);
  arguments_init(&out->arguments, set, graph);
  out->status = code_compile(graph, STR("f"), &code);
  if (out->status) fail_msg("does not compile: %s", out->status->message);
  exec->grad_enabled = set->grad_mode;
  generator_seed(exec->generator, 11);
  out->status = interp_run(exec, code, out->arguments.values, out->arguments.count, out->results, out->result_count);
  code_free(code);
}

static void outcome_dispose(Outcome *o) {
  arguments_dispose(&o->arguments);
  for (uint32_t i = 0; i < o->result_count; i++) ivalue_release(o->results[i]);
  if (o->status) status_free(o->status);
  if (o->backward) status_free(o->backward);
}

static void tensors_of_outcome(const Outcome *o, const Tensor **out, int *count) {
  for (int i = 0; i < o->arguments.tensor_count; i++) out[(*count)++] = o->arguments.tensors[i];
  for (uint32_t i = 0; i < o->result_count; i++) tensors_of(o->results[i], out, count);
  for (uint32_t i = 0; i < o->arguments.count; i++) /* lists may have grown */
    if (o->arguments.values[i].tag == TAG_LIST) tensors_of(o->arguments.values[i], out, count);
}

static Status backward_of(const Exec *exec, const Outcome *o) {
  Tuple *all;
  assert_null(tuple_new(o->result_count, NULL, &all));
  for (uint32_t i = 0; i < o->result_count; i++) all->values[i] = ivalue_retain(o->results[i]);
  IValue value = {.tag = TAG_TUPLE, .tuple = all};
  Status status = backward_of_sum(exec, value);
  ivalue_release(value);
  return status;
}

/* ---- one program and one pass ---- */

typedef struct Programs {
  const char *path; /* for messages */
  const Pass *pass;
  const Pass *row[MAX_NAMES]; /* the passes that run */
  int row_count;
  double tolerance;
  bool loses_errors, another_error, rewrites_nothing;
} Programs;

static const char *different_errors(const Programs *p, Status written, Status rewritten) {
  if (written && !rewritten) return p->loses_errors ? NULL : "the error is lost";
  if (!written && rewritten) return "fails";
  if (!written || p->another_error || !strcmp(written->message, rewritten->message)) return NULL;
  return "another error";
}

static double tolerance_for(const Programs *p, const Set *set) {
  DType dtype = set->specs[0].dtype;
  bool is_half = dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
  return p->tolerance > 0 && is_half ? 5e-2 : p->tolerance;
}

static const char *different_outcomes(const Programs *p, Exec *exec, Outcome *a, Outcome *b) {
  const char *different = different_errors(p, a->status, b->status);
  const Tensor *x[MAX_OUTCOME_TENSORS], *y[MAX_OUTCOME_TENSORS];
  int n = 0, m = 0;
  bool gradients = p->pass->keeps == KEEPS_GRADIENTS;
  if (different || (a->status && !b->status)) return different;
  for (uint32_t i = 0; i < a->result_count; i++)
    if (!same_structure(a->results[i], b->results[i])) return "results of other types, numbers or lengths";
  for (uint32_t i = 0; i < a->arguments.count; i++)
    if (!same_structure(a->arguments.values[i], b->arguments.values[i])) return "arguments changed otherwise";
  tensors_of_outcome(a, x, &n), tensors_of_outcome(b, y, &m);
  assert_int_equal(n, m);
  different = different_tensors(x, y, n, a->arguments.tensor_count, tolerance_for(p, a->arguments.set), gradients);
  if (different || !gradients || a->status) return different;
  a->backward = backward_of(exec, a), b->backward = backward_of(exec, b);
  if ((different = different_errors(p, a->backward, b->backward))) return different;
  for (int i = 0; i < a->arguments.tensor_count && !different && !a->backward; i++)
    different = different_gradient(gradient_of(a->arguments.tensors[i]), gradient_of(b->arguments.tensors[i]));
  return different;
}

typedef struct Copy {
  const Graph *from;
  Arena *arena;
  TypeStore *store;
  const Arguments *types; /* NULL: as they are */
  Graph *made;
} Copy;

static void copy_graph(void *argument) {
  Copy *c = argument;
  c->made = graph_copy(c->from, c->arena, c->store);
  for (uint32_t i = 0; c->types && i < c->types->count; i++) {
    TensorInfo info;
    if (c->types->values[i].tag != TAG_TENSOR || graph_input(c->made, i)->type->kind != TYPE_TENSOR) continue;
    tensor_info_of(c->types->values[i].tensor, true, &info);
    graph_input(c->made, i)->type = type_tensor_refined(c->store, &info);
  }
}

static void apply(const Programs *p, const char *name, const Pass *pass, Graph *graph, Exec *exec) {
  Status status = pass_run(pass, graph, exec);
  if (!status) status = graph_lint(graph);
  if (status) fail_msg("%s: %s: %s: %s", p->path, name, pass->name, status->message);
}

static bool is_shown(const Programs *p) {
  const char *wanted = getenv("WICK_REWRITE");
  return wanted && !strcmp(wanted, p->pass->name);
}

typedef struct Program {
  const char *name;
  const Graph *graph, *written; /* what is rewritten, and what says what it does: mostly the same */
  TypeStore *store;
  Exec *exec;
  bool changed, succeeds; /* with some set */
  int64_t wrong;
} Program;

/* A run of the graph as written against one of its rewritten copy. */
static void check_set(const Programs *p, Program *program, const Set *set, bool typed) {
  const char *name = program->name;
  const Graph *graph = program->graph;
  Exec *exec = program->exec;
  static uint32_t shown; /* graphs of one program, once for each way */
  Arena arena;
  Arguments types;
  StrBuf before = {0}, after = {0};
  Outcome written, rewritten;
  arena_init(&arena, NULL);
  arguments_init(&types, set, graph);
  Copy copy = {graph, &arena, program->store, typed ? &types : NULL, NULL};
  assert_null(arena_protect(&arena, copy_graph, &copy));
  if (typed) apply(p, name, pass_find(STR("shape_analysis")), copy.made, exec);
  for (int i = 0; i < p->row_count; i++) {
    if (p->row[i] == p->pass) graph_print(copy.made, false, &before);
    apply(p, name, p->row[i], copy.made, exec);
    if (p->row[i] == p->pass) graph_print(copy.made, false, &after);
  }
  bool changed = strcmp(before.data, after.data) != 0;
  program->changed |= changed;
  if (changed && is_shown(p) && shown++ % SETS == 0)
    print_message("%s: before\n%s\nafter\n%s\n", name, before.data, after.data);
  run_graph(exec, program->written, set, &written);
  run_graph(exec, copy.made, set, &rewritten);
  const char *different = different_outcomes(p, exec, &written, &rewritten);
  if (different) {
    Status a = written.status ? written.status : written.backward;
    Status b = rewritten.status ? rewritten.status : rewritten.backward;
    print_error("%s: %s, %s%s: %s\n  as written: %s\n  rewritten: %s\n", p->path, name, set->name,
                typed ? ", typed" : "", different, a ? a->message : "fine", b ? b->message : "fine");
    program->wrong++;
  }
  program->succeeds |= !written.status;
  outcome_dispose(&written);
  outcome_dispose(&rewritten);
  arguments_dispose(&types);
  strbuf_dispose(&before);
  strbuf_dispose(&after);
  graph_dispose(copy.made);
  arena_dispose(&arena);
}

static int64_t check_program(const Programs *p, Program *program) {
  for (int typed = 0; typed < 2; typed++)
    for (size_t i = 0; i < SETS; i++) check_set(p, program, &sets[i], typed);
  if (program->changed == p->rewrites_nothing)
    print_error("%s: %s: changes %s\n", p->path, program->name, program->changed ? "it" : "nothing");
  bool must_fail = str_starts_with(str_from(program->name), "fails_");
  if (program->succeeds == must_fail)
    print_error("%s: %s %s\n", p->path, program->name, must_fail ? "succeeds" : "fails with all arguments");
  return program->wrong + (program->changed == p->rewrites_nothing) + (program->succeeds == must_fail);
}

/* ---- files ---- */

static const char *header(const char *text, const char *key) {
  const char *at = strstr(text, key);
  return at && (at == text || at[-1] == '\n') ? at + strlen(key) : NULL;
}

static void read_header(Programs *p, const char *text) {
  const char *with = header(text, "# with:"), *tolerance = header(text, "# tolerance:");
  p->tolerance = tolerance ? strtod(tolerance, NULL) : 0;
  p->loses_errors = header(text, "# loses errors") != NULL;
  p->another_error = header(text, "# another error: ") != NULL;
  p->rewrites_nothing = header(text, "# rewrites nothing") != NULL;
  if (!with) p->row[p->row_count++] = p->pass;
  while (with && *with == ' ') {
    size_t length = strcspn(++with, " \n");
    assert_true(p->row_count < MAX_NAMES);
    p->row[p->row_count] = pass_find((Str){with, length});
    if (!p->row[p->row_count++]) fail_msg("%s: no pass '%.*s'", p->path, (int)length, with);
    with += length;
  }
}

static int64_t check_functions(const Programs *p, Str text) {
  CompilationUnit *unit;
  Source *source;
  Exec exec;
  int64_t wrong = 0;
  exec_init(&exec, &api_services);
  assert_null(unit_new(&unit));
  assert_null(source_new(text, p->path, 1, &source));
  Status status = frontend_compile_program(unit, &exec, source, NULL);
  if (status) fail_msg("%s: %s", p->path, status->message);
  for (const char *at = text.data; (at = strstr(at, "def ")); at += 4) {
    const char *name = at + 4;
    if ((at != text.data && at[-1] != '\n') || *name == '_') continue; /* methods, helpers */
    char called[100];
    snprintf(called, sizeof called, "%.*s", (int)strcspn(name, "("), name);
    const Graph *graph = unit_find_function(unit, str_from(called))->graph;
    wrong += check_program(p, &(Program){called, graph, graph, &unit->store, &exec});
  }
  source_release(source);
  unit_release(unit);
  return wrong;
}

static int64_t check_graphs(const Programs *p, char *text) {
  int64_t wrong = 0;
  int number = 1;
  for (char *one = text, *next; one; one = next, number++) {
    char name[32];
    IrText ir, meaning;
    Exec exec;
    if ((next = strstr(one, "\n===\n"))) next[1] = 0, next += 5;
    snprintf(name, sizeof name, "graph %d", number);
    char *other = strstr(one, "\n---\n");
    if (other) other[1] = 0, other += 5;
    ir_parse(&ir, one);
    ir_parse(&meaning, other ? other : one);
    exec_init(&exec, &api_services);
    wrong += check_program(p, &(Program){name, ir.graph, meaning.graph, &ir.store, &exec});
    ir_dispose(&ir);
    ir_dispose(&meaning);
  }
  return wrong;
}

/* What is wrong. */
static int64_t check_file(const Pass *pass, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  char *text = calloc(1, 1 << 16);
  size_t length = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  Programs p = {.path = path, .pass = pass};
  read_header(&p, text);
  bool is_ir = str_ends_with(str_from(path), ".ir");
  int64_t wrong = is_ir ? check_graphs(&p, text) : check_functions(&p, (Str){text, length});
  free(text);
  return wrong;
}

/* <pass>.py, <pass>.ir, <pass>.<anything>.py; `*out_found` if there is one. */
static int64_t check_files(const Pass *pass, bool *out_found) {
  size_t length = strlen(pass->name);
  int64_t wrong = 0;
  DIR *folder = opendir("pass/programs");
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[300];
    if (strncmp(entry->d_name, pass->name, length) != 0 || entry->d_name[length] != '.') continue;
    snprintf(path, sizeof path, "pass/programs/%s", entry->d_name);
    *out_found = true;
    wrong += check_file(pass, path);
  }
  closedir(folder);
  return wrong;
}

static void test_rewrites(void **state) {
  (void)state;
  const char *wanted = getenv("WICK_REWRITE");
  int64_t wrong = 0;
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass)) {
    bool found = false;
    if (pass->keeps == KEEPS_NOTHING || (wanted && strcmp(wanted, pass->name) != 0)) continue;
    wrong += check_files(pass, &found);
    if (!found) {
      print_error("pass %s has no programs in pass/programs\n", pass->name);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewrites)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
