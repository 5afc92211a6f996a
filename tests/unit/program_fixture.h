/* Programs that check themselves: a function gives a text, "" where all is well. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

/* What the function gives, or its error, is empty, or has `expected` in it. argument: below 0: none. */
static inline void expect_text(const char *program, const char *function, int64_t argument, int threads, uint32_t grad,
                               const char *expected) {
  wick_module *module = NULL;
  wick_value *result = NULL, *given = argument < 0 ? NULL : wick_value_int(argument);
  wick_error *error = NULL;
  wick_run_options options = {.size = sizeof options, .threads = threads, .grad = grad};
  wick_compile(NULL, program, strlen(program), "program.py", &module, &error);
  if (module)
    wick_run(module, function, (const wick_value *const *)&given, argument >= 0, NULL, 0, &options, &result, &error);
  const char *text = error ? wick_error_message(error) : wick_value_to_string(result, NULL);
  if (*expected ? !strstr(text, expected) : *text) fail_msg("%s: %s", function, text);
  wick_value_release(result);
  wick_value_release(given);
  wick_error_free(error);
  wick_module_release(module);
}
