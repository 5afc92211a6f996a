/* The class Vocab for programs. */
#pragma once

#include "wick/library.h"

wick_status vocab_register(wick_error **error);
