/* Passes from outside: run over every graph that is optimized, after the ones that keep derivatives and in order of
 * registration. The list belongs to the process, as the registry of operators does. */
#pragma once

#include "ir/graph.h"

/* `name`: as it was registered, valid for the process's life. */
typedef Status UserPass(void *user, const char *name, Graph *graph);

/* From now on, for graphs that are optimized later; thread-safe. Names are unique: ERROR_INVALID_ARGUMENT otherwise. */
Status user_pass_add(const char *name, UserPass *run, void *user) MUST_CHECK;
/* Graphs that are optimized later do without it; what is running runs on. false: no such pass. */
bool user_pass_remove(const char *name);
/* All of them; `after` (may be NULL) is called after each. Throws what one fails with; a graph that a pass broke is
 * ERROR_INVALID_ARGUMENT, naming the pass. */
typedef void AfterUserPass(void *argument, const char *name);
void pass_run_user(Graph *graph, AfterUserPass *after, void *argument);
/* One of them, as above. false: no such pass. */
bool user_pass_run(Graph *graph, const char *name);
bool user_pass_exists(const char *name);
/* In order of registration; of the process. NULL: there are no more. */
const char *user_pass_name(size_t index);
