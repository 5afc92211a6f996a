/* Lines of softmax for every processor, and which form this one takes. */
#include "base/processor.h"
#define NAME softmax_line_portable
#define FUSED 0
#include "compute/norm/softmax_line_body.h"

SoftmaxLine *softmax_line(void) {
  return PROCESSOR_WIDE_FORM(softmax_line);
}
