/* Status: what every function that can fail returns. NULL is success; anything else is an owned
 * Error that the caller returns further, or frees with status_free. Nothing prints or exits. */
#pragma once

/* What GCC defines under the address sanitizer, and clang tells otherwise. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* The numbers are wick_status of the public API: append only. */
#define ERROR_CODES(X)                                                    \
  X(INVALID_ARGUMENT, -1) /* the caller's value does not fit */           \
  X(OUT_OF_MEMORY, -2)    /* the allocator refused, or the byte budget */ \
  X(IO, -3)               /* a file can't be read or written */           \
  X(DATA, -4)             /* an archive or pickle is damaged or unsafe */ \
  X(SYNTAX, -5)           /* text that does not parse */                  \
  X(COMPILE, -6)          /* a program that does not compile */           \
  X(UNSUPPORTED, -7)      /* right, but wick does not have it */          \
  X(NOT_FOUND, -8)        /* no such name */                              \
  X(RUNTIME, -9)          /* an operator or a program failed */           \
  X(RAISED, -10)          /* the program raised an exception itself */    \
  X(CANCELLED, -11)                                                       \
  X(DEADLINE, -12)                                                        \
  X(BUDGET, -13)   /* step or memory budget used up */                    \
  X(INTERNAL, -14) /* wick's own mistake: status_internal */              \
  X(BUSY, -15)     /* as many asynchronous calls as may be */

typedef enum ErrorCode {
#define X(name, value) ERROR_##name = value,
  ERROR_CODES(X)
#undef X
} ErrorCode;

typedef struct Error {
  ErrorCode code;
  char *message;         /* one line or several, without the trace */
  const char *exception; /* Python's class name of the exception ("RuntimeError"), static or owned by class_name */
  char *class_name;      /* owned name of a raised user class, else NULL */
  char *trace;           /* TorchScript stack trace with source excerpts, or NULL */
  bool is_static;        /* nobody's: it is not changed, and freeing it does nothing */
} Error;

typedef Error *Status;
#define OK ((Status)0)
#define MUST_CHECK __attribute__((warn_unused_result))
#define NEVER_NULL __attribute__((returns_nonnull))
#define PRINTF_LIKE(position, first) __attribute__((format(printf, position, first)))

/* Leaves the calling function with the error when `expression` fails. */
#define TRY(expression)                                           \
  do {                                                            \
    Status try_status = (expression);                             \
    if (__builtin_expect(try_status != OK, 0)) return try_status; \
  } while (0)
/* The same for functions that clean up at a label: needs `Status status`. */
#define TRY_GOTO(expression, label)                    \
  do {                                                 \
    status = (expression);                             \
    if (__builtin_expect(status != OK, 0)) goto label; \
  } while (0)

/* Never returns NULL: when there is no memory, a static out-of-memory error stands in. The exception
 * class follows from the code (RuntimeError unless the code says otherwise). */
Status status_new(ErrorCode code, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK NEVER_NULL;
Status status_newv(ErrorCode code, const char *format, va_list arguments) MUST_CHECK NEVER_NULL;
/* code RUNTIME with a Python exception class: "IndexError", "ValueError", "KeyError", ...; exception is a literal. */
Status status_exception(const char *exception, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK NEVER_NULL;
#ifndef __FILE_NAME__ /* gcc before 12 */
#define __FILE_NAME__ __FILE__
#endif
/* code INTERNAL; the message begins with the place in the source that noticed: "compile.c:102: ...". */
#define status_internal(...) status_internal_at(__FILE_NAME__, __LINE__, __VA_ARGS__)
Status status_internal_at(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4) MUST_CHECK NEVER_NULL;
Status status_out_of_memory(void) MUST_CHECK NEVER_NULL;
/* Puts "context: " before the message; OK stays OK. */
Status status_context(Status status, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK;
/* Appends text to the trace. */
Status status_add_trace(Status status, const char *text) MUST_CHECK NEVER_NULL;
void status_free(Status status);
