/* Registers are given in one walk over the instructions: what is used furthest from here goes to the stack when none is
 * free (L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", 1966). Constants and numbers
 * are made before the loop, those used most in registers, the others on the stack, from where most instructions take an
 * operand. The walk is done twice: for whole vectors, and with masks for what is left over.
 *
 * rdi: n, rsi: values, rax: the element, rcx: the next vector's, rdx: an address for a moment; k7: the elements that
 * are there. */
#include "native/x86_emit.h"

#include <assert.h>
#include <string.h>

#include "base/processor.h"

enum {
  VECTORS = 30, /* zmm30 and zmm31 hold operands from the stack for a moment */
  FIRST_SCRATCH = 30,
  HOISTED = 18, /* constants and numbers in registers, at most */
  FIRST_MASK = 1,
  MASKS = 4, /* k1 to k4; k5 and k6 for a moment */
  FIRST_SCRATCH_MASK = 5,
  TAIL_MASK = 7,
  SLOT_BYTES = 64,
  MAX_SLOTS = 256,
  NOWHERE = 0xffff
};
static const uint8_t pointer_registers[] = {X86_R8,  X86_R9,  X86_R10, X86_R11, X86_RBX,
                                            X86_R12, X86_R13, X86_R14, X86_R15};
enum { POINTERS = sizeof pointer_registers, CALLER_SAVED = 4 };

typedef struct Emitter {
  const VectorCode *vectors;
  X86Code *code;
  bool is_masked; /* the walk over what is left */
  int pointer_count, slot_count, hoisted_slots, position;
  uint16_t registers[VECTOR_MAX_CODE], slots[VECTOR_MAX_CODE]; /* where a value is; or NOWHERE */
  uint16_t last_use[VECTOR_MAX_CODE];
  uint16_t vector_holds[VECTORS], mask_holds[MASKS]; /* the value in a register; or NOWHERE */
  uint16_t free_slots[MAX_SLOTS], ending_slots[4];   /* the latter after this instruction, which may read them */
  int free_slot_count, ending_slot_count;
  uint8_t pointer_of[KERNEL_MAX_VALUES]; /* 0xff: none */
} Emitter;

bool x86_can_run_here(void) {
#if defined(__x86_64__)
  return PROCESSOR_HAS_AVX512 && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

/* ---- instructions ---- */

static void add(Emitter *e, X86Ins ins) {
  x86_add(e->code, &ins);
}
static X86Ins move_address(X86Op op, int reg, int base, int32_t displacement) {
  return (X86Ins){.op = (uint8_t)op,
                  .reg = (uint8_t)reg,
                  .rm = (uint8_t)base,
                  .is_memory = true,
                  .index = X86_NO_INDEX,
                  .displacement = displacement};
}
static void with_number(Emitter *e, X86Op op, int reg, int64_t number) {
  add(e, (X86Ins){.op = (uint8_t)op, .rm = (uint8_t)reg, .immediate = number});
}
static void between(Emitter *e, X86Op op, int to, int from) { /* of general registers */
  add(e, (X86Ins){.op = (uint8_t)op, .reg = (uint8_t)from, .rm = (uint8_t)to});
}

static bool is_hoisted(const VectorIns *ins) {
  return ins->op == VECTOR_CONSTANT || ins->op == VECTOR_REPEAT;
}

static int element_bytes(VectorKind kind) {
  return kind == VECTOR_MASK ? 1 : kind == VECTOR_F32 ? 4 : 8;
}
static X86Length length_of(const Emitter *e, VectorKind kind) {
  int bytes = e->vectors->lanes * element_bytes(kind);
  return bytes >= 64 ? X86_512 : bytes >= 32 ? X86_256 : X86_128;
}

/* The kernel's value at the element where the loop is. */
static void set_element(Emitter *e, X86Ins *ins, int64_t value, VectorKind kind) {
  uint8_t base = e->pointer_of[value];
  if (base == 0xff) {
    add(e, move_address(X86_MOV_LOAD, X86_RDX, X86_RSI, (int32_t)value * 8));
    base = X86_RDX;
  }
  int bytes = element_bytes(kind);
  ins->is_memory = true;
  ins->rm = base;
  ins->index = X86_RAX;
  ins->scale_log2 = bytes == 1 ? 0 : bytes == 4 ? 2 : 3;
}

static void set_slot(X86Ins *ins, int slot) {
  ins->is_memory = true;
  ins->rm = X86_RSP;
  ins->index = X86_NO_INDEX;
  ins->displacement = slot * SLOT_BYTES;
}

static void move_slot(Emitter *e, VectorKind kind, bool is_store, int reg, int slot) {
  X86Op op = kind == VECTOR_MASK  ? (is_store ? X86_KMOV_STORE : X86_KMOV_LOAD)
             : kind == VECTOR_F32 ? (is_store ? X86_VMOVUPS_STORE : X86_VMOVUPS)
                                  : (is_store ? X86_VMOVUPD_STORE : X86_VMOVUPD);
  X86Ins ins = {.op = (uint8_t)op, .reg = (uint8_t)reg};
  if (kind != VECTOR_MASK) ins.length = (uint8_t)length_of(e, kind);
  set_slot(&ins, slot);
  add(e, ins);
}

/* ---- registers ---- */

static int take_slot(Emitter *e) {
  return e->free_slot_count ? e->free_slots[--e->free_slot_count] : e->slot_count++;
}

static int next_use(const Emitter *e, uint16_t value) {
  for (int i = e->position + 1; i <= e->last_use[value]; i++)
    for (int k = 0; k < 3; k++)
      if (e->vectors->ins[i].operands[k] == value) return i;
  return e->vectors->count;
}

/* Frees the register whose value is used last, but for the operands of the instruction. */
static int spill(Emitter *e, uint16_t *holds, int count, VectorKind kind) {
  const VectorIns *ins = &e->vectors->ins[e->position];
  int best = -1, furthest = -1;
  for (int r = 0; r < count; r++) {
    uint16_t value = holds[r];
    if (is_hoisted(&e->vectors->ins[value]) || value == ins->operands[0] || value == ins->operands[1] ||
        value == ins->operands[2])
      continue;
    int use = next_use(e, value);
    if (use > furthest) furthest = use, best = r;
  }
  assert(best >= 0);
  uint16_t value = holds[best];
  if (e->slots[value] == NOWHERE) {
    e->slots[value] = (uint16_t)take_slot(e);
    VectorKind its = kind == VECTOR_MASK ? kind : vector_result_kind(e->vectors, value);
    move_slot(e, its, true, kind == VECTOR_MASK ? FIRST_MASK + best : best, e->slots[value]);
  }
  e->registers[value] = NOWHERE;
  holds[best] = NOWHERE;
  return best;
}

/* A register for the value of the instruction. */
static int give_register(Emitter *e, uint16_t value, VectorKind kind) {
  bool is_mask = kind == VECTOR_MASK;
  uint16_t *holds = is_mask ? e->mask_holds : e->vector_holds;
  int count = is_mask ? MASKS : VECTORS, r = 0;
  while (r < count && holds[r] != NOWHERE) r++;
  if (r == count) r = spill(e, holds, count, kind);
  holds[r] = value;
  return e->registers[value] = (uint16_t)(is_mask ? FIRST_MASK + r : r);
}

static void forget(Emitter *e, uint16_t value) {
  bool is_mask = vector_result_kind(e->vectors, value) == VECTOR_MASK;
  uint16_t *holds = is_mask ? e->mask_holds : e->vector_holds;
  if (e->registers[value] != NOWHERE) holds[e->registers[value] - (is_mask ? FIRST_MASK : 0)] = NOWHERE;
  if (e->slots[value] != NOWHERE) e->ending_slots[e->ending_slot_count++] = e->slots[value];
  e->registers[value] = e->slots[value] = NOWHERE;
}

/* Operands that nobody uses later leave their registers, which the result may have. */
static void end_operands(Emitter *e, const VectorIns *ins) {
  for (int k = 0; k < 3; k++) {
    uint16_t value = ins->operands[k];
    if (value != VECTOR_NO_VALUE && e->last_use[value] == e->position && !is_hoisted(&e->vectors->ins[value]) &&
        (e->registers[value] != NOWHERE || e->slots[value] != NOWHERE))
      forget(e, value);
  }
}

/* Where an operand is: in a register; one on the stack comes to scratch register number `scratch` of its kind. */
static int in_register(Emitter *e, uint16_t value, int scratch) {
  VectorKind kind = vector_result_kind(e->vectors, value);
  if (e->registers[value] != NOWHERE) return e->registers[value];
  assert(e->slots[value] != NOWHERE);
  int reg = (kind == VECTOR_MASK ? FIRST_SCRATCH_MASK : FIRST_SCRATCH) + scratch;
  move_slot(e, kind, false, reg, e->slots[value]);
  return reg;
}

/* As the last operand, which may be memory. */
static void set_last(Emitter *e, X86Ins *ins, uint16_t value) {
  if (e->registers[value] != NOWHERE || vector_result_kind(e->vectors, value) == VECTOR_MASK ||
      !x86_takes_memory((X86Op)ins->op))
    ins->rm = (uint8_t)in_register(e, value, 1);
  else
    set_slot(ins, e->slots[value]);
}

/* ---- operations ---- */

/* By kind; those of one operand have it last. 0: it is not so simple. */
static const uint8_t plain[VECTOR_OP_COUNT][4] = {[VECTOR_ADD] = {X86_VADDPS, X86_VADDPD, X86_VPADDQ},
                                                  [VECTOR_SUB] = {X86_VSUBPS, X86_VSUBPD, X86_VPSUBQ},
                                                  [VECTOR_MUL] = {X86_VMULPS, X86_VMULPD, X86_VPMULLQ},
                                                  [VECTOR_DIV] = {X86_VDIVPS, X86_VDIVPD},
                                                  [VECTOR_SQRT] = {X86_VSQRTPS, X86_VSQRTPD},
                                                  [VECTOR_MIN] = {X86_VMINPS, X86_VMINPD, X86_VPMINSQ},
                                                  [VECTOR_MAX] = {X86_VMAXPS, X86_VMAXPD, X86_VPMAXSQ},
                                                  [VECTOR_ROUND] = {X86_VRNDSCALEPS, X86_VRNDSCALEPD},
                                                  [VECTOR_COMPARE] = {X86_VCMPPS, X86_VCMPPD, X86_VPCMPQ},
                                                  [VECTOR_SIGN_BIT] = {X86_VPMOVD2M, X86_VPMOVQ2M, X86_VPMOVQ2M},
                                                  [VECTOR_AND] = {X86_VPANDD, X86_VPANDQ, X86_VPANDQ, X86_KAND},
                                                  [VECTOR_OR] = {X86_VPORD, X86_VPORQ, X86_VPORQ, X86_KOR},
                                                  [VECTOR_XOR] = {X86_VPXORD, X86_VPXORQ, X86_VPXORQ, X86_KXOR},
                                                  [VECTOR_ABS] = {0, 0, X86_VPABSQ},
                                                  [VECTOR_ADD_BITS] = {X86_VPADDD, X86_VPADDQ, X86_VPADDQ},
                                                  [VECTOR_SUB_BITS] = {X86_VPSUBD, X86_VPSUBQ, X86_VPSUBQ},
                                                  [VECTOR_MIN_BITS] = {X86_VPMINSD},
                                                  [VECTOR_SHIFT_LEFT] = {X86_VPSLLD, X86_VPSLLQ, X86_VPSLLQ},
                                                  [VECTOR_SHIFT_RIGHT] = {X86_VPSRLD, X86_VPSRLQ, X86_VPSRLQ},
                                                  [VECTOR_NOT] = {0, 0, 0, X86_KNOT},
                                                  [VECTOR_AND_NOT] = {0, 0, 0, X86_KANDN},
                                                  [VECTOR_I64_TO_F32] = {0, 0, X86_VCVTQQ2PS},
                                                  [VECTOR_I64_TO_F64] = {0, 0, X86_VCVTQQ2PD},
                                                  [VECTOR_F32_TO_F64] = {X86_VCVTPS2PD},
                                                  [VECTOR_F64_TO_F32] = {0, X86_VCVTPD2PS},
                                                  [VECTOR_F32_TO_I64] = {X86_VCVTTPS2QQ},
                                                  [VECTOR_F64_TO_I64] = {0, X86_VCVTTPD2QQ}};
_Static_assert(X86_OP_COUNT <= 256, "an X86Op fits into a byte");

static bool is_conversion(VectorOp op) {
  return op >= VECTOR_I64_TO_F32 && op <= VECTOR_F64_TO_I64;
}

/* Predicates of VCMPPS, quiet, and of VPCMPQ; rounding of VRNDSCALE without exceptions. */
static int64_t immediate_of(const VectorIns *ins) {
  static const uint8_t float_predicates[] = {0x00, 0x04, 0x11, 0x12, 0x1e, 0x1d, 0x03};
  static const uint8_t integer_predicates[] = {0, 4, 1, 2, 6, 5};
  if (ins->op == VECTOR_ROUND) return 8 + ins->immediate;
  if (ins->op != VECTOR_COMPARE) return ins->immediate;
  return ins->kind == VECTOR_I64 ? integer_predicates[ins->immediate] : float_predicates[ins->immediate];
}

static void emit_plain(Emitter *e, const VectorIns *ins) {
  X86Op op = (X86Op)plain[ins->op][ins->kind];
  X86Ins x = {.op = (uint8_t)op, .immediate = immediate_of(ins)};
  assert(op);
  if (ins->kind != VECTOR_MASK) {
    x.length =
        (uint8_t)(is_conversion((VectorOp)ins->op) ? length_of(e, VECTOR_I64) : length_of(e, (VectorKind)ins->kind));
  }
  bool is_binary = ins->operands[1] != VECTOR_NO_VALUE;
  if (is_binary) x.other = (uint8_t)in_register(e, ins->operands[0], 0);
  set_last(e, &x, ins->operands[is_binary]);
  end_operands(e, ins);
  int to = give_register(e, (uint16_t)e->position, vector_result_kind(e->vectors, (VectorValue)e->position));
  if (ins->op == VECTOR_SHIFT_LEFT || ins->op == VECTOR_SHIFT_RIGHT)
    x.other = (uint8_t)to;
  else
    x.reg = (uint8_t)to;
  add(e, x);
}

static void emit_is_not_zero(Emitter *e, const VectorIns *ins) {
  int from = in_register(e, ins->operands[0], 0);
  end_operands(e, ins);
  int to = give_register(e, (uint16_t)e->position, VECTOR_MASK);
  add(e, (X86Ins){.op = X86_VPTESTMQ,
                  .length = (uint8_t)length_of(e, VECTOR_I64),
                  .reg = (uint8_t)to,
                  .other = (uint8_t)from,
                  .rm = (uint8_t)from});
}

static void emit_choose(Emitter *e, const VectorIns *ins) {
  X86Ins x = {.op = ins->kind == VECTOR_F32 ? X86_VBLENDMPS : X86_VBLENDMPD,
              .length = (uint8_t)length_of(e, (VectorKind)ins->kind)};
  x.other = (uint8_t)in_register(e, ins->operands[1], 0);
  set_last(e, &x, ins->operands[0]);
  x.mask = (uint8_t)in_register(e, ins->operands[2], 0);
  end_operands(e, ins);
  x.reg = (uint8_t)give_register(e, (uint16_t)e->position, (VectorKind)ins->kind);
  add(e, x);
}

static void emit_where(Emitter *e, const VectorIns *ins) {
  X86Ins x = {.op = ins->kind == VECTOR_F32 ? X86_VMOVUPS : X86_VMOVUPD,
              .length = (uint8_t)length_of(e, (VectorKind)ins->kind),
              .zeroes = true};
  set_last(e, &x, ins->operands[0]);
  x.mask = (uint8_t)in_register(e, ins->operands[1], 0);
  end_operands(e, ins);
  x.reg = (uint8_t)give_register(e, (uint16_t)e->position, (VectorKind)ins->kind);
  add(e, x);
}

/* The result may have the addend's register no more than a factor's: it begins as the first factor. */
static void emit_fma(Emitter *e, const VectorIns *ins) {
  bool is_wide = ins->kind != VECTOR_F32;
  X86Length length = length_of(e, (VectorKind)ins->kind);
  int a = in_register(e, ins->operands[0], 0), b = in_register(e, ins->operands[1], 1);
  X86Ins x = {.op = is_wide ? X86_VFMADD213PD : X86_VFMADD213PS, .length = (uint8_t)length, .other = (uint8_t)b};
  bool ends = e->last_use[ins->operands[0]] == e->position && !is_hoisted(&e->vectors->ins[ins->operands[0]]) &&
              e->registers[ins->operands[0]] != NOWHERE && ins->operands[0] != ins->operands[1] &&
              ins->operands[0] != ins->operands[2];
  int to = ends ? a : give_register(e, (uint16_t)e->position, (VectorKind)ins->kind);
  if (!ends)
    add(e, (X86Ins){.op = is_wide ? X86_VMOVUPD : X86_VMOVUPS,
                    .length = (uint8_t)length,
                    .reg = (uint8_t)to,
                    .rm = (uint8_t)a});
  x.reg = (uint8_t)to;
  if (e->registers[ins->operands[2]] != NOWHERE)
    x.rm = (uint8_t)e->registers[ins->operands[2]];
  else
    set_slot(&x, e->slots[ins->operands[2]]);
  add(e, x);
  end_operands(e, ins);
  if (!ends) return;
  e->vector_holds[to] = (uint16_t)e->position;
  e->registers[e->position] = (uint16_t)to;
}

static void emit_round_to_half(Emitter *e, const VectorIns *ins) {
  uint8_t length = (uint8_t)length_of(e, VECTOR_F32);
  int from = in_register(e, ins->operands[0], 0);
  end_operands(e, ins);
  int to = give_register(e, (uint16_t)e->position, VECTOR_F32);
  add(e, (X86Ins){.op = X86_VCVTPS2PH, .length = length, .reg = (uint8_t)from, .rm = (uint8_t)to});
  add(e, (X86Ins){.op = X86_VCVTPH2PS, .length = length, .reg = (uint8_t)to, .rm = (uint8_t)to});
}

static void emit_load(Emitter *e, const VectorIns *ins) {
  VectorKind kind = (VectorKind)ins->kind;
  X86Ins x = {.op = kind == VECTOR_MASK  ? X86_VMOVDQU8
                    : kind == VECTOR_F32 ? X86_VMOVUPS
                                         : X86_VMOVUPD,
              .length = (uint8_t)length_of(e, kind)};
  if (e->is_masked || kind == VECTOR_MASK) {
    x.mask = TAIL_MASK;
    x.zeroes = true;
  }
  set_element(e, &x, ins->immediate, kind);
  int to = give_register(e, (uint16_t)e->position, kind);
  x.reg = (uint8_t)(kind == VECTOR_MASK ? FIRST_SCRATCH : to);
  add(e, x);
  if (kind == VECTOR_MASK)
    add(e, (X86Ins){.op = X86_VPTESTMB, .reg = (uint8_t)to, .other = FIRST_SCRATCH, .rm = FIRST_SCRATCH});
}

/* Of a mask, ones (the second operand has them) where it is set. */
static void emit_store(Emitter *e, const VectorIns *ins) {
  VectorKind kind = (VectorKind)ins->kind;
  int from = in_register(e, ins->operands[0], 0);
  X86Ins x = {.op = kind == VECTOR_MASK  ? X86_VMOVDQU8_STORE
                    : kind == VECTOR_F32 ? X86_VMOVUPS_STORE
                                         : X86_VMOVUPD_STORE,
              .length = (uint8_t)length_of(e, kind)};
  if (e->is_masked || kind == VECTOR_MASK) x.mask = TAIL_MASK;
  if (kind == VECTOR_MASK) {
    X86Ins ones = {.op = X86_VMOVDQU8, .reg = FIRST_SCRATCH, .mask = (uint8_t)from, .zeroes = true};
    set_last(e, &ones, ins->operands[1]);
    add(e, ones);
    from = FIRST_SCRATCH;
  }
  set_element(e, &x, ins->immediate, kind);
  x.reg = (uint8_t)from;
  add(e, x);
  end_operands(e, ins);
}

static void emit_instruction(Emitter *e, const VectorIns *ins) {
  switch ((VectorOp)ins->op) {
    case VECTOR_LOAD:
      emit_load(e, ins);
      break;
    case VECTOR_STORE:
      emit_store(e, ins);
      break;
    case VECTOR_FMA:
      emit_fma(e, ins);
      break;
    case VECTOR_CHOOSE:
      emit_choose(e, ins);
      break;
    case VECTOR_WHERE:
      emit_where(e, ins);
      break;
    case VECTOR_IS_NOT_ZERO:
      emit_is_not_zero(e, ins);
      break;
    case VECTOR_ROUND_TO_HALF:
      emit_round_to_half(e, ins);
      break;
    default:
      emit_plain(e, ins);
      break;
  }
}

/* Of one vector of elements; constants and numbers stay where they are. */
static void emit_body(Emitter *e, bool is_masked) {
  e->is_masked = is_masked;
  e->free_slot_count = e->ending_slot_count = 0;
  for (int i = 0; i < e->vectors->count; i++) {
    const VectorIns *ins = &e->vectors->ins[i];
    e->position = i;
    if (is_hoisted(ins)) continue;
    emit_instruction(e, ins);
    if (ins->op != VECTOR_STORE && e->last_use[i] == i) forget(e, (uint16_t)i); /* nobody uses it */
    while (e->ending_slot_count && e->free_slot_count < MAX_SLOTS)
      e->free_slots[e->free_slot_count++] = e->ending_slots[--e->ending_slot_count];
    e->ending_slot_count = 0;
  }
}

/* ---- before the loop ---- */

static void find_last_uses(Emitter *e, uint16_t *uses) {
  for (int i = 0; i < e->vectors->count; i++) {
    e->last_use[i] = (uint16_t)i;
    uses[i] = 0;
    for (int k = 0; k < 3; k++) {
      VectorValue operand = e->vectors->ins[i].operands[k];
      if (operand == VECTOR_NO_VALUE) continue;
      e->last_use[operand] = (uint16_t)i;
      uses[operand]++;
    }
  }
}

/* Those used most are in registers; masks are not. */
static void place_hoisted(Emitter *e, const uint16_t *uses) {
  int next = 0;
  for (; next < HOISTED; next++) {
    int best = -1;
    for (int i = 0; i < e->vectors->count; i++)
      if (is_hoisted(&e->vectors->ins[i]) && e->vectors->ins[i].kind != VECTOR_MASK && e->registers[i] == NOWHERE &&
          uses[i] && (best < 0 || uses[i] > uses[best]))
        best = i;
    if (best < 0) break;
    e->registers[best] = (uint16_t)next;
    e->vector_holds[next] = (uint16_t)best;
  }
  for (int i = 0; i < e->vectors->count; i++)
    if (is_hoisted(&e->vectors->ins[i]) && uses[i] && e->registers[i] == NOWHERE)
      e->slots[i] = (uint16_t)e->slot_count++;
  e->hoisted_slots = e->slot_count;
}

static void make_mask(Emitter *e, const VectorIns *ins, int slot) {
  if (ins->op == VECTOR_CONSTANT) {
    with_number(e, X86_MOV_32, X86_RAX, ins->immediate ? 0xffff : 0);
  } else { /* 0 - 1 has all bits */
    add(e, move_address(X86_MOV_LOAD, X86_RDX, X86_RSI, (int32_t)ins->immediate * 8));
    add(e, move_address(X86_MOV_LOAD, X86_RDX, X86_RDX, 0));
    with_number(e, X86_AND_NUMBER, X86_RDX, 1);
    between(e, X86_XOR_32, X86_RAX, X86_RAX);
    between(e, X86_SUB, X86_RAX, X86_RDX);
  }
  add(e, (X86Ins){.op = X86_KMOV_FROM_32, .reg = FIRST_SCRATCH_MASK, .rm = X86_RAX});
  move_slot(e, VECTOR_MASK, true, FIRST_SCRATCH_MASK, slot);
}

/* In all of the longest register: whoever uses less of it has the same. */
static void make_vector(Emitter *e, const VectorIns *ins, int reg) {
  bool is_narrow = ins->kind == VECTOR_F32;
  if (ins->op == VECTOR_REPEAT) {
    add(e, move_address(X86_MOV_LOAD, X86_RDX, X86_RSI, (int32_t)ins->immediate * 8));
    X86Ins x = move_address(is_narrow ? X86_VBROADCASTSS : X86_VBROADCASTSD, reg, X86_RDX, 0);
    x.length = X86_512;
    add(e, x);
  } else if (!ins->immediate) {
    add(e,
        (X86Ins){.op = X86_VPXORD, .length = X86_512, .reg = (uint8_t)reg, .other = (uint8_t)reg, .rm = (uint8_t)reg});
  } else {
    with_number(e, is_narrow ? X86_MOV_32 : X86_MOV_64, X86_RAX, ins->immediate);
    add(e, (X86Ins){.op = is_narrow ? X86_VPBROADCASTD : X86_VPBROADCASTQ,
                    .length = X86_512,
                    .reg = (uint8_t)reg,
                    .rm = X86_RAX});
  }
}

static void emit_hoisted(Emitter *e) {
  for (int i = 0; i < e->vectors->count; i++) {
    const VectorIns *ins = &e->vectors->ins[i];
    if (!is_hoisted(ins) || (e->registers[i] == NOWHERE && e->slots[i] == NOWHERE)) continue;
    if (ins->kind == VECTOR_MASK) {
      make_mask(e, ins, e->slots[i]);
    } else if (e->registers[i] != NOWHERE) {
      make_vector(e, ins, e->registers[i]);
    } else {
      make_vector(e, ins, FIRST_SCRATCH);
      X86Ins store = {.op = X86_VMOVUPS_STORE, .length = X86_512, .reg = FIRST_SCRATCH};
      set_slot(&store, e->slots[i]);
      add(e, store);
    }
  }
}

/* Addresses of what is loaded or stored, as far as there are registers. */
static void place_pointers(Emitter *e) {
  memset(e->pointer_of, 0xff, sizeof e->pointer_of);
  for (int i = 0; i < e->vectors->count && e->pointer_count < POINTERS; i++) {
    const VectorIns *ins = &e->vectors->ins[i];
    if ((ins->op == VECTOR_LOAD || ins->op == VECTOR_STORE) && e->pointer_of[ins->immediate] == 0xff)
      e->pointer_of[ins->immediate] = pointer_registers[e->pointer_count++];
  }
}

static int saved_count(const Emitter *e) {
  return e->pointer_count > CALLER_SAVED ? e->pointer_count - CALLER_SAVED : 0;
}

static void emit_entry(Emitter *e, int slots) {
  with_number(e, X86_PUSH, X86_RBP, 0);
  between(e, X86_MOV_REGISTER, X86_RBP, X86_RSP);
  for (int i = 0; i < saved_count(e); i++) with_number(e, X86_PUSH, pointer_registers[CALLER_SAVED + i], 0);
  if (slots) {
    with_number(e, X86_AND_NUMBER, X86_RSP, -SLOT_BYTES);
    with_number(e, X86_SUB_NUMBER, X86_RSP, (int64_t)slots * SLOT_BYTES);
  }
  emit_hoisted(e);
  for (int v = 0; v < KERNEL_MAX_VALUES; v++)
    if (e->pointer_of[v] != 0xff) add(e, move_address(X86_MOV_LOAD, e->pointer_of[v], X86_RSI, v * 8));
}

static void emit_exit(Emitter *e) {
  add(e, move_address(X86_LEA, X86_RSP, X86_RBP, -8 * saved_count(e)));
  for (int i = saved_count(e); i-- > 0;) with_number(e, X86_POP, pointer_registers[CALLER_SAVED + i], 0);
  with_number(e, X86_POP, X86_RBP, 0);
  add(e, (X86Ins){.op = X86_VZEROUPPER});
  add(e, (X86Ins){.op = X86_RET});
}

static void set_tail_mask(Emitter *e) {
  add(e, (X86Ins){.op = X86_KMOV_FROM_32, .reg = TAIL_MASK, .rm = X86_RCX});
}

static void emit_loop(Emitter *e) {
  int again = x86_label(e->code), rest = x86_label(e->code), end = x86_label(e->code);
  int lanes = e->vectors->lanes;
  with_number(e, X86_MOV_32, X86_RCX, (1 << lanes) - 1);
  set_tail_mask(e);
  between(e, X86_XOR_32, X86_RAX, X86_RAX);
  add(e, move_address(X86_LEA, X86_RCX, X86_RAX, lanes));
  between(e, X86_CMP, X86_RCX, X86_RDI);
  x86_jump(e->code, X86_JA, rest);
  x86_place(e->code, again);
  emit_body(e, false);
  between(e, X86_MOV_REGISTER, X86_RAX, X86_RCX);
  add(e, move_address(X86_LEA, X86_RCX, X86_RAX, lanes));
  between(e, X86_CMP, X86_RCX, X86_RDI);
  x86_jump(e->code, X86_JBE, again);
  x86_place(e->code, rest);
  between(e, X86_SUB, X86_RDI, X86_RAX);
  x86_jump(e->code, X86_JE, end);
  with_number(e, X86_MOV_32, X86_RCX, 0xffff);
  add(e, (X86Ins){.op = X86_BZHI, .reg = X86_RCX, .other = X86_RDI, .rm = X86_RCX});
  set_tail_mask(e);
  emit_body(e, true);
  x86_place(e->code, end);
}

/* `slots` are on the stack; how many are needed comes out. */
static int emit_function(Emitter *e, const VectorCode *vectors, X86Code *code, int slots, uint16_t *uses) {
  e->vectors = vectors;
  e->code = code;
  e->pointer_count = e->slot_count = 0;
  for (int i = 0; i < vectors->count; i++) e->registers[i] = e->slots[i] = NOWHERE;
  for (int i = 0; i < VECTORS; i++) e->vector_holds[i] = NOWHERE;
  for (int i = 0; i < MASKS; i++) e->mask_holds[i] = NOWHERE;
  find_last_uses(e, uses);
  place_hoisted(e, uses);
  place_pointers(e);
  emit_entry(e, slots);
  emit_loop(e);
  emit_exit(e);
  x86_finish(code);
  return e->slot_count;
}

Status x86_emit(const VectorCode *vectors, X86Code *code) {
  if (vectors->is_full)
    return status_new(ERROR_UNSUPPORTED, "a kernel of more than %d vector operations", VECTOR_MAX_CODE);
  Emitter *e = mem_alloc(sizeof *e + sizeof(uint16_t[VECTOR_MAX_CODE]));
  if (!e) return status_out_of_memory();
  uint16_t *uses = (uint16_t *)(e + 1);
  X86Code trial; /* says how much of the stack it takes */
  x86_code_init(&trial, NULL);
  int slots = emit_function(e, vectors, &trial, MAX_SLOTS, uses);
  x86_code_dispose(&trial);
  Status status = OK;
  if (slots > MAX_SLOTS)
    status = status_new(ERROR_UNSUPPORTED, "a kernel with more than %d vectors on the stack", MAX_SLOTS);
  else
    emit_function(e, vectors, code, slots, uses);
  mem_free(e);
  if (!status && code->bytes.failed) status = status_out_of_memory();
  return status;
}
