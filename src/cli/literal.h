/* Values in words of the command line: Python literals, and calls of makers (made.c) within them. */
#pragma once

#include "cli/cli.h"

typedef struct Reader {
  const char *start, *at;
  int nesting;
  char problem[300]; /* the first one; "": none so far */
} Reader;
/* All of a word; NULL: reader->problem says why. */
wick_value *literal_read(Reader *r, const char *word);

/* ---- for makers ---- */
wick_value *reader_fail(Reader *r, const char *what); /* NULL, with the place */
/* NULL, with the error's message; frees the error. */
wick_value *reader_fail_error(Reader *r, wick_error *error);
bool reader_accept(Reader *r, char c); /* after spaces */
bool reader_accept_word(Reader *r, const char *word);
wick_value *reader_value(Reader *r);

/* A growing row of values. */
typedef struct Items {
  wick_value **values;
  size_t count, capacity;
} Items;
bool items_push(Items *items, wick_value *value); /* takes the value over; false: NULL, or too many */
void items_dispose(Items *items);

/* ---- makers: randn(1,3), image(cat.jpg, size=224) ---- */
/* The maker whose name stands at the reader, with a ( after it; NULL: none. */
typedef struct Maker Maker;
const Maker *maker_at(const Reader *r);
wick_value *maker_read(const Maker *maker, Reader *r);
