/* half.h with NEON. */
#include "tensor/half.h"

#include <arm_neon.h>

void floats_from_halves_neon(int64_t n, float *to, const uint16_t *from) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) vst1q_f32(to + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from + i))));
  for (; i < n; i++) to[i] = vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(from[i]))), 0);
}
void halves_from_floats_neon(int64_t n, uint16_t *to, const float *from) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + i))));
  for (; i < n; i++) to[i] = vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(from[i]))), 0);
}
