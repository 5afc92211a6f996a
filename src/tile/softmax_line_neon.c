/* Lines of softmax with NEON. */
#define NAME softmax_line_neon
#define FUSED 1
#include "tile/softmax_line_body.h"
