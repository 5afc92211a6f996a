/* Parses IR text, runs it, prints it: what the tests of ir, interp and pass share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "interp/code.h"

typedef struct IrText {
  Arena arena;
  TypeStore store;
  Catch catch_point;
  Graph *graph;
} IrText;

static inline void ir_parse(IrText *ir, const char *text) {
  memset(ir, 0, sizeof *ir);
  assert_null(type_store_init(&ir->store, NULL));
  arena_init(&ir->arena, &ir->catch_point);
  ir->store.arena.catch_point = &ir->catch_point;
  if (catch_enter(&ir->catch_point)) ir->graph = graph_parse(&ir->arena, &ir->store, str_from(text), NULL, NULL);
  if (ir->catch_point.status) print_error("%s\n", ir->catch_point.status->message);
  assert_null(ir->catch_point.status);
}

static inline void ir_dispose(IrText *ir) {
  graph_dispose(ir->graph);
  arena_dispose(&ir->arena);
  type_store_dispose(&ir->store);
}

static inline void assert_text(StrBuf *text, const char *expected) {
  assert_string_equal(text->data ? text->data : "", expected);
  strbuf_dispose(text);
}
