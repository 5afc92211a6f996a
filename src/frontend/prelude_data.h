/* The TorchScript sources of prelude/, embedded at build time, cut into what they define. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A def, class or assignment with its decorators and the blank lines after it. */
struct PreludeDefinition {
  const char *name; /* of overloads: name, name__1, ... */
  const char *text;
  size_t length;
  uint32_t line; /* within the file, from 1 */
};

struct PreludeFile {
  const char *name;                            /* without .py; NULL ends the list */
  const struct PreludeDefinition *definitions; /* in the order of strcmp on their names */
  size_t count;
};
extern const struct PreludeFile prelude_files[];
