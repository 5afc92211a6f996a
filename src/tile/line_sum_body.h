/* The sums of line_sum.h for one instruction set. The including file defines ELEMENT, what is read, and the names SUM
 * and, where they are wanted, SQUARES. */
#include <stdint.h>

#include "tile/line_sum.h"

enum { WIDTH = 4, VECTORS = 8 };
typedef double Doubles __attribute__((vector_size(WIDTH * sizeof(double))));

#define LOAD(at) ((Doubles){(double)(at)[0], (double)(at)[1], (double)(at)[2], (double)(at)[3]})
#define AS_IS(x) (x)
#define SQUARED(x) ((x) * (x))
/* VECTORS sums side by side, so that an addition needn't wait for the one before; what is left goes to two of them. */
#define LINE(NAME, TERM)                                      \
  double NAME(int64_t n, const ELEMENT *x) {                  \
    Doubles sums[VECTORS] = {0}, term;                        \
    double tail = 0;                                          \
    int64_t i = 0;                                            \
    for (; i + VECTORS * WIDTH <= n; i += VECTORS * WIDTH)    \
      for (int k = 0; k < VECTORS; k++) {                     \
        term = LOAD(x + i + k * WIDTH);                       \
        sums[k] += TERM(term);                                \
      }                                                       \
    Doubles even = (sums[0] + sums[2]) + (sums[4] + sums[6]); \
    Doubles odd = (sums[1] + sums[3]) + (sums[5] + sums[7]);  \
    for (; i + 2 * WIDTH <= n; i += 2 * WIDTH) {              \
      term = LOAD(x + i);                                     \
      even += TERM(term);                                     \
      term = LOAD(x + i + WIDTH);                             \
      odd += TERM(term);                                      \
    }                                                         \
    for (; i < n; i++) tail += TERM((double)x[i]);            \
    even += odd;                                              \
    return (even[0] + even[1]) + (even[2] + even[3]) + tail;  \
  }
LINE(SUM, AS_IS)
#ifdef SQUARES
LINE(SQUARES, SQUARED)
#endif
