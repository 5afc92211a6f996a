/* torchtext: the class Vocab. */
#include "torchtext/vocab_class.h"

WICK_API wick_status wick_library_init(wick_error **error) {
  return vocab_register(error);
}
