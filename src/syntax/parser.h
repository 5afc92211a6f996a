/* Parser: tokens -> Tree, by precedence climbing ("Pratt"). All functions allocate from the arena and throw
 * ERROR_SYNTAX to its catch point, with an excerpt and a caret. Trees point into the source, which must outlive them.
 */
#pragma once

#include "syntax/tree.h"

enum {
  PARSE_PYTHON = 0,
  /* \ooo and \xhh are bytes, as an archive's code writes UTF-8; otherwise they are code points, as in Python. */
  PARSE_ARCHIVE = 1,
};

/* A whole text: (list statement...): def, class, import, assign and whatever else a file has. */
Tree *parse_file(Arena *arena, const Source *source, int flags);
/* A text that holds exactly one def (with decorators). */
Tree *parse_def(Arena *arena, const Source *source, int flags);
/* A text that is one expression. */
Tree *parse_expression(Arena *arena, const Source *source, int flags);
/* An annotation that was written as a string: parses the text of (string_literal text) as an expression. */
Tree *parse_string_annotation(Arena *arena, const Tree *string_literal);
