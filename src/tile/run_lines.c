/* Kernels with line functions: a block is one line or several whole ones, so that a line function finds its elements
 * side by side. What is one number for each line, as a line's sum is and all that follows from such alone, is computed
 * once for each line of the block, and spread over the lines where others need it. Lines that are too long for the
 * stack's buffers have some of the heap. */
#include "base/parallel.h"
#include "tile/line.h"
#include "tile/run_parts.h"

enum { PER_LINE = 1, PER_LINE_SPREAD = 2 /* its elements are asked for, too */, PER_LINE_BYTES = 16 };

typedef struct LinesRun {
  Run *run;
  uint8_t kinds[KERNEL_MAX_VALUES]; /* of the registers: PER_LINE where it is one number for each line */
  int number_count;
  Iterator it; /* over lines: the last dimension is left out */
  int64_t length, line_count, lines_in_block;
  int64_t strides[ITERATE_MAX_OPERANDS]; /* within a line, in bytes */
  bool is_number[KERNEL_MAX_OUTPUTS];    /* the output has one element for each line */
  bool is_target[KERNEL_MAX_OUTPUTS];    /* the instruction that computes it may write it itself */
  size_t buffer_bytes;
  _Atomic bool has_no_memory;
} LinesRun;

typedef struct LinesWorker {
  LinesRun *lines;
  Worker worker;
  char *numbers[KERNEL_MAX_VALUES]; /* of the registers that are PER_LINE: one for each line of the block */
} LinesWorker;

static int64_t width(const Run *run, int reg) {
  return (int64_t)dtype_size(tile_type_dtype((TileType)run->kernel->types[reg]));
}

/* Each line's number `n` times. */
static void spread_numbers(int64_t count, int64_t n, int64_t item, char *to, const char *from) {
  for (int64_t k = 0; k < count; k++, from += item, to += n * item) tile_repeat(item, to, from, n);
}

/* Elements of `count` lines lie side by side. */
static bool are_together(const LinesRun *lines, int i, int64_t count, const int64_t *strides) {
  int64_t size = lines->run->operands[i].size;
  return lines->strides[i] == size && (count == 1 || strides[i] == lines->length * size);
}

/* Where a result can be computed in the output's memory, it is. */
static void place_results(const LinesRun *lines, LinesWorker *w, int64_t count, char *const *data,
                          const int64_t *strides) {
  const Run *run = lines->run;
  Worker *worker = &w->worker;
  for (int i = 0; i < run->kernel->output_count; i++) {
    int reg = run->operands[i].reg;
    if (lines->is_target[i])
      worker->values[reg] = are_together(lines, i, count, strides)
                                ? data[i]
                                : worker->buffer + run->place_bytes * run->kernel->places[reg];
  }
}

/* The operands of `count` lines that follow each other. */
static void load_lines(const LinesRun *lines, LinesWorker *w, int64_t count, char *const *data,
                       const int64_t *strides) {
  const Run *run = lines->run;
  Worker *worker = &w->worker;
  int64_t n = lines->length;
  for (int i = run->kernel->output_count; i < run->operand_count; i++) {
    const Operand *operand = &run->operands[i];
    bool together = are_together(lines, i, count, strides);
    char **to = &worker->values[operand->reg];
    if (together && operand->same_layout) {
      *to = data[i];
      continue;
    }
    *to = worker->buffer + run->place_bytes * run->kernel->places[operand->reg];
    int64_t item = width(run, operand->reg);
    if (lines->kinds[operand->reg]) {
      tile_load(run, operand, w->numbers[operand->reg], data[i], strides[i], count);
      if (lines->kinds[operand->reg] & PER_LINE_SPREAD) spread_numbers(count, n, item, *to, w->numbers[operand->reg]);
    } else if (together) {
      tile_load(run, operand, *to, data[i], operand->size, n * count);
    } else {
      for (int64_t k = 0; k < count; k++)
        tile_load(run, operand, *to + k * n * item, data[i] + k * strides[i], lines->strides[i], n);
    }
  }
}

static void run_line_function(const LinesRun *lines, const TileIns *ins, int64_t count, char *to, const char *a) {
  const TileKernel *kernel = lines->run->kernel;
  LineFunction function = (LineFunction)ins->immediate;
  TileType type = (TileType)ins->type;
  int64_t n = lines->length, from_step = n * (int64_t)dtype_size(tile_type_dtype(type));
  int64_t to_step =
      (line_gives_number(function) ? 1 : n) * (int64_t)dtype_size(tile_type_dtype(line_result_type(function, type)));
  double eps = ins->b == KERNEL_NO_VALUE ? 0 : __real__ kernel->constants[ins->b - kernel->argument_count].value;
  for (int64_t k = 0; k < count; k++) line_run(function, type, n, to + k * to_step, a + k * from_step, eps);
}

static void store_lines(const LinesRun *lines, const LinesWorker *w, int64_t count, char *const *data,
                        const int64_t *strides) {
  const Run *run = lines->run;
  int64_t n = lines->length;
  for (int i = 0; i < run->kernel->output_count; i++) {
    const Operand *operand = &run->operands[i];
    const char *from = w->worker.values[operand->reg];
    int64_t item = width(run, operand->reg);
    if (from == data[i]) continue;
    if (lines->is_number[i] && lines->kinds[operand->reg])
      tile_store(run, operand, data[i], strides[i], w->numbers[operand->reg], count);
    else if (!lines->is_number[i] && are_together(lines, i, count, strides))
      tile_store(run, operand, data[i], operand->size, from, n * count);
    else
      for (int64_t k = 0; k < count; k++)
        tile_store(run, operand, data[i] + k * strides[i], lines->strides[i], from + k * n * item,
                   lines->is_number[i] ? 1 : n);
  }
}

/* An instruction whose result is one number for each line. */
static void run_numbers(const LinesRun *lines, LinesWorker *w, const TileIns *ins, int reg, int64_t count) {
  char *to = w->numbers[reg], **values = w->worker.values;
  if (ins->op == KERNEL_LINE) {
    run_line_function(lines, ins, count, to, values[ins->a]);
  } else {
    TileIns narrow = *ins;
    char *operands[3] = {NULL, NULL, NULL};
    const uint16_t registers[3] = {ins->a, ins->b, ins->c};
    for (int k = 0; k < 3; k++)
      if (registers[k] != KERNEL_NO_VALUE)
        operands[k] = lines->kinds[registers[k]] ? w->numbers[registers[k]] : values[registers[k]];
    narrow.a = 0;
    if (ins->b != KERNEL_NO_VALUE) narrow.b = 1;
    if (ins->c != KERNEL_NO_VALUE) narrow.c = 2;
    tile_run_instruction(lines->run, &narrow, count, to, operands);
  }
  if (lines->kinds[reg] & PER_LINE_SPREAD)
    spread_numbers(count, lines->length, width(lines->run, reg), values[reg], to);
}

static void run_block(const LinesRun *lines, LinesWorker *w, int64_t count, char *const *data, const int64_t *strides) {
  const TileKernel *kernel = lines->run->kernel;
  char **values = w->worker.values;
  load_lines(lines, w, count, data, strides);
  place_results(lines, w, count, data, strides);
  for (int i = 0, reg = kernel->argument_count + kernel->constant_count; i < kernel->ins_count; i++, reg++) {
    const TileIns *ins = &kernel->ins[i];
    if (lines->kinds[reg])
      run_numbers(lines, w, ins, reg, count);
    else if (ins->op == KERNEL_LINE)
      run_line_function(lines, ins, count, values[reg], values[ins->a]);
    else
      tile_run_instruction(lines->run, ins, count * lines->length, values[reg], values);
  }
  store_lines(lines, w, count, data, strides);
}

/* `n` lines, at strides of bytes from each other. */
static void run_neighbours(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  LinesWorker *w = argument;
  const LinesRun *lines = w->lines;
  char *at[ITERATE_MAX_OPERANDS];
  for (int64_t begin = 0; begin < n; begin += lines->lines_in_block) {
    int64_t count = n - begin < lines->lines_in_block ? n - begin : lines->lines_in_block;
    for (int i = 0; i < lines->run->operand_count; i++) at[i] = data[i] + begin * strides[i];
    run_block(lines, w, count, at, strides);
  }
}

static void run_lines(void *argument, int64_t begin, int64_t end) {
  LinesRun *lines = argument;
  _Alignas(64) char stack[BUFFER_BYTES];
  char *buffer = stack;
  if (lines->buffer_bytes > BUFFER_BYTES && !(buffer = mem_alloc(lines->buffer_bytes))) {
    lines->has_no_memory = true;
    return;
  }
  LinesWorker w;
  w.lines = lines;
  tile_start_worker(&w.worker, lines->run, buffer, lines->run->block);
  char *numbers = buffer + lines->buffer_bytes - lines->number_count * lines->lines_in_block * PER_LINE_BYTES;
  for (int i = 0; i < lines->run->kernel->register_count; i++) {
    w.numbers[i] = numbers;
    if (lines->kinds[i]) numbers += lines->lines_in_block * PER_LINE_BYTES;
  }
  iterator_run(&lines->it, begin, end, run_neighbours, &w);
  if (buffer != stack) mem_free(buffer);
}

/* ---- setting up ---- */

/* How many dimensions arguments broadcast to, and how long the last is. */
static int find_domain(const TileKernel *kernel, const TileArgument *arguments, int64_t *out_length) {
  int ndim = 1;
  *out_length = 1;
  for (int i = 0; i < kernel->argument_count; i++) {
    if (!kernel->used[i] || arguments[i].kind != TILE_ARG_TENSOR || !arguments[i].tensor->ndim) continue;
    const Tensor *t = arguments[i].tensor;
    if (t->ndim > ndim) ndim = t->ndim;
    if (t->sizes[t->ndim - 1] != 1) *out_length = t->sizes[t->ndim - 1];
  }
  return ndim;
}

/* The tensor without its last dimension; its stride along that. */
static void leave_last_out(const Tensor *t, bool has_last, int64_t length, Tensor *out, int64_t *out_stride) {
  int64_t item = (int64_t)dtype_size((DType)t->dtype);
  *out = (Tensor){.dtype = t->dtype, .storage = t->storage, .offset = t->offset, .numel = 1};
  out->sizes = out->dims;
  out->strides = out->dims + 5;
  bool cuts = has_last && t->ndim > 0;
  out->ndim = (uint8_t)(t->ndim - cuts);
  for (int i = 0; i < out->ndim; i++) {
    out->sizes[i] = t->sizes[i];
    out->strides[i] = t->strides[i];
    out->numel *= t->sizes[i];
  }
  *out_stride = !cuts || t->sizes[t->ndim - 1] != length ? 0 : length == 1 ? item : t->strides[t->ndim - 1] * item;
}

/* Numbers of lines are what line functions reduce to, arguments that don't move along a line, and what is computed of
 * such, of constants and of numbers for all. Not where a line has one element: then all is alike. */
static void find_numbers(LinesRun *lines) {
  const Run *run = lines->run;
  const TileKernel *kernel = run->kernel;
  int first = kernel->argument_count + kernel->constant_count;
  bool is_free[KERNEL_MAX_VALUES]; /* it does not move along a line */
  memset(lines->kinds, 0, (size_t)kernel->register_count);
  memset(is_free, true, (size_t)first);
  lines->number_count = 0;
  for (int i = kernel->output_count; i < run->operand_count; i++) {
    int reg = run->operands[i].reg;
    is_free[reg] = lines->length > 1 && lines->strides[i] == 0;
    if (is_free[reg]) lines->kinds[reg] = PER_LINE;
  }
  for (int i = 0, reg = first; i < kernel->ins_count; i++, reg++) {
    const TileIns *ins = &kernel->ins[i];
    const uint16_t operands[3] = {ins->a, ins->b, ins->c};
    bool is_line = ins->op == KERNEL_LINE, free = !is_line;
    for (int k = 0; k < 3 && free; k++) free = operands[k] == KERNEL_NO_VALUE || is_free[operands[k]];
    free |= is_line && line_gives_number((LineFunction)ins->immediate);
    is_free[reg] = free;
    if (free) lines->kinds[reg] = PER_LINE;
    bool takes_elements = is_line || !free;
    for (int k = 0; k < (is_line ? 1 : 3) && takes_elements; k++)
      if (operands[k] != KERNEL_NO_VALUE && lines->kinds[operands[k]]) lines->kinds[operands[k]] |= PER_LINE_SPREAD;
  }
  for (int i = 0; i < kernel->output_count; i++)
    if (!lines->is_number[i] && lines->kinds[kernel->outputs[i]]) lines->kinds[kernel->outputs[i]] |= PER_LINE_SPREAD;
  for (int i = 0; i < kernel->register_count; i++) lines->number_count += lines->kinds[i] != 0;
}

/* Outputs that share no memory with an argument: line functions read their lines more than once. */
static void find_targets(LinesRun *lines) {
  const Run *run = lines->run;
  const TileKernel *kernel = run->kernel;
  for (int i = 0; i < kernel->output_count; i++) {
    int reg = kernel->outputs[i];
    bool fine = reg >= kernel->argument_count + kernel->constant_count && run->operands[i].same_layout &&
                !lines->is_number[i] && !lines->kinds[reg];
    for (int k = 0; k < i && fine; k++) fine = kernel->outputs[k] != reg;
    for (int k = kernel->output_count; k < run->operand_count && fine; k++)
      fine = run->tensors[k]->storage != run->tensors[i]->storage;
    lines->is_target[i] = fine;
  }
}

static void choose_block(LinesRun *lines) {
  Run *run = lines->run;
  const TileKernel *kernel = run->kernel;
  int64_t places = kernel->place_count ? kernel->place_count : 1, line_bytes = lines->length * kernel->widest;
  int64_t fits = BUFFER_BYTES / (places * line_bytes + lines->number_count * PER_LINE_BYTES),
          most = MAX_BLOCK / lines->length;
  lines->lines_in_block = fits < most ? fits : most;
  if (lines->lines_in_block > lines->line_count) lines->lines_in_block = lines->line_count;
  if (lines->lines_in_block < 1) lines->lines_in_block = 1;
  run->block = lines->lines_in_block * lines->length;
  run->place_bytes = (run->block * kernel->widest) & ~(int64_t)63;
  if (run->place_bytes < run->block * kernel->widest) run->place_bytes += 64;
  lines->buffer_bytes =
      (size_t)(places * run->place_bytes + lines->number_count * lines->lines_in_block * PER_LINE_BYTES);
}

Status tile_run_lines(const TileKernel *kernel, int threads, const TileArgument *arguments, Tensor *const *outputs) {
  Run run;
  LinesRun lines;
  Tensor looks[ITERATE_MAX_OPERANDS];
  const Tensor *operands[ITERATE_MAX_OPERANDS];
  int ndim = find_domain(kernel, arguments, &lines.length);
  bool first_has_last = outputs[0]->ndim == ndim;
  lines.run = &run;
  lines.has_no_memory = false;
  lines.line_count = 1;
  for (int i = 0; i < outputs[0]->ndim - first_has_last; i++) lines.line_count *= outputs[0]->sizes[i];
  TRY(tile_run_begin(&run, kernel, lines.line_count * lines.length, arguments, outputs));
  for (int i = 0; i < run.operand_count; i++) {
    const Tensor *t = run.tensors[i];
    bool is_output = i < kernel->output_count, has_last = !is_output || t->ndim == ndim;
    leave_last_out(t, has_last, lines.length, &looks[i], &lines.strides[i]);
    if (is_output) lines.is_number[i] = !has_last || t->sizes[ndim - 1] != lines.length;
    operands[i] = &looks[i];
  }
  TRY(iterator_init(&lines.it, run.operand_count, operands));
  find_numbers(&lines);
  find_targets(&lines);
  choose_block(&lines);
  parallel_for(threads, lines.line_count, 1 + HEAVY_GRAIN / lines.length, run_lines, &lines);
  if (lines.has_no_memory) return status_out_of_memory();
  if (run.divided_by_zero) return status_exception("RuntimeError", "ZeroDivisionError");
  return OK;
}
