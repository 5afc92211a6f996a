/* Text of single scalars, as print() and as graphs show them. */
#pragma once

#include "base/str.h"
#include "tensor/dtype.h"

void print_double(double value, StrBuf *out);      /* print(): 1., 0.10000000000000001, 1e+22 */
void print_double_repr(double value, StrBuf *out); /* constants: -0. and 10000000000 keep their reading */
void print_complex(complex128 value, StrBuf *out); /* 1.-2.5j */
/* Of something that has an address: the same number as long as it is there, and nothing that tells where. */
uint64_t ivalue_identity(const void *thing);
void print_quoted(Str text, StrBuf *out); /* "b\'c" with C escapes, octal for unprintable bytes */
