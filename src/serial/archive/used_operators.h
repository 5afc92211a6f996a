/* The operators of an archive's code: those it was compiled to, and, where it does not compile for want of them, the
 * names of others, read off its trees: `torch.add(...)` and `ops.prim.NumToTensor(...)`. */
#pragma once

#include "ir/operator_use.h"
#include "serial/archive/importer.h"

typedef struct UsedOperators {
  Arena *arena;
  Map counts; /* "aten::add" -> number of calls as a pointer-sized integer */
} UsedOperators;
/* Throws to the arena's catch point. */
void used_operators_collect(UsedOperators *used, const Tree *tree);
/* Whether the language or a row knows the name. */
bool used_operator_is_known(Str qualified_name);
/* `failure` of a compilation, taken over: an error that names every operator of the archive's code that its unit may
 * not use; or else those that wick does not have, with similar names; or else failure itself. */
Status used_operators_explain(Importer *importer, Status failure) MUST_CHECK;
/* Every operator of the archive's code, reached by its objects or not, and then those that wick does not have. Of the
 * state nothing is read but constants. `allowed` as in LoadOptions: code that uses others does not compile and does not
 * run, and its operators are visited all the same. */
typedef void UsedOperatorVisit(void *argument, Str name, size_t calls, bool is_known);
typedef struct UsedOperatorVisits {
  UsedOperatorVisit *visit;
  OverloadVisit *visit_overload; /* NULL: visit gets all; else those that are known come here, by overload */
  void *argument;
} UsedOperatorVisits;
Status used_operators_of_archive(ByteSource *source, Exec *exec, const char *allowed,
                                 const UsedOperatorVisits *visits) MUST_CHECK;
