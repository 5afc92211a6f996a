/* oneDNN's matrix product, opened on first use: it loads slowly and pulls in much. It works on OpenMP's threads, so not
 * for who brings threads of his own. */
#include "compute/gemm/gemm.h"

#ifdef WICK_HAVE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>

#include "base/library.h"
#include "base/parallel.h"

typedef __typeof__(dnnl_sgemm) Sgemm;
static Sgemm *sgemm;

static void open_library(void) {
  static const char *const names[] = {"libdnnl.so.2", "libdnnl.so.3"}; /* this function is the same in both */
  if (library_open(names, 2, &(const LibrarySymbol){"dnnl_sgemm", &sgemm}, 1, NULL, 0)) parallel_adopt_openmp();
}

bool gemm_onednn_f32(int threads, int64_t m, int64_t n, int64_t k, float alpha, GemmMatrix a, GemmMatrix b, float *c,
                     int64_t c_row_stride, bool accumulate) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  bool a_rows = a.col_stride == 1 && a.row_stride >= k, a_columns = a.row_stride == 1 && a.col_stride >= m;
  bool b_rows = b.col_stride == 1 && b.row_stride >= n, b_columns = b.row_stride == 1 && b.col_stride >= k;
  if (parallel_hook() || !(a_rows || a_columns) || !(b_rows || b_columns)) return false;
  pthread_once(&once, open_library);
  if (!sgemm || parallel_forked()) return false;
  int before = parallel_limit_openmp(threads);
  parallel_settle_openmp(threads);
  bool done =
      sgemm(a_rows ? 'N' : 'T', b_rows ? 'N' : 'T', m, n, k, alpha, a.data, a_rows ? a.row_stride : a.col_stride,
            b.data, b_rows ? b.row_stride : b.col_stride, accumulate ? 1.0f : 0.0f, c, c_row_stride) == dnnl_success;
  parallel_limit_openmp(before);
  return done;
}
#else
bool gemm_onednn_f32(int threads, int64_t m, int64_t n, int64_t k, float alpha, GemmMatrix a, GemmMatrix b, float *c,
                     int64_t c_row_stride, bool accumulate) {
  (void)threads, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)b, (void)c, (void)c_row_stride,
      (void)accumulate;
  return false;
}
#endif
