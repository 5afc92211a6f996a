/* Cutting kernels into segments. Operations have no effects, so their order is free: a segment takes all that its
 * operands are there for, then the interpreter's loops compute what they can, and so on until all is computed. */
#include "native/native_kernel.h"

#include <assert.h>

#include "base/heap.h"
#include "base/machine_code.h"
#include "native/vector_code.h"
#include "native/x86_emit.h"

enum { MAX_STEPS = KERNEL_MAX_VALUES, CODE_ALIGNMENT = 64 };

/* One way of a kernel: which arguments are one number. */
typedef struct Form {
  TileKernel *kernel;
  TileCompiled compiled;
  TileStep steps[MAX_STEPS];
  uint8_t uniform[KERNEL_MAX_VALUES];
} Form;

struct NativeKernel {
  Form *forms[2]; /* the second is for all runs; NULL where the first is */
  MachineCode *code;
};

/* While one is made. */
typedef struct Maker {
  KernelIr *kernel;
  Form *form;
  int first_ins; /* the value of the first instruction */
  uint16_t
      step_of[KERNEL_MAX_VALUES]; /* that computes a value; BEFORE: known before steps run, LATER: not yet computed */
  size_t offsets[MAX_STEPS];      /* of steps that are code */
  VectorCode *vectors;
  StrBuf *code, *listing;
} Maker;
enum { BEFORE = 0xfffe, LATER = 0xffff };

bool native_is_there(void) {
  return x86_can_run_here() && machine_code_is_allowed();
}

/* uniform[v]: value v is a number along a line, as what is computed of numbers alone is. */
static void find_numbers(const KernelIr *kernel, const bool *stays, bool *uniform) {
  int first = kernel->argument_count + kernel->constant_count;
  for (int v = 0; v < first; v++) uniform[v] = v >= kernel->argument_count || stays[v];
  for (int i = 0; i < kernel->ins_count; i++) {
    const KernelValue operands[3] = {kernel->ins[i].a, kernel->ins[i].b, kernel->ins[i].c};
    bool all = true;
    for (int k = 0; k < 3; k++) all &= operands[k] == KERNEL_NO_VALUE || uniform[operands[k]];
    uniform[first + i] = all;
  }
}

bool native_suits(const KernelIr *kernel, const bool *stays) {
  bool uniform[KERNEL_MAX_VALUES];
  if (kernel->has_lines) return false;
  find_numbers(kernel, stays, uniform);
  for (int i = 0; i < kernel->ins_count; i++)
    if (vector_has(&kernel->ins[i]) && !uniform[kernel->argument_count + kernel->constant_count + i]) return true;
  return false;
}

static void find_uniform(Maker *m, const bool *stays) {
  const KernelIr *kernel = m->kernel;
  Form *form = m->form;
  bool uniform[KERNEL_MAX_VALUES];
  find_numbers(kernel, stays, uniform);
  for (int v = 0; v < kernel->value_count; v++) {
    form->uniform[v] = uniform[v] ? TILE_UNIFORM : 0;
    form->compiled.uniform_count += v >= m->first_ins && uniform[v];
    m->step_of[v] = v < m->first_ins || uniform[v] ? BEFORE : LATER;
  }
  for (int i = 0; i < kernel->output_count; i++)
    if (uniform[kernel->outputs[i]]) form->uniform[kernel->outputs[i]] |= TILE_SPREAD;
}

static bool is_ready(const Maker *m, const KernelIns *ins) {
  const KernelValue operands[3] = {ins->a, ins->b, ins->c};
  for (int k = 0; k < 3; k++)
    if (operands[k] != KERNEL_NO_VALUE && m->step_of[operands[k]] == LATER) return false;
  return true;
}

/* Whether elements of 64 bits are among what an instruction reads or makes. */
static bool is_wide(const Maker *m, int i) {
  const KernelIns *ins = &m->kernel->ins[i];
  const KernelValue values[4] = {ins->a, ins->b, ins->c, (KernelValue)(m->first_ins + i)};
  for (int k = 0; k < 4; k++)
    if (values[k] != KERNEL_NO_VALUE &&
        (m->kernel->types[values[k]] == TILE_I64 || m->kernel->types[values[k]] == TILE_F64))
      return true;
  return ins->type == TILE_F64 || ins->type == TILE_I64;
}

/* The bits of a constant, for its kind. */
static VectorValue constant(Maker *m, KernelValue value) {
  VectorKind kind = vector_kind_of((TileType)m->kernel->types[value]);
  const KernelConstant *c = &m->kernel->constants[value - m->kernel->argument_count];
  if (kind == VECTOR_MASK) return vector_bits(m->vectors, kind, c->integer != 0);
  return kind == VECTOR_I64 ? vector_bits(m->vectors, kind, c->integer)
                            : vector_constant(m->vectors, kind, __real__ c->value);
}

/* An operand in the segment: made in it, or loaded or repeated when first wanted. */
static void bring(Maker *m, KernelValue value) {
  VectorValue *place = &m->vectors->of_values[value];
  if (value == KERNEL_NO_VALUE || *place != VECTOR_NO_VALUE) return;
  VectorKind kind = vector_kind_of((TileType)m->kernel->types[value]);
  bool is_constant = value >= m->kernel->argument_count && value < m->first_ins;
  VectorOp op = m->form->uniform[value] ? VECTOR_REPEAT : VECTOR_LOAD;
  *place = is_constant ? constant(m, value)
                       : vector_add(m->vectors, op, kind, VECTOR_NO_VALUE, VECTOR_NO_VALUE, VECTOR_NO_VALUE, value);
}

static void expand(Maker *m, int i) {
  const KernelIns *ins = &m->kernel->ins[i];
  bring(m, ins->a);
  if (ins->b != KERNEL_NO_VALUE) bring(m, ins->b);
  if (ins->c != KERNEL_NO_VALUE) bring(m, ins->c);
  m->vectors->of_values[m->first_ins + i] = vector_expand(m->vectors, ins);
}

static void store(Maker *m, int i) {
  KernelValue value = (KernelValue)(m->first_ins + i);
  VectorKind kind = vector_kind_of((TileType)m->kernel->types[value]);
  VectorValue ones = kind == VECTOR_MASK ? vector_bits(m->vectors, VECTOR_F32, 0x01010101) : VECTOR_NO_VALUE;
  vector_add(m->vectors, VECTOR_STORE, kind, m->vectors->of_values[value], ones, VECTOR_NO_VALUE, value);
}

/* Used by a later step, or returned. */
static bool is_wanted_outside(const Maker *m, int i, uint16_t step) {
  KernelValue value = (KernelValue)(m->first_ins + i);
  for (int k = 0; k < m->kernel->output_count; k++)
    if (m->kernel->outputs[k] == value) return true;
  for (int k = i + 1; k < m->kernel->ins_count; k++) {
    const KernelIns *ins = &m->kernel->ins[k];
    if ((ins->a == value || ins->b == value || ins->c == value) && m->step_of[m->first_ins + k] != step) return true;
  }
  return false;
}

static Status write_segment(Maker *m, uint16_t step) {
  X86Code code;
  while (m->code->length % CODE_ALIGNMENT) strbuf_char(m->code, (char)0xcc);
  m->offsets[step] = m->code->length;
  if (m->listing) strbuf_printf(m->listing, "# step %d: %d elements at a time\n", step, m->vectors->lanes);
  x86_code_init(&code, m->listing);
  Status status = x86_emit(m->vectors, &code);
  if (!status) strbuf_append(m->code, code.bytes.data, code.bytes.length);
  x86_code_dispose(&code);
  return status;
}

/* All vector operations that are ready, and that get ready by those; with `takes_wide` false only such as have no
 * elements of 64 bits, of which a vector holds twice as many. */
static bool choose_segment(Maker *m, uint16_t step, bool takes_wide) {
  bool has_any = false;
  for (int i = 0; i < m->kernel->ins_count; i++) {
    const KernelIns *ins = &m->kernel->ins[i];
    if (m->step_of[m->first_ins + i] != LATER || !vector_has(ins) || !is_ready(m, ins)) continue;
    if (!takes_wide && is_wide(m, i)) continue;
    m->step_of[m->first_ins + i] = step;
    has_any = true;
  }
  return has_any;
}

static Status make_segment(Maker *m, uint16_t step, bool is_wide_one) {
  vector_code_begin(m->vectors, m->kernel->value_count, is_wide_one ? 8 : 16);
  for (int i = 0; i < m->kernel->ins_count; i++) {
    if (m->step_of[m->first_ins + i] != step) continue;
    expand(m, i);
    if (is_wanted_outside(m, i, step)) store(m, i);
  }
  return write_segment(m, step);
}

/* One loop of the interpreter for each operation that is ready. Their operands come as whole blocks. */
static void take_interpreted(Maker *m) {
  TileCompiled *compiled = &m->form->compiled;
  for (int i = 0; i < m->kernel->ins_count; i++) {
    const KernelIns *ins = &m->kernel->ins[i];
    if (m->step_of[m->first_ins + i] != LATER || vector_has(ins) || !is_ready(m, ins)) continue;
    const KernelValue operands[3] = {ins->a, ins->b, ins->c};
    for (int k = 0; k < 3; k++)
      if (operands[k] != KERNEL_NO_VALUE && m->form->uniform[operands[k]]) m->form->uniform[operands[k]] |= TILE_SPREAD;
    m->step_of[m->first_ins + i] = (uint16_t)compiled->step_count;
    m->form->steps[compiled->step_count++] = (TileStep){NULL, (uint16_t)i};
  }
}

static Status make_steps(Maker *m) {
  TileCompiled *compiled = &m->form->compiled;
  int done = compiled->uniform_count;
  while (done < m->kernel->ins_count) {
    uint16_t step = (uint16_t)compiled->step_count;
    bool is_narrow = choose_segment(m, step, false);
    if (is_narrow || choose_segment(m, step, true)) {
      m->form->steps[compiled->step_count++] = (TileStep){NULL, LATER};
      TRY(make_segment(m, step, !is_narrow));
    }
    take_interpreted(m);
    done = 0;
    for (int i = 0; i < m->kernel->ins_count; i++) done += m->step_of[m->first_ins + i] != LATER;
  }
  return OK;
}

/* Buffers: for as long as the program runs for what is known before the steps; from the step that makes a value to the
 * last that reads it for what passes from one to another; none within a segment. */
static void choose_places(Maker *m) {
  TileKernel *kernel = m->form->kernel;
  int last_step[KERNEL_MAX_VALUES], free_places[KERNEL_MAX_VALUES], free_count = 0, next = 0;
  for (int v = 0; v < kernel->register_count; v++) last_step[v] = -1;
  for (int i = 0; i < kernel->ins_count; i++) {
    uint16_t step = m->step_of[m->first_ins + i];
    const KernelValue operands[3] = {kernel->ins[i].a, kernel->ins[i].b, kernel->ins[i].c};
    for (int k = 0; k < 3 && step != BEFORE; k++)
      if (operands[k] != KERNEL_NO_VALUE && last_step[operands[k]] < step) last_step[operands[k]] = step;
  }
  for (int i = 0; i < kernel->output_count; i++) last_step[kernel->outputs[i]] = MAX_STEPS;
  for (int v = 0; v < kernel->register_count; v++) {
    bool stays = m->step_of[v] == BEFORE && (v >= kernel->argument_count || kernel->used[v]);
    kernel->places[v] = stays ? (uint16_t)next++ : KERNEL_NO_VALUE;
  }
  for (int step = 0; step < m->form->compiled.step_count; step++) {
    for (int v = m->first_ins; v < kernel->register_count; v++)
      if (m->step_of[v] == step && last_step[v] > step)
        kernel->places[v] = (uint16_t)(free_count ? free_places[--free_count] : next++);
    for (int v = m->first_ins; v < kernel->register_count; v++)
      if (m->step_of[v] <= step && last_step[v] == step && kernel->places[v] != KERNEL_NO_VALUE)
        free_places[free_count++] = kernel->places[v];
  }
  for (int v = 0; v < kernel->register_count; v++)
    if (kernel->places[v] == KERNEL_NO_VALUE) kernel->places[v] = 0; /* nothing is there */
  kernel->place_count = next ? next : 1;
}

static Status make_form(Maker *m, KernelIr *kernel, const bool *stays) {
  Form *form = m->form;
  TRY(tile_kernel_new(kernel, &form->kernel));
  m->kernel = kernel;
  m->first_ins = kernel->argument_count + kernel->constant_count;
  find_uniform(m, stays);
  TRY(make_steps(m));
  choose_places(m);
  TileCompiled *compiled = &form->compiled;
  compiled->steps = form->steps;
  compiled->uniform = form->uniform;
  compiled->is_in_order = compiled->step_count == 1 && form->steps[0].ins == LATER;
  for (int v = 0; v < kernel->value_count; v++) compiled->has_spread |= (form->uniform[v] & TILE_SPREAD) != 0;
  form->kernel->compiled = compiled;
  form->kernel->is_simple = false;
  return OK;
}

/* Where the code of the steps is, once that is known. */
static void set_blocks(Form *form, const size_t *offsets, const MachineCode *code) {
  for (int i = 0; i < form->compiled.step_count; i++) {
    if (form->steps[i].ins != LATER) continue;
    const char *start = (const char *)machine_code_start(code) + offsets[i];
    memcpy(&form->steps[i].block, &start, sizeof start);
  }
}

static Status make_all(NativeKernel *native, Maker *makers, KernelIr *kernel, const bool *is_number,
                       const bool *stays) {
  const bool *numbers[2] = {stays, is_number};
  int count = memcmp(stays, is_number, (size_t)kernel->argument_count) ? 2 : 1;
  for (int i = 0; i < count; i++) {
    if (!(native->forms[i] = mem_calloc(1, sizeof(Form)))) return status_out_of_memory();
    makers[i].form = native->forms[i];
    if (makers[i].listing && count > 1) strbuf_puts(makers[i].listing, i ? "# for other runs\n" : "# for most runs\n");
    TRY(make_form(&makers[i], kernel, numbers[i]));
  }
  if (makers[0].code->failed) return status_out_of_memory();
  assert(makers[0].code->length);
  TRY(machine_code_new(makers[0].code->data, makers[0].code->length, &native->code));
  for (int i = 0; i < count; i++) set_blocks(native->forms[i], makers[i].offsets, native->code);
  if (count > 1) native->forms[0]->compiled.other = native->forms[1]->kernel;
  return OK;
}

Status native_kernel_new(KernelIr *kernel, const bool *is_number, const bool *stays, StrBuf *listing,
                         NativeKernel **out) {
  HEAP_SCOPE(NULL);
  *out = NULL;
  NativeKernel *native = mem_calloc(1, sizeof *native);
  Maker *makers = mem_calloc(2, sizeof *makers);
  VectorCode *vectors = mem_alloc(sizeof *vectors);
  StrBuf code = {0};
  Status status = OK;
  if (!native || !makers || !vectors) {
    status = status_out_of_memory();
  } else {
    for (int i = 0; i < 2; i++) makers[i].vectors = vectors, makers[i].code = &code, makers[i].listing = listing;
    status = make_all(native, makers, kernel, is_number, stays);
  }
  strbuf_dispose(&code);
  mem_free(makers);
  mem_free(vectors);
  if (status) {
    native_kernel_free(native);
    return status;
  }
  *out = native;
  return OK;
}

void native_kernel_free(NativeKernel *native) {
  if (!native) return;
  machine_code_free(native->code);
  for (int i = 0; i < 2; i++) {
    if (native->forms[i]) tile_kernel_free(native->forms[i]->kernel);
    mem_free(native->forms[i]);
  }
  mem_free(native);
}

const TileKernel *native_kernel_tile(const NativeKernel *native) {
  return native->forms[0]->kernel;
}

size_t native_kernel_code_bytes(const NativeKernel *native) {
  return machine_code_size(native->code);
}

size_t native_kernel_bytes(const NativeKernel *native) {
  size_t bytes = sizeof *native + native_kernel_code_bytes(native);
  for (int i = 0; i < 2; i++)
    if (native->forms[i]) bytes += sizeof(Form) + native->forms[i]->kernel->bytes;
  return bytes;
}
