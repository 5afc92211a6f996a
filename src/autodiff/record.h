/* What operator_call calls when an input records (Services.autograd_*). */
#pragma once

#include "call/call.h"

Status autodiff_record(Exec *exec, Call *call) MUST_CHECK;
Status autodiff_view(Exec *exec, Call *call) MUST_CHECK;
