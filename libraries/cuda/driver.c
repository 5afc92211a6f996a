#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

Driver driver;
Compiler compiler;

wick_status fail(wick_error **error, wick_status status, const char *format, ...) {
  char message[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  if (error) *error = wick_error_new(status, message);
  return status;
}

wick_status driver_error(wick_error **error, CUresult result, const char *format, ...) {
  char what[512];
  const char *name = NULL, *text = NULL;
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  wick_status status = result == CUDA_ERROR_OUT_OF_MEMORY ? WICK_OUT_OF_MEMORY : WICK_RUNTIME;
  return fail(error, status, "CUDA: %s: %s (%s)", what, text ? text : "an unknown error", name ? name : "?");
}

/* A function of a library that is open; false: it lacks it. */
static bool find(void *library, const char *symbol, void *to) {
  return (*(void **)to = dlsym(library, symbol)) != NULL;
}

wick_status driver_open(wick_error **error) {
  static const char file[] = "libcuda.so.1";
  int count = 0;
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(error, WICK_NOT_FOUND, "NVIDIA's driver is not there: %s", dlerror()); /* which names the file */
#define X(name, symbol, parameters)         \
  if (!find(library, symbol, &driver.name)) \
    return fail(error, WICK_NOT_FOUND, "%s has no %s: the driver is too old", file, symbol);
  DRIVER_FUNCTIONS(X)
#undef X
  CUresult result = driver.cuInit(0);
  if (!result) result = driver.cuDeviceGetCount(&count);
  if (!result && !count) result = CUDA_ERROR_NO_DEVICE;
  return result ? driver_error(error, result, "looking for devices") : WICK_OK;
}

static void *open_compiler(void) {
  static const char *const files[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
  const char *given = secure_getenv("WICK_NVRTC");
  void *library = given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
  for (size_t i = 0; !given && !library && i < sizeof files / sizeof *files; i++)
    library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
  return library;
}

wick_status compiler_open(wick_error **error) {
  void *library = open_compiler();
  if (!library)
    return fail(error, WICK_NOT_FOUND,
                "NVIDIA's run-time compiler is not there: %s (the CUDA toolkit has it, and the Python package "
                "nvidia-cuda-nvrtc; WICK_NVRTC names the file)",
                dlerror());
#define X(name, symbol, parameters) \
  if (!find(library, symbol, &compiler.name)) return fail(error, WICK_NOT_FOUND, "NVRTC has no %s", symbol);
  COMPILER_FUNCTIONS(X)
#undef X
  if (!find(library, "nvrtcGetErrorString", &compiler.nvrtcGetErrorString))
    return fail(error, WICK_NOT_FOUND, "NVRTC has no nvrtcGetErrorString");
  return WICK_OK;
}
