/* Matrices of two diagonals: what all four element types reduce theirs to. Real in any case, hence made twice.
 * Private to compute/linalg. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Eigenvalues, ascending, of the symmetric matrix with diagonal d (n) and subdiagonal e (n - 1), into d; e is used
 * up. z, NULL or n x n with n rows a column, is multiplied by the eigenvectors from the right. By implicit QL or QR
 * steps (Golub & Van Loan, Matrix Computations, 8.3). Gives how many of e were not zero after 30 n steps: 0 is
 * success. */
typedef int32_t LinalgTridiagonalFloat(int64_t n, float *d, float *e, float *z);
typedef int32_t LinalgTridiagonalDouble(int64_t n, double *d, double *e, double *z);
extern LinalgTridiagonalFloat linalg_tridiagonal_float;
extern LinalgTridiagonalDouble linalg_tridiagonal_double;

/* Singular values, descending, of the bidiagonal matrix with diagonal d (n) and e (n - 1) above it (is_lower:
 * below), into d. u and v, both NULL or n x n, become the singular vectors: B = u diag(d) v^T. To high relative
 * accuracy, by QR steps without shift where one would lose it (J. Demmel & W. Kahan, "Accurate singular values of
 * bidiagonal matrices", SIAM J. Sci. Stat. Comput. 11, 1990). Gives how many of e did not converge. */
typedef int32_t LinalgBidiagonalFloat(int64_t n, bool is_lower, float *d, float *e, float *u, float *v);
typedef int32_t LinalgBidiagonalDouble(int64_t n, bool is_lower, double *d, double *e, double *u, double *v);
extern LinalgBidiagonalFloat linalg_bidiagonal_float;
extern LinalgBidiagonalDouble linalg_bidiagonal_double;
