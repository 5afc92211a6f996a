/* Opcodes of pickles that are written, and how their arguments are. */
#pragma once

#include "base/str.h"

enum PickleOp {
  MARK = '(',
  STOP = '.',
  BININT = 'J',
  BININT1 = 'K',
  BININT2 = 'M',
  NONE = 'N',
  BINPERSID = 'Q',
  REDUCE = 'R',
  BINUNICODE = 'X',
  APPENDS = 'e',
  BUILD = 'b',
  GLOBAL = 'c',
  BINGET = 'h',
  LONG_BINGET = 'j',
  BINPUT = 'q',
  LONG_BINPUT = 'r',
  TUPLE3 = 0x87,
  TUPLE = 't',
  EMPTY_TUPLE = ')',
  EMPTY_LIST = ']',
  EMPTY_DICT = '}',
  SETITEMS = 'u',
  BINFLOAT = 'G',
  NEWOBJ = 0x81,
  NEWTRUE = 0x88,
  NEWFALSE = 0x89,
  LONG1 = 0x8a,
  PROTO = 0x80
};

static inline void pickle_op(StrBuf *out, unsigned char op) {
  strbuf_char(out, (char)op);
}
static inline void pickle_number(StrBuf *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) pickle_op(out, (unsigned char)(value >> (8 * i)));
}
void pickle_int(StrBuf *out, int64_t value);
void pickle_text(StrBuf *out, Str text); /* shorter than 4 GiB */
void pickle_global(StrBuf *out, Str module, Str name);
void pickle_put(StrBuf *out, uint32_t number); /* the top of the stack gets this number */
void pickle_get(StrBuf *out, uint32_t number);
