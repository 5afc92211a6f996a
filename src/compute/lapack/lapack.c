/* Opens LAPACKE (which brings LAPACK and BLAS) once and looks its routines up; without it they are compute/linalg's. */
#include "compute/lapack/lapack.h"

#include <assert.h>
#include <pthread.h>

#include "compute/linalg/linalg.h"

LapackType lapack_type(DType dtype) {
  assert(dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64 || dtype == DTYPE_COMPLEX64 || dtype == DTYPE_COMPLEX128);
  return dtype == DTYPE_FLOAT32     ? LAPACK_S
         : dtype == DTYPE_FLOAT64   ? LAPACK_D
         : dtype == DTYPE_COMPLEX64 ? LAPACK_C
                                    : LAPACK_Z;
}

Status lapack_memory(LapackInt info) {
  return info == LAPACK_NO_MEMORY || info == LAPACK_NO_COPY ? status_out_of_memory() : OK;
}

static Lapack lapack;

#ifdef WICK_HAVE_LAPACK

#include <stdio.h>
#include <string.h>

#include "base/library.h"

typedef struct Routine {
  size_t offset; /* of the four pointers in Lapack */
  const char *types, *names[2];
} Routine;

static const Routine routines[] = {
#define X(field, types, real, complex, parameters) {offsetof(Lapack, field), types, {real, complex}},
    LAPACK_ROUTINES(X)
#undef X
};

/* NaN in the input is the caller's business: results are NaN, or the routine says that it failed. */
static void (*set_nan_check)(int);

static bool open_library(void) {
  enum { COUNT = sizeof routines / sizeof *routines };
  static const char *const libraries[] = {"liblapacke.so.3", "liblapacke.so", "libopenblas.so.0"};
  static const char letters[] = "sdcz";
  LibrarySymbol symbols[4 * COUNT + 5] = {{"LAPACKE_set_nancheck", &set_nan_check}};
  char names[4 * COUNT + 5][40];
  size_t count = 1;
  for (int t = 0; t < 4; t++) {
    snprintf(names[count], sizeof *names, "%ctrsm_", letters[t]);
    symbols[count] = (LibrarySymbol){names[count], &lapack.trsm[t]}, count++;
    for (size_t i = 0; i < COUNT; i++) {
      if (!strchr(routines[i].types, letters[t])) continue;
      snprintf(names[count], sizeof *names, "LAPACKE_%c%s", letters[t], routines[i].names[t >= LAPACK_C]);
      void *slot = (char *)&lapack + routines[i].offset + (size_t)t * sizeof(void *);
      symbols[count] = (LibrarySymbol){names[count], slot}, count++;
    }
  }
  if (!library_open(libraries, sizeof libraries / sizeof *libraries, symbols, count, NULL, 0)) return false;
  set_nan_check(0);
  return true;
}

#else

static bool open_library(void) {
  return false;
}

#endif

static void find_routines(void) {
  if (open_library()) return;
  linalg_fill_s(&lapack);
  linalg_fill_d(&lapack);
  linalg_fill_c(&lapack);
  linalg_fill_z(&lapack);
}
const Lapack *lapack_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_routines);
  return &lapack;
}
