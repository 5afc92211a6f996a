/* What lower folders call of higher ones. */
#include "api/handles.h"
#include "autodiff/record.h"
#include "frontend/frontend.h"
#include "interp/op_profile.h"

static Status call_function(Exec *exec, Function *function, const IValue *arguments, uint32_t count, IValue *out) {
  return interp_call(exec, function, arguments, count, out);
}

const Services api_services = {
    .compile_body = frontend_compile_body,
    .call_function = call_function,
    .autograd_record = autodiff_record,
    .autograd_view = autodiff_view,
    .profile_decline = op_profile_decline,
};
