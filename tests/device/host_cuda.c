/* NVIDIA's driver, its compiler and its products as the host plays them, for tests where there is no card: device
 * memory is memory of its own, kernels are compiled by the host's C compiler and run a thread after another, at once.
 * Built as libcuda.so.1, libnvrtc.so.13 and libcublas.so.13. WICK_HOST_CUDA_BYTES bounds the memory;
 * WICK_HOST_CUDA_FAIL=N makes the N-th launch fail, and all that follows it; WICK_HOST_CUDA_COUNT is how many cards
 * there are. */
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
typedef unsigned long long Address;
typedef struct Three {
  unsigned x, y, z;
} Three;
enum { OUT_OF_MEMORY = 2, INVALID = 1, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

/* ---- the driver ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t held;
static long launches;
static int lost;

/* WICK_HOST_CUDA_IDLE: kernels and products do nothing, which leaves what calls cost the host. */
static bool is_idle(void) {
  static int answer = -1;
  if (answer < 0) answer = getenv("WICK_HOST_CUDA_IDLE") != NULL;
  return answer;
}

static size_t number(const char *name, size_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

SHOWN int cuInit(unsigned flags) {
  return flags ? INVALID : 0;
}
SHOWN int cuDeviceGetCount(int *count) {
  *count = (int)number("WICK_HOST_CUDA_COUNT", 2);
  return 0;
}
SHOWN int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal < 2 ? 0 : 101;
}
SHOWN int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
SHOWN int cuDevicePrimaryCtxRetain(void **context, int device) {
  static char contexts[2];
  *context = &contexts[device];
  return 0;
}
static _Thread_local void *current;
SHOWN int cuCtxSetCurrent(void *context) {
  current = context;
  return 0;
}
SHOWN int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  *stream = current;
  return current ? 0 : 201;
}
SHOWN int cuStreamSynchronize(void *stream) {
  return stream ? lost : INVALID;
}

SHOWN int cuMemAlloc_v2(Address *memory, size_t bytes) {
  if (!current || !bytes) return INVALID;
  pthread_mutex_lock(&lock);
  bool fits = held + bytes <= number("WICK_HOST_CUDA_BYTES", (size_t)1 << 32);
  size_t *block = fits ? malloc(bytes + 16) : NULL;
  if (block) held += *block = bytes;
  pthread_mutex_unlock(&lock);
  *memory = block ? (Address)(uintptr_t)block + 16 : 0;
  return block ? 0 : OUT_OF_MEMORY;
}
SHOWN int cuMemFree_v2(Address memory) {
  size_t *block = (size_t *)(uintptr_t)(memory - 16);
  pthread_mutex_lock(&lock);
  held -= *block;
  pthread_mutex_unlock(&lock);
  free(block);
  return lost;
}
SHOWN int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  *memory = malloc(bytes);
  return *memory ? 0 : OUT_OF_MEMORY;
}
static int move(void *to, const void *from, size_t bytes, const void *stream) {
  if (!stream || !current) return INVALID;
  memmove(to, from, bytes);
  return lost;
}
SHOWN int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
  return move((void *)(uintptr_t)to, from, bytes, stream);
}
SHOWN int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
  return move(to, (void *)(uintptr_t)from, bytes, stream);
}
SHOWN int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
  return move((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, stream);
}
SHOWN int cuMemcpyPeerAsync(Address to, void *to_context, Address from, void *from_context, size_t bytes,
                            void *stream) {
  return to_context == from_context ? INVALID : move((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, stream);
}
#define FILL(name, T)                                                   \
  SHOWN int name(Address to, T value, size_t count, void *stream) {     \
    for (size_t i = 0; i < count; i++) ((T *)(uintptr_t)to)[i] = value; \
    return stream ? lost : INVALID;                                     \
  }
FILL(cuMemsetD8Async, unsigned char)
FILL(cuMemsetD16Async, unsigned short)
FILL(cuMemsetD32Async, unsigned)

SHOWN int cuGetErrorName(int error, const char **text) {
  *text = error == OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                                   : NULL;
  return *text ? 0 : INVALID;
}
SHOWN int cuGetErrorString(int error, const char **text) {
  *text = error == OUT_OF_MEMORY ? "out of memory" : error == LAUNCH_FAILED ? "unspecified launch failure" : NULL;
  return *text ? 0 : INVALID;
}

/* A module is the shared library whose path is the "PTX". */
SHOWN int cuModuleLoadData(void **module, const void *image) {
  *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
  unlink(image);
  return *module ? 0 : INVALID;
}
typedef struct Function {
  struct Function *next;
  void *module; /* which it goes with */
  void (*run)(void **parameters);
  Three *group, *thread, *group_size;
  void (**wait)(void); /* NULL: threads never wait for each other */
} Function;
static Function *functions;
SHOWN int cuModuleUnload(void *module) {
  pthread_mutex_lock(&lock);
  for (Function **at = &functions, *f; (f = *at);) {
    if (f->module == module) {
      *at = f->next;
      free(f);
    } else {
      at = &f->next;
    }
  }
  pthread_mutex_unlock(&lock);
  return dlclose(module);
}
SHOWN int cuModuleGetFunction(Function **function, void *module, const char *name) {
  char wrapper[200];
  Function *f = *function = calloc(1, sizeof *f);
  pthread_mutex_lock(&lock);
  f->module = module;
  f->next = functions;
  functions = f;
  pthread_mutex_unlock(&lock);
  snprintf(wrapper, sizeof wrapper, "run_%s", name);
  *(void **)&f->run = dlsym(module, wrapper);
  f->group = dlsym(module, "blockIdx");
  f->thread = dlsym(module, "threadIdx");
  f->wait = dlsym(module, "host_wait");
  f->group_size = dlsym(module, "blockDim");
  return f->run && f->group && f->thread ? 0 : NOT_FOUND;
}

/* Threads of a group that wait for each other are contexts of their own: each runs until it waits or ends. */
enum { MOST_THREADS = 1024, STACK = 64 << 10 };
static struct {
  ucontext_t scheduler, threads[MOST_THREADS];
  char *stacks;
  bool has_ended[MOST_THREADS];
  unsigned now;
  void (*run)(void **parameters);
  void **parameters;
} group;

static void wait_for_group(void) {
  swapcontext(&group.threads[group.now], &group.scheduler);
}
static void run_thread(void) {
  group.run(group.parameters);
  group.has_ended[group.now] = true;
}
static void begin_thread(unsigned k) {
  ucontext_t *context = &group.threads[k];
  getcontext(context);
  context->uc_stack.ss_sp = group.stacks + (size_t)k * STACK;
  context->uc_stack.ss_size = STACK;
  context->uc_link = &group.scheduler;
  makecontext(context, run_thread, 0);
  group.has_ended[k] = false;
}
static void run_group(const Function *f, unsigned count, void **parameters) {
  if (!group.stacks) group.stacks = malloc((size_t)MOST_THREADS * STACK);
  group.run = f->run;
  group.parameters = parameters;
  for (unsigned k = 0; k < count; k++) begin_thread(k);
  for (unsigned left = count; left;) {
    left = 0;
    for (unsigned k = 0; k < count; k++) {
      if (group.has_ended[k]) continue;
      f->thread->x = group.now = k;
      swapcontext(&group.scheduler, &group.threads[k]);
      left += !group.has_ended[k];
    }
  }
}

SHOWN int cuLaunchKernel(Function *f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned group_x,
                         unsigned group_y, unsigned group_z, unsigned shared, void *stream, void **parameters,
                         void **extra) {
  if (!stream || extra || shared || grid_y != 1 || grid_z != 1 || group_y != 1 || group_z != 1 || !grid_x)
    return INVALID;
  if (is_idle()) return 0;
  pthread_mutex_lock(&lock); /* a kernel's indices are its library's */
  if (++launches == (long)number("WICK_HOST_CUDA_FAIL", 0)) lost = LAUNCH_FAILED;
  *f->group_size = (Three){group_x, 1, 1};
  if (f->wait) *f->wait = wait_for_group;
  for (f->group->x = 0; f->group->x < grid_x && !lost; f->group->x++) {
    if (f->wait) run_group(f, group_x, parameters);
    for (f->thread->x = 0; !f->wait && f->thread->x < group_x; f->thread->x++) f->run(parameters);
  }
  pthread_mutex_unlock(&lock);
  return 0; /* what fails, fails later */
}

/* ---- the compiler ---- */

typedef struct Program {
  char *text, *log, path[64];
} Program;

static const char prelude[] =
    "#include <math.h>\n#include <string.h>\n"
    "struct three { unsigned x, y, z; } blockIdx, threadIdx, blockDim;\n"
    "typedef struct { unsigned long long x, y; } ulonglong2;\n"
    "#define __device__\n#define __global__\n#define __forceinline__ inline __attribute__((unused))\n"
    "#define __launch_bounds__(n)\n#define __shared__ static\n#define __syncthreads() host_wait()\n"
    "static inline float __uint_as_float(unsigned b) { float f; memcpy(&f, &b, 4); return f; }\n"
    "static inline unsigned __float_as_uint(float f) { unsigned b; memcpy(&b, &f, 4); return b; }\n"
    "static inline double __longlong_as_double(long long b) { double f; memcpy(&f, &b, 8); return f; }\n"
    "static inline long long __double_as_longlong(double f) { long long b; memcpy(&b, &f, 8); return b; }\n";

SHOWN int nvrtcCreateProgram(Program **out, const char *text, const char *name, int headers, const char *const *texts,
                             const char *const *names) {
  (void)name, (void)texts, (void)names;
  if (headers) return 1;
  *out = calloc(1, sizeof **out);
  (*out)->text = strdup(text);
  return 0;
}
SHOWN int nvrtcDestroyProgram(Program **program) {
  free((*program)->text);
  free((*program)->log);
  free(*program);
  *program = NULL;
  return 0;
}

/* C has no `extern "C"`. */
static void blank(char *text, const char *word) {
  for (char *at = text; (at = strstr(at, word));) memset(at, ' ', strlen(word));
}

/* void run_NAME(void **p) { NAME(*(T *)p[0], ...); } for each kernel: a parameter is its type and, last, its name. */
static void print_wrapper(FILE *file, const char *head) {
  const char *open = strchr(strstr(head, "__launch_bounds__"), ')') + 1, *name, *end;
  for (name = open; isspace((unsigned char)*name);) name++;
  end = strchr(name, '(');
  fprintf(file, "void run_%.*s(void **p) {\n  %.*s(", (int)(end - name), name, (int)(end - name), name);
  const char *close = strchr(end, ')'), *at = end + 1;
  for (int i = 0; at < close; i++) {
    const char *comma = memchr(at, ',', (size_t)(close - at)), *stop = comma ? comma : close, *type_end = stop;
    while (isalnum((unsigned char)type_end[-1]) || type_end[-1] == '_') type_end--;
    fprintf(file, "%s*(%.*s *)p[%d]", i ? ", " : "", (int)(type_end - at), at, i);
    at = comma ? comma + 1 : close;
  }
  fprintf(file, ");\n}\n");
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 8192);
  if (file) {
    size_t length = fread(text, 1, 8191, file);
    text[length] = 0;
    fclose(file);
  }
  return text;
}

/* What WICK_HOST_CUDA_CHECK says of the text, where it is set: a command that is given a file of it, such as one that
 * has NVIDIA's own compiler take it. */
static bool is_valid(const Program *program) {
  const char *check = getenv("WICK_HOST_CUDA_CHECK");
  char path[80], command[1200];
  if (!check) return true;
  snprintf(path, sizeof path, "%s.cu", program->path);
  snprintf(command, sizeof command, "unset LD_LIBRARY_PATH; %.1000s %s >&2", check, path);
  FILE *file = fopen(path, "w");
  if (!file) return false;
  fputs(program->text, file);
  fclose(file);
  bool fine = system(command) == 0;
  if (fine) unlink(path);
  return fine;
}

SHOWN int nvrtcCompileProgram(Program *program, int count, const char *const *options) {
  static _Atomic int made;
  char source[80], log[80], command[400];
  if (count < 1 || strncmp(options[0], "--gpu-architecture=compute_", 27) != 0) return 5;
  snprintf(program->path, sizeof program->path, "/tmp/host_cuda_%d_%d.so", (int)getpid(), made++);
  snprintf(source, sizeof source, "%s.c", program->path);
  snprintf(log, sizeof log, "%s.log", program->path);
  FILE *file = fopen(source, "w");
  if (!file) return 1;
  if (!is_valid(program)) return 6;
  blank(program->text, "extern \"C\"");
  bool waits = strstr(strstr(program->text, "__global__"), "__shared__") != NULL;
  fprintf(file, "%s%s%s", prelude, waits ? "void (*host_wait)(void);\n" : "", program->text);
  for (const char *head = program->text; (head = strstr(head, "__global__")); head++)
    if (strstr(head, "__launch_bounds__")) print_wrapper(file, head);
  fclose(file);
  const char *cc = getenv("WICK_HOST_CUDA_CC");
  snprintf(command, sizeof command,
           "%s -std=gnu17 -w -O1 -fwrapv -fno-strict-aliasing -shared -fPIC %s -o %s -lm > %s 2>&1", cc ? cc : "cc",
           source, program->path, log);
  int failed = system(command);
  program->log = read_all(log);
  unlink(source);
  unlink(log);
  return failed ? 6 : 0;
}
SHOWN int nvrtcGetPTXSize(Program *program, size_t *size) {
  *size = strlen(program->path) + 1;
  return 0;
}
SHOWN int nvrtcGetPTX(Program *program, char *ptx) {
  strcpy(ptx, program->path);
  return 0;
}
SHOWN int nvrtcGetProgramLogSize(Program *program, size_t *size) {
  *size = program->log ? strlen(program->log) + 1 : 1;
  return 0;
}
SHOWN int nvrtcGetProgramLog(Program *program, char *log) {
  strcpy(log, program->log ? program->log : "");
  return 0;
}
SHOWN const char *nvrtcGetErrorString(int result) {
  return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

/* ---- products ---- */

SHOWN int cublasCreate_v2(void **handle) {
  *handle = calloc(1, sizeof(void *));
  return 0;
}
SHOWN int cublasSetStream_v2(void *handle, void *stream) {
  return handle && stream ? 0 : 7;
}
static double get(const void *at, long long i, int type) {
  unsigned bits;
  float value;
  if (type == 0) return ((const float *)at)[i];
  if (type == 1) return ((const double *)at)[i];
  if (type == 2) return (double)((const _Float16 *)at)[i];
  bits = (unsigned)((const unsigned short *)at)[i] << 16;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static void put(void *at, long long i, int type, double value) {
  unsigned bits;
  float single = (float)value;
  memcpy(&bits, &single, sizeof bits);
  if (type == 0)
    ((float *)at)[i] = single;
  else if (type == 1)
    ((double *)at)[i] = value;
  else if (type == 2)
    ((_Float16 *)at)[i] = (_Float16)value;
  else
    ((unsigned short *)at)[i] = (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
/* Columns lie side by side. */
SHOWN int cublasGemmStridedBatchedEx(void *handle, int a_op, int b_op, int m, int n, int k, const void *alpha,
                                     const void *a, int a_type, int a_step, long long a_batch, const void *b,
                                     int b_type, int b_step, long long b_batch, const void *beta, void *c, int c_type,
                                     int c_step, long long c_batch, int batches, int compute, int algorithm) {
  bool is_double = compute == 70;
  if (!handle || algorithm != -1 || a_step < (a_op ? k : m) || b_step < (b_op ? n : k) || c_step < m || a_step < 1 ||
      b_step < 1)
    return 7;
  if (is_idle()) return 0;
  double times = get(alpha, 0, is_double), kept = get(beta, 0, is_double);
  for (int batch = 0; batch < batches; batch++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        long long at = batch * c_batch + i + (long long)j * c_step;
        for (int s = 0; s < k; s++)
          sum += get(a, batch * a_batch + (a_op ? s + (long long)i * a_step : i + (long long)s * a_step), a_type) *
                 get(b, batch * b_batch + (b_op ? j + (long long)s * b_step : s + (long long)j * b_step), b_type);
        put(c, at, c_type, times * sum + (kept != 0 ? kept * get(c, at, c_type) : 0));
      }
  return 0;
}
