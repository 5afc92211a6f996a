/* The original source ranges of an archive's code: code/....py.debug_pkl. Read when the first error asks for them. */
#pragma once

#include "report/source.h"
#include "serial/archive/archive.h"

/* Sets source->find_original. With a mapped archive nothing is read now; otherwise the record is. A damaged record only
 * means that ranges stay in the archive's code. */
Status debug_info_attach(Source *source, Archive *archive, const ArchiveRecord *record) MUST_CHECK;
