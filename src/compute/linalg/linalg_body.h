/* Linear algebra of one element type, said by IS_DOUBLE and IS_COMPLEX (linalg_number.h), LETTER and FILL. */
#include "compute/linalg/linalg.h"

#include <assert.h>

#include "compute/gemm/gemm.h"
#include "compute/linalg/linalg_real.h"
#include "compute/linalg/linalg_workspace.h"
#include "compute/linalg/linalg_number.h"

#include "compute/linalg/linalg_vector_body.h"
#include "compute/linalg/linalg_product_body.h"
#include "compute/linalg/linalg_lu_body.h"
#include "compute/linalg/linalg_cholesky_body.h"
#include "compute/linalg/linalg_ldl_body.h"
#include "compute/linalg/linalg_qr_body.h"
#if !IS_COMPLEX
#include "compute/linalg/linalg_real_body.h"
#else
static void set_identity(Index n, REAL *z) {
  memset(z, 0, (size_t)(n * n) * sizeof *z);
  for (Index i = 0; i < n; i++) z[i * (n + 1)] = 1;
}
#endif
#include "compute/linalg/linalg_symmetric_body.h"
#include "compute/linalg/linalg_svd_body.h"
#include "compute/linalg/linalg_lstsq_body.h"
#include "compute/linalg/linalg_hessenberg_body.h"
#include "compute/linalg/linalg_schur_body.h"
#if IS_COMPLEX
#include "compute/linalg/linalg_schur_complex_body.h"
#else
#include "compute/linalg/linalg_schur_real_body.h"
#endif

void FILL(Lapack *out) {
  out->getrf[LETTER] = getrf;
  out->getrs[LETTER] = getrs;
  out->potrf[LETTER] = potrf;
  out->potrs[LETTER] = potrs;
  out->potri[LETTER] = potri;
  out->geqrf[LETTER] = geqrf;
  out->orgqr[LETTER] = orgqr;
  out->ormqr[LETTER] = ormqr;
  out->gesdd[LETTER] = gesdd;
  out->syevd[LETTER] = syevd;
  out->sytrf[LETTER] = sytrf;
  out->hetrf[LETTER] = hetrf;
  out->sytrs[LETTER] = sytrs;
  out->hetrs[LETTER] = hetrs;
  out->gels[LETTER] = gels;
#if IS_DOUBLE
  out->gelsy[LETTER] = gelsy;
  out->gelsd[LETTER] = out->gelss[LETTER] = gelsd;
#else
  out->gelsy_single[LETTER] = gelsy;
  out->gelsd_single[LETTER] = out->gelss_single[LETTER] = gelsd;
#endif
#if IS_COMPLEX
  out->geev_complex[LETTER] = geev_complex;
#else
  out->geev_real[LETTER] = geev_real;
#endif
  out->trsm[LETTER] = trsm;
}
