/* Names of activations. */
#include "compute/conv/conv_epilogue.h"

static const char *const names[] = {
#define X(name, text) text,
    CONV_ACTIVATIONS(X)
#undef X
};

const char *conv_activation_name(ConvActivation activation) {
  return names[activation];
}

ConvActivation conv_activation_find(Str name) {
  for (int i = 0; i < CONV_ACTIVATION_COUNT; i++)
    if (str_is(name, names[i])) return (ConvActivation)i;
  return CONV_NONE;
}
