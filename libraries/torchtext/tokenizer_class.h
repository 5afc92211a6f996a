/* The class RegexTokenizer for programs. */
#pragma once

#include "wick/library.h"

wick_status tokenizer_register(wick_error **error);
