/* Softmax and normalization. Those along lines are kernel IR that is put together here, as fusion groups have it. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/operators.h"
#include "cuda/program.h"

enum { MAX_OPERANDS = 7, MAX_OPERATIONS = 8, MAX_DIMS = RENDER_MAX_RANK };
typedef enum Kind { SOFTMAX, LOG_SOFTMAX, LAYER_NORM } Kind;
enum { X, WEIGHT, BIAS, EPS, ARGUMENTS }; /* by number; not all are used by all */

/* What code is made for. */
typedef struct Form {
  uint8_t kind, type; /* WICK_KERNEL_..., which computes */
  uint8_t dtypes[ARGUMENTS], out_dtype;
  uint8_t used; /* bit a: argument a is there */
} Form;

/* ---- kernels ---- */

typedef struct Builder {
  wick_kernel_operation operations[MAX_OPERATIONS];
  uint32_t count, type;
} Builder;

static uint32_t emit(Builder *b, const char *name, const char *function, uint32_t first, uint32_t second) {
  b->operations[b->count] = (wick_kernel_operation){.name = name,
                                                    .function = function,
                                                    .type = b->type,
                                                    .result_type = b->type,
                                                    .operand_count = second == UINT32_MAX ? 1 : 2,
                                                    .operands = {first, second}};
  return ARGUMENTS + b->count++;
}

static uint32_t emit_all(Builder *b, const Form *form) {
  static const char *const functions[] = {"line_softmax", "line_log_softmax"};
  uint32_t v = X;
  if (form->kind <= LOG_SOFTMAX) return emit(b, "line", functions[form->kind], X, UINT32_MAX);
  v = emit(b, "line", "line_normalize", X, EPS);
  if (form->used >> WEIGHT & 1) v = emit(b, "mul", NULL, v, WEIGHT);
  if (form->used >> BIAS & 1) v = emit(b, "add", NULL, v, BIAS);
  return v;
}

static wick_status make_program(const Form *form, Program **out, wick_error **error) {
  Builder b = {.type = form->type};
  uint8_t types[ARGUMENTS];
  wick_kernel_operand operands[ARGUMENTS + 1] = {{0}};
  for (int a = 0; a < ARGUMENTS; a++) {
    types[a] = a == EPS ? WICK_KERNEL_FLOAT64 : form->type;
    operands[a].dtype = form->dtypes[a];
    operands[a].layout = !(form->used >> a & 1) ? WICK_OPERAND_UNUSED
                         : a == EPS             ? WICK_OPERAND_NUMBER
                                                : WICK_OPERAND_STRIDED;
  }
  operands[ARGUMENTS] = (wick_kernel_operand){WICK_OPERAND_CONTIGUOUS, form->out_dtype, 0};
  const uint32_t output = emit_all(&b, form);
  const wick_kernel_ir kernel = {.size = sizeof kernel,
                                 .rank = 2,
                                 .argument_count = ARGUMENTS,
                                 .operation_count = b.count,
                                 .output_count = 1,
                                 .types = types,
                                 .operations = b.operations,
                                 .outputs = &output,
                                 .operands = operands};
  if (!render_knows(&kernel)) return fail(error, WICK_UNSUPPORTED, "CUDA: normalization of such dtypes");
  return program_new(&kernel, out, error);
}

typedef struct Kept {
  Form form;
  Program *program;
  struct Kept *next;
} Kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(Kept *) kept; /* for the rest of the process: kinds by dtypes, so few */

static Kept *find_kept(const Form *form) {
  Kept *k = atomic_load_explicit(&kept, memory_order_acquire);
  while (k && memcmp(&k->form, form, sizeof *form) != 0) k = k->next;
  return k;
}

static wick_status program_of(const Form *form, Program **out, wick_error **error) {
  Kept *found = find_kept(form);
  wick_status status = WICK_OK;
  if (found) return *out = found->program, WICK_OK;
  pthread_mutex_lock(&lock);
  if (!(found = find_kept(form)) && (found = malloc(sizeof *found))) {
    found->form = *form;
    status = make_program(form, &found->program, error);
    if (status) {
      free(found);
      found = NULL;
    } else {
      found->next = atomic_load(&kept);
      atomic_store_explicit(&kept, found, memory_order_release);
    }
  } else if (!found) {
    status = fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  }
  pthread_mutex_unlock(&lock);
  if (found) *out = found->program;
  return status;
}

/* ---- operands ---- */

typedef struct Operand {
  bool is_there;
  wick_tensor_view view;
  int64_t sizes[MAX_DIMS], strides[MAX_DIMS];
} Operand;
typedef struct Operands {
  Operand of[ARGUMENTS], out;
  double eps;
} Operands;

static void run(Work *w, Kind kind, Operands *o) {
  Form form = {.kind = (uint8_t)kind, .out_dtype = (uint8_t)o->out.view.dtype};
  wick_kernel_argument arguments[ARGUMENTS] = {{0}};
  Program *program = NULL;
  if (w->status || !view_count(&o->out.view)) return;
  form.type = source_type_of(form.out_dtype);
  for (int a = 0; a < ARGUMENTS; a++) {
    bool is_there = a == EPS ? kind == LAYER_NORM : o->of[a].is_there;
    if (!is_there) continue;
    form.used |= (uint8_t)(1u << a);
    form.dtypes[a] = a == EPS ? 0 : (uint8_t)o->of[a].view.dtype;
    arguments[a] = a == EPS ? (wick_kernel_argument){.kind = WICK_ARGUMENT_NUMBER, .real = o->eps}
                            : (wick_kernel_argument){.kind = WICK_ARGUMENT_TENSOR, .tensor = o->of[a].view};
  }
  if (form.type < WICK_KERNEL_FLOAT32)
    return work_refuse(w, "CUDA: normalization gives no %s", wick_dtype_name(form.out_dtype));
  work_take(w, program_of(&form, &program, w->error));
  if (!w->status) work_take(w, program_run(program, arguments, &o->out.view, w->error));
}

/* With the dimension last. */
static void put_last(Operand *o, int dim) {
  int ndim = o->view.ndim, k = 0;
  for (int d = 0; d < ndim; d++)
    if (d != dim) o->sizes[k] = o->view.sizes[d], o->strides[k++] = o->view.strides[d];
  o->sizes[k] = ndim ? o->view.sizes[dim] : 1;
  o->strides[k] = ndim ? o->view.strides[dim] : 1;
  o->view.ndim = ndim ? ndim : 1;
  o->view.sizes = o->sizes;
  o->view.strides = o->strides;
}

static void softmax(Work *w, int kind) {
  Operands o = {.eps = 0};
  if (!work_tensor(w, 0, false, &o.of[X].view) || !work_result(w, 0, &o.out.view)) return;
  if (o.out.view.ndim > MAX_DIMS) return work_refuse(w, "CUDA: softmax of more than %d dimensions", MAX_DIMS);
  int dim = view_dim(&o.of[X].view, work_int(w, 1));
  o.of[X].is_there = true;
  put_last(&o.of[X], dim);
  put_last(&o.out, dim);
  run(w, (Kind)kind, &o);
}

static void shape_as(Operand *o, int ndim, const int64_t *sizes, const int64_t *strides) {
  for (int d = 0; d < ndim; d++) o->sizes[d] = sizes[d], o->strides[d] = strides[d];
  o->view.ndim = ndim;
  o->view.sizes = o->sizes;
  o->view.strides = o->strides;
}

static void layer_norm(Work *w, int variant) {
  (void)variant;
  Operands o = {.eps = work_real(w, 4)};
  int64_t given[MAX_DIMS], length = 1;
  o.of[X].is_there = work_tensor(w, 0, true, &o.of[X].view);
  if (!work_result(w, 0, &o.out.view)) return;
  int dims = work_ints(w, 1, given, MAX_DIMS);
  for (int d = 0; d < dims; d++) length *= given[d];
  int64_t rows = length ? view_count(&o.out.view) / length : 0;
  shape_as(&o.of[X], 2, (const int64_t[]){rows, length}, (const int64_t[]){length, 1});
  shape_as(&o.out, 2, (const int64_t[]){rows, length}, (const int64_t[]){length, 1});
  for (int a = WEIGHT; a <= BIAS; a++)
    if ((o.of[a].is_there = work_tensor(w, a == WEIGHT ? 2 : 3, true, &o.of[a].view)))
      shape_as(&o.of[a], 1, &length, (const int64_t[]){1});
  run(w, LAYER_NORM, &o);
}

/* ---- batch_norm: planes of one channel each ---- */

/* A is what is normalized, B the statistics, C weight and bias. N0: a plane has many elements, and groups of threads of
 * its own; N1, N2: there is a weight, a bias. */
static Source planes = SOURCE(
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place n, const place size, "
    "const place channels, const place parts, const A *a, const B *mean, const B *variance, const C *weight, "
    "const C *bias, const f64 eps, A *r) {\n"
    "  const place part = blockIdx.x % parts, plane = blockIdx.x / parts;\n"
    "  const place own = (place)blockIdx.x * (GROUP * 4) + threadIdx.x;\n"
    "  place first = N0 ? plane * size + part * (GROUP * 4) + threadIdx.x : own;\n"
    "  const place end = N0 ? plane * size + size : n;\n"
    "  A found[4];\n"
    "  value scale, shift;\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 4; k++)\n"
    "    if (first + k * GROUP < end) found[k] = a[first + k * GROUP];\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 4; k++) {\n"
    "    const place i = first + k * GROUP;\n"
    "    if (i >= end) break;\n"
    "    if (k == 0 || !N0) {\n"
    "      const place c = (N0 ? plane : i / size) % channels;\n"
    "      scale = (value)1 / (value)sqrt((value)(B_load(variance[c]) + (value)eps));\n"
    "      if (N1) scale *= C_load(weight[c]);\n"
    "      shift = (N2 ? C_load(bias[c]) : (value)0) - B_load(mean[c]) * scale;\n"
    "    }\n"
    "    r[i] = A_store((A_load(found[k]) * scale + shift));\n"
    "  }\n"
    "}\n");

static void batch_norm(Work *w, int variant) {
  (void)variant;
  enum { EACH = RENDER_GROUP * 4, MANY = 512 };
  wick_tensor_view x, weight = {0}, bias = {0}, mean, variance, y;
  if (work_int(w, 5) || work_is_none(w, 3) || work_is_none(w, 4))
    return work_refuse(w, "aten::batch_norm does not run on device 'cuda' but with stored statistics");
  if (!work_tensor(w, 0, true, &x) || !work_tensor(w, 3, true, &mean) || !work_tensor(w, 4, true, &variance)) return;
  bool has_weight = work_tensor(w, 1, true, &weight), has_bias = work_tensor(w, 2, true, &bias);
  if (!work_result(w, 0, &y) || y.ndim < 2) return;
  int64_t n = view_count(&y), channels = y.sizes[1], size = n ? n / (y.sizes[0] * channels) : 0;
  uint32_t affine = has_weight ? weight.dtype : has_bias ? bias.dtype : mean.dtype;
  uint8_t type = source_type_of(x.dtype);
  if (type == WICK_KERNEL_INT64 || n > INT32_MAX - EACH || mean.dtype != variance.dtype ||
      (has_bias && bias.dtype != affine))
    return work_refuse(w, "CUDA: batch_norm of so many elements, or of such dtypes");
  if (!n) return;
  bool is_large = size >= MANY;
  int64_t parts = is_large ? (size + EACH - 1) / EACH : 1, groups = is_large ? n / size * parts : (n + EACH - 1) / EACH;
  SourceUse use = {
      {(uint8_t)x.dtype, (uint8_t)mean.dtype, (uint8_t)affine}, type, false, {is_large, has_weight, has_bias}};
  uint32_t places[] = {(uint32_t)n, (uint32_t)size, (uint32_t)channels, (uint32_t)parts};
  double eps = work_real(w, 7);
  void *parameters[] = {&places[0],     &places[1],   &places[2], &places[3], &x.data, &mean.data,
                        &variance.data, &weight.data, &bias.data, &eps,       &y.data};
  work_launch(w, &planes, &use, groups * RENDER_GROUP, parameters);
}

const OperatorKernel formula_kernels[] = {
    {"aten::softmax.int", softmax, SOFTMAX, true},
    {"aten::_softmax", softmax, SOFTMAX, true},
    {"aten::log_softmax.int", softmax, LOG_SOFTMAX, true},
    {"aten::_log_softmax", softmax, LOG_SOFTMAX, true},
    {"aten::layer_norm", layer_norm, 0, true},
    {"aten::batch_norm", batch_norm, 0, true},
    {0},
};
