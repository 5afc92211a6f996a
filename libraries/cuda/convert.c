/* Elements of one dtype move as they are, as integers of their size; complex numbers as pairs of those. Others go
 * through the type that holds both. Dimensions are sorted and joined first, so that few programs serve. */
#include "cuda/convert.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "cuda/program.h"

/* ---- layouts ---- */

typedef struct Dims {
  int rank;
  int64_t sizes[RENDER_MAX_RANK], to[RENDER_MAX_RANK], from[RENDER_MAX_RANK];
} Dims;

static void insert_dim(Dims *dims, int64_t size, int64_t to, int64_t from) {
  int at = dims->rank++;
  for (; at > 0 && dims->to[at - 1] < to; at--) {
    dims->sizes[at] = dims->sizes[at - 1];
    dims->to[at] = dims->to[at - 1];
    dims->from[at] = dims->from[at - 1];
  }
  dims->sizes[at] = size;
  dims->to[at] = to;
  dims->from[at] = from;
}

static void join_dims(Dims *dims) {
  int last = 0;
  for (int d = 1; d < dims->rank; d++) {
    bool joins = dims->to[last] == dims->to[d] * dims->sizes[d] && dims->from[last] == dims->from[d] * dims->sizes[d];
    int64_t size = joins ? dims->sizes[last] * dims->sizes[d] : dims->sizes[d];
    if (!joins) last++;
    dims->sizes[last] = size;
    dims->to[last] = dims->to[d];
    dims->from[last] = dims->from[d];
  }
  if (dims->rank) dims->rank = last + 1;
}

/* Strides in units of the elements that move: `units` of them are one of the tensors'. False: too many dimensions. */
static bool find_dims(const wick_tensor_view *to, const wick_tensor_view *from, int units, Dims *dims) {
  dims->rank = 0;
  for (int32_t d = 0; d < to->ndim; d++) {
    if (to->sizes[d] == 1) continue;
    if (dims->rank == RENDER_MAX_RANK - 1) return false;
    insert_dim(dims, to->sizes[d], to->strides[d] * units, from->strides[d] * units);
  }
  if (units > 1) insert_dim(dims, units, 1, 1);
  join_dims(dims);
  if (!dims->rank) insert_dim(dims, 1, 1, 1);
  return true;
}

static bool is_contiguous(const Dims *dims, const int64_t *strides) {
  int64_t step = 1;
  for (int d = dims->rank; d-- > 0; step *= dims->sizes[d])
    if (strides[d] != step) return false;
  return true;
}

/* ---- dtypes ---- */

typedef struct Passage {
  uint32_t to, from; /* dtypes of the elements that move */
  uint8_t type;      /* WICK_KERNEL_... through which */
  int units;
} Passage;

static bool is_floating(uint32_t dtype) {
  return dtype == WICK_FLOAT16 || dtype == WICK_BFLOAT16 || dtype == WICK_FLOAT32 || dtype == WICK_FLOAT64;
}

static bool find_passage(uint32_t to, uint32_t from, Passage *out) {
  static const uint32_t raw[] = {[1] = WICK_UINT8, [2] = WICK_INT16, [4] = WICK_INT32, [8] = WICK_INT64};
  size_t bytes = wick_dtype_bytes(to);
  if (to == from && bytes && bytes <= 16) {
    uint32_t dtype = raw[bytes == 16 ? 8 : bytes];
    *out = (Passage){dtype, dtype, WICK_KERNEL_INT64, bytes == 16 ? 2 : 1};
    return true;
  }
  bool is_double = to == WICK_FLOAT64 || from == WICK_FLOAT64;
  uint8_t type = is_double            ? WICK_KERNEL_FLOAT64
                 : is_floating(from)  ? WICK_KERNEL_FLOAT32
                 : from == WICK_BOOL8 ? WICK_KERNEL_BOOL
                                      : WICK_KERNEL_INT64;
  *out = (Passage){to, from, type, 1};
  return true;
}

/* ---- programs ---- */

typedef struct Kept {
  Passage passage;
  int rank;
  uint32_t to_form, from_form;
  Program *program;
  struct Kept *next;
} Kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(Kept *) kept; /* for the rest of the process: dtypes by ranks by forms, so few */

static Kept *find_kept(const Kept *like) {
  Kept *k = atomic_load_explicit(&kept, memory_order_acquire);
  while (k && (k->rank != like->rank || k->to_form != like->to_form || k->from_form != like->from_form ||
               k->passage.to != like->passage.to || k->passage.from != like->passage.from ||
               k->passage.type != like->passage.type))
    k = k->next;
  return k;
}

static wick_status make_program(const Kept *like, Program **out, wick_error **error) {
  const uint32_t output = 0;
  const wick_kernel_operand operands[2] = {{like->from_form, like->passage.from, 0},
                                           {like->to_form, like->passage.to, 0}};
  const wick_kernel_ir kernel = {.size = sizeof kernel,
                                 .rank = (uint32_t)like->rank,
                                 .argument_count = 1,
                                 .output_count = 1,
                                 .types = &like->passage.type,
                                 .outputs = &output,
                                 .operands = operands};
  if (!render_knows(&kernel)) return fail(error, WICK_UNSUPPORTED, "CUDA: no copies between such dtypes");
  return program_new(&kernel, out, error);
}

static wick_status keep(const Kept *like, Kept **out, wick_error **error) {
  if ((*out = find_kept(like))) return WICK_OK;
  wick_status status = WICK_OK;
  pthread_mutex_lock(&lock);
  if (!(*out = find_kept(like))) {
    Kept *made = malloc(sizeof *made);
    if (made) *made = *like;
    status = made ? make_program(like, &made->program, error) : fail(error, WICK_OUT_OF_MEMORY, "out of memory");
    if (status) {
      free(made);
    } else {
      made->next = atomic_load(&kept);
      atomic_store_explicit(&kept, *out = made, memory_order_release);
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

wick_status convert(void *user, const wick_tensor_view *to, const wick_tensor_view *from, wick_error **error) {
  (void)user;
  Kept like = {0}, *found;
  Dims dims;
  if (to->ndim != from->ndim || !find_passage(to->dtype, from->dtype, &like.passage) ||
      !find_dims(to, from, like.passage.units, &dims))
    return fail(error, WICK_UNSUPPORTED, "CUDA: no copies between such tensors");
  like.rank = dims.rank;
  like.to_form = is_contiguous(&dims, dims.to) ? WICK_OPERAND_CONTIGUOUS : WICK_OPERAND_STRIDED;
  like.from_form = is_contiguous(&dims, dims.from) ? WICK_OPERAND_CONTIGUOUS : WICK_OPERAND_STRIDED;
  wick_status status = keep(&like, &found, error);
  if (status) return status;
  wick_kernel_argument argument = {.kind = WICK_ARGUMENT_TENSOR, .tensor = *from};
  wick_tensor_view result = *to;
  argument.tensor.ndim = result.ndim = dims.rank;
  argument.tensor.sizes = result.sizes = dims.sizes;
  argument.tensor.strides = dims.from;
  result.strides = dims.to;
  return program_run(found->program, &argument, &result, error);
}
