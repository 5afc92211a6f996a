/* The tile interpreter. A run is cut into lines (one, when all operands lie in memory alike) and lines into blocks that
 * stay in L1 cache; a block's values live in buffers on the stack, except operands and results whose memory can be used
 * as it is. What is one number along a whole line (a row's mean, and what follows from it) is computed for one element
 * and spread where others need it. Lines too short to be worth a round of instructions are gathered into blocks,
 * computed and scattered. */
#include "tile/run_parts.h"

#include "base/parallel.h"
#include "base/work_limit.h"
#include "tile/special.h"

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

static void round_block(DType dtype, TileType type, void *to, const void *from, int64_t n) {
  char narrow[MAX_BLOCK * 16];
  DType wide = tile_type_dtype(type);
  TileLoop *store = tile_store_loop(type, dtype), *load = tile_load_loop(dtype, type);
  if (store)
    store(n, narrow, from, from, from);
  else
    dtype_convert(dtype, narrow, 1, wide, from, 1, n);
  if (load)
    load(n, to, narrow, narrow, narrow);
  else
    dtype_convert(wide, to, 1, dtype, narrow, 1, n);
}

static void round_to(DType dtype, TileType type, char *to, const char *from, int64_t n) {
  int64_t item = (int64_t)dtype_size(tile_type_dtype(type));
  for (; n > MAX_BLOCK; n -= MAX_BLOCK, to += MAX_BLOCK * item, from += MAX_BLOCK * item)
    round_block(dtype, type, to, from, MAX_BLOCK);
  round_block(dtype, type, to, from, n);
}

static void run_instruction(Run *run, const TileIns *ins, int64_t n, void *to, char *const *values) {
  const void *a = values[ins->a], *b = ins->b == KERNEL_NO_VALUE ? a : values[ins->b],
             *c = ins->c == KERNEL_NO_VALUE ? a : values[ins->c];
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

static inline int first_result(const TileKernel *kernel) {
  return kernel->argument_count + kernel->constant_count;
}

static void run_steps(Worker *worker, int64_t n) {
  const TileKernel *kernel = worker->run->kernel;
  const TileCompiled *compiled = kernel->compiled;
  char **values = worker->values, **results = values + first_result(kernel);
  for (int i = 0; i < compiled->step_count; i++) {
    const TileStep *step = &compiled->steps[i];
    if (step->block)
      step->block(n, values);
    else
      run_instruction(worker->run, &kernel->ins[step->ins], n, results[step->ins], values);
  }
}

static void run_instructions(Worker *worker, int64_t n) {
  const TileKernel *kernel = worker->run->kernel;
  if (kernel->compiled) {
    run_steps(worker, n);
    return;
  }
  char **values = worker->values, **results = values + first_result(kernel);
  for (int i = 0; i < kernel->ins_count; i++) run_instruction(worker->run, &kernel->ins[i], n, results[i], values);
}

/* Those that are not uniform. */
static void run_moving_instructions(Worker *worker, int64_t n) {
  const TileKernel *kernel = worker->run->kernel;
  if (kernel->compiled) {
    run_steps(worker, n);
    return;
  }
  const uint8_t *uniform = worker->run->uniform + first_result(kernel);
  char **values = worker->values, **results = values + first_result(kernel);
  for (int i = 0; i < kernel->ins_count; i++)
    if (!uniform[i]) run_instruction(worker->run, &kernel->ins[i], n, results[i], values);
}

/* A complex number is true unless both parts are zero; converting it would drop one. */
static void load_truth(DType from_dtype, uint8_t *to, const char *from, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    complex128 value;
    dtype_convert(DTYPE_COMPLEX128, &value, 1, from_dtype, from + i * stride, 1, 1);
    to[i] = value != 0;
  }
}

/* n times the element at `from`, which may be to[0]. */
static void repeat(int64_t size, char *to, const char *from, int64_t n) {
  if (size == 4) {
    uint32_t element, *block = (uint32_t *)to;
    memcpy(&element, from, sizeof element);
    for (int64_t i = 0; i < n; i++) block[i] = element;
  } else if (size == 8) {
    uint64_t element, *block = (uint64_t *)to;
    memcpy(&element, from, sizeof element);
    for (int64_t i = 0; i < n; i++) block[i] = element;
  } else if (size == 1) {
    memset(to, *(const uint8_t *)from, (size_t)n);
  } else {
    for (int64_t i = 0; i < n; i++) memmove(to + i * size, from, (size_t)size);
  }
}

#define COPY_LINE(T) \
  for (int64_t i = 0; i < n; i++, from += from_stride, to += to_stride) *(T *)to = *(const T *)from;
static void copy_line(int64_t size, char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n) {
  if (to_stride == size && from_stride == size) {
    memcpy(to, from, (size_t)(n * size));
    return;
  }
  if (from_stride == 0 && to_stride == size) {
    repeat(size, to, from, n);
    return;
  }
  switch (size) {
    case 1:
      COPY_LINE(uint8_t)
      break;
    case 4:
      COPY_LINE(uint32_t)
      break;
    case 8:
      COPY_LINE(uint64_t)
      break;
    default:
      for (int64_t i = 0; i < n; i++, from += from_stride, to += to_stride) memcpy(to, from, (size_t)size);
      break;
  }
}

static inline void load(const Run *run, const Operand *operand, char *to, const char *from, int64_t stride, int64_t n) {
  TileType type = (TileType)run->kernel->types[operand->reg];
  if (operand->same_layout)
    copy_line(operand->size, to, operand->size, from, stride, n);
  else if (operand->convert && stride == operand->size)
    operand->convert(n, to, from, NULL, NULL);
  else if (type == TILE_BOOL && dtype_is_complex(operand->dtype))
    load_truth(operand->dtype, (uint8_t *)to, from, stride, n);
  else
    dtype_convert(tile_type_dtype(type), to, 1, operand->dtype, from, stride / operand->size, n);
}

static inline void store(const Run *run, const Operand *operand, char *to, int64_t stride, const char *from,
                         int64_t n) {
  if (operand->same_layout)
    copy_line(operand->size, to, stride, from, operand->size, n);
  else if (operand->convert && stride == operand->size)
    operand->convert(n, to, from, NULL, NULL);
  else
    dtype_convert(operand->dtype, to, stride / operand->size,
                  tile_type_dtype((TileType)run->kernel->types[operand->reg]), from, 1, n);
}

static inline char *place(const Worker *worker, int reg) {
  return worker->buffer + worker->run->place_bytes * worker->run->kernel->places[reg];
}

/* A register of which one element is enough, as its kernel was compiled. */
static inline bool is_single(const TileKernel *kernel, int reg) {
  return kernel->compiled && kernel->compiled->uniform[reg] == TILE_UNIFORM;
}

/* Constants and numbers fill their buffers once. */
static void start_worker(Worker *worker, Run *run, char *buffer, int64_t n) {
  const TileKernel *kernel = run->kernel;
  int reg = kernel->argument_count;
  worker->run = run;
  worker->buffer = buffer;
  if (n > run->block) n = run->block;
  for (int i = 0; i < kernel->constant_count; i++, reg++)
    spread((TileType)kernel->types[reg], worker->values[reg] = place(worker, reg), &kernel->constants[i],
           is_single(kernel, reg) ? 1 : n);
  for (int i = 0; i < run->number_count; i++) {
    int r = run->numbers[i].reg;
    spread((TileType)kernel->types[r], worker->values[r] = place(worker, r), &run->numbers[i].value,
           is_single(kernel, r) ? 1 : n);
  }
  int own_place = kernel->place_count;
  for (int i = 0; i < kernel->ins_count; i++, reg++)
    worker->values[reg] =
        run->own_places && run->uniform[reg] ? buffer + run->place_bytes * own_place++ : place(worker, reg);
}

/* The numbers of one line: uniform instructions in their order, spread over n elements where that is asked for. */
static void run_uniform(Worker *worker, int64_t n) {
  Run *run = worker->run;
  const TileKernel *kernel = run->kernel;
  for (int i = 0, reg = first_result(kernel); i < kernel->ins_count; i++, reg++) {
    if (!run->uniform[reg]) continue;
    char *to = worker->values[reg];
    run_instruction(run, &kernel->ins[i], 1, to, worker->values);
    if (run->uniform[reg] & TILE_SPREAD)
      repeat((int64_t)dtype_size(tile_type_dtype((TileType)kernel->types[reg])), to, to, n);
  }
}

/* Shorter for one instruction with an operand that stays: spreading it would cost as much as the instruction. */
static int64_t choose_line_block(const Run *run, int64_t n, const int64_t *strides) {
  int64_t block = n < run->block ? n : run->block;
  bool stays = false;
  for (int i = run->kernel->output_count; i < run->operand_count; i++) stays |= strides[i] == 0;
  return stays && run->kernel->ins_count == 1 && block > SPREAD_BLOCK ? SPREAD_BLOCK : block;
}

/* Nothing but what operands may need goes through a buffer, so blocks may be as long as they like. */
static bool needs_no_buffers(const Run *run) {
  const TileKernel *kernel = run->kernel;
  if (!kernel->compiled) return kernel->constant_count + run->number_count == 0 && kernel->ins_count == 1;
  bool none = kernel->compiled->step_count == 1 && !kernel->compiled->has_spread;
  for (int i = 0; i < run->number_count && none; i++) none = is_single(kernel, run->numbers[i].reg);
  return none;
}

/* One line of n elements; data and strides in bytes as in `operands`. */
static void run_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Worker *worker = argument;
  Run *run = worker->run;
  const TileKernel *kernel = run->kernel;
  int outputs = kernel->output_count;
  char **values = worker->values;
  bool moving[ITERATE_MAX_OPERANDS], direct[ITERATE_MAX_OPERANDS];
  int64_t block = choose_line_block(run, n, strides);
  bool all_direct = needs_no_buffers(run);
  for (int i = 0; i < run->operand_count; i++) {
    const Operand *operand = &run->operands[i];
    direct[i] = operand->same_layout && strides[i] == operand->size && (i >= outputs || operand->is_target);
    if (i >= outputs) moving[i] = strides[i] != 0;
    bool only_one = i >= outputs && !moving[i] && run->uniform && run->uniform[operand->reg] == TILE_UNIFORM;
    all_direct &= direct[i] || (only_one && kernel->compiled);
    if (i < outputs || moving[i]) continue;
    load(run, operand, values[operand->reg] = place(worker, operand->reg), data[i], 0, only_one ? 1 : block);
  }
  if (all_direct) block = n; /* nothing goes through a buffer */
  if (run->uniform_count) run_uniform(worker, block);
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t count = n - begin < block ? n - begin : block;
    for (int i = 0; i < outputs; i++)
      if (direct[i]) values[run->operands[i].reg] = data[i] + begin * strides[i];
    for (int i = outputs; i < run->operand_count; i++) {
      if (!moving[i]) continue;
      const Operand *operand = &run->operands[i];
      char *from = data[i] + begin * strides[i];
      if (direct[i])
        values[operand->reg] = from;
      else
        load(run, operand, values[operand->reg] = place(worker, operand->reg), from, strides[i], count);
    }
    if (run->uniform_count)
      run_moving_instructions(worker, count);
    else
      run_instructions(worker, count);
    for (int i = 0; i < outputs; i++) {
      if (direct[i]) continue;
      const Operand *operand = &run->operands[i];
      store(run, operand, data[i] + begin * strides[i], strides[i], values[operand->reg], count);
    }
  }
}

/* ---- for run_lines.c ---- */

void tile_run_instruction(Run *run, const TileIns *ins, int64_t n, void *to, char *const *values) {
  run_instruction(run, ins, n, to, values);
}
void tile_load(const Run *run, const Operand *operand, char *to, const char *from, int64_t stride, int64_t n) {
  load(run, operand, to, from, stride, n);
}
void tile_store(const Run *run, const Operand *operand, char *to, int64_t stride, const char *from, int64_t n) {
  store(run, operand, to, stride, from, n);
}
void tile_repeat(int64_t size, char *to, const char *from, int64_t n) {
  repeat(size, to, from, n);
}
void tile_start_worker(Worker *worker, Run *run, char *buffer, int64_t n) {
  start_worker(worker, run, buffer, n);
}

/* ---- short lines ---- */

typedef struct Gather {
  Worker *worker;
  int64_t held; /* elements in the buffers */
  int line_count;
  int64_t lengths[MAX_GATHERED];
  char *targets[MAX_GATHERED][KERNEL_MAX_OUTPUTS];
  int64_t strides[KERNEL_MAX_OUTPUTS];
} Gather;

static void compute_gathered(Gather *gather) {
  Worker *worker = gather->worker;
  const Run *run = worker->run;
  run_instructions(worker, gather->held);
  for (int i = 0; i < run->kernel->output_count; i++) {
    const Operand *operand = &run->operands[i];
    int64_t item = (int64_t)dtype_size(tile_type_dtype((TileType)run->kernel->types[operand->reg]));
    const char *from = worker->values[operand->reg];
    for (int k = 0; k < gather->line_count; k++) {
      store(run, operand, gather->targets[k][i], gather->strides[i], from, gather->lengths[k]);
      from += gather->lengths[k] * item;
    }
  }
  gather->held = gather->line_count = 0;
}

static void gather_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Gather *gather = argument;
  const Run *run = gather->worker->run;
  int outputs = run->kernel->output_count;
  if (gather->line_count == MAX_GATHERED || gather->held + n > run->block) compute_gathered(gather);
  for (int i = 0; i < outputs; i++) {
    gather->targets[gather->line_count][i] = data[i];
    gather->strides[i] = strides[i];
  }
  for (int i = outputs; i < run->operand_count; i++) {
    const Operand *operand = &run->operands[i];
    int64_t item = (int64_t)dtype_size(tile_type_dtype((TileType)run->kernel->types[operand->reg]));
    load(run, operand, gather->worker->values[operand->reg] + gather->held * item, data[i], strides[i], n);
  }
  gather->lengths[gather->line_count++] = n;
  gather->held += n;
}

/* One instruction over lines that are contiguous or stay where they are reads and writes them where they lie. */
static void run_short_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Worker *worker = argument;
  const Run *run = worker->run;
  for (int i = 0; i < run->operand_count; i++) {
    const Operand *operand = &run->operands[i];
    if (strides[i])
      worker->values[operand->reg] = data[i];
    else
      repeat(operand->size, worker->values[operand->reg] = place(worker, operand->reg), data[i], n);
  }
  run_instructions(worker, n);
}

static bool needs_no_gathering(const Run *run, const Iterator *it) {
  bool fits = run->kernel->ins_count == 1 && !run->kernel->compiled && run->kernel->output_count == 1 &&
              run->operands[0].is_target && it->strides[0][0] == run->operands[0].size;
  for (int i = 0; i < run->operand_count && fits; i++)
    fits = run->operands[i].same_layout && (it->strides[i][0] == 0 || it->strides[i][0] == run->operands[i].size);
  return fits;
}

typedef struct LinesRun {
  Run *run;
  const Iterator *it;
} LinesRun;

static void run_lines(void *argument, int64_t begin, int64_t end) {
  const LinesRun *lines = argument;
  Run *run = lines->run;
  _Alignas(64) char buffer[BUFFER_BYTES];
  Worker worker;
  bool is_short = lines->it->sizes[0] < SHORT_LINE && lines->it->sizes[0] <= run->block;
  start_worker(&worker, run, buffer, is_short || end - begin < lines->it->sizes[0] ? end - begin : lines->it->sizes[0]);
  if (!is_short) {
    iterator_run(lines->it, begin, end, run_line, &worker);
    return;
  }
  if (needs_no_gathering(run, lines->it)) {
    iterator_run(lines->it, begin, end, run_short_line, &worker);
    return;
  }
  if (run->uniform_count) run_uniform(&worker, end - begin < run->block ? end - begin : run->block);
  Gather gather = {.worker = &worker, .held = 0, .line_count = 0};
  for (int i = run->kernel->output_count; i < run->operand_count; i++)
    worker.values[run->operands[i].reg] = place(&worker, run->operands[i].reg);
  iterator_run(lines->it, begin, end, gather_line, &gather);
  if (gather.held) compute_gathered(&gather);
}

static void run_range(void *argument, int64_t begin, int64_t end) {
  Run *run = argument;
  _Alignas(64) char buffer[BUFFER_BYTES];
  Worker worker;
  char *data[ITERATE_MAX_OPERANDS];
  int64_t strides[ITERATE_MAX_OPERANDS];
  for (int i = 0; i < run->operand_count; i++) {
    strides[i] = run->operands[i].size;
    data[i] = (char *)tensor_data(run->tensors[i]) + begin * strides[i];
  }
  start_worker(&worker, run, buffer, end - begin);
  run_line(&worker, end - begin, data, strides);
}

/* ---- setting up ---- */

static void add_operand(Run *run, const Tensor *tensor, uint16_t reg, bool is_output) {
  DType dtype = (DType)tensor->dtype;
  TileType type = (TileType)run->kernel->types[reg];
  bool same = dtype == tile_type_dtype(type);
  TileLoop *convert = same ? NULL : is_output ? tile_store_loop(type, dtype) : tile_load_loop(dtype, type);
  run->tensors[run->operand_count] = tensor;
  run->operands[run->operand_count++] = (Operand){dtype, reg, (int64_t)dtype_size(dtype), same, false, convert};
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
          if (dtype_is_complex(dtype))
            load_truth(dtype, &truth, data, 0, 1);
          else
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
      set_number(run, reg, argument->f, run->kernel->types[reg] == TILE_BOOL ? argument->f != 0 : whole(argument->f));
      return OK;
    case TILE_ARG_BOOL:
      set_number(run, reg, argument->b, argument->b);
      return OK;
    case TILE_ARG_COMPLEX:
      set_number(run, reg, argument->c,
                 run->kernel->types[reg] == TILE_BOOL ? argument->c != 0 : whole(__real__ argument->c));
      return OK;
    default:
      return status_new(ERROR_INVALID_ARGUMENT, "argument '%s' has no value",
                        run->kernel->ir->names[reg] ? run->kernel->ir->names[reg] : "?");
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

static void choose_block(Run *run) {
  const TileKernel *kernel = run->kernel;
  int places = kernel->place_count + run->own_places;
  int64_t bytes = (BUFFER_BYTES / (places ? places : 1)) & ~(int64_t)63;
  run->block = bytes / kernel->widest;
  if (run->block > MAX_BLOCK) run->block = MAX_BLOCK;
  run->place_bytes = bytes;
}

/* Finds what is uniform along the iterator's lines. Short lines are gathered, where nothing is. */
static void find_uniform(Run *run, const Iterator *it) {
  const TileKernel *kernel = run->kernel;
  int outputs = kernel->output_count, first = first_result(kernel), count = 0;
  uint8_t *uniform = run->found_uniform;
  if (kernel->compiled || it->sizes[0] < SHORT_LINE) return;
  bool stationary = false;
  for (int i = outputs; i < run->operand_count; i++) stationary |= it->strides[i][0] == 0;
  if (!stationary) return;
  memset(uniform, TILE_UNIFORM, (size_t)first); /* constants and numbers */
  for (int i = outputs; i < run->operand_count; i++) uniform[run->operands[i].reg] = it->strides[i][0] == 0;
  for (int i = 0; i < kernel->ins_count; i++) {
    const uint16_t operands[3] = {kernel->ins[i].a, kernel->ins[i].b, kernel->ins[i].c};
    bool all = true;
    for (int k = 0; k < 3; k++) all &= operands[k] == KERNEL_NO_VALUE || uniform[operands[k]];
    uniform[first + i] = all;
    count += all;
    for (int k = 0; k < 3 && !all; k++)
      if (operands[k] != KERNEL_NO_VALUE && uniform[operands[k]]) uniform[operands[k]] |= TILE_SPREAD;
  }
  for (int i = 0; i < outputs; i++)
    if (uniform[kernel->outputs[i]]) uniform[kernel->outputs[i]] |= TILE_SPREAD;
  if (!count || kernel->place_count + count > MAX_PLACES) return; /* nothing, or blocks would get too short */
  run->uniform = uniform;
  run->uniform_count = run->own_places = count;
}

/* Who may write an output before the block is done: the last instruction, for then every operand was read at this
 * element; any other, when the output shares no memory with an argument. */
static void choose_targets(Run *run) {
  const TileKernel *kernel = run->kernel;
  int first_ins = first_result(kernel);
  for (int i = 0; i < kernel->output_count; i++) {
    int reg = kernel->outputs[i];
    bool fine = reg >= first_ins && !(run->uniform && run->uniform[reg]);
    bool is_last = reg == kernel->register_count - 1 && (!kernel->compiled || kernel->compiled->is_in_order);
    for (int k = 0; k < i && fine; k++) fine = kernel->outputs[k] != reg;
    for (int k = kernel->output_count; k < run->operand_count && fine && !is_last; k++)
      fine = run->tensors[k]->storage != run->tensors[i]->storage;
    run->operands[i].is_target = fine;
  }
}

/* One instruction over contiguous tensors of its own type: its loop is all there is to run. */
static bool run_simple(const TileKernel *kernel, const TileArgument *arguments, Tensor *output) {
  const TileIns *ins = kernel->ins;
  const void *data[3] = {NULL, NULL, NULL};
  const uint16_t operands[3] = {ins->a, ins->b, ins->c};
  if (!tensor_is_contiguous(output) || output->dtype != tile_type_dtype((TileType)kernel->types[kernel->outputs[0]]))
    return false;
  for (int i = 0; i < 3 && operands[i] != KERNEL_NO_VALUE; i++) {
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

Status tile_run_begin(Run *run, const TileKernel *kernel, int64_t numel, const TileArgument *arguments,
                      Tensor *const *outputs) {
  run->kernel = kernel;
  run->operand_count = run->number_count = 0;
  run->own_places = 0;
  run->uniform = kernel->compiled ? kernel->compiled->uniform : NULL;
  run->uniform_count = kernel->compiled ? kernel->compiled->uniform_count : 0;
  run->divided_by_zero = false;
  for (int i = 0; i < kernel->output_count; i++) add_operand(run, outputs[i], kernel->outputs[i], true);
  for (int i = 0; i < kernel->argument_count; i++)
    if (kernel->used[i]) TRY(add_argument(run, (uint16_t)i, &arguments[i], numel));
  return OK;
}

/* Whether all arguments that a compiled kernel takes for one number along a line are so. it: NULL where all operands
 * are one line. */
static bool suits(const Run *run, const Iterator *it) {
  const TileCompiled *compiled = run->kernel->compiled;
  if (!compiled || !compiled->other) return true;
  for (int i = run->kernel->output_count; i < run->operand_count; i++)
    if (compiled->uniform[run->operands[i].reg] && (!it || it->sizes[0] < SHORT_LINE || it->strides[i][0]))
      return false;
  return true;
}

Status tile_run(const TileKernel *kernel, int threads, const TileArgument *arguments, Tensor *const *outputs) {
  int64_t numel = outputs[0]->numel;
  if (numel == 0) return OK;
  if (kernel->is_simple && (numel <= GRAIN || (threads <= 1 && !work_limit())) &&
      run_simple(kernel, arguments, outputs[0]))
    return OK;
  if (kernel->has_lines) return tile_run_lines(kernel, threads, arguments, outputs);
  Run run;
  TRY(tile_run_begin(&run, kernel, numel, arguments, outputs));
  int64_t grain = kernel->ins_count > 2 ? HEAVY_GRAIN : GRAIN;
  if (is_linear(&run)) {
    if (!suits(&run, NULL)) return tile_run(kernel->compiled->other, threads, arguments, outputs);
    choose_block(&run);
    choose_targets(&run);
    if (numel <= grain)
      run_range(&run, 0, numel);
    else
      parallel_for(threads, numel, grain, run_range, &run);
  } else {
    Iterator it;
    TRY(iterator_init(&it, run.operand_count, run.tensors));
    if (!suits(&run, &it)) return tile_run(kernel->compiled->other, threads, arguments, outputs);
    find_uniform(&run, &it);
    choose_block(&run);
    choose_targets(&run);
    LinesRun lines = {&run, &it};
    if (numel <= grain)
      run_lines(&lines, 0, numel);
    else
      parallel_for(threads, numel, grain, run_lines, &lines);
  }
  if (run.divided_by_zero) return status_exception("RuntimeError", "ZeroDivisionError");
  return OK;
}
