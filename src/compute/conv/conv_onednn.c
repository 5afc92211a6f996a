/* Convolution by oneDNN, opened on first use.
 *
 * A Convolution holds what oneDNN prepares for one shape: the primitive, the reorders around it and the layout it wants
 * the weight in. They are kept, up to a bound, because making one costs more than many a convolution. All have a bias,
 * which costs nothing, so that a convolution and the one it becomes in a plan, where a normalisation shifts it, are the
 * same. Weights are packed by conv_weights.c, which knows no oneDNN.
 */
#include "compute/conv/conv.h"

#ifdef WICK_HAVE_ONEDNN
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>

#include "base/cache.h"
#include "base/hostile.h"
#include "base/parallel.h"
#include "compute/conv/conv_weights.h"
#endif

#if defined(WICK_HAVE_ONEDNN) && DNNL_VERSION_MAJOR == 2

/* clang-format off */
#define FUNCTIONS(X)                                                                                               \
  X(engine_create)                                                                                                 \
  X(stream_create)                                                                                                 \
  X(stream_wait)                                                                                                   \
  X(memory_desc_init_by_tag) X(memory_desc_equal) X(memory_desc_get_size) X(dilated_convolution_forward_desc_init) \
      X(primitive_desc_create) X(primitive_desc_destroy) X(primitive_desc_query_md) X(primitive_create)            \
          X(primitive_destroy) X(primitive_execute) X(reorder_primitive_desc_create) X(memory_create)              \
              X(memory_destroy) X(primitive_attr_create) X(primitive_attr_destroy)                                 \
                  X(primitive_attr_set_scratchpad_mode)
/* clang-format on */
static struct {
#define X(name) __typeof__(dnnl_##name) *name;
  FUNCTIONS(X)
#undef X
} dnnl;
static dnnl_engine_t engine;

static void open_library(void) {
  void *library = parallel_open_library("libdnnl.so.2");
  if (!library) return;
  bool whole = true;
#define X(name) whole &= (dnnl.name = (__typeof__(dnnl.name))dlsym(library, "dnnl_" #name)) != NULL;
  FUNCTIONS(X)
#undef X
  parallel_adopt_openmp();
  if (!whole || dnnl.engine_create(&engine, dnnl_cpu, 0) != dnnl_success) engine = NULL;
}
static bool is_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  return engine != NULL && !parallel_forked();
}

/* What oneDNN prepares for one shape of convolution. */
typedef struct Convolution {
  struct Convolution *next;
  ConvParams params;
  int threads; /* a primitive is made for a number of threads */
  int users;
  uint64_t last_use;
  dnnl_primitive_t conv, reorder_in, reorder_out; /* reorders NULL where the layout is the caller's */
  dnnl_memory_desc_t plain_in, plain_out, in, out, weight, bias, scratch;
  WeightLayout layout; /* of `weight` */
  float *no_bias;      /* zeros */
} Convolution;

static struct {
  pthread_mutex_t lock;
  Convolution *first;
  size_t count;
  uint64_t clock;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};
enum { MAX_KEPT = CACHE_ENTRIES(1024), ONE_THREAD_WORK = 1 << 20 /* below, waking another thread costs more */ };

static void convolution_free(Convolution *c) {
  if (c->conv) dnnl.primitive_destroy(c->conv);
  if (c->reorder_in) dnnl.primitive_destroy(c->reorder_in);
  if (c->reorder_out) dnnl.primitive_destroy(c->reorder_out);
  mem_free(c->no_bias);
  mem_free(c);
}

/* Drops the ones not used for longest until no more than `count` are left, or all are in use. Under the lock. */
static void drop_beyond(size_t count) {
  while (store.count > count) {
    Convolution **oldest = NULL;
    for (Convolution **at = &store.first; *at; at = &(*at)->next)
      if ((*at)->users == 0 && (!oldest || (*at)->last_use < (*oldest)->last_use)) oldest = at;
    if (!oldest) return;
    Convolution *c = *oldest;
    *oldest = c->next;
    store.count--;
    convolution_free(c);
  }
}

void conv_onednn_trim(void) {
  pthread_mutex_lock(&store.lock);
  drop_beyond(0);
  pthread_mutex_unlock(&store.lock);
  packed_weights_trim();
}

static bool execute(dnnl_primitive_t primitive, int count, const int *names, const dnnl_memory_desc_t *const *descs,
                    void *const *data) {
  dnnl_exec_arg_t arguments[8];
  dnnl_stream_t stream = NULL;
  static _Thread_local dnnl_stream_t own_stream; /* a stream is a queue of one thread */
  bool fine = true;
  int made = 0;
  if (!own_stream && dnnl.stream_create(&own_stream, engine, dnnl_stream_default_flags) != dnnl_success) return false;
  stream = own_stream;
  for (; made < count && fine; made++) {
    arguments[made].arg = names[made];
    fine = dnnl.memory_create(&arguments[made].memory, descs[made], engine, data[made]) == dnnl_success;
    if (!fine) break;
  }
  fine = fine && dnnl.primitive_execute(primitive, stream, count, arguments) == dnnl_success &&
         dnnl.stream_wait(stream) == dnnl_success;
  for (int i = 0; i < made; i++) dnnl.memory_destroy(arguments[i].memory);
  return fine;
}

static bool reorder_new(const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to, dnnl_primitive_t *out) {
  dnnl_primitive_desc_t desc;
  if (dnnl.reorder_primitive_desc_create(&desc, from, engine, to, engine, NULL) != dnnl_success) return false;
  bool fine = dnnl.primitive_create(out, desc) == dnnl_success;
  dnnl.primitive_desc_destroy(desc);
  return fine;
}
static bool reorder_run(dnnl_primitive_t reorder, const dnnl_memory_desc_t *from, const void *from_data,
                        const dnnl_memory_desc_t *to, void *to_data) {
  return execute(reorder, 2, (const int[]){DNNL_ARG_FROM, DNNL_ARG_TO}, (const dnnl_memory_desc_t *const[]){from, to},
                 (void *const[]){(void *)from_data, to_data});
}

/* Descriptors of two or three spatial dimensions, as oneDNN has them (one dimension counts as two). */
static bool describe(Convolution *c, dnnl_primitive_desc_t *out) {
  const ConvParams *p = &c->params;
  int n = p->spatial == 3 ? 3 : 2, first = 3 - n;
  dnnl_dims_t in = {p->batch, p->in_channels}, result = {p->batch, p->out_channels}, weight, strides, dilates, before,
              after;
  int64_t out_group = p->out_channels / p->groups, in_group = p->in_channels / p->groups;
  int w = 0;
  if (p->groups > 1) weight[w++] = p->groups;
  weight[w++] = p->groups > 1 ? out_group : p->out_channels;
  weight[w++] = p->groups > 1 ? in_group : p->in_channels;
  for (int d = 0; d < n; d++) {
    in[2 + d] = p->in[first + d];
    result[2 + d] = p->out[first + d];
    weight[w++] = p->kernel[first + d];
    strides[d] = p->stride[first + d];
    dilates[d] = p->dilation[first + d] - 1;
    before[d] = p->padding[first + d];
    after[d] = p->padding_after[first + d];
  }
  static const dnnl_format_tag_t plain[] = {
      dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde, dnnl_abcdef};
  dnnl_dims_t channels = {p->out_channels};
  dnnl_memory_desc_t any_in, any_out, any_weight;
  dnnl_convolution_desc_t desc;
  dnnl_primitive_attr_t attributes;
  if (dnnl.memory_desc_init_by_tag(&c->plain_in, n + 2, in, dnnl_f32, plain[n + 2]) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&c->plain_out, n + 2, result, dnnl_f32, plain[n + 2]) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&any_in, n + 2, in, dnnl_f32, dnnl_format_tag_any) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&any_out, n + 2, result, dnnl_f32, dnnl_format_tag_any) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&any_weight, w, weight, dnnl_f32, dnnl_format_tag_any) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&c->bias, 1, channels, dnnl_f32, dnnl_a) != dnnl_success ||
      dnnl.dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_auto, &any_in,
                                                 &any_weight, &c->bias, &any_out, strides, dilates, before,
                                                 after) != dnnl_success ||
      dnnl.primitive_attr_create(&attributes) != dnnl_success)
    return false;
  bool fine = dnnl.primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) == dnnl_success &&
              dnnl.primitive_desc_create(out, &desc, attributes, engine, NULL) == dnnl_success;
  dnnl.primitive_attr_destroy(attributes);
  return fine;
}

/* false: not a layout that conv_weights.c writes. */
static bool read_layout(const Convolution *c, WeightLayout *out) {
  const dnnl_memory_desc_t *md = &c->weight;
  const dnnl_blocking_desc_t *blocking = &md->format_desc.blocking;
  memset(out, 0, sizeof *out);
  if (md->format_kind != dnnl_blocked || md->extra.flags || md->data_type != dnnl_f32 || md->offset0 ||
      md->ndims > WEIGHT_DIMS || blocking->inner_nblks > WEIGHT_BLOCKS)
    return false;
  out->ndim = md->ndims;
  out->channels = c->params.groups > 1;
  out->block_count = blocking->inner_nblks;
  out->bytes = dnnl.memory_desc_get_size(md);
  for (int d = 0; d < md->ndims; d++) {
    if (md->padded_offsets[d]) return false;
    out->sizes[d] = md->dims[d];
    out->strides[d] = blocking->strides[d];
  }
  for (int b = 0; b < blocking->inner_nblks; b++) {
    out->block_dims[b] = (int32_t)blocking->inner_idxs[b];
    out->blocks[b] = blocking->inner_blks[b];
  }
  return true;
}

static bool prepare(Convolution *c) {
  dnnl_primitive_desc_t desc;
  if (!describe(c, &desc)) return false;
  c->in = *dnnl.primitive_desc_query_md(desc, dnnl_query_src_md, 0);
  c->out = *dnnl.primitive_desc_query_md(desc, dnnl_query_dst_md, 0);
  c->weight = *dnnl.primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
  c->scratch = *dnnl.primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
  bool fine = dnnl.primitive_create(&c->conv, desc) == dnnl_success;
  dnnl.primitive_desc_destroy(desc);
  if (fine && !dnnl.memory_desc_equal(&c->in, &c->plain_in)) fine = reorder_new(&c->plain_in, &c->in, &c->reorder_in);
  if (fine && !dnnl.memory_desc_equal(&c->out, &c->plain_out))
    fine = reorder_new(&c->out, &c->plain_out, &c->reorder_out);
  return fine && read_layout(c, &c->layout);
}

/* NULL when oneDNN can't or there is no memory. */
static Convolution *convolution_new(int threads, const ConvParams *params) {
  Convolution *c = mem_calloc(1, sizeof *c);
  if (!c) return NULL;
  c->params = *params;
  c->threads = threads;
  c->no_bias = mem_calloc((size_t)params->out_channels, sizeof *c->no_bias);
  if (c->no_bias && prepare(c)) return c;
  convolution_free(c);
  return NULL;
}

/* In use by the caller; NULL when oneDNN can't or there is no memory. */
static Convolution *convolution_take(int threads, const ConvParams *params) {
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  pthread_mutex_lock(&store.lock);
  Convolution *c = store.first;
  while (c && !(c->threads == threads && memcmp(&c->params, params, sizeof *params) == 0)) c = c->next;
  if (!c && (c = convolution_new(threads, params))) {
    drop_beyond(MAX_KEPT - 1);
    c->next = store.first;
    store.first = c;
    store.count++;
  }
  if (c) {
    c->users++;
    c->last_use = ++store.clock;
  }
  pthread_mutex_unlock(&store.lock);
  mem_budget_enter(budget);
  return c;
}
static void convolution_give_back(Convolution *c) {
  pthread_mutex_lock(&store.lock);
  c->users--;
  pthread_mutex_unlock(&store.lock);
}

static bool run(const Convolution *c, const void *in, const float *weight, const float *bias, void *out) {
  size_t in_bytes = c->reorder_in ? dnnl.memory_desc_get_size(&c->in) : 0;
  size_t out_bytes = c->reorder_out ? dnnl.memory_desc_get_size(&c->out) : 0;
  size_t scratch_bytes = dnnl.memory_desc_get_size(&c->scratch);
  void *own_in = in_bytes ? cache_alloc(in_bytes) : NULL, *own_out = out_bytes ? cache_alloc(out_bytes) : NULL;
  void *scratch = scratch_bytes ? cache_alloc(scratch_bytes) : NULL;
  bool fine = (!in_bytes || own_in) && (!out_bytes || own_out) && (!scratch_bytes || scratch);
  if (fine && own_in) fine = reorder_run(c->reorder_in, &c->plain_in, in, &c->in, own_in);
  if (fine) {
    int names[5] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD, DNNL_ARG_BIAS};
    const dnnl_memory_desc_t *descs[5] = {&c->in, &c->weight, &c->out, &c->scratch, &c->bias};
    void *data[5] = {own_in ? own_in : (void *)in, (void *)weight, own_out ? own_out : out, scratch, (void *)bias};
    fine = execute(c->conv, 5, names, descs, data);
  }
  if (fine && own_out) fine = reorder_run(c->reorder_out, &c->out, own_out, &c->plain_out, out);
  if (own_in) cache_free(own_in, in_bytes);
  if (own_out) cache_free(own_out, out_bytes);
  if (scratch) cache_free(scratch, scratch_bytes);
  return fine;
}

/* Whether the epilogue is a pass of its own over the results. It is one anyway where they are clamped; and where many
 * products make a result, a pass costs less than a second packed weight does. Else the scale goes into the weight and
 * the shift is the bias. */
static bool has_pass(const ConvParams *p, const ConvEpilogue *e) {
  enum { MANY = 512 };
  return e->clamps || (e->scale && p->in_channels / p->groups * p->kernel[0] * p->kernel[1] * p->kernel[2] >= MANY);
}

Status conv_forward_onednn(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight,
                           const ConvEpilogue *epilogue, Tensor *out, bool *done) {
  *done = false;
  int64_t work = out->numel * p->in_channels / p->groups * p->kernel[0] * p->kernel[1] * p->kernel[2];
  if (p->transposed || work < (1 << 19) || !weight->storage || !tensor_is_contiguous(weight) ||
      !tensor_is_contiguous(out) || !is_open())
    return OK;
  Tensor *dense;
  const double PRODUCTS_PER_NS = 20;
  TRY(work_status_before((double)work / PRODUCTS_PER_NS, "a convolution"));
  TRY(tensor_contiguous(input, &dense));
  int threads = work < ONE_THREAD_WORK ? 1 : exec->threads, before = parallel_limit_openmp(threads);
  Convolution *c = convolution_take(threads, p);
  bool passes = has_pass(p, epilogue);
  PackedWeight *packed = c ? packed_weight_take(threads, weight, passes ? NULL : epilogue->scale, &c->layout) : NULL;
  if (packed) {
    const float *bias = passes || !epilogue->shift ? c->no_bias : epilogue->shift;
    *done = run(c, tensor_data(dense), packed_weight_data(packed), bias, tensor_data(out));
    packed_weight_give_back(packed);
    if (*done && passes) {
      int64_t planes = p->batch * p->out_channels;
      conv_epilogue_planes(epilogue, threads, planes, p->out_channels, out->numel / planes, tensor_data(out));
    }
  }
  if (c) convolution_give_back(c);
  parallel_limit_openmp(before);
  tensor_release(dense);
  return exec_poll(exec);
}

#else

Status conv_forward_onednn(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight,
                           const ConvEpilogue *epilogue, Tensor *out, bool *done) {
  (void)exec, (void)p, (void)input, (void)weight, (void)epilogue, (void)out;
  *done = false;
  return OK;
}
void conv_onednn_trim(void) {}

#endif
