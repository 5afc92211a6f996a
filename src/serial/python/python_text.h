/* PythonText: generated code whose pieces know what they were made from, so that errors in it lead back to the source
 * that a person wrote. */
#pragma once

#include "base/vec.h"
#include "report/source.h"

/* The text from here to the next mark was made from this range; no source: from nothing in particular. */
typedef struct PythonMark {
  size_t offset;
  SourceRange range;
} PythonMark;
typedef struct PythonText {
  Arena *arena; /* of the marks */
  StrBuf text;  /* on the heap: dispose */
  VEC(PythonMark) marks;
  SourceRange range; /* of what is written next */
} PythonText;
/* A finished text in an arena. */
typedef struct PythonPiece {
  Str text;
  const PythonMark *marks;
  size_t mark_count;
} PythonPiece;

/* The buffer to write to; what is written gets text->range. */
StrBuf *python_text_at(PythonText *text);
/* Keeps the piece's own ranges; what has none gets text->range. */
void python_text_put(PythonText *text, const PythonPiece *piece);
PythonPiece python_text_piece(const PythonText *text);
