/* torchtext: the classes Vocab and RegexTokenizer. */
#include "kit/kit.h"
#include "torchtext/tokenizer_class.h"
#include "torchtext/vocab_class.h"

WICK_API wick_status wick_library_init(wick_error **error) {
  TRY(vocab_register(error));
  return tokenizer_register(error);
}
