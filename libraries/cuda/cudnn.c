/* What is decided about a convolution is kept by its sizes. */
#include "cuda/cudnn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "wick/tensor.h"

typedef struct cudnnContext *cudnnHandle_t;
typedef void *Descriptor;
enum { NCHW = 0, CROSS_CORRELATION = 1, DEFAULT_MATH = 0 /* TF32 for float32 */, TENSOR_MATH = 1, FMA_MATH = 3 };
typedef struct Performance { /* cudnnConvolutionFwdAlgoPerf_t, and that of data's gradient */
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
} Performance;
/* clang-format off */
#define CUDNN_FUNCTIONS(X) \
  X(cudnnCreate, (cudnnHandle_t * handle)) \
  X(cudnnSetStream, (cudnnHandle_t handle, CUstream stream)) \
  X(cudnnCreateTensorDescriptor, (Descriptor * out)) \
  X(cudnnDestroyTensorDescriptor, (Descriptor descriptor)) \
  X(cudnnSetTensorNdDescriptorEx, (Descriptor descriptor, int format, int dtype, int count, const int *sizes)) \
  X(cudnnCreateFilterDescriptor, (Descriptor * out)) \
  X(cudnnDestroyFilterDescriptor, (Descriptor descriptor)) \
  X(cudnnSetFilterNdDescriptor, (Descriptor descriptor, int dtype, int format, int count, const int *sizes)) \
  X(cudnnCreateConvolutionDescriptor, (Descriptor * out)) \
  X(cudnnDestroyConvolutionDescriptor, (Descriptor descriptor)) \
  X(cudnnSetConvolutionNdDescriptor, (Descriptor descriptor, int count, const int *pad, const int *stride, \
                                      const int *dilation, int mode, int compute)) \
  X(cudnnSetConvolutionGroupCount, (Descriptor descriptor, int groups)) \
  X(cudnnSetConvolutionMathType, (Descriptor descriptor, int math)) \
  X(cudnnGetConvolutionForwardAlgorithm_v7, (cudnnHandle_t handle, Descriptor x, Descriptor w, Descriptor conv, \
                                             Descriptor y, int asked, int *count, Performance *out)) \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7, (cudnnHandle_t handle, Descriptor w, Descriptor y, Descriptor conv, \
                                                  Descriptor x, int asked, int *count, Performance *out)) \
  X(cudnnConvolutionForward, (cudnnHandle_t handle, const void *alpha, Descriptor x_of, const void *x, \
                              Descriptor w_of, const void *w, Descriptor conv, int algorithm, void *room, \
                              size_t room_bytes, const void *beta, Descriptor y_of, void *y)) \
  X(cudnnConvolutionBackwardData, (cudnnHandle_t handle, const void *alpha, Descriptor w_of, const void *w, \
                                   Descriptor y_of, const void *y, Descriptor conv, int algorithm, void *room, \
                                   size_t room_bytes, const void *beta, Descriptor x_of, void *x))
/* clang-format on */
static struct {
#define X(name, parameters) int(*name) parameters;
  CUDNN_FUNCTIONS(X)
#undef X
} cudnn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* opening, and handles, which are one thread's at a time */
static enum { NOT_TRIED, MISSING, OPEN } state;
static cudnnHandle_t handles[MAX_CARDS];

/* Lock held. */
static bool open_cudnn(void) {
  static const char *const files[] = {"libcudnn.so.9", "libcudnn.so.8"};
  if (state) return state == OPEN;
  state = MISSING;
  const char *given = secure_getenv("WICK_CUDNN");
  void *library = given && *given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
  for (size_t i = 0; !given && !library && i < sizeof files / sizeof *files; i++)
    library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define X(name, parameters) \
  if (!(*(void **)&cudnn.name = dlsym(library, #name))) return false;
  CUDNN_FUNCTIONS(X)
#undef X
  state = OPEN;
  return true;
}

/* ---- what is kept ---- */

typedef struct Plan {
  struct Plan *next;
  int card;
  ConvShape shape;
  bool is_transposed, allows_tf32;
  uint32_t dtype;
  Descriptor x, w, y, conv;
  int algorithm; /* -1: it does not take such a one */
  size_t room;
} Plan;
enum { BUCKETS = 256, MOST_PLANS = 4096 };
static Plan *plans[BUCKETS]; /* lock held */
static int plan_count;

static unsigned bucket_of(const Conv *conv) {
  const int64_t *words = (const int64_t *)&conv->shape;
  uint64_t hash = conv->dtype;
  for (size_t i = 0; i < sizeof conv->shape / sizeof *words; i++) hash = (hash ^ (uint64_t)words[i]) * 0x100000001b3u;
  return (unsigned)(hash >> 20) % BUCKETS;
}

static void free_plan(Plan *plan) {
  if (plan->x) cudnn.cudnnDestroyTensorDescriptor(plan->x);
  if (plan->y) cudnn.cudnnDestroyTensorDescriptor(plan->y);
  if (plan->w) cudnn.cudnnDestroyFilterDescriptor(plan->w);
  if (plan->conv) cudnn.cudnnDestroyConvolutionDescriptor(plan->conv);
  free(plan);
}

static void forget_all(void) {
  for (int i = 0; i < BUCKETS; i++)
    for (Plan *plan = plans[i], *next; plan; plan = next) {
      next = plan->next;
      free_plan(plan);
    }
  memset(plans, 0, sizeof plans);
  plan_count = 0;
}

static int number_of(uint32_t dtype) {
  return dtype == WICK_FLOAT32 ? 0 : dtype == WICK_FLOAT64 ? 1 : dtype == WICK_FLOAT16 ? 2 : 9;
}

/* A dimension before the last where there is but one, as cuDNN has two at least; three where there are three. */
static int set_sizes(int64_t batch, int64_t channels, const int64_t *sizes, bool is_solid, int *out) {
  int count = 0;
  out[count++] = (int)batch;
  out[count++] = (int)channels;
  for (int d = is_solid ? 0 : 1; d < 3; d++) out[count++] = (int)sizes[d];
  return count;
}

static int math_of(const Plan *plan) {
  bool is_half = plan->dtype == WICK_FLOAT16 || plan->dtype == WICK_BFLOAT16;
  return is_half ? TENSOR_MATH : plan->allows_tf32 ? DEFAULT_MATH : FMA_MATH;
}

static int describe(Plan *plan) {
  const ConvShape *s = &plan->shape;
  bool is_solid = s->in[0] != 1 || s->out[0] != 1 || s->kernel[0] != 1;
  int dtype = number_of(plan->dtype), x[5], w[5], y[5], pad[3], stride[3], dilation[3];
  int first = is_solid ? 0 : 1, dims = 3 - first;
  for (int d = first; d < 3; d++) {
    pad[d - first] = (int)s->pad[d];
    stride[d - first] = (int)s->stride[d];
    dilation[d - first] = (int)s->dilation[d];
  }
  int count = set_sizes(s->batch, s->in_channels, s->in, is_solid, x);
  set_sizes(s->batch, s->out_channels, s->out, is_solid, y);
  if (plan->is_transposed)
    set_sizes(s->in_channels, s->out_channels / s->groups, s->kernel, is_solid, w);
  else
    set_sizes(s->out_channels, s->in_channels / s->groups, s->kernel, is_solid, w);
  int failed = cudnn.cudnnCreateTensorDescriptor(&plan->x);
  if (!failed) failed = cudnn.cudnnCreateTensorDescriptor(&plan->y);
  if (!failed) failed = cudnn.cudnnCreateFilterDescriptor(&plan->w);
  if (!failed) failed = cudnn.cudnnCreateConvolutionDescriptor(&plan->conv);
  if (!failed) failed = cudnn.cudnnSetTensorNdDescriptorEx(plan->x, NCHW, dtype, count, x);
  if (!failed) failed = cudnn.cudnnSetTensorNdDescriptorEx(plan->y, NCHW, dtype, count, y);
  if (!failed) failed = cudnn.cudnnSetFilterNdDescriptor(plan->w, dtype, NCHW, count, w);
  if (!failed)
    failed = cudnn.cudnnSetConvolutionNdDescriptor(plan->conv, dims, pad, stride, dilation, CROSS_CORRELATION,
                                                   dtype == 1 ? 1 : 0);
  if (!failed) failed = cudnn.cudnnSetConvolutionGroupCount(plan->conv, (int)s->groups);
  if (!failed) failed = cudnn.cudnnSetConvolutionMathType(plan->conv, math_of(plan));
  return failed;
}

/* The first that it thinks will do, within a bound on its room. */
static void choose(Plan *plan, cudnnHandle_t handle) {
  enum { ASKED = 8, MOST_ROOM = 1 << 30 };
  Performance found[ASKED];
  int count = 0;
  int failed = plan->is_transposed ? cudnn.cudnnGetConvolutionBackwardDataAlgorithm_v7(
                                         handle, plan->w, plan->x, plan->conv, plan->y, ASKED, &count, found)
                                   : cudnn.cudnnGetConvolutionForwardAlgorithm_v7(handle, plan->x, plan->w, plan->conv,
                                                                                  plan->y, ASKED, &count, found);
  for (int i = 0; !failed && i < count; i++) {
    if (found[i].status || found[i].memory > MOST_ROOM) continue;
    plan->algorithm = found[i].algorithm;
    plan->room = found[i].memory;
    if (plan->allows_tf32) cudnn.cudnnSetConvolutionMathType(plan->conv, found[i].math);
    return;
  }
}

/* NULL: no memory. */
static Plan *plan_for(const Card *card, const Conv *conv, cudnnHandle_t handle) {
  Plan **bucket = &plans[bucket_of(conv)];
  for (Plan *plan = *bucket; plan; plan = plan->next)
    if (plan->card == card->index && plan->dtype == conv->dtype && plan->is_transposed == conv->is_transposed &&
        plan->allows_tf32 == conv->allows_tf32 && !memcmp(&plan->shape, &conv->shape, sizeof conv->shape))
      return plan;
  if (plan_count >= MOST_PLANS) forget_all();
  Plan *plan = calloc(1, sizeof *plan);
  if (!plan) return NULL;
  plan->card = card->index;
  plan->shape = conv->shape;
  plan->is_transposed = conv->is_transposed;
  plan->allows_tf32 = conv->allows_tf32;
  plan->dtype = conv->dtype;
  plan->algorithm = -1;
  if (!describe(plan)) choose(plan, handle);
  plan->next = *bucket;
  *bucket = plan;
  plan_count++;
  return plan;
}

/* ---- running ---- */

static int run(const Plan *plan, cudnnHandle_t handle, const Conv *conv, void *room) {
  static const float floats[2] = {1, 0};
  static const double doubles[2] = {1, 0};
  bool is_double = conv->dtype == WICK_FLOAT64;
  const void *one = is_double ? (const void *)&doubles[0] : &floats[0];
  const void *zero = is_double ? (const void *)&doubles[1] : &floats[1];
  return plan->is_transposed
             ? cudnn.cudnnConvolutionBackwardData(handle, one, plan->w, conv->weight, plan->x, conv->x, plan->conv,
                                                  plan->algorithm, room, plan->room, zero, plan->y, conv->y)
             : cudnn.cudnnConvolutionForward(handle, one, plan->x, conv->x, plan->w, conv->weight, plan->conv,
                                             plan->algorithm, room, plan->room, zero, plan->y, conv->y);
}

/* Lock held. */
static wick_status handle_of(const Card *card, cudnnHandle_t *out, wick_error **error) {
  cudnnHandle_t *handle = &handles[card->index];
  int failed = *handle ? 0 : cudnn.cudnnCreate(handle);
  if (!failed) failed = cudnn.cudnnSetStream(*handle, card->stream);
  *out = *handle;
  return failed ? fail(error, WICK_RUNTIME, "cuDNN: no handle for device %d (error %d)", card->index, failed) : WICK_OK;
}

static wick_status convolve(Card *card, const Conv *conv, wick_error **error) {
  cudnnHandle_t handle;
  void *room = NULL;
  wick_status status = handle_of(card, &handle, error);
  const Plan *plan = status ? NULL : plan_for(card, conv, handle);
  if (status) return status;
  if (!plan) return fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (plan->algorithm < 0) return WICK_UNSUPPORTED;
  if (plan->room) status = card_allocate(NULL, card->index, plan->room, &room, error);
  if (status) return status;
  int failed = run(plan, handle, conv, room);
  if (room) card_free(NULL, card->index, room, plan->room);
  return failed ? fail(error, WICK_RUNTIME, "cuDNN: a convolution failed (error %d)", failed) : WICK_OK;
}

wick_status cudnn_convolve(Card *card, const Conv *conv, wick_error **error) {
  pthread_mutex_lock(&lock);
  wick_status status = open_cudnn() ? convolve(card, conv, error) : WICK_UNSUPPORTED;
  pthread_mutex_unlock(&lock);
  return status;
}
