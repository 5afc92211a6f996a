/* The operators an archive's code names, read off its trees: `torch.add(...)` and `ops.prim.NumToTensor(...)`. */
#pragma once

#include "serial/archive/importer.h"

typedef struct UsedOperators {
  Arena *arena;
  Map counts; /* "aten::add" -> number of calls as a pointer-sized integer */
} UsedOperators;
/* Throws to the arena's catch point. */
void used_operators_collect(UsedOperators *used, const Tree *tree);
/* Whether the language or a row knows the name. */
bool used_operator_is_known(Str qualified_name);
/* `failure` of a compilation, taken over: when the archive names operators that wick does not have, an error that names
 * them all, with similar names; otherwise failure itself. */
Status used_operators_explain(Importer *importer, Status failure) MUST_CHECK;
/* Whether `name` is a line of the text. */
bool operator_name_is_listed(const char *lines, Str name);
/* An error that names every operator of the importer's code which is no line of `allowed`. */
Status used_operators_check(Importer *importer, const char *allowed) MUST_CHECK;
/* Every operator the archive's code names, in order of appearance, compiled or not. */
typedef void UsedOperatorVisit(void *argument, Str name, size_t calls, bool is_known);
Status used_operators_of_archive(ByteSource *source, Exec *exec, UsedOperatorVisit *visit, void *argument) MUST_CHECK;
