/* Convolution by oneDNN. */
#include "op/conv.h"

Status conv_forward_onednn(Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *weight, const Tensor *bias, Tensor *out, bool *done) {
  (void)exec, (void)p, (void)input, (void)weight, (void)bias, (void)out;
  *done = false;
  return OK;
}
