/* What start.c hands to lower folders before anything of the library is called. Lists end with NULL. */
#pragma once

#include "call/kind_form.h"
#include "call/native_class.h"
#include "call/row.h"
#include "pass/pass.h"
#include "tensor/device_class.h"

extern const OpTable *const op_tables[];
extern const KindForms *const quantized_form_tables[], *const sparse_form_tables[];
extern const NativeClass *const native_classes[];
extern const PassTable *const pass_tables[];
DeviceOpener device_library_open;
