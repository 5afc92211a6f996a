/* A debug_pkl is a tuple of (offset in the code, range, tag); a range is (source, begin, end), a source (text,
 * filename, first line). In the newer form the tuple is ("FORMAT_WITH_STRING_TABLE", strings, entries) and texts are
 * lists of numbers of strings, one a line. */
#include "serial/archive/debug_info.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fork.h"
#include "serial/pickle/pickle.h"

#define MAX_TEXT ((size_t)64 << 20) /* of all original sources together */

typedef struct Entry {
  uint32_t offset;
  SourceRange range;
} Entry;
typedef struct DebugInfo {
  pthread_mutex_t lock;
  bool parsed;
  ByteSource *bytes; /* retained until parsed; NULL: `data` has been read */
  ArchiveRecord record;
  char *data;
  size_t length, text_left;
  VEC(Entry) entries;    /* by offset */
  VEC(Source *) sources; /* owned */
} DebugInfo;

static bool tuple_item(IValue v, uint32_t i, Tag tag, IValue *out) {
  if (v.tag != TAG_TUPLE || i >= v.tuple->length || v.tuple->values[i].tag != (uint32_t)tag) return false;
  *out = v.tuple->values[i];
  return true;
}

/* The text and file name of a source tuple; false when malformed. strings is None in the older form. */
static bool source_texts(IValue tuple, IValue strings, size_t limit, StrBuf *text, Str *filename) {
  IValue item;
  if (strings.tag == TAG_NONE) {
    if (!tuple_item(tuple, 0, TAG_STRING, &item) || item.string->length > limit) return false;
    strbuf_str(text, ivalue_str(item));
    if (tuple_item(tuple, 1, TAG_STRING, &item)) *filename = ivalue_str(item);
    return true;
  }
  if (!tuple_item(tuple, 0, TAG_LIST, &item) || item.list->kind != LIST_INTS) return false;
  for (size_t i = 0; i < item.list->length; i++) {
    IValue line;
    if ((uint64_t)item.list->ints[i] >= strings.tuple->length ||
        !tuple_item(strings, (uint32_t)item.list->ints[i], TAG_STRING, &line) ||
        line.string->length > limit - text->length)
      return false;
    strbuf_str(text, ivalue_str(line));
  }
  if (tuple_item(tuple, 1, TAG_INT, &item) && (uint64_t)item.i < strings.tuple->length &&
      tuple_item(strings, (uint32_t)item.i, TAG_STRING, &item))
    *filename = ivalue_str(item);
  return true;
}

static Source *make_source(DebugInfo *info, IValue tuple, IValue strings) {
  StrBuf text = {0};
  Str filename = {0};
  IValue line;
  Source *source = NULL;
  if (source_texts(tuple, strings, info->text_left, &text, &filename) && !text.failed &&
      tuple_item(tuple, 2, TAG_INT, &line) && line.i >= 0) {
    char *name = NULL;
    if (filename.length && (name = mem_alloc(filename.length + 1))) {
      memcpy(name, filename.data, filename.length);
      name[filename.length] = 0;
    }
    info->text_left -= text.length;
    Status status = source_new(strbuf_view(&text), name, (size_t)line.i, &source);
    if (status) source = NULL;
    status_free(status);
    mem_free(name);
    if (source && !vec_push(&info->sources, source)) {
      source_release(source);
      source = NULL;
    }
  }
  strbuf_dispose(&text);
  return source;
}

static int compare_entries(const void *a, const void *b) {
  uint32_t left = ((const Entry *)a)->offset, right = ((const Entry *)b)->offset;
  return (left > right) - (left < right);
}

static void collect(DebugInfo *info, IValue root) {
  IValue strings = IVALUE_NONE, entries = root, mark;
  if (tuple_item(root, 0, TAG_STRING, &mark) && str_is(ivalue_str(mark), "FORMAT_WITH_STRING_TABLE") &&
      (!tuple_item(root, 1, TAG_TUPLE, &strings) || !tuple_item(root, 2, TAG_TUPLE, &entries)))
    return;
  if (entries.tag != TAG_TUPLE) return;
  PtrMap made; /* source tuple -> Source */
  ptrmap_init(&made, NULL);
  for (uint32_t i = 0; i < entries.tuple->length; i++) {
    IValue entry = entries.tuple->values[i], offset, range, tuple, begin, end;
    if (!tuple_item(entry, 0, TAG_INT, &offset) || !tuple_item(entry, 1, TAG_TUPLE, &range) ||
        !tuple_item(range, 0, TAG_TUPLE, &tuple) || !tuple_item(range, 1, TAG_INT, &begin) ||
        !tuple_item(range, 2, TAG_INT, &end) || offset.i < 0 || offset.i > UINT32_MAX)
      continue;
    Source *source = ptrmap_get(&made, tuple.tuple);
    if (!source) {
      source = make_source(info, tuple, strings);
      if (!source || !ptrmap_put(&made, tuple.tuple, source)) continue;
    }
    if (begin.i < 0 || end.i < begin.i || (uint64_t)end.i > source->length) continue;
    if (!vec_push(&info->entries, ((Entry){(uint32_t)offset.i, {source, (uint32_t)begin.i, (uint32_t)end.i}}))) break;
  }
  ptrmap_dispose(&made);
  if (info->entries.length) qsort(info->entries.data, info->entries.length, sizeof(Entry), compare_entries);
}

static void parse(DebugInfo *info) {
  static const PickleHost host;
  IValue root;
  Status status = OK;
  if (info->bytes) {
    Archive archive = {.source = info->bytes, .bytes_left = MAX_TEXT, .check_crc = false};
    status = archive_read(&archive, &info->record, &info->data, &info->length);
    byte_source_release(info->bytes);
    info->bytes = NULL;
  }
  if (!status) status = pickle_read(info->data, info->length, &host, &root, NULL);
  if (!status) {
    collect(info, root);
    ivalue_release(root);
  }
  status_free(status);
  mem_free(info->data);
  info->data = NULL;
  info->parsed = true;
}

/* The range of the last entry at or before the offset. */
static bool find_original(const Source *source, uint32_t offset, SourceRange *out) {
  DebugInfo *info = source->original_data;
  lock_take(&info->lock);
  if (!info->parsed) parse(info);
  lock_drop(&info->lock);
  size_t low = 0, high = info->entries.length;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (info->entries.data[middle].offset <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (!low || !info->entries.data[low - 1].range.source->length) return false;
  *out = info->entries.data[low - 1].range;
  return true;
}

static void free_info(void *data) {
  DebugInfo *info = data;
  for (size_t i = 0; i < info->sources.length; i++) source_release(info->sources.data[i]);
  vec_dispose(&info->sources);
  vec_dispose(&info->entries);
  byte_source_release(info->bytes);
  mem_free(info->data);
  pthread_mutex_destroy(&info->lock);
  mem_free(info);
}

Status debug_info_attach(Source *source, Archive *archive, const ArchiveRecord *record) {
  if (record->size > MAX_TEXT) return OK;
  DebugInfo *info = mem_calloc(1, sizeof *info);
  if (!info) return status_out_of_memory();
  info->text_left = MAX_TEXT;
  if (archive->source->is_private) {
    info->bytes = byte_source_retain(archive->source);
    info->record = *record;
    info->record.name = STR("");
  } else {
    Status status = archive_read(archive, record, &info->data, &info->length);
    if (status) {
      mem_free(info);
      return status;
    }
  }
  pthread_mutex_init(&info->lock, NULL);
  source->original_data = info;
  source->original_free = free_info;
  source->find_original = find_original;
  return OK;
}
