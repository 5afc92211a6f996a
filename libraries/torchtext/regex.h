/* Regular expressions as RE2 has them (https://github.com/google/re2/wiki/Syntax), over UTF-8: literals, ., classes
 * with \d \w \s, groups, |, * + ? {n,m} and their lazy forms, ^ $ \b \B \A \z. What of RE2's is missing is refused:
 * flags but (?:), \p, \Q, [:names:]. Matches take time in proportion to text times pattern, whatever they are. */
#pragma once

#include "kit/kit.h"

typedef struct Regex Regex;
wick_status regex_new(const char *pattern, size_t length, Regex **out, wick_error **error);
void regex_free(Regex *regex);

typedef struct Text {
  char *data;
  size_t length, capacity;
} Text;
wick_status text_append(Text *text, const char *data, size_t length, wick_error **error);
/* Appends `text` to `out` with every match, from left to right, replaced; \0 to \9 in the replacement are groups. */
wick_status regex_replace(const Regex *regex, wick_call *call, const char *text, size_t length, const char *replacement,
                          size_t replacement_length, Text *out, wick_error **error);
