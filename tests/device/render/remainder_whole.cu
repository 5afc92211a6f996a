struct wick_kernel_layout {
  place sizes[2], strides[1][2];
};
extern "C" __global__ void __launch_bounds__(256) wick_kernel(const place n, const s32 *a0, const u8 *a1, s32 *r0, const struct wick_kernel_layout l) {
  const place first = (place)blockIdx.x * 1024 + threadIdx.x;
  s32 x0[4];
  u8 x1[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    place o0 = 0;
    place rest = i, at;
    at = rest % l.sizes[1], rest /= l.sizes[1];
    o0 += at * l.strides[0][1];
    at = rest;
    o0 += at * l.strides[0][0];
    x0[k] = a0[i];
    x1[k] = a1[o0];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const place i = first + k * 256;
    if (i >= n) break;
    const i64 v0 = (i64)x0[k];
    const i64 v1 = (i64)x1[k];
    const i64 v2 = mod_i64(v0, v1);
    r0[i] = (s32)v2;
  }
}
