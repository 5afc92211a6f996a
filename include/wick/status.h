/* wick/status: the version, what functions answer, and errors. */
#ifndef WICK_STATUS_H
#define WICK_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WICK_API __attribute__((visibility("default")))
#else
#define WICK_API
#endif
/* On a parameter of a function: this pointer may be NULL. So may each wick_runtime, each `error`, each `user` that only
 * callbacks get, and an array of a count of 0. */
#define WICK_NULLABLE

/* ---- version ---- */
#define WICK_VERSION_MAJOR 0
#define WICK_VERSION_MINOR 1
#define WICK_VERSION_PATCH 0
/* Of the library that runs: "0.1.0". Static. */
WICK_API const char *wick_version(void);

/* ---- status and errors ---- */
typedef int32_t wick_status; /* 0 fine, below 0 a stable code; an unknown code means failed */
enum {
  WICK_OK = 0,
  WICK_INVALID_ARGUMENT = -1, /* the caller's value does not fit */
  WICK_OUT_OF_MEMORY = -2,    /* the allocator refused, or the byte budget is used up */
  WICK_IO = -3,               /* a file can't be read or written */
  WICK_DATA = -4,             /* an archive or pickle is damaged or unsafe */
  WICK_SYNTAX = -5,           /* text that does not parse */
  WICK_COMPILE = -6,          /* a program that does not compile */
  WICK_UNSUPPORTED = -7,      /* right, but wick does not have it */
  WICK_NOT_FOUND = -8,        /* no such name */
  WICK_RUNTIME = -9,          /* an operator or a program failed */
  WICK_RAISED = -10,          /* the program raised an exception itself */
  WICK_CANCELLED = -11,
  WICK_DEADLINE = -12,
  WICK_BUDGET = -13,   /* step or memory budget used up */
  WICK_INTERNAL = -14, /* wick's own mistake */
  WICK_BUSY = -15      /* as many asynchronous calls have not ended as may be: wick_runtime_options */
};
/* Owned by one thread; freed with wick_error_free. */
typedef struct wick_error wick_error;
/* The accessors borrow from the error. NULL is answered with "" or 0. */
WICK_API wick_status wick_error_status(const wick_error *error);
WICK_API const char *wick_error_message(const wick_error *error);
WICK_API const char *wick_error_exception(const wick_error *error); /* Python's class name: "RuntimeError" */
WICK_API const char *wick_error_trace(const wick_error *error);     /* the TorchScript stack trace, or "" */
WICK_API void wick_error_free(wick_error *error);                   /* NULL is allowed */
/* For kernels registered from outside. */
WICK_API wick_error *wick_error_new(wick_status status, const char *message);

#ifdef __cplusplus
}
#endif
#endif
