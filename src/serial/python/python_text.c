/* Text with marks: a mark is set only where the range changes. */
#include "serial/python/python_text.h"

#include <assert.h>

static bool is_same(SourceRange a, SourceRange b) {
  return a.source == b.source && a.begin == b.begin && a.end == b.end;
}
static void mark(PythonText *text, size_t offset, SourceRange range) {
  assert(!text->marks.length || vec_last(&text->marks).offset <= offset);
  if (text->marks.length && is_same(vec_last(&text->marks).range, range)) return;
  vec_arena_push(text->arena, &text->marks, ((PythonMark){offset, range}));
}

StrBuf *python_text_at(PythonText *text) {
  mark(text, text->text.length, text->range);
  return &text->text;
}

void python_text_put(PythonText *text, const PythonPiece *piece) {
  size_t start = text->text.length;
  if (!piece->mark_count || piece->marks[0].offset) mark(text, start, text->range);
  for (size_t i = 0; i < piece->mark_count; i++) mark(text, start + piece->marks[i].offset, piece->marks[i].range);
  strbuf_str(&text->text, piece->text);
}

PythonPiece python_text_piece(const PythonText *text) {
  const char *copy = arena_strndup(text->arena, strbuf_view(&text->text).data, text->text.length);
  return (PythonPiece){{copy, text->text.length}, text->marks.data, text->marks.length};
}
