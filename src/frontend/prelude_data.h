/* The TorchScript sources of prelude/, embedded at build time. */
#pragma once

#include <stddef.h>

struct PreludeFile {
  const char *name; /* without .py; NULL ends the list */
  const char *text;
  size_t length;
};
extern const struct PreludeFile prelude_files[];
