/* Lapack: the routines of LAPACKE by element type: of the library, which is opened on first use, or of compute/linalg
 * where there is none. Matrices are column-major. */
#pragma once

#include "base/status.h"
#include "tensor/dtype.h"

typedef int32_t LapackInt;
typedef enum LapackType {
  LAPACK_S,
  LAPACK_D,
  LAPACK_C,
  LAPACK_Z
} LapackType; /* float32, float64, complex64, complex128 */
enum { LAPACK_COLUMNS = 102, LAPACK_NO_MEMORY = -1010, LAPACK_NO_COPY = -1011 };

/*  field, types that it has, name for real types, for complex types, parameters. Scalars that differ in size between
 * the types keep routines apart: rcond is a float in the fields that end with _single. The first argument is
 * LAPACK_COLUMNS. */
#define LAPACK_ROUTINES(X)                                                                                             \
  X(getrf, "sdcz", "getrf", "getrf", (int, LapackInt m, LapackInt n, void *a, LapackInt lda, LapackInt *pivots))       \
  X(getrs, "sdcz", "getrs", "getrs",                                                                                   \
    (int, char trans, LapackInt n, LapackInt nrhs, const void *a, LapackInt lda, const LapackInt *pivots, void *b,     \
     LapackInt ldb))                                                                                                   \
  X(potrf, "sdcz", "potrf", "potrf", (int, char uplo, LapackInt n, void *a, LapackInt lda))                            \
  X(potrs, "sdcz", "potrs", "potrs",                                                                                   \
    (int, char uplo, LapackInt n, LapackInt nrhs, const void *a, LapackInt lda, void *b, LapackInt ldb))               \
  X(potri, "sdcz", "potri", "potri", (int, char uplo, LapackInt n, void *a, LapackInt lda))                            \
  X(geqrf, "sdcz", "geqrf", "geqrf", (int, LapackInt m, LapackInt n, void *a, LapackInt lda, void *tau))               \
  X(orgqr, "sdcz", "orgqr", "ungqr",                                                                                   \
    (int, LapackInt m, LapackInt n, LapackInt k, void *a, LapackInt lda, const void *tau))                             \
  X(ormqr, "sdcz", "ormqr", "unmqr",                                                                                   \
    (int, char side, char trans, LapackInt m, LapackInt n, LapackInt k, const void *a, LapackInt lda, const void *tau, \
     void *c, LapackInt ldc))                                                                                          \
  X(gesdd, "sdcz", "gesdd", "gesdd",                                                                                   \
    (int, char job, LapackInt m, LapackInt n, void *a, LapackInt lda, void *s, void *u, LapackInt ldu, void *vh,       \
     LapackInt ldvh))                                                                                                  \
  X(syevd, "sdcz", "syevd", "heevd", (int, char job, char uplo, LapackInt n, void *a, LapackInt lda, void *w))         \
  X(geev_real, "sd", "geev", "",                                                                                       \
    (int, char left, char right, LapackInt n, void *a, LapackInt lda, void *wr, void *wi, void *vl, LapackInt ldvl,    \
     void *vr, LapackInt ldvr))                                                                                        \
  X(geev_complex, "cz", "", "geev",                                                                                    \
    (int, char left, char right, LapackInt n, void *a, LapackInt lda, void *w, void *vl, LapackInt ldvl, void *vr,     \
     LapackInt ldvr))                                                                                                  \
  X(sytrf, "sdcz", "sytrf", "sytrf", (int, char uplo, LapackInt n, void *a, LapackInt lda, LapackInt *pivots))         \
  X(hetrf, "sdcz", "sytrf", "hetrf", (int, char uplo, LapackInt n, void *a, LapackInt lda, LapackInt *pivots))         \
  X(sytrs, "sdcz", "sytrs", "sytrs",                                                                                   \
    (int, char uplo, LapackInt n, LapackInt nrhs, const void *a, LapackInt lda, const LapackInt *pivots, void *b,      \
     LapackInt ldb))                                                                                                   \
  X(hetrs, "sdcz", "sytrs", "hetrs",                                                                                   \
    (int, char uplo, LapackInt n, LapackInt nrhs, const void *a, LapackInt lda, const LapackInt *pivots, void *b,      \
     LapackInt ldb))                                                                                                   \
  X(gels, "sdcz", "gels", "gels",                                                                                      \
    (int, char trans, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb))       \
  X(gelsy, "dz", "gelsy", "gelsy",                                                                                     \
    (int, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb, LapackInt *pivots, \
     double rcond, LapackInt *rank))                                                                                   \
  X(gelsy_single, "sc", "gelsy", "gelsy",                                                                              \
    (int, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb, LapackInt *pivots, \
     float rcond, LapackInt *rank))                                                                                    \
  X(gelsd, "dz", "gelsd", "gelsd",                                                                                     \
    (int, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb, void *s,           \
     double rcond, LapackInt *rank))                                                                                   \
  X(gelsd_single, "sc", "gelsd", "gelsd",                                                                              \
    (int, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb, void *s,           \
     float rcond, LapackInt *rank))                                                                                    \
  X(gelss, "dz", "gelss", "gelss",                                                                                     \
    (int, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb, void *s,           \
     double rcond, LapackInt *rank))                                                                                   \
  X(gelss_single, "sc", "gelss", "gelss",                                                                              \
    (int, LapackInt m, LapackInt n, LapackInt nrhs, void *a, LapackInt lda, void *b, LapackInt ldb, void *s,           \
     float rcond, LapackInt *rank))

typedef struct Lapack {
#define X(field, types, real, complex, parameters) LapackInt(*field[4]) parameters;
  LAPACK_ROUTINES(X)
#undef X
  /* BLAS by its Fortran convention: op(a) x = alpha b or x op(a) = alpha b, x written over b. */
  void (*trsm[4])(const char *side, const char *uplo, const char *trans, const char *diagonal, const LapackInt *m,
                  const LapackInt *n, const void *alpha, const void *a, const LapackInt *lda, void *b,
                  const LapackInt *ldb);
} Lapack;

/* Opened by the first caller. Thread-safe. */
const Lapack *lapack_open(void);
/* The error where a routine had no memory to work in; else OK, whatever else it says. */
Status lapack_memory(LapackInt info) MUST_CHECK;
/* dtype must be one of the four. */
LapackType lapack_type(DType dtype);
