/* Texts of kernels for devices: as recorded in device/render, and that NVIDIA's compiler takes the text of every
 * formula of the operators over every type, where it is installed (WICK_NVRTC names the file, else libnvrtc.so.13 or
 * .12 is looked for). WICK_RENDER_RECORD=1 writes the records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fake_device.h"
#include "call/pointwise.h"
#include "fuse/backend.h"
#include "render/render.h"
#include "tile/formula.h"
#include "wick/wick.h"

/* ---- a back end that writes ---- */

static Text text;
static const char *kernel_name = "wick_kernel";
static uint32_t unknown; /* kernels that have no text */

static wick_status compile(void *user, const wick_kernel_ir *kernel, void **out, wick_error **error) {
  (void)user, (void)out;
  if (render_knows(kernel))
    render_kernel(&dialect_cuda, kernel, kernel_name, &text);
  else
    unknown++;
  *error = wick_error_new(WICK_UNSUPPORTED, "written");
  return WICK_UNSUPPORTED;
}
static wick_status run(void *user, void *code, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                       wick_error **error) {
  (void)user, (void)code, (void)arguments, (void)outputs, (void)error;
  fail_msg("nothing was compiled");
  return WICK_INTERNAL;
}
static size_t bytes(void *user, const void *code) {
  (void)user, (void)code;
  return 0;
}
static void free_code(void *user, void *code) {
  (void)user, (void)code;
}
static const FuseBackend *row;

static int setup(void **state) {
  (void)state;
  const wick_backend backend = {.size = sizeof backend,
                                .device_type = FAKE,
                                .name = "writer",
                                .compile = compile,
                                .run = run,
                                .bytes = bytes,
                                .free = free_code};
  fake_register();
  assert_int_equal(wick_backend_register(&backend, NULL), WICK_OK);
  for (BackendNumber f = BACKEND_COUNT; f < BACKEND_LIMIT && !row; f++) row = fuse_backend_of(f);
  return row == NULL;
}

static int teardown(void **state) {
  (void)state;
  return fake_block_count() != 0;
}

/* ---- records ---- */

static wick_value *on_fake(uint32_t dtype, int ndim, const int64_t *sizes) {
  wick_value *host, *where, *out = NULL;
  assert_int_equal(wick_tensor_new(dtype, ndim, sizes, &host, NULL), WICK_OK);
  assert_int_equal(wick_value_device("fake:0", &where, NULL), WICK_OK);
  memset(wick_tensor_mutable_data(host), 0, (size_t)wick_tensor_count(host) * wick_dtype_bytes(dtype));
  const wick_value *arguments[] = {host, where};
  assert_int_equal(
      wick_op_call(NULL, "aten::to", "dtype_layout", arguments, 2, (const char *const[]){"device"}, 1, &out, NULL),
      WICK_OK);
  wick_value_release(host);
  wick_value_release(where);
  return out;
}

static void check_record(const char *name) {
  char path[200], *recorded;
  snprintf(path, sizeof path, "device/render/%s.cu", name);
  assert_false(text.failed);
  assert_non_null(text.data);
  if (getenv("WICK_RENDER_RECORD")) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text.data, file);
    fclose(file);
  }
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("there is no record %s", path);
  recorded = calloc(1, text.length + 2);
  size_t length = fread(recorded, 1, text.length + 1, file);
  fclose(file);
  if (length != text.length || strcmp(recorded, text.data) != 0) fail_msg("%s: the text is now\n%s", path, text.data);
  free(recorded);
  text_dispose(&text);
}

static void test_records(void **state) {
  (void)state;
  static const int64_t whole[] = {3, 4}, row_of[] = {4}, column[] = {3, 1};
  static const struct {
    const char *record, *operator, * overload;
    int count;
    struct {
      uint32_t dtype;
      int ndim;
      const int64_t *sizes;
    } tensors[2];
  } cases[] = {
      {"sigmoid", "aten::sigmoid", "", 1, {{WICK_FLOAT32, 2, whole}}},
      {"sigmoid_half", "aten::sigmoid", "", 1, {{WICK_FLOAT16, 2, whole}}},
      {"sub_double", "aten::sub", "Tensor", 2, {{WICK_FLOAT64, 2, whole}, {WICK_FLOAT64, 2, whole}}},
      {"sub_broadcast", "aten::sub", "Tensor", 2, {{WICK_FLOAT32, 2, column}, {WICK_FLOAT32, 1, row_of}}},
      {"remainder_whole", "aten::remainder", "Tensor", 2, {{WICK_INT32, 2, whole}, {WICK_UINT8, 1, row_of}}},
      {"eq_element", "aten::eq", "Tensor", 2, {{WICK_BFLOAT16, 2, whole}, {WICK_BFLOAT16, 0, NULL}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const wick_value *arguments[2];
    wick_error *error = NULL;
    for (int k = 0; k < cases[i].count; k++)
      arguments[k] = on_fake(cases[i].tensors[k].dtype, cases[i].tensors[k].ndim, cases[i].tensors[k].sizes);
    wick_status status = wick_op_call(NULL, cases[i].operator, cases[i].overload, arguments, (size_t)cases[i].count,
                                      NULL, 0, NULL, &error);
    if (status != WICK_UNSUPPORTED) fail_msg("%s: %s", cases[i].operator, wick_error_message(error));
    wick_error_free(error);
    check_record(cases[i].record);
    for (int k = 0; k < cases[i].count; k++) wick_value_release((wick_value *)(uintptr_t)arguments[k]);
  }
  render_prelude(&dialect_cuda, 32, &text);
  check_record("prelude");
}

/* ---- every formula ---- */

typedef struct _nvrtcProgram *Program;
static struct {
  int (*create)(Program *program, const char *text, const char *name, int headers, const char *const *texts,
                const char *const *names);
  int (*destroy)(Program *program);
  int (*compile)(Program program, int count, const char *const *options);
  int (*log_size)(Program program, size_t *size);
  int (*log)(Program program, char *log);
} nvrtc;

static bool open_nvrtc(void) {
  const char *given = getenv("WICK_NVRTC");
  void *library = dlopen(given ? given : "libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
  if (!library && !given) library = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  *(void **)&nvrtc.create = dlsym(library, "nvrtcCreateProgram");
  *(void **)&nvrtc.destroy = dlsym(library, "nvrtcDestroyProgram");
  *(void **)&nvrtc.compile = dlsym(library, "nvrtcCompileProgram");
  *(void **)&nvrtc.log_size = dlsym(library, "nvrtcGetProgramLogSize");
  *(void **)&nvrtc.log = dlsym(library, "nvrtcGetProgramLog");
  return nvrtc.create && nvrtc.destroy && nvrtc.compile && nvrtc.log_size && nvrtc.log;
}

static void compile_text(const char *source) {
  static const char *const options[] = {"--gpu-architecture=compute_90", "--std=c++17",
                                        "--device-as-default-execution-space"};
  Program program;
  size_t size;
  assert_int_equal(nvrtc.create(&program, source, "kernels.cu", 0, NULL, NULL), 0);
  if (nvrtc.compile(program, 3, options)) {
    assert_int_equal(nvrtc.log_size(program, &size), 0);
    char *log = calloc(1, size + 1);
    nvrtc.log(program, log);
    fail_msg("%s", log);
  }
  nvrtc.destroy(&program);
}

enum { CONTIGUOUS, STRIDED, NUMBERS, KINDS }; /* what arguments are */

/* The kernel of a formula over a type with arguments of a kind, as the back end shows it. */
static void render_formula(const Operator *op, KernelProgram *program, TileType compute, int kind) {
  const FunctionSchema *schema = operator_schema(op);
  int count = formula_parameter_count(kernel_program_formula(program));
  TileArgument arguments[FORMULA_MAX_PARAMETERS];
  Tensor *some;
  const TileKernel *kernel;
  FuseSignature signature = {.rank = 2, .argument_count = (uint8_t)count};
  void *made = NULL;
  assert_null(tensor_empty(tile_type_dtype(compute), 2, (int64_t[]){2, 3}, &some));
  for (int i = 0; i < count; i++) {
    const Type *type = schema->arguments[i].type;
    if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
    arguments[i] = type->kind == TYPE_TENSOR   ? (TileArgument){.kind = TILE_ARG_TENSOR, .tensor = some}
                   : type->kind == TYPE_BOOL   ? (TileArgument){.kind = TILE_ARG_BOOL, .b = true}
                   : type->kind == TYPE_STRING ? (TileArgument){.kind = TILE_ARG_TEXT, .text = STR("none")}
                                               : (TileArgument){.kind = TILE_ARG_FLOAT, .f = 2.5};
    if (type->kind == TYPE_TENSOR && kind == NUMBERS && i)
      arguments[i] = (TileArgument){.kind = TILE_ARG_FLOAT, .f = 3};
  }
  Status status = kernel_program_kernel(program, compute, arguments, &kernel);
  tensor_release(some);
  if (status) { /* it has no meaning in the type */
    status_free(status);
    return;
  }
  KernelIr *ir = kernel->ir;
  signature.output_count = (uint8_t)ir->output_count;
  for (int i = 0; i < count + ir->output_count; i++) {
    TileType type = (TileType)(i < count ? ir->types[i] : ir->types[ir->outputs[i - count]]);
    bool is_number = i < count && arguments[i].kind != TILE_ARG_TENSOR;
    signature.operands[i] =
        (FuseOperandSignature){.layout = is_number         ? FUSE_LAYOUT_NUMBER
                                         : kind == STRIDED ? FUSE_LAYOUT_STRIDED
                                                           : FUSE_LAYOUT_CONTIGUOUS,
                               .type = (uint8_t)(is_number ? (int)arguments[i].kind : (int)tile_type_dtype(type))};
    if (i < count && !ir->used[i]) signature.operands[i] = (FuseOperandSignature){.layout = FUSE_LAYOUT_UNUSED};
  }
  status = row->compile(row, ir, &signature, &made);
  assert_non_null(status);
  status_free(status);
}

/* Compiled a few hundred at a time; each has a name of its own. */
static void test_formulas(void **state) {
  (void)state;
  enum { AT_ONCE = 300 };
  bool compiles = open_nvrtc();
  int kernels = 0, held = 0;
  char name[32];
  unknown = 0;
  kernel_name = name;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    KernelProgram *program;
    assert_null(operator_program(op, &program));
    if (!program) continue;
    for (int compute = 0; compute < TILE_C128; compute++)
      for (int kind = 0; kind < KINDS; kind++) {
        size_t before = text.length;
        if (!text.length) render_prelude(&dialect_cuda, kernels % 2 ? 64 : 32, &text);
        snprintf(name, sizeof name, "kernel_%d", kernels);
        render_formula(op, program, (TileType)compute, kind);
        if (before && text.length == before) continue;
        kernels++;
        if (++held < AT_ONCE) continue;
        if (compiles) compile_text(text.data);
        text.length = 0;
        held = 0;
      }
  }
  assert_false(text.failed);
  if (compiles && text.length) compile_text(text.data);
  text_dispose(&text);
  print_message("%d kernels have a text, %u none; %s\n", kernels, unknown,
                compiles ? "all compiled" : "there is no NVRTC to compile them");
  assert_true(kernels > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_records), cmocka_unit_test(test_formulas)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
