/* A record is ("FORMAT_WITH_STRING_TABLE", strings, entries): an entry is (offset in the code, ((numbers of lines,
 * number of the file's name, first line), begin, end), tag). Tags number the different ranges of an archive. What
 * stands for itself depends on texts alone and not on addresses, so that saving again gives the same bytes. */
#include "serial/archive/debug_records.h"

#include <assert.h>

#include "serial/pickle/pickle_ops.h"

enum { CONTEXT_LINES = 3 /* kept around what ranges cover, for messages */ };

void debug_records_init(DebugRecords *records) {
  *records = (DebugRecords){0};
  map_init(&records->tags, NULL);
}
void debug_records_dispose(DebugRecords *records) {
  for (size_t i = 0; i < records->sources.length; i++) source_release(records->sources.data[i]);
  vec_dispose(&records->sources);
  for (MapEntry *e = map_next(&records->tags, NULL); e; e = map_next(&records->tags, e)) mem_free((char *)e->key.data);
  map_dispose(&records->tags);
}

/* ---- cutting ---- */

/* Where it was made from in turn, for code that was loaded; no source when nothing is known. */
static SourceRange original_range(SourceRange range) {
  SourceRange original = {0};
  if (!range.source || !range.source->find_original) return range;
  return range.source->find_original(range.source, range.begin, &original) ? original : (SourceRange){0};
}

static uint32_t line_of(const Source *source, uint32_t offset) {
  uint32_t line, column;
  source_position(source, offset, &line, &column);
  return line - (uint32_t)source->first_line;
}

/* The lines of one source that the marks of one definition cover. */
typedef struct Extent {
  const Source *source;
  uint32_t first, last;
  Source *part; /* owned by the records */
} Extent;
typedef VEC(Extent) Extents;

static Extent *find_extent(const Extents *extents, const Source *source) {
  for (size_t i = extents->length; i-- > 0;)
    if (extents->data[i].source == source) return &extents->data[i];
  return NULL;
}
static Status cover(Extents *extents, SourceRange range) {
  uint32_t first = line_of(range.source, range.begin), last = line_of(range.source, range.end);
  Extent *extent = find_extent(extents, range.source);
  if (!extent) return vec_push(extents, ((Extent){range.source, first, last, NULL})) ? OK : status_out_of_memory();
  if (first < extent->first) extent->first = first;
  if (last > extent->last) extent->last = last;
  return OK;
}

static uint32_t line_end(const Source *source, uint32_t line) {
  assert(line < source->line_count);
  return line + 1 < source->line_count ? source->line_starts[line + 1] : (uint32_t)source->length;
}
static Status cut(DebugRecords *records, Extent *extent) {
  assert(extent->first <= extent->last && extent->last < extent->source->line_count);
  const Source *source = extent->source;
  uint32_t last =
      source->line_count - extent->last > CONTEXT_LINES ? extent->last + CONTEXT_LINES : source->line_count - 1;
  extent->first = extent->first > CONTEXT_LINES ? extent->first - CONTEXT_LINES : 0;
  uint32_t begin = source->line_starts[extent->first];
  Str text = str_slice((Str){source->text, source->length}, begin, line_end(source, last));
  TRY(source_new(text, source->filename, source->first_line + extent->first, &extent->part));
  if (vec_push(&records->sources, extent->part)) return OK;
  source_release(extent->part);
  return status_out_of_memory();
}

Status debug_records_cut(DebugRecords *records, PythonMark *marks, size_t count) {
  Extents extents = {0};
  Status status = OK;
  for (size_t i = 0; i < count && !status; i++) {
    SourceRange *range = &marks[i].range;
    *range = original_range(*range);
    if (range->source && range->end > range->source->length) *range = (SourceRange){0};
    if (range->source) status = cover(&extents, *range);
  }
  for (size_t i = 0; i < extents.length && !status; i++) status = cut(records, &extents.data[i]);
  for (size_t i = 0; i < count && !status; i++) {
    SourceRange *range = &marks[i].range;
    if (!range->source) continue;
    const Extent *extent = find_extent(&extents, range->source);
    uint32_t begin = range->source->line_starts[extent->first];
    *range = (SourceRange){extent->part, range->begin - begin, range->end - begin};
  }
  vec_dispose(&extents);
  return status;
}

/* ---- writing ---- */

typedef struct Writing {
  DebugRecords *records;
  StrBuf strings, entries;
  Map string_numbers;    /* -> number + 1 */
  PtrMap source_numbers; /* Source -> number in the memo + 1 */
  uint32_t string_count, memo_count, builder /* number in the memo */;
  bool failed;
} Writing;

static uint32_t memoize(Writing *w, StrBuf *out) {
  pickle_put(out, w->memo_count);
  return w->memo_count++;
}

static uint32_t string_number(Writing *w, Str text) {
  uintptr_t known = (uintptr_t)map_get(&w->string_numbers, text);
  if (known) return (uint32_t)(known - 1);
  pickle_text(&w->strings, text);
  if (!map_put(&w->string_numbers, text, (void *)((uintptr_t)w->string_count + 1))) w->failed = true;
  return w->string_count++;
}

/* (lines, file name, first line) */
static void put_source(Writing *w, const Source *source) {
  StrBuf *out = &w->entries;
  uintptr_t known = (uintptr_t)ptrmap_get(&w->source_numbers, source ? (const void *)source : w);
  if (known) {
    pickle_get(out, (uint32_t)(known - 1));
    return;
  }
  if (w->builder == UINT32_MAX) {
    pickle_global(out, STR("torch.jit._pickle"), STR("build_intlist"));
    w->builder = memoize(w, out);
  } else {
    pickle_get(out, w->builder);
  }
  pickle_op(out, MARK);
  pickle_op(out, EMPTY_LIST);
  pickle_op(out, MARK);
  for (uint32_t i = 0; source && i < source->line_count; i++) {
    uint32_t begin = source->line_starts[i];
    pickle_int(out, string_number(w, (Str){source->text + begin, line_end(source, i) - begin}));
  }
  pickle_op(out, APPENDS);
  pickle_op(out, TUPLE);
  pickle_op(out, REDUCE);
  pickle_int(out, string_number(w, source && source->filename ? str_from(source->filename) : STR("")));
  pickle_int(out, source ? (int64_t)source->first_line : 0);
  pickle_op(out, TUPLE3);
  uintptr_t number = memoize(w, out);
  if (!ptrmap_put(&w->source_numbers, source ? (const void *)source : w, (void *)(number + 1))) w->failed = true;
}

/* Where a range stands and its text: the same range of a source that was loaded again has the same number. */
static Status range_key(SourceRange range, char **out) {
  StrBuf key = {0};
  uint32_t line = 0, column = 0;
  if (range.source) source_position(range.source, range.begin, &line, &column);
  strbuf_printf(&key, "%s:%u:%u:", range.source && range.source->filename ? range.source->filename : "", line, column);
  if (range.source) strbuf_str(&key, (Str){range.source->text + range.begin, range.end - range.begin});
  return strbuf_take(&key, out);
}
static int64_t range_tag(Writing *w, SourceRange range) {
  Map *tags = &w->records->tags;
  char *key;
  Status status = range_key(range, &key);
  if (status) {
    status_free(status);
    w->failed = true;
    return 0;
  }
  uintptr_t number = (uintptr_t)map_get(tags, str_from(key));
  if (number || !map_put(tags, str_from(key), (void *)((uintptr_t)map_count(tags) + 1))) {
    mem_free(key);
    w->failed = w->failed || !number;
    return (int64_t)number - 1;
  }
  return (int64_t)map_count(tags) - 1;
}

static void put_entry(Writing *w, const PythonMark *mark) {
  StrBuf *out = &w->entries;
  pickle_int(out, (int64_t)mark->offset);
  put_source(w, mark->range.source);
  pickle_int(out, mark->range.begin);
  pickle_int(out, mark->range.end);
  pickle_op(out, TUPLE3);
  pickle_int(out, range_tag(w, mark->range));
  pickle_op(out, TUPLE3);
}

static bool is_same(SourceRange a, SourceRange b) {
  return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

Status debug_records_write(DebugRecords *records, const PythonMark *marks, size_t count, StrBuf *out) {
  Writing w = {.records = records, .builder = UINT32_MAX};
  map_init(&w.string_numbers, NULL);
  ptrmap_init(&w.source_numbers, NULL);
  string_number(&w, STR(""));
  const PythonMark *last = NULL;
  for (size_t i = 0; i < count; i++) {
    if (last && is_same(marks[i].range, last->range)) continue;
    if (i + 1 < count && marks[i + 1].offset == marks[i].offset) continue;
    put_entry(&w, &marks[i]);
    last = &marks[i];
  }
  pickle_op(out, PROTO);
  pickle_op(out, 2);
  pickle_text(out, STR("FORMAT_WITH_STRING_TABLE"));
  pickle_op(out, MARK);
  strbuf_str(out, strbuf_view(&w.strings));
  pickle_op(out, TUPLE);
  pickle_op(out, MARK);
  strbuf_str(out, strbuf_view(&w.entries));
  pickle_op(out, TUPLE);
  pickle_op(out, TUPLE3);
  pickle_op(out, STOP);
  w.failed = w.failed || w.strings.failed || w.entries.failed || out->failed;
  strbuf_dispose(&w.strings);
  strbuf_dispose(&w.entries);
  map_dispose(&w.string_numbers);
  ptrmap_dispose(&w.source_numbers);
  return w.failed ? status_out_of_memory() : OK;
}
