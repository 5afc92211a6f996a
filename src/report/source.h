/* Source: a named text. SourceRange: a piece of it, for messages with line, column and caret. */
#pragma once

#include "base/str.h"

/* Immutable after source_new; counted, because graphs, errors and traces outlive the front end. */
struct SourceRange;
typedef struct Source {
  RefCount refs;
  _Atomic bool has_reasons; /* reason.h names places in it */
  char *text;               /* owned, terminated */
  size_t length;
  bool is_own;           /* wick's text: it may name what programs can't */
  char *filename;        /* owned or NULL */
  size_t first_line;     /* line number of the first line, 1 for a whole file */
  uint32_t *line_starts; /* offsets, built at once */
  uint32_t line_count;
  /* For a Source that was generated from another (an archive's code), maps an offset of this text to a range of the
   * original; NULL when there is none. Set by the importer before the Source is shared. */
  bool (*find_original)(const struct Source *source, uint32_t offset, struct SourceRange *out);
  void *original_data;
  void (*original_free)(void *original_data);
} Source;

typedef struct SourceRange {
  const Source *source; /* borrowed; NULL: unknown */
  uint32_t begin, end;  /* byte offsets */
} SourceRange;

Status source_new(Str text, const char *filename_or_null, size_t first_line,
                  Source **out) MUST_CHECK; /* copies the text */
Source *source_retain(const Source *source);
void source_release(const Source *source);
/* 1-based line within the file and 0-based column in bytes. */
void source_position(const Source *source, uint32_t offset, uint32_t *out_line, uint32_t *out_column);
/* Where a generated text comes from, as far as that is known; else the range itself. */
SourceRange source_range_original(SourceRange range);
/* PyTorch's excerpt: `  File "name", line N` when the file is known, up to three lines of context, and a line of
 * `~~~~` ending with ` <--- HERE` under the range. Follows find_original. */
void source_range_highlight(SourceRange range, StrBuf *out);
/* An error "message:" with the excerpt below it. */
Status source_error(ErrorCode code, SourceRange range, const char *format, ...) PRINTF_LIKE(3, 4) MUST_CHECK NEVER_NULL;
Status source_errorv(ErrorCode code, SourceRange range, const char *format, va_list arguments) MUST_CHECK;
static inline SourceRange source_range_join(SourceRange a, SourceRange b) {
  return (SourceRange){a.source, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}
