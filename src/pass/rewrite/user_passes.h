/* Passes from outside: run over every graph that is optimized, after the ones that keep derivatives and in order of
 * registration. The list belongs to the process, as the registry of operators does. */
#pragma once

#include "ir/graph.h"

typedef Status UserPass(void *user, Graph *graph);

/* From now on, for graphs that are optimized later; thread-safe. Names are unique: ERROR_INVALID_ARGUMENT otherwise. */
Status user_pass_add(const char *name, UserPass *run, void *user) MUST_CHECK;
/* Graphs that are optimized later do without it; what is running runs on. false: no such pass. */
bool user_pass_remove(const char *name);
/* All of them. Throws what one fails with; a graph that a pass broke is ERROR_INVALID_ARGUMENT, naming the pass. */
void pass_run_user(Graph *graph);
bool user_pass_exists(const char *name);
/* The one of that name, throwing the same. false: no such pass. */
bool user_pass_run(const char *name, Graph *graph);
