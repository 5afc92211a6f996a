/* Convolution by oneDNN, opened on first use.
 *
 * A ConvPlan holds what oneDNN prepares for one convolution of one weight: the primitive, the reorders around it and
 * the weight in the primitive's own layout. Plans are kept, up to a bound, because packing a weight costs as much as
 * using it. A plan retains its weight's storage; plans whose weight nobody else holds are dropped when another is made.
 */
#include "op/conv.h"

#ifdef WICK_HAVE_ONEDNN
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>

#include "base/cache.h"
#include "base/hostile.h"
#include "base/parallel.h"
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
  void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
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

typedef struct ConvPlan {
  struct ConvPlan *next;
  ConvParams params;
  bool has_shift;
  float *scale;     /* of each output channel, multiplied into the packed weight; or NULL */
  int threads;      /* a primitive is made for a number of threads */
  Storage *storage; /* of the weight; with offset and version the plan's identity */
  int64_t offset;
  uint32_t version;
  int users;
  uint64_t last_use;
  dnnl_primitive_t conv, reorder_in, reorder_out; /* reorders NULL where the layout is the caller's */
  dnnl_memory_desc_t plain_in, plain_out, in, out, weight, bias, scratch;
  void *packed;
  size_t packed_bytes;
} ConvPlan;

static struct {
  pthread_mutex_t lock;
  ConvPlan *plans;
  size_t bytes, count;
  uint64_t clock;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};
enum { MAX_PLANS = CACHE_ENTRIES(1024), ONE_THREAD_WORK = 1 << 20 /* below, waking another thread costs more */ };
static const size_t MAX_PACKED = (size_t)512 << 20;

static void plan_free(ConvPlan *p) {
  if (p->conv) dnnl.primitive_destroy(p->conv);
  if (p->reorder_in) dnnl.primitive_destroy(p->reorder_in);
  if (p->reorder_out) dnnl.primitive_destroy(p->reorder_out);
  if (p->packed) cache_free(p->packed, p->packed_bytes);
  mem_free(p->scale);
  storage_release(p->storage);
  mem_free(p);
}

/* Drops idle plans that match `all`, or whose weight is gone, or, beyond the bounds, the oldest. Under the lock. */
static void drop_plans(bool all) {
  for (ConvPlan **at = &store.plans; *at;) {
    ConvPlan *p = *at;
    if (p->users == 0 && (all || ref_is_unique(&p->storage->refs))) {
      *at = p->next;
      store.bytes -= p->packed_bytes;
      store.count--;
      plan_free(p);
    } else {
      at = &p->next;
    }
  }
  while (store.count > MAX_PLANS || store.bytes > MAX_PACKED) {
    ConvPlan **oldest = NULL;
    for (ConvPlan **at = &store.plans; *at; at = &(*at)->next)
      if ((*at)->users == 0 && (!oldest || (*at)->last_use < (*oldest)->last_use)) oldest = at;
    if (!oldest) return;
    ConvPlan *p = *oldest;
    *oldest = p->next;
    store.bytes -= p->packed_bytes;
    store.count--;
    plan_free(p);
  }
}

void conv_onednn_trim(void) {
  pthread_mutex_lock(&store.lock);
  drop_plans(true);
  pthread_mutex_unlock(&store.lock);
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
static bool describe(ConvPlan *plan, dnnl_memory_desc_t *plain_weight, dnnl_primitive_desc_t *out) {
  const ConvParams *p = &plan->params;
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
  if (dnnl.memory_desc_init_by_tag(&plan->plain_in, n + 2, in, dnnl_f32, plain[n + 2]) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&plan->plain_out, n + 2, result, dnnl_f32, plain[n + 2]) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(plain_weight, w, weight, dnnl_f32, plain[w]) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&any_in, n + 2, in, dnnl_f32, dnnl_format_tag_any) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&any_out, n + 2, result, dnnl_f32, dnnl_format_tag_any) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&any_weight, w, weight, dnnl_f32, dnnl_format_tag_any) != dnnl_success ||
      dnnl.memory_desc_init_by_tag(&plan->bias, 1, channels, dnnl_f32, dnnl_a) != dnnl_success ||
      dnnl.dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_auto, &any_in,
                                                 &any_weight, plan->has_shift ? &plan->bias : NULL, &any_out, strides,
                                                 dilates, before, after) != dnnl_success ||
      dnnl.primitive_attr_create(&attributes) != dnnl_success)
    return false;
  bool fine = dnnl.primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) == dnnl_success &&
              dnnl.primitive_desc_create(out, &desc, attributes, engine, NULL) == dnnl_success;
  dnnl.primitive_attr_destroy(attributes);
  return fine;
}

/* The weight with each output channel multiplied by its scale; NULL: no memory. */
static float *scaled_weight(const ConvPlan *plan, const float *weight) {
  int64_t channels = plan->params.out_channels, each = plan->params.in_channels / plan->params.groups;
  for (int d = 0; d < CONV_SPATIAL; d++) each *= plan->params.kernel[d];
  float *scaled = mem_alloc((size_t)(channels * each) * sizeof *scaled); /* no larger than the weight */
  if (!scaled) return NULL;
  for (int64_t c = 0; c < channels; c++)
    for (int64_t i = 0; i < each; i++) scaled[c * each + i] = weight[c * each + i] * plan->scale[c];
  return scaled;
}

static bool prepare(ConvPlan *plan, const float *weight_data) {
  dnnl_memory_desc_t plain_weight;
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t pack = NULL;
  if (!describe(plan, &plain_weight, &desc)) return false;
  plan->in = *dnnl.primitive_desc_query_md(desc, dnnl_query_src_md, 0);
  plan->out = *dnnl.primitive_desc_query_md(desc, dnnl_query_dst_md, 0);
  plan->weight = *dnnl.primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
  plan->scratch = *dnnl.primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
  bool fine = dnnl.primitive_create(&plan->conv, desc) == dnnl_success;
  dnnl.primitive_desc_destroy(desc);
  if (fine && !dnnl.memory_desc_equal(&plan->in, &plan->plain_in))
    fine = reorder_new(&plan->plain_in, &plan->in, &plan->reorder_in);
  if (fine && !dnnl.memory_desc_equal(&plan->out, &plan->plain_out))
    fine = reorder_new(&plan->out, &plan->plain_out, &plan->reorder_out);
  plan->packed_bytes = dnnl.memory_desc_get_size(&plan->weight);
  if (fine) fine = (plan->packed = cache_alloc(plan->packed_bytes)) != NULL;
  float *scaled = NULL;
  if (fine && plan->scale) fine = (scaled = scaled_weight(plan, weight_data)) != NULL;
  if (fine)
    fine = reorder_new(&plain_weight, &plan->weight, &pack) &&
           reorder_run(pack, &plain_weight, scaled ? scaled : weight_data, &plan->weight, plan->packed);
  if (pack) dnnl.primitive_destroy(pack);
  mem_free(scaled);
  return fine;
}

static bool is_plan_for(const ConvPlan *p, int threads, const ConvParams *params, const Tensor *weight,
                        const ConvEpilogue *e) {
  return p->threads == threads && p->storage == weight->storage && p->offset == weight->offset &&
         p->has_shift == (e->shift != NULL) && p->version == atomic_load(&weight->storage->version) &&
         (p->scale != NULL) == (e->scale != NULL) && memcmp(&p->params, params, sizeof *params) == 0 &&
         (!p->scale || memcmp(p->scale, e->scale, (size_t)params->out_channels * sizeof *p->scale) == 0);
}

/* A plan of this call's own; NULL when oneDNN can't or there is no memory. */
static ConvPlan *plan_new(int threads, const ConvParams *params, const Tensor *weight, const ConvEpilogue *e) {
  ConvPlan *plan = mem_calloc(1, sizeof *plan);
  if (!plan) return NULL;
  plan->params = *params;
  plan->has_shift = e->shift != NULL;
  plan->threads = threads;
  plan->storage = storage_retain(weight->storage);
  plan->offset = weight->offset;
  plan->version = atomic_load(&weight->storage->version);
  bool fine = true;
  if (e->scale) {
    size_t bytes = (size_t)params->out_channels * sizeof *plan->scale;
    fine = (plan->scale = mem_alloc(bytes)) != NULL;
    if (fine) memcpy(plan->scale, e->scale, bytes);
  }
  if (fine && prepare(plan, tensor_data(weight))) return plan;
  plan_free(plan);
  return NULL;
}

/* The plan, in use by the caller; NULL when oneDNN can't or there is no memory. */
static ConvPlan *plan_take(int threads, const ConvParams *params, const Tensor *weight, const ConvEpilogue *e) {
  pthread_mutex_lock(&store.lock);
  ConvPlan *plan = store.plans;
  while (plan && !is_plan_for(plan, threads, params, weight, e)) plan = plan->next;
  if (!plan && (plan = plan_new(threads, params, weight, e))) {
    plan->next = store.plans;
    store.plans = plan;
    store.bytes += plan->packed_bytes;
    store.count++;
    plan->users = 1;
    drop_plans(false);
    plan->users = 0;
  }
  if (plan) {
    plan->users++;
    plan->last_use = ++store.clock;
  }
  pthread_mutex_unlock(&store.lock);
  return plan;
}
static void plan_give_back(ConvPlan *plan) {
  pthread_mutex_lock(&store.lock);
  plan->users--;
  pthread_mutex_unlock(&store.lock);
}

static bool run_plan(const ConvPlan *plan, const void *in, const void *bias, void *out) {
  size_t in_bytes = plan->reorder_in ? dnnl.memory_desc_get_size(&plan->in) : 0;
  size_t out_bytes = plan->reorder_out ? dnnl.memory_desc_get_size(&plan->out) : 0;
  size_t scratch_bytes = dnnl.memory_desc_get_size(&plan->scratch);
  void *own_in = in_bytes ? cache_alloc(in_bytes) : NULL, *own_out = out_bytes ? cache_alloc(out_bytes) : NULL;
  void *scratch = scratch_bytes ? cache_alloc(scratch_bytes) : NULL;
  bool fine = (!in_bytes || own_in) && (!out_bytes || own_out) && (!scratch_bytes || scratch);
  if (fine && own_in) fine = reorder_run(plan->reorder_in, &plan->plain_in, in, &plan->in, own_in);
  if (fine) {
    int names[5] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD, DNNL_ARG_BIAS};
    const dnnl_memory_desc_t *descs[5] = {&plan->in, &plan->weight, &plan->out, &plan->scratch, &plan->bias};
    void *data[5] = {own_in ? own_in : (void *)in, plan->packed, own_out ? own_out : out, scratch, (void *)bias};
    fine = execute(plan->conv, plan->has_shift ? 5 : 4, names, descs, data);
  }
  if (fine && own_out) fine = reorder_run(plan->reorder_out, &plan->out, own_out, &plan->plain_out, out);
  if (own_in) cache_free(own_in, in_bytes);
  if (own_out) cache_free(own_out, out_bytes);
  if (scratch) cache_free(scratch, scratch_bytes);
  return fine;
}

Status conv_forward_onednn(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight,
                           const ConvEpilogue *epilogue, Tensor *out, bool *done) {
  *done = false;
  int64_t work = out->numel * p->in_channels / p->groups * p->kernel[0] * p->kernel[1] * p->kernel[2];
  if (p->transposed || work < (1 << 19) || !weight->storage || !tensor_is_contiguous(weight) ||
      !tensor_is_contiguous(out) || !is_open())
    return OK;
  Tensor *dense;
  TRY(tensor_contiguous(input, &dense));
  int threads = work < ONE_THREAD_WORK ? 1 : exec->threads, before = parallel_limit_openmp(threads);
  ConvPlan *plan = plan_take(threads, p, weight, epilogue);
  if (plan) {
    *done = run_plan(plan, tensor_data(dense), epilogue->shift, tensor_data(out));
    plan_give_back(plan);
    if (*done && epilogue->clamps) conv_clamp(threads, epilogue, out->numel, tensor_data(out));
  }
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
