typedef unsigned char b8;
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;
typedef ulonglong2 u128;
#define f32_of_bits __uint_as_float
#define bits_of_f32 __float_as_uint
#define f64_of_bits(x) __longlong_as_double((long long)(x))
#define bits_of_f64(x) ((u64)__double_as_longlong(x))
typedef u32 place;
#define FUNCTION static __device__ __forceinline__
FUNCTION i64 i64_of_f32(f32 x) {
  return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (i64)x : (i64)(1ull << 63);
}
FUNCTION i64 i64_of_f64(f64 x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (i64)x : (i64)(1ull << 63);
}
FUNCTION f32 f32_of_f16(u16 h) {
  u32 rest = h & 0x7fffu, bits = bits_of_f32(f32_of_bits(rest << 13) * f32_of_bits(0x77800000u));
  return f32_of_bits((rest >= 0x7c00u ? bits | 0x7f800000u : bits) | (u32)(h & 0x8000u) << 16);
}
FUNCTION u16 f16_of_f32(f32 x) {
  u32 bits = bits_of_f32(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return (u16)(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return (u16)(sign | 0x7c00u);
  if (rest < 0x38800000u) { /* subnormal: the unit is 2^-24 */
    f32 shifted = f32_of_bits(rest) + 0.5f;
    return (u16)(sign | (bits_of_f32(shifted) - 0x3f000000u));
  }
  return (u16)(sign | (rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13);
}
FUNCTION f32 f32_of_bf16(u16 h) { return f32_of_bits((u32)h << 16); }
FUNCTION u16 bf16_of_f32(f32 x) {
  u32 bits = bits_of_f32(x);
  return x != x ? (u16)0x7fc0u : (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
FUNCTION f32 sigmoid_f32(f32 x) { return 1.0f / (1.0f + expf(-x)); }
FUNCTION f64 sigmoid_f64(f64 x) { return 1.0 / (1.0 + exp(-x)); }
FUNCTION f32 within_6_f32(f32 x) { return x > 0 ? x < 6.0f ? x : 6.0f : 0.0f; }
FUNCTION f64 within_6_f64(f64 x) { return x > 0 ? x < 6.0 ? x : 6.0 : 0.0; }
FUNCTION f32 mod_f32(f32 x, f32 y) {
  f32 r = fmodf(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
FUNCTION f64 mod_f64(f64 x, f64 y) {
  f64 r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
FUNCTION f32 floordiv_f32(f32 x, f32 y) {
  if (y == 0) return x / y;
  f32 r = fmodf(x, y), q = (x - r) / y;
  if (r != 0 && (y < 0) != (r < 0)) q -= 1.0f;
  if (q == 0) return copysignf(0.0f, x / y);
  f32 whole = floorf(q);
  return q - whole > 0.5f ? whole + 1.0f : whole;
}
FUNCTION f64 floordiv_f64(f64 x, f64 y) {
  if (y == 0) return x / y;
  f64 r = fmod(x, y), q = (x - r) / y;
  if (r != 0 && (y < 0) != (r < 0)) q -= 1.0;
  if (q == 0) return copysign(0.0, x / y);
  f64 whole = floor(q);
  return q - whole > 0.5 ? whole + 1.0 : whole;
}
FUNCTION i64 truncdiv_i64(i64 x, i64 y) { return y == 0 ? 0 : y == -1 ? (i64)(0 - (u64)x) : x / y; }
FUNCTION i64 fmod_i64(i64 x, i64 y) { return y == 0 || y == -1 ? 0 : x % y; }
FUNCTION i64 mod_i64(i64 x, i64 y) {
  i64 r = fmod_i64(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
FUNCTION i64 floordiv_i64(i64 x, i64 y) {
  i64 r = fmod_i64(x, y), q = truncdiv_i64(x, y);
  return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}
FUNCTION i64 pow_i64(i64 x, i64 y) {
  u64 result = 1, factor = (u64)x;
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  for (; y; y >>= 1, factor *= factor)
    if (y & 1) result *= factor;
  return (i64)result;
}
FUNCTION i64 shl_i64(i64 x, i64 y) { return y < 0 || y > 63 ? 0 : (i64)((u64)x << y); }
FUNCTION i64 shr_i64(i64 x, i64 y) { return y < 0 || y > 63 ? (x < 0 ? -1 : 0) : x >> y; }
FUNCTION i64 gcd_i64(i64 x, i64 y) {
  u64 a = x < 0 ? 0 - (u64)x : (u64)x, b = y < 0 ? 0 - (u64)y : (u64)y;
  while (b) {
    u64 r = a % b;
    a = b;
    b = r;
  }
  return (i64)a;
}
FUNCTION i64 lcm_i64(i64 x, i64 y) {
  i64 g = gcd_i64(x, y), l = g ? (i64)((u64)(x / g) * (u64)y) : 0;
  return l < 0 ? (i64)(0 - (u64)l) : l;
}
#ifdef RENDER_LANES
#define least_f32 (-f32_of_bits(0x7f800000u))
#define least_f64 (-f64_of_bits(0x7ff0000000000000ull))
#define least_i64 (-0x7fffffffffffffffll)
#define exp_f32 expf
#define exp_f64 exp
#define log_f32 logf
#define log_f64 log
#define rsqrt_f32(x) (1.0f / sqrtf(x))
#define rsqrt_f64(x) (1.0 / sqrt(x))
#define LINES(T) \
  FUNCTION T square_##T(T x) { return x * x; } \
  FUNCTION T max_##T(T x, T y) { return y > x || y != y ? y : x; } \
  FUNCTION T min_##T(T x, T y) { return y < x || y != y ? y : x; } \
  ALL(T, sum, x + y) ALL(T, max, max_##T(x, y)) ALL(T, min, min_##T(x, y))
#define ALL(T, name, joined) \
  FUNCTION T all_##name##_##T(u64 *room, T x) { \
    T *const shared = (T *)room + (threadIdx.x - threadIdx.x % RENDER_LANES), y; \
    const u32 lane = threadIdx.x % RENDER_LANES; \
    if (RENDER_LANES == 1) return x; \
    shared[lane] = x; \
    __syncthreads(); \
    for (u32 k = RENDER_LANES / 2; k; k /= 2) { \
      if (lane < k) y = shared[lane + k], shared[lane] = x = joined; \
      __syncthreads(); \
    } \
    x = shared[0]; \
    __syncthreads(); \
    return x; \
  }
LINES(f32)
LINES(f64)
LINES(i64)
#endif
