/* MachineCode: bytes that the processor runs. Memory is never writable and executable at once: code is written into a
 * memfd through a view that goes before the code is first run, or, where a system has none, into pages of its own that
 * mprotect turns over. Guard pages stand around each region. What the process holds is bounded.
 *
 * A region of a memfd is shared with a child. So neither side writes to one that both have: from a fork on each opens
 * new ones, and the old ones go with their last code.
 *
 * A system that refuses with an error is noticed (SELinux's execmem, vm.memfd_noexec, PaX): nothing is asked of it
 * again, and machine_code_is_allowed is false. One that kills instead (a seccomp filter) can't be noticed:
 * WICK_NATIVE=0 in the environment forbids all of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct MachineCode MachineCode;

enum { MACHINE_CODE_MAX = 32 << 20 }; /* bytes mapped for the process, without guards */

/* Copies `size` bytes of code, which must not depend on where they lie, and gives it an address aligned to 64.
 * Thread-safe. ERROR_UNSUPPORTED: it is forbidden, or the system refuses; ERROR_OUT_OF_MEMORY: no memory, or the
 * process holds as much as it may. */
Status machine_code_new(const void *bytes, size_t size, MachineCode **out) MUST_CHECK;
/* Nobody runs it any more. Its lock is taken last, so this may be called with others held. NULL is fine. */
void machine_code_free(MachineCode *code);
const void *machine_code_start(const MachineCode *code);
size_t machine_code_size(const MachineCode *code);
/* False: machine_code_new would be refused for good. */
bool machine_code_is_allowed(void);

size_t machine_code_held(void); /* bytes mapped now; a test hook */
enum { MACHINE_CODE_REFUSE_MEMFD = 1, MACHINE_CODE_REFUSE_PROTECT = 2 };
/* A test hook: from now on the system is taken to refuse these ways; 0: to be as it is, and what was noticed is
 * forgotten. */
void machine_code_refuse(unsigned ways);
void machine_code_set_max(size_t bytes); /* 0: MACHINE_CODE_MAX; a test hook */
