/* wick_future: an asynchronous call as the API shows it. */
#pragma once

#include "api/handles.h"

/* Keeps what the call needs to its end: the module's unit and runtime, the cancel and the profile (may be NULL). */
Status future_handle_new(const wick_module *module, wick_cancel *cancel, wick_profile *profile,
                         wick_future **out) MUST_CHECK;
/* Takes over the reference to the Future; the handle lives until it is completed, however early it is released. */
Status future_handle_start(wick_future *handle, Future *future) MUST_CHECK;
