/* DebugRecords: what pieces of printed code were made from, as PyTorch 1.13 writes it to code/....py.debug_pkl;
 * debug_info.h reads it. */
#pragma once

#include "base/map.h"
#include "report/source.h"
#include "serial/python/python_text.h"

/* Of one archive. */
typedef struct DebugRecords {
  VEC(Source *) sources; /* owned: the parts of the originals that are kept */
  Map tags;              /* a range's place and text, owned -> its number + 1 */
} DebugRecords;
void debug_records_init(DebugRecords *records);
void debug_records_dispose(DebugRecords *records);
/* Makes the marks of one definition lead to the lines they need of the original source, instead of all of it. */
Status debug_records_cut(DebugRecords *records, PythonMark *marks, size_t count) MUST_CHECK;
/* The record of a file whose marks were cut, in order of their offsets. */
Status debug_records_write(DebugRecords *records, const PythonMark *marks, size_t count, StrBuf *out) MUST_CHECK;
