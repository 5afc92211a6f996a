/* Sources, their lines, and the excerpts that errors show. */
#include "report/source.h"

#include <assert.h>

#include "report/reason.h"

enum { CONTEXT_LINES = 2, MAX_EXCERPT_LINES = 40, MAX_LINE_BYTES = 400 };

Status source_new(Str text, const char *filename_or_null, size_t first_line, Source **out) {
  *out = NULL;
  if (text.length >= UINT32_MAX) return status_new(ERROR_DATA, "a source text of 4 GiB or more is not supported");
  Source *source = mem_calloc(1, sizeof *source);
  if (!source) return status_out_of_memory();
  ref_init(&source->refs);
  source->length = text.length;
  source->first_line = first_line;
  source->text = mem_alloc(text.length + 1);
  if (filename_or_null) source->filename = mem_strdup(filename_or_null);
  if (!source->text || (filename_or_null && !source->filename)) goto no_memory;
  if (text.length) memcpy(source->text, text.data, text.length);
  source->text[text.length] = '\0';
  uint32_t lines = 1;
  for (size_t i = 0; i < text.length; i++) lines += source->text[i] == '\n';
  source->line_starts = mem_calloc(lines, sizeof *source->line_starts);
  if (!source->line_starts) goto no_memory;
  for (size_t i = 0; i < text.length; i++)
    if (source->text[i] == '\n') source->line_starts[++source->line_count] = (uint32_t)i + 1;
  source->line_count = lines;
  *out = source;
  return OK;
no_memory:
  source_release(source);
  return status_out_of_memory();
}

Source *source_retain(const Source *source) {
  Source *own = (Source *)source;
  if (own) ref_retain(&own->refs);
  return own;
}

void source_release(const Source *source) {
  Source *own = (Source *)source;
  if (!own || !ref_release(&own->refs)) return;
  if (atomic_load_explicit(&own->has_reasons, memory_order_relaxed)) reason_keep_places(own);
  if (own->original_free) own->original_free(own->original_data);
  mem_free(own->text);
  mem_free(own->filename);
  mem_free(own->line_starts);
  mem_free(own);
}

static uint32_t line_index(const Source *source, uint32_t offset) {
  uint32_t low = 0, high = source->line_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (source->line_starts[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

void source_position(const Source *source, uint32_t offset, uint32_t *out_line, uint32_t *out_column) {
  if (offset > source->length) offset = (uint32_t)source->length;
  uint32_t line = line_index(source, offset);
  *out_line = (uint32_t)source->first_line + line;
  *out_column = offset - source->line_starts[line];
}

/* The text of a line without its line break. */
static Str line_text(const Source *source, uint32_t line) {
  assert(line < source->line_count);
  size_t begin = source->line_starts[line];
  size_t end = line + 1 < source->line_count ? source->line_starts[line + 1] - 1 : source->length;
  return (Str){source->text + begin, end - begin};
}

/* A line that is very long is shown from `skip` on, and not to its end. */
static void put_line(StrBuf *out, Str line, size_t skip) {
  strbuf_str(out, str_slice(line, skip, skip + MAX_LINE_BYTES));
  strbuf_char(out, '\n');
}

SourceRange source_range_original(SourceRange range) {
  SourceRange original;
  while (range.source && range.source->find_original &&
         range.source->find_original(range.source, range.begin, &original) && original.source)
    range = original;
  return range;
}

void source_range_highlight(SourceRange range, StrBuf *out) {
  range = source_range_original(range);
  const Source *source = range.source;
  if (!source) return;
  uint32_t begin = range.begin, end = range.end, length = (uint32_t)source->length;
  if (end > length) end = length;
  if (begin > end) begin = end;
  /* What trails a range is no part of what is shown; the end of the text is shown as the end of its last line. */
  if (begin == length)
    while (begin > 0 && source->text[begin - 1] == '\n') end = --begin;
  while (end > begin && (source->text[end - 1] == '\n' || source->text[end - 1] == ' ')) end--;
  uint32_t first = line_index(source, begin), last = line_index(source, end > begin ? end - 1 : begin);
  uint32_t from = first > CONTEXT_LINES ? first - CONTEXT_LINES : 0;
  uint32_t last_shown = last - first < MAX_EXCERPT_LINES ? last : first + MAX_EXCERPT_LINES - 1;

  if (source->filename) strbuf_printf(out, "  File \"%s\", line %zu\n", source->filename, source->first_line + first);
  for (uint32_t i = from; i < first; i++) put_line(out, line_text(source, i), 0);
  for (uint32_t i = first; i <= last_shown; i++) {
    Str line = line_text(source, i);
    uint32_t start = source->line_starts[i];
    size_t column = i == first ? begin - start : 0, stop = i == last ? end - start : line.length;
    while (i > first && column < stop && line.data[column] == ' ') column++;
    if (stop > line.length) stop = line.length;
    size_t skip = column > MAX_LINE_BYTES / 2 && line.length > MAX_LINE_BYTES ? column - MAX_LINE_BYTES / 2 : 0;
    if (stop > skip + MAX_LINE_BYTES) stop = skip + MAX_LINE_BYTES;
    put_line(out, line, skip);
    if (begin == end) stop = column + 1;
    if (column >= stop) continue;
    strbuf_repeat(out, ' ', column - skip);
    strbuf_repeat(out, '~', stop - column);
    strbuf_puts(out, i == last_shown ? " <--- HERE\n" : "\n");
  }
  for (uint32_t i = last_shown + 1; i <= last_shown + CONTEXT_LINES && i < source->line_count; i++) {
    Str line = line_text(source, i);
    if (i + 1 < source->line_count || line.length) put_line(out, line, 0);
  }
}

Status source_errorv(ErrorCode code, SourceRange range, const char *format, va_list arguments) {
  Status status = status_newv(code, format, arguments);
  if (!range.source || status == status_out_of_memory()) return status;
  StrBuf text = {0};
  strbuf_printf(&text, "%s:\n", status->message);
  source_range_highlight(range, &text);
  char *message;
  Status failed = strbuf_take(&text, &message);
  if (failed) {
    status_free(failed);
    return status;
  }
  mem_free(status->message);
  status->message = message;
  return status;
}

Status source_error(ErrorCode code, SourceRange range, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = source_errorv(code, range, format, arguments);
  va_end(arguments);
  return status;
}
