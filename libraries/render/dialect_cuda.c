/* CUDA C, as NVRTC compiles it: its math functions and those between bits and floats are built in. */
#include "render/render.h"

const Dialect dialect_cuda = {
    .name = "cuda",
    .prelude =
        "typedef unsigned char b8;\ntypedef unsigned char u8;\ntypedef signed char s8;\n"
        "typedef unsigned short u16;\ntypedef short s16;\ntypedef unsigned int u32;\ntypedef int s32;\n"
        "typedef unsigned long long u64;\ntypedef long long i64;\ntypedef float f32;\ntypedef double f64;\n"
        "typedef ulonglong2 u128;\n"
        "#define f32_of_bits __uint_as_float\n#define bits_of_f32 __float_as_uint\n"
        "#define f64_of_bits(x) __longlong_as_double((long long)(x))\n"
        "#define bits_of_f64(x) ((u64)__double_as_longlong(x))\n",
    .function = "static __device__ __forceinline__",
    .entry = "extern \"C\" __global__ void __launch_bounds__(256) %s",
    .pointer = "%s%s *",
    .first = "(place)blockIdx.x * %d + threadIdx.x",
    .unroll = "#pragma unroll"};
