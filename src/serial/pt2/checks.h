/* What the program demands of its inputs before it runs: numbers of dimensions, fixed sizes, ranges of those that may
 * change, sizes that must be equal. The checks are nodes at the graph's beginning, so that a program that was saved
 * has them, too. */
#pragma once

#include "serial/pt2/builder.h"

struct Pt2Formula;
typedef struct Pt2Checks {
  const Json *graph, *ranges;  /* of the program: what is known of values; of symbols */
  Map symbols;                 /* name -> Value, once an input says what it is */
  Map origins;                 /* name -> where from, as messages call it: text */
  Map sizes;                   /* "x.size(0)", "n" -> Value */
  const Json *guards;          /* conditions on those, as texts */
  struct Pt2Formula *formulas; /* what is to be checked when all inputs are known */
} Pt2Checks;

void pt2_checks_init(Pt2Builder *b, Pt2Checks *checks, const Json *program);
/* An input: the value by that name in the graph; `label` is what its caller calls it ("x[0]"), `place` which of all it
 * is. */
void pt2_check_input(Pt2Builder *b, Pt2Checks *checks, Str name, Value *value, const char *label, uint32_t place);
/* The value must be that constant. */
void pt2_check_constant(Pt2Builder *b, Value *value, IValue constant, const char *label);
/* After all inputs: sizes that are formulas of others, and conditions. */
void pt2_checks_finish(Pt2Builder *b, Pt2Checks *checks);
