/* The tile interpreter. A run is cut into lines (one, when all operands lie in memory alike) and lines into blocks that
 * stay in L1 cache; a block's values live in buffers on the stack, except operands and results whose memory can be used
 * as it is. */
#include "tile/run.h"

#include "tensor/iterate.h"
#include "tile/loops.h"
#include "tile/special.h"

enum { BUFFER_BYTES = 48 << 10, MAX_BLOCK = 1024, GRAIN = 32768, HEAVY_GRAIN = 16384, NO_OPERAND = -1 };

/* A tensor of the run: the outputs first, then the arguments that are not one number for all elements. */
typedef struct Operand {
  DType dtype;
  uint16_t reg;
  int64_t size;      /* of an element, in bytes */
  bool same_layout;  /* the register's type is the tensor's */
  TileLoop *convert; /* for contiguous elements, when there is one faster than dtype_convert */
} Operand;

typedef struct Number { /* a register that holds one number for all elements */
  uint16_t reg;
  KernelConstant value;
} Number;

typedef struct Run {
  const TileKernel *kernel;
  int operand_count, number_count,
      last_operand; /* last_operand: the output that the last instruction may write itself, or NO_OPERAND */
  int64_t block, place_bytes;
  _Atomic bool divided_by_zero;
  Operand operands[ITERATE_MAX_OPERANDS];
  const Tensor *tensors[ITERATE_MAX_OPERANDS];
  Number numbers[KERNEL_MAX_ARGUMENTS];
} Run;

static void spread(TileType type, void *to, const KernelConstant *constant, int64_t n) {
  switch (type) {
    case TILE_BOOL:
      memset(to, constant->integer != 0, (size_t)n);
      break;
    case TILE_I64:
      for (int64_t i = 0; i < n; i++) ((int64_t *)to)[i] = constant->integer;
      break;
    case TILE_F32:
      for (int64_t i = 0; i < n; i++) ((float *)to)[i] = (float)__real__ constant->value;
      break;
    case TILE_F64:
      for (int64_t i = 0; i < n; i++) ((double *)to)[i] = __real__ constant->value;
      break;
    default:
      for (int64_t i = 0; i < n; i++) ((complex128 *)to)[i] = constant->value;
      break;
  }
}

static bool has_zero(const int64_t *values, int64_t n) {
  bool found = false;
  for (int64_t i = 0; i < n; i++) found |= values[i] == 0;
  return found;
}

static void round_to(DType dtype, TileType type, void *to, const void *from, int64_t n) {
  char narrow[MAX_BLOCK * 16];
  DType wide = tile_type_dtype(type);
  dtype_convert(dtype, narrow, 1, wide, from, 1, n);
  dtype_convert(wide, to, 1, dtype, narrow, 1, n);
}

static void run_instruction(Run *run, const KernelIns *ins, int64_t n, void *to, char *const *values) {
  const void *a = values[ins->a], *b = ins->b == KERNEL_NO_REGISTER ? a : values[ins->b],
             *c = ins->c == KERNEL_NO_REGISTER ? a : values[ins->c];
  if (ins->may_divide_by_zero && has_zero(b, n)) run->divided_by_zero = true;
  if (ins->loop) {
    ins->loop(n, to, a, b, c);
  } else if (ins->op == KERNEL_ROUND_TO) {
    round_to((DType)ins->immediate, (TileType)ins->type, to, a, n);
  } else if (ins->type == TILE_F32) {
    special_run_f32(ins->immediate, n, to, a, b);
  } else if (ins->type == TILE_F64) {
    special_run_f64(ins->immediate, n, to, a, b);
  } else {
    special_run_i64(ins->immediate, n, to, a, b);
  }
}

static inline void load(const Run *run, const Operand *operand, char *to, const char *from, int64_t stride, int64_t n) {
  if (operand->convert && stride == operand->size)
    operand->convert(n, to, from, NULL, NULL);
  else
    dtype_convert(tile_type_dtype((TileType)run->kernel->types[operand->reg]), to, 1, operand->dtype, from,
                  stride / operand->size, n);
}

static inline void store(const Run *run, const Operand *operand, char *to, int64_t stride, const char *from,
                         int64_t n) {
  if (operand->convert && stride == operand->size)
    operand->convert(n, to, from, NULL, NULL);
  else
    dtype_convert(operand->dtype, to, stride / operand->size,
                  tile_type_dtype((TileType)run->kernel->types[operand->reg]), from, 1, n);
}

/* One line of n elements; data and strides in bytes as in `operands`. */
static void run_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Run *run = argument;
  const TileKernel *kernel = run->kernel;
  _Alignas(64) char buffer[BUFFER_BYTES];
  char *values[KERNEL_MAX_REGISTERS];
  int64_t block = n < run->block ? n : run->block;
  int first_ins = kernel->argument_count + kernel->constant_count, outputs = kernel->output_count;
#define PLACE(r) (buffer + run->place_bytes * kernel->places[r])
  for (int i = 0; i < kernel->constant_count; i++) {
    int r = kernel->argument_count + i;
    spread((TileType)kernel->types[r], values[r] = PLACE(r), &kernel->constants[i], block);
  }
  for (int i = 0; i < run->number_count; i++) {
    int r = run->numbers[i].reg;
    spread((TileType)kernel->types[r], values[r] = PLACE(r), &run->numbers[i].value, block);
  }
  bool moving[ITERATE_MAX_OPERANDS], direct[ITERATE_MAX_OPERANDS];
  bool all_direct = kernel->constant_count + run->number_count == 0 && kernel->ins_count == 1;
  for (int i = 0; i < run->operand_count; i++) {
    const Operand *operand = &run->operands[i];
    direct[i] = operand->same_layout && strides[i] == operand->size && (i >= outputs || i == run->last_operand);
    all_direct &= direct[i];
    if (i < outputs) continue;
    moving[i] = strides[i] != 0;
    if (!moving[i]) load(run, operand, values[operand->reg] = PLACE(operand->reg), data[i], 0, block);
  }
  if (all_direct) block = n; /* nothing goes through a buffer */
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t count = n - begin < block ? n - begin : block;
    for (int i = outputs; i < run->operand_count; i++) {
      if (!moving[i]) continue;
      const Operand *operand = &run->operands[i];
      char *from = data[i] + begin * strides[i];
      if (direct[i])
        values[operand->reg] = from;
      else
        load(run, operand, values[operand->reg] = PLACE(operand->reg), from, strides[i], count);
    }
    for (int i = 0; i < kernel->ins_count; i++) {
      int r = first_ins + i;
      values[r] = PLACE(r);
      if (i == kernel->ins_count - 1 && run->last_operand != NO_OPERAND && direct[run->last_operand])
        values[r] = data[run->last_operand] + begin * strides[run->last_operand];
      run_instruction(run, &kernel->ins[i], count, values[r], values);
    }
    for (int i = 0; i < outputs; i++) {
      if (direct[i]) continue;
      const Operand *operand = &run->operands[i];
      store(run, operand, data[i] + begin * strides[i], strides[i], values[operand->reg], count);
    }
  }
#undef PLACE
}

static void add_operand(Run *run, const Tensor *tensor, uint16_t reg, bool is_output) {
  DType dtype = (DType)tensor->dtype;
  TileType type = (TileType)run->kernel->types[reg];
  bool same = dtype == tile_type_dtype(type);
  TileLoop *convert = same ? NULL : is_output ? tile_store_loop(type, dtype) : tile_load_loop(dtype, type);
  run->tensors[run->operand_count] = tensor;
  run->operands[run->operand_count++] = (Operand){dtype, reg, (int64_t)dtype_size(dtype), same, convert};
}

static void set_number(Run *run, uint16_t reg, complex128 value, int64_t integer) {
  Number *number = &run->numbers[run->number_count++];
  number->reg = reg;
  number->value = (KernelConstant){value, integer};
}

static int64_t whole(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static Status add_argument(Run *run, uint16_t reg, const TileArgument *argument, int64_t numel) {
  switch (argument->kind) {
    case TILE_ARG_TENSOR: {
      const Tensor *tensor = argument->tensor;
      if (tensor->numel == 1 && numel != 1) {
        DType dtype = (DType)tensor->dtype;
        const void *data = tensor_data(tensor);
        KernelConstant value = {0, 0};
        if (run->kernel->types[reg] == TILE_BOOL) {
          uint8_t truth;
          dtype_convert(DTYPE_BOOL, &truth, 1, dtype, data, 1, 1);
          value.integer = truth;
        } else if (run->kernel->types[reg] == TILE_I64) {
          dtype_convert(DTYPE_INT64, &value.integer, 1, dtype, data, 1, 1);
        } else {
          dtype_convert(DTYPE_COMPLEX128, &value.value, 1, dtype, data, 1, 1);
        }
        set_number(run, reg, value.value, value.integer);
        return OK;
      }
      if (run->operand_count == ITERATE_MAX_OPERANDS)
        return status_new(ERROR_UNSUPPORTED, "a kernel of more than %d tensors", ITERATE_MAX_OPERANDS);
      add_operand(run, tensor, reg, false);
      return OK;
    }
    case TILE_ARG_INT:
      set_number(run, reg, (double)argument->i, run->kernel->types[reg] == TILE_BOOL ? argument->i != 0 : argument->i);
      return OK;
    case TILE_ARG_FLOAT:
      set_number(run, reg, argument->f, whole(argument->f));
      return OK;
    case TILE_ARG_BOOL:
      set_number(run, reg, argument->b, argument->b);
      return OK;
    case TILE_ARG_COMPLEX:
      set_number(run, reg, argument->c, whole(__real__ argument->c));
      return OK;
    default:
      return status_new(ERROR_INVALID_ARGUMENT, "argument '%s' has no value",
                        run->kernel->names[reg] ? run->kernel->names[reg] : "?");
  }
}

/* Whether element i of every operand is i elements from its start. */
static bool is_linear(const Run *run) {
  const Tensor *first = run->tensors[0];
  bool contiguous = true, alike = true;
  for (int i = 0; i < run->operand_count; i++) {
    const Tensor *t = run->tensors[i];
    contiguous &= tensor_is_contiguous(t) && t->numel == first->numel;
  }
  if (contiguous) return true;
  size_t bytes = sizeof(int64_t) * first->ndim;
  for (int i = 1; i < run->operand_count && alike; i++) {
    const Tensor *t = run->tensors[i];
    alike =
        t->ndim == first->ndim && !memcmp(t->sizes, first->sizes, bytes) && !memcmp(t->strides, first->strides, bytes);
  }
  return alike && tensor_is_dense(first);
}

static void run_range(void *argument, int64_t begin, int64_t end) {
  Run *run = argument;
  char *data[ITERATE_MAX_OPERANDS];
  int64_t strides[ITERATE_MAX_OPERANDS];
  for (int i = 0; i < run->operand_count; i++) {
    strides[i] = run->operands[i].size;
    data[i] = (char *)tensor_data(run->tensors[i]) + begin * strides[i];
  }
  run_line(run, end - begin, data, strides);
}

static void choose_block(Run *run) {
  const TileKernel *kernel = run->kernel;
  int64_t bytes = (BUFFER_BYTES / (kernel->place_count ? kernel->place_count : 1)) & ~(int64_t)63;
  run->block = bytes / kernel->widest;
  if (run->block > MAX_BLOCK) run->block = MAX_BLOCK;
  run->place_bytes = bytes;
}

/* One instruction over contiguous tensors of its own type: its loop is all there is to run. */
static bool run_simple(const TileKernel *kernel, const TileArgument *arguments, Tensor *output) {
  const KernelIns *ins = kernel->ins;
  const void *data[3] = {NULL, NULL, NULL};
  const uint16_t operands[3] = {ins->a, ins->b, ins->c};
  if (!tensor_is_contiguous(output) || output->dtype != tile_type_dtype((TileType)kernel->types[kernel->outputs[0]]))
    return false;
  for (int i = 0; i < 3 && operands[i] != KERNEL_NO_REGISTER; i++) {
    const TileArgument *argument = &arguments[operands[i]];
    if (argument->kind != TILE_ARG_TENSOR || !tensor_is_contiguous(argument->tensor) ||
        argument->tensor->numel != output->numel ||
        argument->tensor->dtype != tile_type_dtype((TileType)kernel->types[operands[i]]))
      return false;
    data[i] = tensor_data(argument->tensor);
  }
  ins->loop(output->numel, tensor_data(output), data[0], data[1] ? data[1] : data[0], data[2] ? data[2] : data[0]);
  return true;
}

Status tile_run(const TileKernel *kernel, int threads, const TileArgument *arguments, Tensor *const *outputs) {
  int64_t numel = outputs[0]->numel;
  if (numel == 0) return OK;
  if (kernel->is_simple && (numel <= GRAIN || threads <= 1) && run_simple(kernel, arguments, outputs[0])) return OK;
  Run run;
  run.kernel = kernel;
  run.operand_count = run.number_count = 0;
  run.last_operand = NO_OPERAND;
  run.divided_by_zero = false;
  for (int i = 0; i < kernel->output_count; i++) {
    add_operand(&run, outputs[i], kernel->outputs[i], true);
    if (kernel->ins_count && kernel->outputs[i] == kernel->register_count - 1 && run.last_operand == NO_OPERAND)
      run.last_operand = i;
  }
  for (int i = 0; i < kernel->argument_count; i++)
    if (kernel->used[i]) TRY(add_argument(&run, (uint16_t)i, &arguments[i], numel));
  choose_block(&run);
  int64_t grain = kernel->ins_count > 2 ? HEAVY_GRAIN : GRAIN;
  if (is_linear(&run)) {
    if (numel <= grain || threads <= 1)
      run_range(&run, 0, numel);
    else
      parallel_for(threads, numel, grain, run_range, &run);
  } else {
    Iterator it;
    TRY(iterator_init(&it, run.operand_count, run.tensors));
    iterator_run_parallel(&it, threads, grain, run_line, &run);
  }
  if (run.divided_by_zero) return status_exception("RuntimeError", "ZeroDivisionError");
  return OK;
}
