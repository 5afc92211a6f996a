#include "native/x86.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/memory.h"

/* What stands in the reg field. */
enum { EXTENSION_NONE = -1, EXTENSION_IN_OPCODE = -2 /* the register is added to it */, EXTENSION_NOTHING = -3 };

static const X86Form rows[X86_OP_COUNT] = {
#define X(name, text, encoding, prefix, map, opcode, w, extension, operands, order, immediate, memory, element, masks) \
  [X86_##name] = {text,     X86_##encoding, prefix,    map,    opcode,  w,    extension,                               \
                  operands, order,          immediate, memory, element, masks},
    X86_ROWS(X)
#undef X
};

const X86Form *x86_form(X86Op op) {
  assert(op < X86_OP_COUNT);
  return &rows[op];
}

bool x86_takes_memory(X86Op op) {
  const X86Form *row = x86_form(op);
  return islower((unsigned char)row->operands[2]) || strchr("FHfh1", row->memory);
}
bool x86_is_jump(X86Op op) {
  return x86_form(op)->order[0] == 'i';
}

/* ---- encoding ---- */

static int vector_bytes(X86Length length) {
  return 16 << length;
}

/* What an EVEX displacement of one byte counts in. */
static int displacement_unit(const X86Form *row, const X86Ins *ins) {
  if (ins->broadcasts || row->memory == '1') return row->element;
  int bytes = vector_bytes((X86Length)ins->length);
  return row->memory == 'H' || row->memory == 'h' ? bytes / 2 : bytes;
}

typedef struct Fields {
  int reg, other, rm;  /* all bits of the numbers */
  int base_3, index_3; /* bits 3 of what rm is, and of the index (or bit 4 of a vector register) */
} Fields;

static Fields fields_of(const X86Form *row, const X86Ins *ins) {
  Fields f = {.reg = row->extension >= 0 ? row->extension : ins->reg, .other = ins->other, .rm = ins->rm};
  if (row->operands[0] == '-' && row->extension < 0) f.reg = 0;
  f.base_3 = ins->rm >> 3 & 1;
  f.index_3 = ins->is_memory ? (ins->index != X86_NO_INDEX && ins->index >> 3 & 1) : ins->rm >> 4 & 1;
  return f;
}

static uint8_t prefix_code(uint8_t prefix) {
  return prefix == 0x66 ? 1 : prefix == 0xf3 ? 2 : prefix == 0xf2 ? 3 : 0;
}

static uint8_t *put_legacy_prefix(uint8_t *at, const X86Form *row, const Fields *f) {
  uint8_t rex = (uint8_t)(0x40 | row->is_wide << 3 | (f->reg >> 3 & 1) << 2 | f->index_3 << 1 | f->base_3);
  if (row->prefix) *at++ = row->prefix;
  if (rex != 0x40) *at++ = rex;
  if (row->map) *at++ = 0x0f;
  return at;
}

/* In two bytes where that says all. Masks of two sources are told by bit L. */
static uint8_t *put_vex_prefix(uint8_t *at, const X86Form *row, const Fields *f) {
  bool is_long = row->operands[0] == 'K' && row->operands[1] == 'K';
  int vvvv = ~f->other & 15, reg_3 = ~(f->reg >> 3) & 1;
  uint8_t last = (uint8_t)(vvvv << 3 | is_long << 2 | prefix_code(row->prefix));
  if (row->map == 1 && !row->is_wide && !f->base_3 && !f->index_3) {
    *at++ = 0xc5;
    *at++ = (uint8_t)(reg_3 << 7 | last);
  } else {
    *at++ = 0xc4;
    *at++ = (uint8_t)(reg_3 << 7 | !f->index_3 << 6 | !f->base_3 << 5 | row->map);
    *at++ = (uint8_t)(row->is_wide << 7 | last);
  }
  return at;
}

static uint8_t *put_evex_prefix(uint8_t *at, const X86Form *row, const X86Ins *ins, const Fields *f) {
  *at++ = 0x62;
  *at++ =
      (uint8_t)((~(f->reg >> 3) & 1) << 7 | !f->index_3 << 6 | !f->base_3 << 5 | (~(f->reg >> 4) & 1) << 4 | row->map);
  *at++ = (uint8_t)(row->is_wide << 7 | (~f->other & 15) << 3 | 4 | prefix_code(row->prefix));
  *at++ =
      (uint8_t)(ins->zeroes << 7 | ins->length << 5 | ins->broadcasts << 4 | (~(f->other >> 4) & 1) << 3 | ins->mask);
  return at;
}

static uint8_t *put_number(uint8_t *at, int64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) *at++ = (uint8_t)((uint64_t)value >> 8 * i);
  return at;
}

/* ModRM, SIB and displacement of memory: base, base + displacement, with or without an index. */
static uint8_t *put_memory(uint8_t *at, const X86Form *row, const X86Ins *ins, int reg) {
  bool has_index = ins->index != X86_NO_INDEX, has_sib = has_index || (ins->rm & 7) == X86_RSP;
  int unit = row->encoding == X86_EVEX ? displacement_unit(row, ins) : 1, mode = 2;
  int64_t small = ins->displacement / unit;
  if (ins->displacement == 0 && (ins->rm & 7) != X86_RBP)
    mode = 0;
  else if (ins->displacement % unit == 0 && small >= -128 && small <= 127)
    mode = 1;
  assert(ins->index != X86_RSP);
  *at++ = (uint8_t)(mode << 6 | (reg & 7) << 3 | (has_sib ? 4 : ins->rm & 7));
  if (has_sib) *at++ = (uint8_t)(ins->scale_log2 << 6 | (has_index ? ins->index & 7 : 4) << 3 | (ins->rm & 7));
  if (mode == 1) return put_number(at, small, 1);
  return mode == 2 ? put_number(at, ins->displacement, 4) : at;
}

int x86_encode(const X86Ins *ins, uint8_t out[X86_MAX_BYTES]) {
  const X86Form *row = x86_form((X86Op)ins->op);
  Fields f = fields_of(row, ins);
  uint8_t *at = out;
  int immediate_bytes = row->immediate_bytes;
  uint8_t opcode = row->opcode;
  bool is_short = opcode == 0x81 && ins->immediate >= -128 && ins->immediate <= 127;
  if (is_short) opcode = 0x83, immediate_bytes = 1;
  bool is_accumulator = opcode == 0x81 && ins->rm == X86_RAX && !ins->is_memory; /* which has a form of its own */
  if (row->encoding == X86_LEGACY)
    at = put_legacy_prefix(at, row, &f);
  else if (row->encoding == X86_VEX)
    at = put_vex_prefix(at, row, &f);
  else
    at = put_evex_prefix(at, row, ins, &f);
  if (is_accumulator)
    *at++ = (uint8_t)(row->extension << 3 | 5);
  else
    *at++ = (uint8_t)(opcode + (row->extension == EXTENSION_IN_OPCODE ? ins->rm & 7 : 0));
  if (row->extension >= EXTENSION_NONE && !is_accumulator) {
    if (ins->is_memory)
      at = put_memory(at, row, ins, f.reg);
    else
      *at++ = (uint8_t)(0xc0 | (f.reg & 7) << 3 | (ins->rm & 7));
  }
  at = put_number(at, ins->immediate, immediate_bytes);
  assert(at - out <= X86_MAX_BYTES);
  return (int)(at - out);
}

/* ---- writing ---- */

static void print_register(char class, int number, X86Length length, StrBuf *out) {
  static const char *const wide[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
  static const char *const narrow[] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"};
  if (class == 'K') {
    strbuf_printf(out, "k%d", number);
  } else if (class == 'Q') {
    if (number < 8)
      strbuf_puts(out, wide[number]);
    else
      strbuf_printf(out, "r%d", number);
  } else if (class == 'D') {
    if (number < 8)
      strbuf_puts(out, narrow[number]);
    else
      strbuf_printf(out, "r%dd", number);
  } else {
    int bytes = class == 'X' ? 16 : vector_bytes(length) / (class == 'H' ? 2 : 1);
    if (bytes < 16) bytes = 16;
    strbuf_printf(out, "%cmm%d", bytes == 64 ? 'z' : bytes == 32 ? 'y' : 'x', number);
  }
}

static void print_memory(const X86Form *row, const X86Ins *ins, StrBuf *out) {
  if (ins->broadcasts) strbuf_puts(out, row->element == 4 ? "dword ptr " : "qword ptr ");
  strbuf_puts(out, "[");
  print_register('Q', ins->rm, X86_128, out);
  if (ins->index != X86_NO_INDEX) {
    strbuf_puts(out, "+");
    print_register('Q', ins->index, X86_128, out);
    strbuf_printf(out, "*%d", 1 << ins->scale_log2);
  }
  if (ins->displacement) strbuf_printf(out, "%+d", ins->displacement);
  strbuf_puts(out, "]");
  if (!ins->broadcasts) return;
  int bytes = vector_bytes((X86Length)ins->length) / (row->memory == 'H' ? 2 : 1);
  strbuf_printf(out, "{1to%d}", bytes / row->element);
}

static void print_operand(const X86Form *row, const X86Ins *ins, char which, StrBuf *out) {
  X86Length length = (X86Length)ins->length;
  if (which == 'i')
    strbuf_printf(out, "%lld", (long long)ins->immediate);
  else if (which == 'm' && ins->is_memory)
    print_memory(row, ins, out);
  else if (which == 'm')
    print_register(row->operands[2], ins->rm, length, out);
  else
    print_register(row->operands[which == 'o'], which == 'o' ? ins->other : ins->reg, length, out);
}

void x86_print(const X86Ins *ins, StrBuf *out) {
  const X86Form *row = x86_form((X86Op)ins->op);
  strbuf_puts(out, row->text);
  for (int i = 0; row->order[i]; i++) {
    strbuf_puts(out, i ? ", " : " ");
    print_operand(row, ins, row->order[i], out);
    if (i) continue;
    if (ins->mask) strbuf_printf(out, "{k%d}", ins->mask);
    if (ins->zeroes) strbuf_puts(out, "{z}");
  }
}

/* ---- code that grows ---- */

void x86_code_init(X86Code *code, StrBuf *listing) {
  memset(code, 0, sizeof *code);
  code->listing = listing;
}

void x86_code_dispose(X86Code *code) {
  strbuf_dispose(&code->bytes);
}

void x86_add(X86Code *code, const X86Ins *ins) {
  uint8_t bytes[X86_MAX_BYTES];
  int count = x86_encode(ins, bytes);
  strbuf_append(&code->bytes, (const char *)bytes, (size_t)count);
  if (!code->listing) return;
  strbuf_printf(code->listing, "%6zx: ", code->bytes.length - (size_t)count);
  for (int i = 0; i < count; i++) strbuf_printf(code->listing, "%02x", bytes[i]);
  strbuf_printf(code->listing, "%*s", 28 - 2 * count, "");
  x86_print(ins, code->listing);
  strbuf_puts(code->listing, "\n");
}

int x86_label(X86Code *code) {
  assert(code->label_count < X86_MAX_LABELS);
  code->labels[code->label_count] = -1;
  return code->label_count++;
}

void x86_place(X86Code *code, int label) {
  assert(code->labels[label] < 0);
  code->labels[label] = (int64_t)code->bytes.length;
  if (code->listing) strbuf_printf(code->listing, ".L%d:\n", label);
}

void x86_jump(X86Code *code, X86Op op, int label) {
  assert(code->jump_count < 4 * X86_MAX_LABELS && x86_is_jump(op));
  StrBuf *listing = code->listing;
  size_t start = code->bytes.length;
  code->listing = NULL;
  x86_add(code, &(X86Ins){.op = (uint8_t)op});
  code->listing = listing;
  if (listing) strbuf_printf(listing, "%6zx: %-28s%s .L%d\n", start, "", x86_form(op)->text, label);
  code->jumps[code->jump_count].at = (int64_t)code->bytes.length;
  code->jumps[code->jump_count++].label = label;
}

void x86_finish(X86Code *code) {
  for (int i = 0; i < code->jump_count && !code->bytes.failed; i++) {
    int64_t from = code->jumps[i].at, to = code->labels[code->jumps[i].label];
    assert(to >= 0);
    put_number((uint8_t *)code->bytes.data + from - 4, to - from, 4);
  }
}
