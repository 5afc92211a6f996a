/* NativeKernel: a kernel whose operations are machine code of this processor, as far as there is vector code for
 * them. */
#pragma once

#include "base/str.h"
#include "tile/tile_kernel.h"

typedef struct NativeKernel NativeKernel;

/* Whether this processor and this process can run any. */
bool native_is_there(void);
/* Whether something of the kernel would be machine code, where these arguments stay (see below). */
bool native_suits(const KernelIr *kernel, const bool *stays);
/* For a kernel that suits. is_number[i]: argument i is one number for all elements of any run; stays[i]: it is so, or
 * is one along the last dimension in most runs (a run in which it is not takes another form, which is made, too).
 * listing: gets the code as text; NULL: nobody wants it. Code is made in the process's heap. ERROR_UNSUPPORTED: the
 * system refuses executable memory, or a segment is too large. */
Status native_kernel_new(KernelIr *kernel, const bool *is_number, const bool *stays, StrBuf *listing,
                         NativeKernel **out) MUST_CHECK;
void native_kernel_free(NativeKernel *native); /* NULL is fine */
/* To run by tile_run; lives as long as `native`. */
const TileKernel *native_kernel_tile(const NativeKernel *native);
size_t native_kernel_bytes(const NativeKernel *native);      /* all it holds */
size_t native_kernel_code_bytes(const NativeKernel *native); /* of machine code */
