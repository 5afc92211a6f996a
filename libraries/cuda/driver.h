/* NVIDIA's driver and its compiler, opened at run time: the functions that are used, declared here. Nothing of the
 * CUDA toolkit is needed to build. Names and numbers are those of its documented interface. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wick/status.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NO_DEVICE = 100 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76 };

/* name, symbol where it differs, parameters */
/* clang-format off */
#define DRIVER_FUNCTIONS(X) \
  X(cuInit, "cuInit", (unsigned flags)) \
  X(cuGetErrorName, "cuGetErrorName", (CUresult error, const char **text)) \
  X(cuGetErrorString, "cuGetErrorString", (CUresult error, const char **text)) \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int *count)) \
  X(cuDeviceGet, "cuDeviceGet", (CUdevice * device, int ordinal)) \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device)) \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device)) \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext context)) \
  X(cuStreamCreate, "cuStreamCreate", (CUstream * stream, unsigned flags)) \
  X(cuStreamSynchronize, "cuStreamSynchronize", (CUstream stream)) \
  X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr * memory, size_t bytes)) \
  X(cuMemFree, "cuMemFree_v2", (CUdeviceptr memory)) \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags)) \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X(cuMemcpyPeerAsync, "cuMemcpyPeerAsync", (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, \
                                             CUcontext from_context, size_t bytes, CUstream stream)) \
  X(cuMemsetD8Async, "cuMemsetD8Async", (CUdeviceptr to, unsigned char value, size_t count, CUstream stream)) \
  X(cuMemsetD16Async, "cuMemsetD16Async", (CUdeviceptr to, unsigned short value, size_t count, CUstream stream)) \
  X(cuMemsetD32Async, "cuMemsetD32Async", (CUdeviceptr to, unsigned value, size_t count, CUstream stream)) \
  X(cuModuleLoadData, "cuModuleLoadData", (CUmodule * module, const void *image)) \
  X(cuModuleUnload, "cuModuleUnload", (CUmodule module)) \
  X(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char *name)) \
  X(cuLaunchKernel, "cuLaunchKernel", (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                                       unsigned group_x, unsigned group_y, unsigned group_z, unsigned shared_bytes, \
                                       CUstream stream, void **parameters, void **extra))

typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
#define COMPILER_FUNCTIONS(X) \
  X(nvrtcCreateProgram, "nvrtcCreateProgram", (nvrtcProgram * program, const char *text, const char *name, int headers, \
                                               const char *const *header_texts, const char *const *header_names)) \
  X(nvrtcDestroyProgram, "nvrtcDestroyProgram", (nvrtcProgram * program)) \
  X(nvrtcCompileProgram, "nvrtcCompileProgram", (nvrtcProgram program, int count, const char *const *options)) \
  X(nvrtcGetPTXSize, "nvrtcGetPTXSize", (nvrtcProgram program, size_t *size)) \
  X(nvrtcGetPTX, "nvrtcGetPTX", (nvrtcProgram program, char *ptx)) \
  X(nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize", (nvrtcProgram program, size_t *size)) \
  X(nvrtcGetProgramLog, "nvrtcGetProgramLog", (nvrtcProgram program, char *log))
/* clang-format on */

#define X(name, symbol, parameters) int(*name) parameters;
typedef struct Driver {
  DRIVER_FUNCTIONS(X)
} Driver;
typedef struct Compiler {
  COMPILER_FUNCTIONS(X)
  const char *(*nvrtcGetErrorString)(nvrtcResult result);
} Compiler;
#undef X

/* Set by driver_open and compiler_open, for the rest of the process. */
extern Driver driver;
extern Compiler compiler;
/* Opens libcuda.so.1 and makes it ready, without a context. Not from several threads. */
wick_status driver_open(wick_error **error);
/* Opens NVRTC, newest first; the environment's WICK_NVRTC names the file instead. Not from several threads. */
wick_status compiler_open(wick_error **error);

/* An error of the driver's: what was tried, in printf's way, and the driver's name and text for it. */
__attribute__((format(printf, 3, 4))) wick_status driver_error(wick_error **error, CUresult result, const char *format,
                                                               ...);
__attribute__((format(printf, 3, 4))) wick_status fail(wick_error **error, wick_status status, const char *format, ...);

#endif
