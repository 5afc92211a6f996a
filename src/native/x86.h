/* The assembler for x86-64: a table of instruction forms (x86_rows.h), one function that encodes any of them, one that
 * writes it down as assemblers do. Labels are jumps to places that are known later. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "native/x86_rows.h"

typedef enum X86Op {
#define X(name, ...) X86_##name,
  X86_ROWS(X)
#undef X
      X86_OP_COUNT
} X86Op;

typedef enum X86Encoding { X86_LEGACY, X86_VEX, X86_EVEX } X86Encoding;
/* A row of the table, with the columns that x86_rows.h explains. */
typedef struct X86Form {
  const char *text;
  uint8_t encoding, prefix, map, opcode; /* X86Encoding */
  bool is_wide;
  int8_t extension;
  char operands[4], order[5];
  uint8_t immediate_bytes;
  char memory;
  uint8_t element, masks;
} X86Form;
const X86Form *x86_form(X86Op op);

/* General registers, by number. */
enum {
  X86_RAX,
  X86_RCX,
  X86_RDX,
  X86_RBX,
  X86_RSP,
  X86_RBP,
  X86_RSI,
  X86_RDI,
  X86_R8,
  X86_R9,
  X86_R10,
  X86_R11,
  X86_R12,
  X86_R13,
  X86_R14,
  X86_R15,
  X86_NO_INDEX = 0xff
};

/* ORDER x86 length */
typedef enum X86Length { X86_128, X86_256, X86_512 } X86Length;

/* One instruction: what of it the form does not use is 0. */
typedef struct X86Ins {
  uint8_t op;     /* X86Op */
  uint8_t length; /* X86Length of its vectors */
  uint8_t reg;    /* the first register field */
  uint8_t other;  /* the one that VEX added, for a first source (or the result of a shift by a number) */
  uint8_t rm;     /* a register, or the base of memory */
  bool is_memory;
  bool broadcasts; /* memory holds one element for all */
  uint8_t index, scale_log2;
  uint8_t mask; /* k1 to k7; 0: none */
  bool zeroes;  /* elements that the mask leaves out; else they stay */
  int32_t displacement;
  int64_t immediate;
} X86Ins;

enum { X86_MAX_BYTES = 16 };
/* The bytes of one instruction: how many. */
int x86_encode(const X86Ins *ins, uint8_t out[X86_MAX_BYTES]);
/* In Intel's syntax, as `as` reads it after `.intel_syntax noprefix`. */
void x86_print(const X86Ins *ins, StrBuf *out);
bool x86_takes_memory(X86Op op); /* in the place of `rm` */
bool x86_is_jump(X86Op op);

/* ---- code that grows ---- */
enum { X86_MAX_LABELS = 16 };
typedef struct X86Code {
  StrBuf bytes;
  StrBuf *listing;                /* NULL: none */
  int64_t labels[X86_MAX_LABELS]; /* where they are; -1: not known yet */
  struct {
    int64_t at;
    int label;
  } jumps[4 * X86_MAX_LABELS];
  int label_count, jump_count;
} X86Code;
void x86_code_init(X86Code *code, StrBuf *listing);
void x86_code_dispose(X86Code *code);
void x86_add(X86Code *code, const X86Ins *ins);
int x86_label(X86Code *code);             /* a new one */
void x86_place(X86Code *code, int label); /* is here */
void x86_jump(X86Code *code, X86Op op, int label);
void x86_finish(X86Code *code); /* all labels are placed: jumps get where they go */
