/* Regions of autocast: as the operators' rows say (OpRow.cast), what goes into them is cast. */
#pragma once

#include "serial/pt2/builder.h"

/* Within a region: puts casts in the place of the inputs that the operator is about to get. */
void pt2_autocast_inputs(Pt2Builder *b, const Operator *op, MatchedSchema *matched);
