/* Operations over lines. Each needs one or two numbers of its line, which are found by going over it: what an element
 * counts is computed again each time from what is loaded, which the caches have by then. */
#include "render/rendering.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PASSES = 2, MAX_VALUES = 1024 };

/* $a is an element, $b a number found before; the number that is being found is `p`, of lines of `length`. */
typedef struct Pass {
  const char *first; /* before the first element; of int64 in `first_whole` */
  const char *step;  /* a statement for each element */
  const char *all;   /* which function joins those of a line's threads, all_sum or all_max ... */
} Pass;
/* TYPE is replaced by f32, f64 or i64: functions have its name at their end. */
typedef struct LineRow {
  const char *function;
  bool is_number, is_whole; /* it becomes one number; it is defined for int64 */
  Pass passes[MAX_PASSES];
  const char *value; /* of an element, $a: from the numbers $b and $c; $b alone where it is a number */
} LineRow;
/* clang-format off */
static const LineRow rows[] = {
  {"line_sum", true, true, {{"0", "p += $a;", "all_sum"}}, "$b"},
  {"line_mean", true, false, {{"0", "p += $a;", "all_sum"}}, "$b / length"},
  {"line_max", true, true, {{"least_TYPE", "p = max_TYPE(p, $a);", "all_max"}}, "$b"},
  {"line_min", true, true, {{"-least_TYPE", "p = min_TYPE(p, $a);", "all_min"}}, "$b"},
  {"line_softmax", false, false,
   {{"least_TYPE", "p = max_TYPE(p, $a);", "all_max"}, {"0", "p += exp_TYPE($a - $b);", "all_sum"}},
   "exp_TYPE($a - $b) / $c"},
  {"line_log_softmax", false, false,
   {{"least_TYPE", "p = max_TYPE(p, $a);", "all_max"}, {"0", "p += exp_TYPE($a - $b);", "all_sum"}},
   "$a - $b - log_TYPE($c)"},
  {"line_normalize", false, false,
   {{"0", "p += $a;", "all_sum"}, {"0", "p += square_TYPE($a - $b / length);", "all_sum"}},
   "($a - $b / length) * rsqrt_TYPE($c / length + EPS)"},
};
/* clang-format on */

static const LineRow *find_row(const wick_kernel_operation *op) {
  if (strcmp(op->name, "line") != 0 || !op->function) return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].function, op->function)) return &rows[i];
  return NULL;
}

bool line_is_known(const wick_kernel_operation *op) {
  const LineRow *row = find_row(op);
  return row && (op->type == WICK_KERNEL_FLOAT32 || op->type == WICK_KERNEL_FLOAT64 ||
                 (op->type == WICK_KERNEL_INT64 && row->is_whole));
}

bool has_lines(const wick_kernel_ir *k) {
  for (uint32_t i = 0; i < k->operation_count; i++)
    if (line_is_known(&k->operations[i])) return true;
  return false;
}

const char *const line_functions =
    "#ifdef RENDER_LANES\n"
    "#define least_f32 (-f32_of_bits(0x7f800000u))\n#define least_f64 (-f64_of_bits(0x7ff0000000000000ull))\n"
    "#define least_i64 (-0x7fffffffffffffffll)\n"
    "#define exp_f32 expf\n#define exp_f64 exp\n#define log_f32 logf\n#define log_f64 log\n"
    "#define rsqrt_f32(x) (1.0f / sqrtf(x))\n#define rsqrt_f64(x) (1.0 / sqrt(x))\n"
    "#define LINES(T) \\\n"
    "  FUNCTION T square_##T(T x) { return x * x; } \\\n"
    "  FUNCTION T max_##T(T x, T y) { return y > x || y != y ? y : x; } \\\n"
    "  FUNCTION T min_##T(T x, T y) { return y < x || y != y ? y : x; } \\\n"
    "  ALL(T, sum, x + y) ALL(T, max, max_##T(x, y)) ALL(T, min, min_##T(x, y))\n"
    "#define ALL(T, name, joined) \\\n"
    "  FUNCTION T all_##name##_##T(u64 *room, T x) { \\\n"
    "    T *const shared = (T *)room + (threadIdx.x - threadIdx.x % RENDER_LANES), y; \\\n"
    "    const u32 lane = threadIdx.x % RENDER_LANES; \\\n"
    "    if (RENDER_LANES == 1) return x; \\\n"
    "    shared[lane] = x; \\\n"
    "    __syncthreads(); \\\n"
    "    for (u32 k = RENDER_LANES / 2; k; k /= 2) { \\\n"
    "      if (lane < k) y = shared[lane + k], shared[lane] = x = joined; \\\n"
    "      __syncthreads(); \\\n"
    "    } \\\n"
    "    x = shared[0]; \\\n"
    "    __syncthreads(); \\\n"
    "    return x; \\\n"
    "  }\n"
    "LINES(f32)\nLINES(f64)\nLINES(i64)\n#endif\n";

/* ---- what an element's value needs ---- */

static uint32_t first_operation(const wick_kernel_ir *k) {
  return k->argument_count + k->constant_count;
}

/* Marks what is computed for each element: operands before, but for lines that are numbers by then. */
static void mark_needed(const wick_kernel_ir *k, uint32_t value, bool *needed) {
  needed[value] = true;
  for (uint32_t v = value + 1; v-- > first_operation(k);) {
    const wick_kernel_operation *op = &k->operations[v - first_operation(k)];
    const LineRow *row = find_row(op);
    if (!needed[v] || (row && row->is_number)) continue;
    uint32_t count = row ? 1 : op->operand_count; /* eps is no element's */
    for (uint32_t i = 0; i < count; i++) needed[op->operands[i]] = true;
  }
}

/* ---- text ---- */

/* Puts the type's name in the place of TYPE, and eps. */
static void print_typed(const Rendering *r, const char *text, const wick_kernel_operation *op, const char names[][32]) {
  const char *type = value_types[op->type];
  char typed[160], *to = typed;
  for (const char *p = text; *p && to < typed + sizeof typed - 24;) {
    if (!strncmp(p, "TYPE", 4))
      to += sprintf(to, "%s", type), p += 4;
    else if (!strncmp(p, "EPS", 3))
      to += sprintf(to, "(%s)v%u", type, op->operands[1]), p += 3;
    else
      *to++ = *p++;
  }
  *to = 0;
  print_expression(r->out, typed, names);
}

static void print_line_value(const Rendering *r, uint32_t value, const wick_kernel_operation *op, const LineRow *row) {
  char names[3][32];
  snprintf(names[0], sizeof names[0], "v%u", op->operands[0]);
  snprintf(names[1], sizeof names[1], "p%u_0", value);
  snprintf(names[2], sizeof names[2], "p%u_1", value);
  text_print(r->out, "%s  const %s v%u = (%s)(", row->is_number ? "" : "  ", value_types[op->result_type], value,
             value_types[op->result_type]);
  print_typed(r, row->value, op, names);
  text_print(r->out, ");\n");
}

/* Goes over the line; the loop's body is open. */
static void print_loop_over_line(const Rendering *r, const bool *needed) {
  const wick_kernel_ir *k = r->kernel;
  text_print(r->out, "  for (place j = lane; line < n && j < length; j += RENDER_LANES) {\n");
  for (uint32_t i = 0; i < k->argument_count; i++) {
    int slot = r->layout.slots[i];
    if (!needed[i] || slot < 0) continue;
    char element[40];
    snprintf(element, sizeof element, "a%u[o%d + j * l.along[%d]]", i, slot, slot);
    text_print(r->out, "    const %s v%u = ", value_types[k->types[i]], i);
    print_loaded(r, i, element);
    text_print(r->out, ";\n");
  }
  for (uint32_t i = 0; i < k->operation_count; i++) {
    uint32_t v = first_operation(k) + i;
    const LineRow *row = find_row(&k->operations[i]);
    if (!needed[v] || (row && row->is_number)) continue;
    if (row)
      print_line_value(r, v, &k->operations[i], row);
    else
      print_operation(r, v, &k->operations[i]);
  }
}

static void print_passes(const Rendering *r, uint32_t value, const wick_kernel_operation *op) {
  const wick_kernel_ir *k = r->kernel;
  const LineRow *row = find_row(op);
  const char *type = value_types[op->type];
  for (int pass = 0; pass < MAX_PASSES && row->passes[pass].step; pass++) {
    bool needed[MAX_VALUES] = {false};
    char names[3][32] = {{0}};
    snprintf(names[0], sizeof names[0], "v%u", op->operands[0]);
    snprintf(names[1], sizeof names[1], "p%u_0", value);
    mark_needed(k, op->operands[0], needed);
    text_print(r->out, "  %s p%u_%d;\n  {\n  %s p = ", type, value, pass, type);
    print_typed(r, row->passes[pass].first, op, names);
    text_print(r->out, ";\n");
    print_loop_over_line(r, needed);
    text_print(r->out, "    ");
    print_typed(r, row->passes[pass].step, op, names);
    text_print(r->out, "\n  }\n  p%u_%d = %s_%s(room, p);\n  }\n", value, pass, row->passes[pass].all, type);
  }
  if (row->is_number) print_line_value(r, value, op, row);
}

static void print_line_stores(const Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  bool needed[MAX_VALUES] = {false};
  for (uint32_t i = 0; i < k->output_count; i++) mark_needed(k, k->outputs[i], needed);
  print_loop_over_line(r, needed);
  for (uint32_t i = 0; i < k->output_count; i++) {
    int slot = r->layout.slots[k->argument_count + i];
    text_print(r->out, "    if (j == 0 || l.along[%d]) r%u[o%d + j * l.along[%d]] = ", slot, i, slot, slot);
    print_stored(r, i);
    text_print(r->out, ";\n");
  }
  text_print(r->out, "  }\n");
}

/* Where the line's first elements are: o0, o1, ... by slots. */
static void print_line_places(const Rendering *r) {
  uint32_t count = r->layout.strided_count;
  for (uint32_t i = 0; i < count; i++) text_print(r->out, "  place o%u = 0;\n", i);
  text_print(r->out,
             "  place rest = line, at;\n%s\n  for (int d = RENDER_OUTER; d-- > 0;) {\n"
             "    at = d ? rest %% l.sizes[d] : rest, rest = d ? rest / l.sizes[d] : 0;\n",
             r->dialect->unroll);
  for (uint32_t i = 0; i < count; i++) text_print(r->out, "    o%u += at * l.strides[%u][d];\n", i, i);
  text_print(r->out, "  }\n");
}

void render_lines(Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  text_print(r->out,
             "struct %s_layout {\n  place sizes[RENDER_OUTER + 1], strides[%u][RENDER_OUTER + 1], along[%u];\n};\n",
             r->name, r->layout.strided_count, r->layout.strided_count);
  text_print(r->out, r->dialect->entry, r->name); /* NOLINT: a format of the dialect's */
  print_parameters(r, "const place n, const place length");
  text_print(r->out,
             " {\n  __shared__ u64 room[%d];\n"
             "  const place line = (place)blockIdx.x * (%d / RENDER_LANES) + threadIdx.x / RENDER_LANES;\n"
             "  const u32 lane = threadIdx.x %% RENDER_LANES;\n",
             RENDER_GROUP, RENDER_GROUP);
  print_constants(r);
  print_uniform_arguments(r);
  print_line_places(r);
  for (uint32_t i = 0; i < k->operation_count; i++)
    if (find_row(&k->operations[i])) print_passes(r, first_operation(k) + i, &k->operations[i]);
  print_line_stores(r);
  text_print(r->out, "}\n");
}
