/* Which operators code uses, and which it may. What counts are the nodes of a graph as the frontend emits it, however
 * the program spells them, before anything is folded or rewritten; so what runs at compile time counts, and what passes
 * make of a graph does not. A kind with a form of its own (control flow, containers, attributes, casts, exceptions) is
 * the language's and no operator. */
#pragma once

#include "call/operator.h"
#include "ir/unit.h"

typedef struct OperatorCount {
  const Operator *overload;
  Symbol kind;
  uint32_t nodes;
} OperatorCount;

/* Notes the operators of the graph, just emitted, with the function. Throws ERROR_COMPILE with the place of the first
 * that the function's unit may not use; they are noted all the same. */
void function_note_operators(Function *function, Graph *emitted);
/* Code that the unit gets from now on may use only these: names ("aten::add"), one a line. Units that it comes to use
 * are held to them too. Throws to the unit's arena. */
void unit_allow_operators(CompilationUnit *unit, const char *lines);
bool unit_allows_operator(const CompilationUnit *unit, Str name);
/* Every operator of the unit's own functions, once, in order of their definition. */
typedef void OperatorVisit(void *argument, Str name, size_t nodes);
Status unit_each_operator(const CompilationUnit *unit, OperatorVisit *visit, void *argument) MUST_CHECK;
/* Every overload of every function in turn: those of several functions several times. */
typedef void OverloadVisit(void *argument, const Operator *overload, size_t nodes);
void unit_each_overload(const CompilationUnit *unit, OverloadVisit *visit, void *argument);
/* ERROR_UNSUPPORTED that names every operator of `used`, and of the units it uses, that `unit` may not use; `what` has
 * them: "the archive". */
Status unit_check_operators(const CompilationUnit *unit, const CompilationUnit *used, const char *what) MUST_CHECK;
