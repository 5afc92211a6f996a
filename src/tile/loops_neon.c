/* The vectorized loops with NEON, fused multiplication and addition, and half conversions. */
#include <arm_neon.h>
#include <stdint.h>

#define TILE_LOOPS tile_loops_neon
#define FUSED 1
/* Compilers don't vectorize these conversions by themselves. */
static inline float half_to_f32(uint16_t bits) {
  return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))), 0);
}
static inline uint16_t half_of_f32(float x) {
  return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(x))), 0);
}
static void load_half(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  float *to = to_block;
  const uint16_t *a = a_block;
  int64_t i = 0;
  (void)b_block, (void)c_block;
  for (; i + 4 <= n; i += 4) vst1q_f32(to + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(a + i))));
  for (; i < n; i++) to[i] = half_to_f32(a[i]);
}
static void store_half(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  uint16_t *to = to_block;
  const float *a = a_block;
  int64_t i = 0;
  (void)b_block, (void)c_block;
  for (; i + 4 <= n; i += 4) vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(a + i))));
  for (; i < n; i++) to[i] = half_of_f32(a[i]);
}
#define HALF_LOOPS
#include "tile/loops_body.h"
