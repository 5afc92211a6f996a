#include "cuda/program.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTHS = 2 };
static const char entry_name[] = "wick_kernel";

typedef struct Code { /* for one card and width of indices */
  struct Code *next;
  const Card *card;
  int bits;
  CUmodule module;
  CUfunction function;
} Code;

struct Program {
  pthread_mutex_t lock; /* compiling */
  _Atomic(Code *) codes;
  char *texts[WIDTHS]; /* of 32 and 64 bits */
  uint32_t rank, argument_count, output_count;
  RenderLayout layout;
  uint8_t forms[RENDER_MAX_OPERANDS]; /* WICK_OPERAND_... of the arguments */
  uint8_t types[RENDER_MAX_OPERANDS]; /* WICK_KERNEL_... of the arguments */
  size_t bytes;
};

static char *render(const wick_kernel_ir *kernel, int bits) {
  Text text = {0};
  render_prelude(&dialect_cuda, bits, &text);
  render_kernel(&dialect_cuda, kernel, entry_name, &text);
  if (text.failed) text_dispose(&text);
  return text.data;
}

/* ---- compiling ---- */

static wick_status say_log(nvrtcProgram program, nvrtcResult result, wick_error **error) {
  size_t size = 0;
  char *log = NULL;
  if (!compiler.nvrtcGetProgramLogSize(program, &size) && size > 1) log = calloc(1, size + 1);
  if (log && compiler.nvrtcGetProgramLog(program, log)) log[0] = 0;
  wick_status status = fail(error, WICK_RUNTIME, "CUDA: compiling a kernel: %s%s%s",
                            compiler.nvrtcGetErrorString(result), log && *log ? ": " : "", log ? log : "");
  free(log);
  return status;
}

/* *out_ptx is the caller's to free. */
static wick_status compile_text(const char *text, const char *architecture, char **out_ptx, wick_error **error) {
  const char *const options[] = {architecture, "--std=c++17", "--device-as-default-execution-space"};
  nvrtcProgram program = NULL;
  size_t size = 0;
  *out_ptx = NULL;
  nvrtcResult result = compiler.nvrtcCreateProgram(&program, text, "wick_kernel.cu", 0, NULL, NULL);
  if (!result) result = compiler.nvrtcCompileProgram(program, sizeof options / sizeof *options, options);
  wick_status status = result ? say_log(program, result, error) : WICK_OK;
  if (!result) result = compiler.nvrtcGetPTXSize(program, &size);
  if (!result && !(*out_ptx = malloc(size + 1))) status = fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (*out_ptx && (result = compiler.nvrtcGetPTX(program, *out_ptx))) {
    free(*out_ptx);
    *out_ptx = NULL;
  }
  if (program) compiler.nvrtcDestroyProgram(&program);
  return result && !status
             ? fail(error, WICK_RUNTIME, "CUDA: a kernel's code: %s", compiler.nvrtcGetErrorString(result))
             : status;
}

static Code *find_code(const Program *program, const Card *card, int bits) {
  Code *code = atomic_load_explicit(&program->codes, memory_order_acquire);
  while (code && (code->card != card || code->bits != bits)) code = code->next;
  return code;
}

/* At exit the compiler's and the driver's own data goes, and whoever is in them would fault: the process waits for
 * what is being compiled, on wick's thread for instance, and nothing is begun any more. */
static pthread_rwlock_t ending = PTHREAD_RWLOCK_INITIALIZER; /* held for reading by who compiles */
static bool has_ended;
static pid_t own_process; /* a forked child has nobody to wait for */

static void end_compiling(void) {
  if (getpid() != own_process) return;
  pthread_rwlock_wrlock(&ending);
  has_ended = true;
  pthread_rwlock_unlock(&ending);
}

/* Again after the first kernel: what the compiler has made by then goes after this has been called. */
static void watch_exit(void) {
  own_process = getpid();
  atexit(end_compiling);
}
static void watch_exit_again(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_exit);
}
static void watch_exit_first(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_exit);
}

/* Lock held. */
static wick_status make_code(Program *program, const Card *card, int bits, Code **out, wick_error **error) {
  char *ptx;
  wick_status status = compile_text(program->texts[bits == 64], card->architecture, &ptx, error);
  if (status) return status;
  Code *code = calloc(1, sizeof *code);
  CUresult result = code ? driver.cuModuleLoadData(&code->module, ptx) : CUDA_SUCCESS;
  if (code && !result) result = driver.cuModuleGetFunction(&code->function, code->module, entry_name);
  program->bytes += strlen(ptx);
  free(ptx);
  if (!code) return fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (result) {
    free(code);
    return driver_error(error, result, "loading a kernel");
  }
  code->card = card;
  code->bits = bits;
  code->next = atomic_load(&program->codes);
  atomic_store_explicit(&program->codes, code, memory_order_release);
  *out = code;
  return WICK_OK;
}

static wick_status add_code(Program *program, const Card *card, int bits, Code **out, wick_error **error) {
  watch_exit_first();
  pthread_rwlock_rdlock(&ending);
  wick_status status =
      has_ended ? fail(error, WICK_CANCELLED, "the process ends") : make_code(program, card, bits, out, error);
  pthread_rwlock_unlock(&ending);
  watch_exit_again();
  return status;
}

static wick_status code_for(Program *program, const Card *card, int bits, Code **out, wick_error **error) {
  if ((*out = find_code(program, card, bits))) return WICK_OK;
  pthread_mutex_lock(&program->lock);
  *out = find_code(program, card, bits);
  wick_status status = *out ? WICK_OK : add_code(program, card, bits, out, error);
  pthread_mutex_unlock(&program->lock);
  return status;
}

wick_status program_new(const wick_kernel_ir *kernel, Program **out, wick_error **error) {
  Program *program = calloc(1, sizeof *program);
  Card *card = NULL;
  Code *code;
  if (!program) return fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  pthread_mutex_init(&program->lock, NULL);
  for (int i = 0; i < WIDTHS; i++) program->texts[i] = render(kernel, i ? 64 : 32);
  program->rank = kernel->rank;
  program->argument_count = kernel->argument_count;
  program->output_count = kernel->output_count;
  render_layout(kernel, &program->layout);
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    program->forms[i] = (uint8_t)kernel->operands[i].form;
    program->types[i] = kernel->types[i];
  }
  bool is_whole = program->texts[0] && program->texts[1];
  program->bytes = sizeof *program + (is_whole ? strlen(program->texts[0]) + strlen(program->texts[1]) : 0);
  wick_status status = is_whole ? card_enter_any(&card, error) : fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (!status) status = code_for(program, card, 32, &code, error);
  if (status)
    program_free(program);
  else
    *out = program;
  return status;
}

void program_free(Program *program) {
  for (Code *code = atomic_load(&program->codes), *next; code; code = next) {
    Card *card;
    next = code->next;
    if (!card_enter(code->card->index, &card, NULL)) driver.cuModuleUnload(code->module);
    free(code);
  }
  for (int i = 0; i < WIDTHS; i++) free(program->texts[i]);
  pthread_mutex_destroy(&program->lock);
  free(program);
}

size_t program_bytes(const Program *program) {
  return program->bytes;
}

/* ---- running ---- */

static int64_t count_of(const wick_tensor_view *t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->ndim; d++) count *= t->sizes[d];
  return count;
}

static int64_t stride_along(const wick_tensor_view *t, uint32_t rank, uint32_t d) {
  int64_t own = (int64_t)d - ((int64_t)rank - t->ndim);
  return own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
}

typedef struct Launch {
  void *parameters[RENDER_MAX_OPERANDS + 2];
  size_t count;
  union Value {
    void *pointer;
    double real;
    int64_t integer;
    uint32_t index32;
    uint64_t index64;
  } values[RENDER_MAX_OPERANDS + 1];
  union {
    uint32_t words[RENDER_MAX_RANK * (RENDER_MAX_OPERANDS + 1)];
    uint64_t longs[RENDER_MAX_RANK * (RENDER_MAX_OPERANDS + 1)];
  } layout;
} Launch;

static union Value *add_parameter(Launch *launch) {
  union Value *value = &launch->values[launch->count];
  launch->parameters[launch->count++] = value;
  return value;
}

/* The view that operand i is of; NULL: a number, or not read. */
static const wick_tensor_view *view_of(const Program *program, uint32_t i, const wick_kernel_argument *arguments,
                                       const wick_tensor_view *outputs) {
  if (i >= program->argument_count) return &outputs[i - program->argument_count];
  bool is_read = program->forms[i] != WICK_OPERAND_UNUSED && program->forms[i] != WICK_OPERAND_NUMBER;
  return is_read ? &arguments[i].tensor : NULL;
}

/* 64 where an element may be more than 2^31 places from its operand's start, or there are as many. */
static int index_bits(const Program *program, int64_t count, const wick_kernel_argument *arguments,
                      const wick_tensor_view *outputs) {
  enum { MARGIN = RENDER_GROUP * RENDER_EACH };
  if (count > INT32_MAX - MARGIN) return 64;
  for (uint32_t i = 0; i < program->argument_count + program->output_count; i++) {
    if (program->layout.slots[i] < 0) continue;
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    int64_t last = 0;
    for (int32_t d = 0; d < t->ndim; d++) last += (t->sizes[d] - 1) * t->strides[d];
    if (last > INT32_MAX) return 64;
  }
  return 32;
}

static void set_layout(const Program *program, int bits, const wick_kernel_argument *arguments,
                       const wick_tensor_view *outputs, Launch *launch) {
  uint32_t at = program->rank;
  for (uint32_t d = 0; d < program->rank; d++) {
    if (bits == 64)
      launch->layout.longs[d] = (uint64_t)outputs[0].sizes[d];
    else
      launch->layout.words[d] = (uint32_t)outputs[0].sizes[d];
  }
  for (uint32_t i = 0; i < program->argument_count + program->output_count; i++) {
    if (program->layout.slots[i] < 0) continue;
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    for (uint32_t d = 0; d < program->rank; d++, at++) {
      int64_t stride = stride_along(t, program->rank, d);
      if (bits == 64)
        launch->layout.longs[at] = (uint64_t)stride;
      else
        launch->layout.words[at] = (uint32_t)stride;
    }
  }
  launch->parameters[launch->count++] = &launch->layout;
}

/* As libraries/render/render.h has them. */
static void set_parameters(const Program *program, int bits, int64_t count, const wick_kernel_argument *arguments,
                           const wick_tensor_view *outputs, Launch *launch) {
  launch->count = 0;
  if (bits == 64)
    add_parameter(launch)->index64 = (uint64_t)count;
  else
    add_parameter(launch)->index32 = (uint32_t)count;
  for (uint32_t i = 0; i < program->argument_count + program->output_count; i++) {
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    if (t)
      add_parameter(launch)->pointer = t->data;
    else if (program->forms[i] == WICK_OPERAND_NUMBER && program->types[i] <= WICK_KERNEL_INT64)
      add_parameter(launch)->integer = arguments[i].integer;
    else if (program->forms[i] == WICK_OPERAND_NUMBER)
      add_parameter(launch)->real = arguments[i].real;
  }
  if (program->layout.strided_count) set_layout(program, bits, arguments, outputs, launch);
}

wick_status program_run(Program *program, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                        wick_error **error) {
  Launch launch;
  Card *card = NULL;
  Code *code;
  int64_t count = count_of(&outputs[0]), each = RENDER_GROUP * RENDER_EACH;
  if (!count) return WICK_OK;
  wick_status status = card_enter(outputs[0].device_index, &card, error);
  int bits = index_bits(program, count, arguments, outputs);
  if (!status) status = code_for(program, card, bits, &code, error);
  if (status) return status;
  set_parameters(program, bits, count, arguments, outputs, &launch);
  CUresult result = driver.cuLaunchKernel(code->function, (unsigned)((count + each - 1) / each), 1, 1, RENDER_GROUP, 1,
                                          1, 0, card->stream, launch.parameters, NULL);
  return result ? driver_error(error, result, "launching a kernel over %lld elements", (long long)count) : WICK_OK;
}
