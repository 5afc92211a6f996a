/* What measured calls take of energy. */
#pragma once

#include "cli/cli.h"

enum { ENERGY_ZONES = 16 };
typedef struct Energy {
  double start[ENERGY_ZONES]; /* of each package; negative: there is none */
  size_t count;
} Energy;
void energy_begin(Energy *energy);
/* Since then, of the whole machine's packages; negative: the machine doesn't tell it. */
double energy_joules(const Energy *energy);
