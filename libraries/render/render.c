/* Operands are loaded for all of a thread's elements first, so that the loads wait for memory together; then each
 * element is computed and stored. */
#include "render/rendering.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Elements as they lie in memory: by dtype. */
static const struct {
  uint32_t dtype;
  const char *type;      /* of an element */
  const char *loaded[4]; /* as bool, int64, float32, float64: $a is an element; NULL: not so */
  const char *stored[4]; /* from those: $a is a value */
} elements[] = {
#define WHOLE(T)                                                               \
  T, {"$a != 0", "(i64)$a", "(f32)$a", "(f64)$a"}, {                           \
    "(" T ")$a", "(" T ")$a", "(" T ")i64_of_f32($a)", "(" T ")i64_of_f64($a)" \
  }
    {WICK_UINT8, WHOLE("u8")},
    {WICK_INT8, WHOLE("s8")},
    {WICK_INT16, WHOLE("s16")},
    {WICK_INT32, WHOLE("s32")},
    {WICK_INT64, WHOLE("i64")},
    {WICK_BOOL8,
     "b8",
     {"$a != 0", "(i64)($a != 0)", "(f32)($a != 0)", "(f64)($a != 0)"},
     {"$a", "$a != 0", "$a != 0", "$a != 0"}},
    {WICK_FLOAT32, "f32", {"$a != 0", "i64_of_f32($a)", "$a", "(f64)$a"}, {"(f32)$a", "(f32)$a", "$a", "(f32)$a"}},
    {WICK_FLOAT64, "f64", {"$a != 0", "i64_of_f64($a)", "(f32)$a", "$a"}, {"(f64)$a", "(f64)$a", "(f64)$a", "$a"}},
    {WICK_FLOAT16,
     "u16",
     {"f32_of_f16($a) != 0", "i64_of_f32(f32_of_f16($a))", "f32_of_f16($a)", "(f64)f32_of_f16($a)"},
     {"f16_of_f32((f32)$a)", "f16_of_f32((f32)$a)", "f16_of_f32($a)", "f16_of_f32((f32)$a)"}},
    {WICK_BFLOAT16,
     "u16",
     {"f32_of_bf16($a) != 0", "i64_of_f32(f32_of_bf16($a))", "f32_of_bf16($a)", "(f64)f32_of_bf16($a)"},
     {"bf16_of_f32((f32)$a)", "bf16_of_f32((f32)$a)", "bf16_of_f32($a)", "bf16_of_f32((f32)$a)"}},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };
const char *const value_types[4] = {"b8", "i64", "f32", "f64"};

static int find_element(uint32_t dtype) {
  for (int i = 0; i < ELEMENTS; i++)
    if (elements[i].dtype == dtype) return i;
  return -1;
}

/* ---- what there is a text for ---- */

bool is_tensor(const wick_kernel_operand *operand) {
  return operand->layout != WICK_OPERAND_UNUSED && operand->layout != WICK_OPERAND_NUMBER;
}

bool render_knows(const wick_kernel_ir *k) {
  uint32_t operands = k->argument_count + k->output_count;
  if (k->rank > RENDER_MAX_RANK || operands > RENDER_MAX_OPERANDS) return false;
  for (uint32_t i = 0; i < operands; i++)
    if (is_tensor(&k->operands[i]) && find_element(k->operands[i].dtype) < 0) return false;
  for (uint32_t i = 0; i < k->argument_count; i++)
    if (k->types[i] > WICK_KERNEL_FLOAT64 && k->operands[i].layout != WICK_OPERAND_UNUSED) return false;
  for (uint32_t i = 0; i < k->constant_count; i++)
    if (k->constant_types[i] > WICK_KERNEL_FLOAT64) return false;
  for (uint32_t i = 0; i < k->operation_count; i++)
    if (k->operations[i].result_type > WICK_KERNEL_FLOAT64 ||
        !(render_operation(&k->operations[i]) || line_is_known(&k->operations[i])))
      return false;
  return true;
}

static void define(Text *out, const char *name, const char *what, const char *expression) {
  static const char names[3][32] = {"(x)"};
  text_print(out, "#define %s_%s(x) (", name, what);
  print_expression(out, expression, names);
  text_print(out, ")\n");
}

bool render_dtype(const char *name, uint32_t dtype, uint32_t type, Text *out) {
  int i = find_element(dtype);
  if (i < 0 || type > WICK_KERNEL_FLOAT64) return false;
  text_print(out, "typedef %s %s;\n", elements[i].type, name);
  define(out, name, "load", elements[i].loaded[type]);
  define(out, name, "store", elements[i].stored[type]);
  return true;
}

const char *render_type(uint32_t type) {
  return value_types[type];
}

/* ---- layouts ---- */

/* Whether all that moves moves through memory alike, without gaps. */
static bool is_all_linear(const wick_kernel_ir *k) {
  uint32_t contiguous = 0, dense = 0, moving = 0;
  for (uint32_t i = 0; i < k->argument_count + k->output_count; i++) {
    const wick_kernel_operand *o = &k->operands[i];
    if (!is_tensor(o) || o->layout == WICK_OPERAND_ELEMENT) continue;
    moving++;
    contiguous += o->layout == WICK_OPERAND_CONTIGUOUS && !o->repeats;
    dense += o->layout == WICK_OPERAND_DENSE && !o->repeats;
  }
  return contiguous == moving || dense == moving;
}

void render_layout(const wick_kernel_ir *k, RenderLayout *out) {
  bool all = is_all_linear(k);
  out->strided_count = 0;
  out->has_lines = has_lines(k);
  for (uint32_t i = 0; i < k->argument_count + k->output_count; i++) {
    const wick_kernel_operand *o = &k->operands[i];
    if (!is_tensor(o) || o->layout == WICK_OPERAND_ELEMENT)
      out->slots[i] = RENDER_FIRST;
    else if (!out->has_lines && (all || (o->layout == WICK_OPERAND_CONTIGUOUS && !o->repeats)))
      out->slots[i] = RENDER_LINEAR;
    else
      out->slots[i] = (int8_t)out->strided_count++;
  }
}

/* ---- text ---- */

void render_prelude(const Dialect *dialect, int index_bits, Text *out) {
  text_print(out, "%stypedef u%d place;\n#define FUNCTION %s\n%s%s", dialect->prelude, index_bits, dialect->function,
             render_functions, line_functions);
}

void print_expression(Text *out, const char *expression, const char names[][32]) {
  for (const char *p = expression; *p; p++) {
    bool is_name = *p == '$' && p[1] >= 'a' && p[1] <= 'c';
    const char *text = is_name ? names[p[1] - 'a'] : p;
    text_add(out, text, is_name ? strlen(text) : 1);
    p += is_name;
  }
}

static void print_float(Text *out, double value, bool is_double) {
  if (!isfinite(value)) {
    const char *bits = isnan(value) ? is_double ? "0x7ff8000000000000ull" : "0x7fc00000u"
                       : is_double  ? "0x7ff0000000000000ull"
                                    : "0x7f800000u";
    text_print(out, "%s%s(%s)", value < 0 ? "-" : "", is_double ? "f64_of_bits" : "f32_of_bits", bits);
    return;
  }
  size_t before = out->length;
  text_print(out, is_double ? "%.17g" : "%.9g", value);
  bool is_whole = out->data && !strpbrk(out->data + before, ".e");
  text_print(out, "%s%s", is_whole ? ".0" : "", is_double ? "" : "f");
}

void print_constants(const Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  for (uint32_t i = 0; i < k->constant_count; i++) {
    uint32_t type = k->constant_types[i];
    text_print(r->out, "  const %s v%u = ", value_types[type], k->argument_count + i);
    if (type == WICK_KERNEL_BOOL)
      text_print(r->out, "%d", k->constants[i].integer != 0);
    else if (type == WICK_KERNEL_INT64)
      text_print(r->out, "(i64)%lluull", (unsigned long long)k->constants[i].integer);
    else
      print_float(r->out, type == WICK_KERNEL_FLOAT32 ? (double)(float)k->constants[i].real : k->constants[i].real,
                  type == WICK_KERNEL_FLOAT64);
    text_print(r->out, ";\n");
  }
}

const char *element_type(const wick_kernel_operand *operand) {
  return elements[find_element(operand->dtype)].type;
}

static void print_pointer(const Rendering *r, const char *constness, const wick_kernel_operand *operand) {
  text_print(r->out, ", ");
  text_print(r->out, r->dialect->pointer, constness, element_type(operand)); /* NOLINT: a format of the dialect's */
}

void print_parameters(const Rendering *r, const char *counts) {
  const wick_kernel_ir *k = r->kernel;
  text_print(r->out, "(%s", counts);
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const wick_kernel_operand *o = &k->operands[i];
    if (o->layout == WICK_OPERAND_NUMBER)
      text_print(r->out, ", const %s a%u", k->types[i] <= WICK_KERNEL_INT64 ? "i64" : "f64", i);
    else if (is_tensor(o)) {
      print_pointer(r, "const ", o);
      text_print(r->out, "a%u", i);
    }
  }
  for (uint32_t i = 0; i < k->output_count; i++) {
    print_pointer(r, "", &k->operands[k->argument_count + i]);
    text_print(r->out, "r%u", i);
  }
  if (r->layout.strided_count) text_print(r->out, ", const struct %s_layout l", r->name);
  text_print(r->out, ")");
}

void print_loaded(const Rendering *r, uint32_t i, const char *element) {
  char names[3][32] = {{0}};
  snprintf(names[0], sizeof names[0], "%s", element);
  print_expression(r->out, elements[find_element(r->kernel->operands[i].dtype)].loaded[r->kernel->types[i]], names);
}

void print_uniform_arguments(const Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  for (uint32_t i = 0; i < k->argument_count; i++) {
    const wick_kernel_operand *o = &k->operands[i];
    if (o->layout == WICK_OPERAND_UNUSED || r->layout.slots[i] != RENDER_FIRST) continue;
    const char *type = value_types[k->types[i]];
    text_print(r->out, "  const %s v%u = ", type, i);
    if (o->layout == WICK_OPERAND_NUMBER)
      text_print(r->out, "(%s)a%u", type, i);
    else {
      char element[32];
      snprintf(element, sizeof element, "a%u[0]", i);
      print_loaded(r, i, element);
    }
    text_print(r->out, ";\n");
  }
}

/* The places of an element's strided operands among [begin, end): o0, o1, ... by their slots. */
static void print_places(const Rendering *r, uint32_t begin, uint32_t end) {
  uint32_t rank = r->kernel->rank, first = 0;
  bool any = false;
  for (uint32_t i = begin; i < end; i++) {
    if (r->layout.slots[i] < 0) continue;
    if (!any) first = i;
    any = true;
    text_print(r->out, "    place o%d = 0;\n", r->layout.slots[i]);
  }
  if (!any) return;
  text_print(r->out, "    place rest = i, at;\n");
  for (uint32_t d = rank; d-- > 0;) {
    if (d)
      text_print(r->out, "    at = rest %% l.sizes[%u], rest /= l.sizes[%u];\n", d, d);
    else
      text_print(r->out, "    at = rest;\n");
    for (uint32_t i = first; i < end; i++)
      if (r->layout.slots[i] >= 0)
        text_print(r->out, "    o%d += at * l.strides[%d][%u];\n", r->layout.slots[i], r->layout.slots[i], d);
  }
}

static void print_loop(const Rendering *r) {
  text_print(r->out,
             "%s\n  for (int k = 0; k < %d; k++) {\n    const place i = first + k * %d;\n    if (i >= n) break;\n",
             r->dialect->unroll, RENDER_EACH, RENDER_GROUP);
}

static void print_place(const Rendering *r, uint32_t operand) {
  int slot = r->layout.slots[operand];
  if (slot == RENDER_FIRST)
    text_print(r->out, "[0]");
  else if (slot == RENDER_LINEAR)
    text_print(r->out, "[i]");
  else
    text_print(r->out, "[o%d]", slot);
}

static void print_loads(const Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  bool any = false;
  for (uint32_t i = 0; i < k->argument_count; i++) {
    if (r->layout.slots[i] == RENDER_FIRST) continue;
    text_print(r->out, "  %s x%u[%d];\n", element_type(&k->operands[i]), i, RENDER_EACH);
    any = true;
  }
  if (!any) return;
  print_loop(r);
  print_places(r, 0, k->argument_count);
  for (uint32_t i = 0; i < k->argument_count; i++) {
    if (r->layout.slots[i] == RENDER_FIRST) continue;
    text_print(r->out, "    x%u[k] = a%u", i, i);
    print_place(r, i);
    text_print(r->out, ";\n");
  }
  text_print(r->out, "  }\n");
}

void print_operation(const Rendering *r, uint32_t value, const wick_kernel_operation *op) {
  char names[3][32] = {{0}};
  for (uint32_t i = 0; i < op->operand_count; i++) snprintf(names[i], sizeof names[i], "v%u", op->operands[i]);
  text_print(r->out, "    const %s v%u = ", value_types[op->result_type], value);
  print_expression(r->out, render_operation(op), names);
  text_print(r->out, ";\n");
}

uint32_t value_type(const wick_kernel_ir *k, uint32_t value) {
  if (value < k->argument_count) return k->types[value];
  value -= k->argument_count;
  return value < k->constant_count ? k->constant_types[value] : k->operations[value - k->constant_count].result_type;
}

void print_stored(const Rendering *r, uint32_t output) {
  const wick_kernel_ir *k = r->kernel;
  const wick_kernel_operand *o = &k->operands[k->argument_count + output];
  char names[3][32] = {{0}};
  snprintf(names[0], sizeof names[0], "v%u", k->outputs[output]);
  print_expression(r->out, elements[find_element(o->dtype)].stored[value_type(k, k->outputs[output])], names);
}

static void print_stores(const Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  print_places(r, k->argument_count, k->argument_count + k->output_count);
  for (uint32_t i = 0; i < k->output_count; i++) {
    text_print(r->out, "    r%u", i);
    print_place(r, k->argument_count + i);
    text_print(r->out, " = ");
    print_stored(r, i);
    text_print(r->out, ";\n");
  }
}

static void print_computation(const Rendering *r) {
  const wick_kernel_ir *k = r->kernel;
  print_loop(r);
  for (uint32_t i = 0; i < k->argument_count; i++) {
    if (r->layout.slots[i] == RENDER_FIRST) continue;
    char element[32];
    snprintf(element, sizeof element, "x%u[k]", i);
    text_print(r->out, "    const %s v%u = ", value_types[k->types[i]], i);
    print_loaded(r, i, element);
    text_print(r->out, ";\n");
  }
  for (uint32_t i = 0; i < k->operation_count; i++)
    print_operation(r, k->argument_count + k->constant_count + i, &k->operations[i]);
  print_stores(r);
  text_print(r->out, "  }\n");
}

void render_kernel(const Dialect *dialect, const wick_kernel_ir *kernel, const char *name, Text *out) {
  Rendering r = {.dialect = dialect, .kernel = kernel, .name = name, .out = out};
  render_layout(kernel, &r.layout);
  if (r.layout.has_lines) return render_lines(&r);
  if (r.layout.strided_count)
    text_print(out, "struct %s_layout {\n  place sizes[%u], strides[%u][%u];\n};\n", name, kernel->rank,
               r.layout.strided_count, kernel->rank);
  text_print(out, dialect->entry, name); /* NOLINT: a format of the dialect's */
  print_parameters(&r, "const place n");
  text_print(out, " {\n  const place first = ");
  text_print(out, dialect->first, RENDER_GROUP * RENDER_EACH); /* NOLINT: a format of the dialect's */
  text_print(out, ";\n");
  print_constants(&r);
  print_uniform_arguments(&r);
  print_loads(&r);
  print_computation(&r);
  text_print(out, "}\n");
}
