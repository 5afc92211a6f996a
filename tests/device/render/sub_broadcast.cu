struct wick_kernel_layout {
  place sizes[2], strides[2][2];
};
extern "C" __global__ void __launch_bounds__(256) wick_kernel(const place n, const f32 *a0, const f32 *a1, f32 *r0, const struct wick_kernel_layout l) {
  const place first = (place)blockIdx.x * 1024 + threadIdx.x;
  f32 x0[4];
  f32 x1[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    place o0 = 0;
    place o1 = 0;
    place rest = i, at;
    at = rest % l.sizes[1], rest /= l.sizes[1];
    o0 += at * l.strides[0][1];
    o1 += at * l.strides[1][1];
    at = rest;
    o0 += at * l.strides[0][0];
    o1 += at * l.strides[1][0];
    x0[k] = a0[o0];
    x1[k] = a1[o1];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    const f32 v0 = x0[k];
    const f32 v1 = x1[k];
    const f32 v3 = v0 - v1;
    r0[i] = v3;
  }
}
