#include "cuda/code.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render/render.h"

struct Code {
  Code *next;
  const Card *card;
  uint64_t variant;
  CUmodule module;
  CUfunction function;
};

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

static const Code *find_code(const Codes *codes, const Card *card, uint64_t variant) {
  const Code *code = atomic_load_explicit(&codes->first, memory_order_acquire);
  while (code && (code->card != card || code->variant != variant)) code = code->next;
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

static wick_status load(const char *ptx, Code *code, wick_error **error) {
  CUresult result = driver.cuModuleLoadData(&code->module, ptx);
  if (!result) result = driver.cuModuleGetFunction(&code->function, code->module, "wick_kernel");
  return result ? driver_error(error, result, "loading a kernel") : WICK_OK;
}

/* Lock held. */
static wick_status make_code(Codes *codes, const Card *card, const void *of, uint64_t variant, wick_error **error) {
  Text text = {0};
  char *ptx = NULL;
  codes->write(of, variant, &text);
  wick_status status = text.failed ? fail(error, WICK_OUT_OF_MEMORY, "out of memory")
                                   : compile_text(text.data, card->architecture, &ptx, error);
  text_dispose(&text);
  Code *code = status ? NULL : calloc(1, sizeof *code);
  if (!status) status = code ? load(ptx, code, error) : fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (!status) {
    atomic_fetch_add(&codes->bytes, strlen(ptx));
    code->card = card;
    code->variant = variant;
    code->next = atomic_load(&codes->first);
    atomic_store_explicit(&codes->first, code, memory_order_release);
  } else {
    free(code);
  }
  free(ptx);
  return status;
}

static wick_status add_code(Codes *codes, const Card *card, const void *of, uint64_t variant, wick_error **error) {
  watch_exit_first();
  pthread_rwlock_rdlock(&ending);
  wick_status status =
      has_ended ? fail(error, WICK_CANCELLED, "the process ends") : make_code(codes, card, of, variant, error);
  pthread_rwlock_unlock(&ending);
  watch_exit_again();
  return status;
}

wick_status code_for(Codes *codes, const Card *card, const void *of, uint64_t variant, CUfunction *out,
                     wick_error **error) {
  wick_status status = WICK_OK;
  const Code *code = find_code(codes, card, variant);
  if (!code) {
    pthread_mutex_lock(&codes->lock);
    if (!find_code(codes, card, variant)) status = add_code(codes, card, of, variant, error);
    pthread_mutex_unlock(&codes->lock);
    code = find_code(codes, card, variant);
  }
  if (!status) *out = code->function;
  return status;
}

void codes_dispose(Codes *codes) {
  for (Code *code = atomic_load(&codes->first), *next; code; code = next) {
    Card *card;
    next = code->next;
    if (!card_enter(code->card->index, &card, NULL)) driver.cuModuleUnload(code->module);
    free(code);
  }
  pthread_mutex_destroy(&codes->lock);
}

wick_status code_launch(const Card *card, CUfunction function, int64_t groups, void **parameters, wick_error **error) {
  if (groups > INT32_MAX)
    return fail(error, WICK_UNSUPPORTED, "CUDA: a kernel over %lld groups of elements", (long long)groups);
  CUresult result =
      driver.cuLaunchKernel(function, (unsigned)groups, 1, 1, RENDER_GROUP, 1, 1, 0, card->stream, parameters, NULL);
  return result ? driver_error(error, result, "launching a kernel of %lld groups", (long long)groups) : WICK_OK;
}
