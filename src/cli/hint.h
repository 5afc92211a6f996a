/* What could have been typed: inputs that a model takes, found by trying. */
#pragma once

#include "cli/cli.h"

typedef struct HintedCall {
  const char *command, *path, *method; /* "run" */
  const wick_module *module;
  const ModelOptions *model; /* it was opened so */
  char **words;              /* the inputs as they were typed */
  int count;
} HintedCall;
/* After a call failed: where an input is missing, a picture or sound went in as it is in its file, or a list for a
 * tensor, complains with a line to type. What is suggested ran: candidates from the method's schema and the sizes of
 * the module's first weights are tried on a copy of the model, for two seconds at most. */
void hint_inputs(const HintedCall *call);
