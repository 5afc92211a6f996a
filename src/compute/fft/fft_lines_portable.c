/* Fourier transforms of groups of lines. */
#include "compute/fft/fft_plan.h"

#define NUMBER float
#define LANES 8
#define NAMED(name) name##_float_portable
#include "compute/fft/fft_lines_body.h"
#undef NUMBER
#undef LANES
#undef NAMED

#define NUMBER double
#define LANES 4
#define NAMED(name) name##_double_portable
#include "compute/fft/fft_lines_body.h"
