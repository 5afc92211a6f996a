/* Vectors for the loops of quantized_loops_body.h: as many lanes as a register of the instruction set that the file is
 * compiled for. Integers wrap. The compiler's own vector operations do all but changes of width. */
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(__AVX512BW__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
#define INLINE static inline __attribute__((always_inline))

typedef int32_t Ints __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef uint32_t Words __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef float Floats __attribute__((vector_size(LANES * sizeof(float))));

INLINE Words words_at(const int32_t *p) {
  Words all;
  memcpy(&all, p, sizeof all);
  return all;
}
INLINE Floats floats_at(const float *p) {
  Floats all;
  memcpy(&all, p, sizeof all);
  return all;
}
/* Between limits that are integers, far below 2^22; a NaN becomes the lower one. Then to the nearest, ties to even. */
INLINE Ints limited_integers(Floats x, Floats low, Floats high) {
#if defined(__AVX512BW__)
  return (Ints)_mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps((__m512)x, (__m512)low), (__m512)high));
#elif defined(__AVX2__)
  return (Ints)_mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps((__m256)x, (__m256)low), (__m256)high));
#else
  const Floats shift = 0x1.8p23f - (Floats){0};
  Ints above = x > low;
  x = (Floats)((above & (Ints)x) | (~above & (Ints)low));
  Ints below = x < high;
  x = (Floats)((below & (Ints)x) | (~below & (Ints)high));
  return __builtin_convertvector((x + shift) - shift, Ints);
#endif
}

/* LANES numbers, widened. */
INLINE Words bytes_at(const uint8_t *p) {
#if defined(__AVX512BW__)
  return (Words)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
#elif defined(__AVX2__)
  return (Words)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
#else
  return (Words){p[0], p[1], p[2], p[3]};
#endif
}
INLINE Words shorts_at(const int16_t *p) {
#if defined(__AVX512BW__)
  return (Words)_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__AVX2__)
  return (Words)_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p));
#else
  return (Words)(Ints){p[0], p[1], p[2], p[3]};
#endif
}

/* The low bytes of the first n lanes (all where there are more). */
INLINE void store_bytes(uint8_t *to, int64_t n, Words all) {
#if defined(__AVX512BW__)
  __m128i packed = _mm512_cvtepi32_epi8((__m512i)all);
  if (n >= LANES)
    _mm_storeu_si128((__m128i *)to, packed);
  else
    _mm_mask_storeu_epi8(to, (__mmask16)((1u << n) - 1), packed);
#else
#if defined(__AVX2__)
  const __m256i low = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1,
                                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i bytes = _mm256_shuffle_epi8((__m256i)all, low);
  uint64_t packed = (uint32_t)_mm256_extract_epi32(bytes, 0) | (uint64_t)(uint32_t)_mm256_extract_epi32(bytes, 4) << 32;
#else
  uint32_t packed = 0;
  for (int i = 0; i < LANES; i++) packed |= (all[i] & 0xff) << 8 * i;
#endif
  if (n >= LANES)
    memcpy(to, &packed, sizeof packed);
  else
    for (int64_t i = 0; i < n; i++) to[i] = (uint8_t)(packed >> 8 * i);
#endif
}
