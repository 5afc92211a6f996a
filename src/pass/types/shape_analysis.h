/* Shape analysis, as other passes use it. */
#pragma once

#include "call/exec.h"
#include "ir/graph.h"

/* Sets the types of all values of the graph. strict: only what follows for certain from guards, constants and complete
 * types of inputs; guards keep the type that they test. Else unknown sizes are tried out (shape_evaluate). */
void shape_analysis_run(Graph *graph, Exec *exec, bool strict);
