/* Flame graphs of profiles. */
#pragma once

#include "cli/cli.h"

/* Folded stacks, as WICK_PROFILE_FOLDED gives them, as a picture. false: out of memory. */
bool flame_draw(const char *folded, const char *title, size_t calls, FILE *to);
