extern "C" __global__ void __launch_bounds__(256) wick_kernel(const place n, const f64 *a0, const f64 *a1, f64 *r0) {
  const place first = (place)blockIdx.x * 1024 + threadIdx.x;
  f64 x0[4];
  f64 x1[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    x0[k] = a0[i];
    x1[k] = a1[i];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    const f64 v0 = x0[k];
    const f64 v1 = x1[k];
    const f64 v3 = v0 - v1;
    r0[i] = v3;
  }
}
