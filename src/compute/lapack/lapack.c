/* Opens LAPACKE (which brings LAPACK and BLAS) once and looks its routines up. */
#include "compute/lapack/lapack.h"

LapackType lapack_type(DType dtype) {
  return dtype == DTYPE_FLOAT32     ? LAPACK_S
         : dtype == DTYPE_FLOAT64   ? LAPACK_D
         : dtype == DTYPE_COMPLEX64 ? LAPACK_C
                                    : LAPACK_Z;
}

#ifdef WICK_HAVE_LAPACK

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef struct Routine {
  size_t offset; /* of the four pointers in Lapack */
  const char *types, *names[2];
} Routine;

static const Routine routines[] = {
#define X(field, types, real, complex, parameters) {offsetof(Lapack, field), types, {real, complex}},
    LAPACK_ROUTINES(X)
#undef X
};

static Lapack lapack;
static char failure[256]; /* empty: all is there */

static bool find(void *library, const char *name, void *slot) {
  void *symbol = dlsym(library, name);
  if (!symbol) snprintf(failure, sizeof failure, "LAPACK has no %s", name);
  memcpy(slot, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void open_library(void) {
  static const char *const names[] = {"liblapacke.so.3", "liblapacke.so", "libopenblas.so.0"};
  static const char letters[] = "sdcz";
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library && !dlsym(library, "LAPACKE_sgetrf")) {
      dlclose(library);
      library = NULL;
    }
  }
  if (!library) {
    snprintf(failure, sizeof failure, "LAPACK (liblapacke.so.3) can't be opened");
    return;
  }
  char name[40];
  for (size_t i = 0; i < sizeof routines / sizeof *routines; i++)
    for (int t = 0; t < 4; t++) {
      if (!strchr(routines[i].types, letters[t])) continue;
      snprintf(name, sizeof name, "LAPACKE_%c%s", letters[t], routines[i].names[t >= LAPACK_C]);
      if (!find(library, name, (char *)&lapack + routines[i].offset + (size_t)t * sizeof(void *))) return;
    }
  for (int t = 0; t < 4; t++) {
    snprintf(name, sizeof name, "%ctrsm_", letters[t]);
    if (!find(library, name, &lapack.trsm[t])) return;
  }
  /* NaN in the input is the caller's business: results are NaN, or the routine says that it failed. */
  void (*set_nan_check)(int) = NULL;
  if (find(library, "LAPACKE_set_nancheck", &set_nan_check)) set_nan_check(0);
}

Status lapack_open(const Lapack **out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  *out = &lapack;
  return failure[0] ? status_new(ERROR_UNSUPPORTED, "%s", failure) : OK;
}

#else

Status lapack_open(const Lapack **out) {
  *out = NULL;
  return status_new(ERROR_UNSUPPORTED, "this build has no LAPACK");
}

#endif
