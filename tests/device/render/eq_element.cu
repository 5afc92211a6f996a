extern "C" __global__ void __launch_bounds__(256) wick_kernel(const place n, const u16 *a0, const u16 *a1, b8 *r0) {
  const place first = (place)blockIdx.x * 1024 + threadIdx.x;
  const f32 v1 = f32_of_bf16(a1[0]);
  u16 x0[4];
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
    const f32 v0 = f32_of_bf16(x0[k]);
    const b8 v2 = v0 == v1;
    r0[i] = v2;
  }
}
