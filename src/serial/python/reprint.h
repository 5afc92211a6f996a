/* Reprinting: whether the Python printer and the importer are each other's inverse. */
#pragma once

#include "call/exec.h"
#include "ir/unit.h"
#include "serial/archive/byte_source.h"

/* An archive without data: the code of everything the unit has compiled. */
Status unit_export_code(const CompilationUnit *unit, Exec *exec, StrBuf *out) MUST_CHECK;
/* All definitions of such an archive. */
Status unit_import_code(ByteSource *source, Exec *exec, CompilationUnit **out) MUST_CHECK;
/* Prints every function of the unit, compiles that text again and compares the canonical texts of the graphs. What
 * differs is written to `differences`; *out_count counts the functions that were compared. */
Status unit_reprint(const CompilationUnit *unit, Exec *exec, StrBuf *differences, size_t *out_count) MUST_CHECK;
