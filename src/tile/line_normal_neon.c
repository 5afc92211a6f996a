/* Moments and normalization of a line with NEON. */
#define NAME line_normal_neon
#include "tile/line_normal_body.h"
