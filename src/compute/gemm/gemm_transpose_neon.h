/* Blocks of float32 for gemm_template.h's packing, with NEON's vectors. */
#pragma once

#include <arm_neon.h>
#include <stdint.h>

static inline void gemm_transpose_4(float *to, int64_t to_stride, const float *from, int64_t from_stride) {
  float32x4x2_t ab = vtrnq_f32(vld1q_f32(from), vld1q_f32(from + from_stride));
  float32x4x2_t cd = vtrnq_f32(vld1q_f32(from + 2 * from_stride), vld1q_f32(from + 3 * from_stride));
  vst1q_f32(to, vcombine_f32(vget_low_f32(ab.val[0]), vget_low_f32(cd.val[0])));
  vst1q_f32(to + to_stride, vcombine_f32(vget_low_f32(ab.val[1]), vget_low_f32(cd.val[1])));
  vst1q_f32(to + 2 * to_stride, vcombine_f32(vget_high_f32(ab.val[0]), vget_high_f32(cd.val[0])));
  vst1q_f32(to + 3 * to_stride, vcombine_f32(vget_high_f32(ab.val[1]), vget_high_f32(cd.val[1])));
}
