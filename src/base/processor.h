/* The one place that knows instruction sets. What is worth it has several forms in files by suffix, compiled as
 * cmake/simd.cmake says: x_portable for what every processor of the architecture has, x_avx2 (with FMA and F16C) and
 * here and there x_avx512 on x86-64, x_neon on AArch64, of which each has NEON with fused multiply-add. */
#pragma once

#include <stdbool.h>

#if defined(__x86_64__)
/* f16c came before avx2, and clang can't ask for it. */
#define PROCESSOR_HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define PROCESSOR_HAS_AVX512 \
  (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
/* The address of this processor's form of `name`; all forms, of which this processor can run the first
 * PROCESSOR_FORM_COUNT. */
#define PROCESSOR_FORM(name) (PROCESSOR_HAS_AVX2 ? &name##_avx2 : &name##_portable)
#define PROCESSOR_FORMS(name) &name##_portable, &name##_avx2
#define PROCESSOR_FORM_COUNT (PROCESSOR_HAS_AVX2 ? 2 : 1)
/* The same for what has a form with 512-bit vectors besides. */
#define PROCESSOR_WIDE_FORM(name) (PROCESSOR_HAS_AVX512 ? &name##_avx512 : PROCESSOR_FORM(name))
#define PROCESSOR_WIDE_FORMS(name) PROCESSOR_FORMS(name), &name##_avx512
#define PROCESSOR_WIDE_FORM_COUNT (PROCESSOR_FORM_COUNT + (PROCESSOR_HAS_AVX512 ? 1 : 0))
#else
#define PROCESSOR_HAS_AVX2 false
#define PROCESSOR_HAS_AVX512 false
#if defined(__aarch64__)
#define PROCESSOR_FORM(name) (&name##_neon)
#define PROCESSOR_FORMS(name) &name##_portable, &name##_neon
#define PROCESSOR_FORM_COUNT 2
#else
#define PROCESSOR_FORM(name) (&name##_portable)
#define PROCESSOR_FORMS(name) &name##_portable
#define PROCESSOR_FORM_COUNT 1
#endif
#define PROCESSOR_WIDE_FORM(name) PROCESSOR_FORM(name)
#define PROCESSOR_WIDE_FORMS(name) PROCESSOR_FORMS(name)
#define PROCESSOR_WIDE_FORM_COUNT PROCESSOR_FORM_COUNT
#endif
