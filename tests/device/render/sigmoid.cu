extern "C" __global__ void __launch_bounds__(256) wick_kernel(const place n, const f32 *a0, f32 *r0) {
  const place first = (place)blockIdx.x * 1024 + threadIdx.x;
  f32 x0[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    x0[k] = a0[i];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    const f32 v0 = x0[k];
    const f32 v1 = sigmoid_f32(v0);
    r0[i] = v1;
  }
}
