/* Logging of the optimizer and the limiter of its rewrites, configured by the environment as TorchScript is:
 *
 *   PYTORCH_JIT_LOG_LEVEL=dead_code_elimination:>guard_elimination.cpp:>>alias_analysis
 *     files whose messages go to stderr; no prefix: whole graphs, `>`: rewrites too, `>>`: inner workings too
 *   PYTORCH_JIT_OPT_LIMIT=constant_propagation=5:peephole=0
 *     how many rewrites a file may do in this process; to find the wrong one by bisection
 *   PYTORCH_JIT_TYPE_VERBOSITY=0..4
 *     what the text of graphs says of types: nothing, sizes, strides, device and requires_grad, symbolic sizes
 *
 * Each is read once, on first use. A file is named as PyTorch names it, with or without ".cpp". */
#pragma once

#include "base/str.h"

typedef enum JitLogLevel { JIT_DUMP, JIT_UPDATE, JIT_DEBUG } JitLogLevel;

/* One load and a test while nothing is logged. */
bool jit_log_enabled(const char *file, JitLogLevel level);
/* Writes to the sink, "[UPDATE file.cpp:12] " before every line of text. */
void jit_log_write(const char *file, int line, JitLogLevel level, Str text);
void jit_log_printf(const char *file, int line, JitLogLevel level, const char *format, ...) PRINTF_LIKE(4, 5);
#define JIT_LOG(file, level, ...)                                                                 \
  do {                                                                                            \
    if (jit_log_enabled((file), (level))) jit_log_printf((file), __LINE__, (level), __VA_ARGS__); \
  } while (0)
#define JIT_LOG_UPDATE(file, ...) JIT_LOG(file, JIT_UPDATE, __VA_ARGS__)
#define JIT_LOG_DEBUG(file, ...) JIT_LOG(file, JIT_DEBUG, __VA_ARGS__)

/* Whether `file` may rewrite once more; counts. Ask right before a rewrite that could as well be left out. */
bool jit_opt_limit(const char *file);
/* The same for one rule of the file, which has a limit by its own name too. */
bool jit_opt_limit_rule(const char *file, const char *rule);

/* Test hook: the n-th question from now is answered with no (0: none). Settings become the environment's. */
void jit_opt_refuse(int64_t n);
int64_t jit_opt_refuse_left(void); /* test hook: how many are still to come until then */

enum { TYPE_VERBOSITY_NONE, TYPE_VERBOSITY_TYPE, TYPE_VERBOSITY_STRIDE, TYPE_VERBOSITY_FULL, TYPE_VERBOSITY_SYMBOLIC };
int jit_type_verbosity(void);

/* Instead of the environment's text and stderr, for tests and hosts; NULL text: the environment's again. Not while
 * other threads compile. Counts of rewrites start anew. */
void jit_log_configure(const char *log_levels, const char *opt_limits);
void jit_log_set_sink(void (*sink)(void *user, const char *text, size_t length),
                      void *user); /* test hook; NULL: stderr */
