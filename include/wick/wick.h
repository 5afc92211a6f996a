/* wick: loads, compiles and runs TorchScript programs.
 *
 *   wick_module *module;
 *   wick_error *error;
 *   if (wick_load(NULL, "model.pt", NULL, &module, &error)) {
 *     fprintf(stderr, "%s\n", wick_error_message(error));
 *     wick_error_free(error);
 *     return 1;
 *   }
 *   wick_value *input, *output;
 *   int64_t sizes[] = {1, 3, 224, 224};
 *   wick_tensor_borrow(pixels, WICK_FLOAT32, 4, sizes, NULL, NULL, NULL, &input, NULL);
 *   wick_forward(module, &input, 1, &output, NULL);
 *   ...
 *   wick_value_release(output);
 *   wick_value_release(input);
 *   wick_module_release(module);
 *
 * Handles are opaque and counted: what a function gives through an out-parameter is the caller's, to be released once;
 * what it takes it borrows. Every function that can fail returns a status, 0 when all went well; `error` (may be NULL)
 * then receives an object that the caller frees. NULL where something is needed is such a failure, and so is a struct
 * whose size is not set; functions without a status answer NULL, 0 or "" then, and do nothing. On failure other
 * out-parameters are set to NULL or 0. Handles may be used from several threads at once, but for those that say
 * otherwise. A const handle is only read: what changes its object, or runs it, takes it without. Text is UTF-8.
 * Structs begin with their size and grow at the end only; zero in a field is the default. Names: what a function is
 * about comes first, in its name and its parameters (wick_module_save(module, ...)), results last, before the error;
 * functions that end in _of are named for what they give. Counted handles are released; errors and text, which have
 * one owner, are freed. Yes or no is an int where it is passed, a uint32_t within a struct. */
#ifndef WICK_H
#define WICK_H

#include "wick/status.h"
#include "wick/runtime.h"
#include "wick/value.h"
#include "wick/tensor.h"
#include "wick/module.h"
#include "wick/archive.h"
#include "wick/compile.h"
#include "wick/run.h"
#include "wick/autograd.h"
#include "wick/operator.h"
#include "wick/overload.h"
#include "wick/library.h"
#include "wick/device.h"
#include "wick/backend.h"
#include "wick/trace.h"
#include "wick/graph.h"
#include "wick/dlpack.h"

#endif
