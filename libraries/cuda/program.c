#include "cuda/program.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/code.h"

struct Program {
  Codes codes;
  Text text; /* but for what is before it */
  uint32_t rank, argument_count, output_count;
  RenderLayout layout;
  uint8_t operand_layouts[RENDER_MAX_OPERANDS]; /* WICK_OPERAND_... of the arguments */
  uint8_t types[RENDER_MAX_OPERANDS];           /* WICK_KERNEL_... of the arguments */
};

/* ---- variants ---- */

/* The width of indices, and for lines how many threads each has and how many dimensions are before it. */
typedef struct Variant {
  int bits, lanes, outer;
} Variant;
static uint64_t pack(Variant v) {
  return (uint64_t)v.bits | (uint64_t)v.lanes << 8 | (uint64_t)v.outer << 24;
}

static void write_text(const void *of, uint64_t variant, Text *out) {
  const Program *program = of;
  if (program->layout.has_lines)
    text_print(out, "#define RENDER_LANES %d\n#define RENDER_OUTER %d\n", (int)(variant >> 8 & 0xffff),
               (int)(variant >> 24));
  render_prelude(&dialect_cuda, (int)(variant & 0xff), out);
  text_add(out, program->text.data, program->text.length);
}

/* What is likely to be asked for, so that mistakes show. */
static wick_status compile_first(Program *program, wick_error **error) {
  const Variant likely = {32, program->layout.has_lines ? RENDER_GROUP : 0, program->layout.has_lines ? 1 : 0};
  Card *card = NULL;
  CUfunction function;
  wick_status status = card_enter_any(&card, error);
  return status ? status : code_for(&program->codes, card, program, pack(likely), &function, error);
}

wick_status program_new(const wick_kernel_ir *kernel, Program **out, wick_error **error) {
  Program *program = calloc(1, sizeof *program);
  if (!program) return fail(error, WICK_OUT_OF_MEMORY, "out of memory");
  program->codes.write = write_text;
  pthread_mutex_init(&program->codes.lock, NULL);
  render_kernel(&dialect_cuda, kernel, "wick_kernel", &program->text);
  program->rank = kernel->rank;
  program->argument_count = kernel->argument_count;
  program->output_count = kernel->output_count;
  render_layout(kernel, &program->layout);
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    program->operand_layouts[i] = (uint8_t)kernel->operands[i].layout;
    program->types[i] = kernel->types[i];
  }
  wick_status status =
      program->text.failed ? fail(error, WICK_OUT_OF_MEMORY, "out of memory") : compile_first(program, error);
  if (status)
    program_free(program);
  else
    *out = program;
  return status;
}

void program_free(Program *program) {
  codes_dispose(&program->codes);
  text_dispose(&program->text);
  free(program);
}

size_t program_bytes(const Program *program) {
  return sizeof *program + program->text.length + atomic_load(&program->codes.bytes);
}

/* ---- running ---- */

static int64_t count_of(const wick_tensor_view *t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->ndim; d++) count *= t->sizes[d];
  return count;
}

static int64_t stride_along(const wick_tensor_view *t, uint32_t rank, uint32_t d) {
  int64_t own = (int64_t)d - ((int64_t)rank - t->ndim);
  return own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
}

typedef struct Launch {
  void *parameters[RENDER_MAX_OPERANDS + 3];
  size_t count;
  union Value {
    void *pointer;
    double real;
    int64_t integer;
    uint32_t index32;
    uint64_t index64;
  } values[RENDER_MAX_OPERANDS + 2];
  union {
    uint32_t words[(RENDER_MAX_RANK + 1) * (RENDER_MAX_OPERANDS + 1)];
    uint64_t longs[(RENDER_MAX_RANK + 1) * (RENDER_MAX_OPERANDS + 1)];
  } layout;
} Launch;

static void add_place(Launch *launch, int bits, int64_t place) {
  union Value *value = &launch->values[launch->count];
  if (bits == 64)
    value->index64 = (uint64_t)place;
  else
    value->index32 = (uint32_t)place;
  launch->parameters[launch->count++] = value;
}

static union Value *add_parameter(Launch *launch) {
  union Value *value = &launch->values[launch->count];
  launch->parameters[launch->count++] = value;
  return value;
}

/* Words of the layout, which goes last. */
static void set_word(Launch *launch, int bits, uint32_t at, int64_t value) {
  if (bits == 64)
    launch->layout.longs[at] = (uint64_t)value;
  else
    launch->layout.words[at] = (uint32_t)value;
}

/* The view that operand i is of; NULL: a number, or not read. */
static const wick_tensor_view *view_of(const Program *program, uint32_t i, const wick_kernel_argument *arguments,
                                       const wick_tensor_view *outputs) {
  if (i >= program->argument_count) return &outputs[i - program->argument_count];
  bool is_read =
      program->operand_layouts[i] != WICK_OPERAND_UNUSED && program->operand_layouts[i] != WICK_OPERAND_NUMBER;
  return is_read ? &arguments[i].tensor : NULL;
}

/* 64 where an element may be more than 2^31 places from its operand's start, or there are as many. */
static int index_bits(const Program *program, int64_t count, const wick_kernel_argument *arguments,
                      const wick_tensor_view *outputs) {
  enum { MARGIN = RENDER_GROUP * RENDER_EACH };
  if (count > INT32_MAX - MARGIN) return 64;
  for (uint32_t i = 0; i < program->argument_count + program->output_count; i++) {
    if (program->layout.slots[i] < 0) continue;
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    int64_t last = 0;
    for (int32_t d = 0; d < t->ndim; d++) last += (t->sizes[d] - 1) * t->strides[d];
    if (last > INT32_MAX) return 64;
  }
  return 32;
}

static void set_layout(const Program *program, int bits, const wick_kernel_argument *arguments,
                       const wick_tensor_view *outputs, Launch *launch) {
  uint32_t at = program->rank;
  for (uint32_t d = 0; d < program->rank; d++) set_word(launch, bits, d, outputs[0].sizes[d]);
  for (uint32_t i = 0; i < program->argument_count + program->output_count; i++) {
    if (program->layout.slots[i] < 0) continue;
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    for (uint32_t d = 0; d < program->rank; d++, at++) set_word(launch, bits, at, stride_along(t, program->rank, d));
  }
  launch->parameters[launch->count++] = &launch->layout;
}

/* What comes after the counts, as libraries/render/render.h has it, but for the layout. */
static void add_operands(const Program *program, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                         Launch *launch) {
  for (uint32_t i = 0; i < program->argument_count + program->output_count; i++) {
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    if (t)
      add_parameter(launch)->pointer = t->data;
    else if (program->operand_layouts[i] == WICK_OPERAND_NUMBER && program->types[i] <= WICK_KERNEL_INT64)
      add_parameter(launch)->integer = arguments[i].integer;
    else if (program->operand_layouts[i] == WICK_OPERAND_NUMBER)
      add_parameter(launch)->real = arguments[i].real;
  }
}

static wick_status run_elements(Program *program, const Card *card, const wick_kernel_argument *arguments,
                                const wick_tensor_view *outputs, wick_error **error) {
  Launch launch = {.count = 0};
  CUfunction function;
  int64_t count = count_of(&outputs[0]), each = RENDER_GROUP * RENDER_EACH;
  int bits = index_bits(program, count, arguments, outputs);
  wick_status status = code_for(&program->codes, card, program, pack((Variant){bits, 0, 0}), &function, error);
  if (status || !count) return status;
  add_place(&launch, bits, count);
  add_operands(program, arguments, outputs, &launch);
  if (program->layout.strided_count) set_layout(program, bits, arguments, outputs, &launch);
  return code_launch(card, function, (count + each - 1) / each, launch.parameters, error);
}

/* ---- lines ---- */

/* Sizes of all that a kernel computes, lines last, and how its operands move: by slots. */
typedef struct Domain {
  int outer; /* dimensions before the lines, at most RENDER_MAX_RANK - 1 */
  int64_t count, length;
  int64_t sizes[RENDER_MAX_RANK], strides[RENDER_MAX_OPERANDS][RENDER_MAX_RANK], along[RENDER_MAX_OPERANDS];
} Domain;

/* An output of fewer dimensions is one without the line's. */
static int64_t own_dim(const wick_tensor_view *t, bool is_output, int ndim, int d) {
  return is_output && t->ndim < ndim ? d : d - (ndim - t->ndim);
}

static void see_operand(int ndim, int64_t *sizes, const wick_tensor_view *t, bool is_output) {
  for (int d = 0; d < ndim; d++) {
    int64_t own = own_dim(t, is_output, ndim, d);
    if (own >= 0 && own < t->ndim && t->sizes[own] != 1) sizes[d] = t->sizes[own];
  }
}

static void place_operand(Domain *domain, int slot, int ndim, const wick_tensor_view *t, bool is_output) {
  for (int d = 0; d < ndim; d++) {
    int64_t own = own_dim(t, is_output, ndim, d);
    bool moves = own >= 0 && own < t->ndim && t->sizes[own] != 1;
    *(d == ndim - 1 ? &domain->along[slot] : &domain->strides[slot][d]) = moves ? t->strides[own] : 0;
  }
}

/* Dimensions along which all operands move as along one. */
static void join_outer(Domain *domain, uint32_t slots) {
  int last = 0;
  for (int d = 1; d < domain->outer; d++) {
    bool joins = domain->sizes[d] == 1 || domain->sizes[last] == 1;
    bool all = true;
    for (uint32_t s = 0; s < slots; s++) all &= domain->strides[s][last] == domain->strides[s][d] * domain->sizes[d];
    int64_t size = domain->sizes[last] * domain->sizes[d];
    bool keeps_last = joins && domain->sizes[d] == 1;
    if (!joins && !all) last++, size = domain->sizes[d];
    domain->sizes[last] = size;
    for (uint32_t s = 0; s < slots && !keeps_last; s++) domain->strides[s][last] = domain->strides[s][d];
  }
  if (domain->outer) domain->outer = last + 1;
}

static void find_domain(const Program *program, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                        Domain *domain) {
  uint32_t operands = program->argument_count + program->output_count;
  int64_t sizes[RENDER_MAX_RANK];
  int ndim = 1;
  for (uint32_t i = 0; i < operands; i++) {
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    if (t && t->ndim > ndim) ndim = t->ndim;
  }
  for (int d = 0; d < ndim; d++) sizes[d] = 1;
  for (uint32_t i = 0; i < operands; i++) {
    const wick_tensor_view *t = view_of(program, i, arguments, outputs);
    if (t) see_operand(ndim, sizes, t, i >= program->argument_count);
  }
  for (uint32_t i = 0; i < operands; i++)
    if (program->layout.slots[i] >= 0)
      place_operand(domain, program->layout.slots[i], ndim, view_of(program, i, arguments, outputs),
                    i >= program->argument_count);
  domain->outer = ndim - 1;
  domain->length = sizes[ndim - 1];
  domain->count = 1;
  for (int d = 0; d < domain->outer; d++) domain->count *= domain->sizes[d] = sizes[d];
  join_outer(domain, program->layout.strided_count);
}

/* Threads for each line: neighbors read what lies side by side. */
static int choose_lanes(const Domain *domain, uint32_t slots) {
  int64_t across = 0, along = 0;
  for (uint32_t s = 0; s < slots; s++) {
    along += domain->along[s] == 1;
    across += domain->outer && domain->strides[s][domain->outer - 1] == 1;
  }
  if (across > along && domain->count >= 1024) return 1;
  return domain->length <= 128 ? 32 : RENDER_GROUP;
}

static wick_status run_lines(Program *program, const Card *card, const wick_kernel_argument *arguments,
                             const wick_tensor_view *outputs, wick_error **error) {
  Launch launch = {.count = 0};
  Domain domain = {.outer = 0};
  CUfunction function;
  uint32_t slots = program->layout.strided_count, at = 0;
  find_domain(program, arguments, outputs, &domain);
  if (!domain.count || !domain.length) return WICK_OK;
  int bits = index_bits(program, domain.count * domain.length, arguments, outputs);
  int lanes = choose_lanes(&domain, slots), lines = RENDER_GROUP / lanes;
  wick_status status =
      code_for(&program->codes, card, program, pack((Variant){bits, lanes, domain.outer}), &function, error);
  if (status) return status;
  add_place(&launch, bits, domain.count);
  add_place(&launch, bits, domain.length);
  add_operands(program, arguments, outputs, &launch);
  for (int d = 0; d <= domain.outer; d++) set_word(&launch, bits, at++, d < domain.outer ? domain.sizes[d] : 1);
  for (uint32_t s = 0; s < slots; s++)
    for (int d = 0; d <= domain.outer; d++) set_word(&launch, bits, at++, d < domain.outer ? domain.strides[s][d] : 0);
  for (uint32_t s = 0; s < slots; s++) set_word(&launch, bits, at++, domain.along[s]);
  launch.parameters[launch.count++] = &launch.layout;
  return code_launch(card, function, (domain.count + lines - 1) / lines, launch.parameters, error);
}

wick_status program_run(Program *program, const wick_kernel_argument *arguments, const wick_tensor_view *outputs,
                        wick_error **error) {
  Card *card = NULL;
  wick_status status = card_enter(outputs[0].device_index, &card, error);
  if (status) return status;
  return program->layout.has_lines ? run_lines(program, card, arguments, outputs, error)
                                   : run_elements(program, card, arguments, outputs, error);
}
