/* Formulas of operators (rows with `.lower`) on devices. */
#pragma once

#include "call/call.h"

/* Whether a kind of device has a back end for them. */
bool device_runs_formulas(int device_type);
Kernel device_formula_run;
