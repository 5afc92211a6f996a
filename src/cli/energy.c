/* Energy of the processors' packages, where the kernel tells it: the counters of Linux's powercap. */
#include <stdlib.h>
#include <string.h>

#include "cli/energy.h"

static const char *folder(void) {
  const char *named = getenv("WICK_POWERCAP"); /* for tests */
  return named ? named : "/sys/class/powercap";
}
/* Microjoules; negative: it isn't there, or not for this user. */
static double read_number(int zone, const char *name) {
  char path[512];
  double number = -1;
  snprintf(path, sizeof path, "%s/intel-rapl:%d/%s", folder(), zone, name);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%lf", &number) != 1) number = -1;
  if (file) fclose(file);
  return number;
}

void energy_begin(Energy *energy) {
  energy->count = 0;
  for (int zone = 0; zone < ENERGY_ZONES; zone++)
    if ((energy->start[zone] = read_number(zone, "energy_uj")) >= 0) energy->count++;
}
/* A counter begins anew at its range. */
double energy_joules(const Energy *energy) {
  double sum = 0;
  if (!energy->count) return -1;
  for (int zone = 0; zone < ENERGY_ZONES; zone++) {
    if (energy->start[zone] < 0) continue;
    double now = read_number(zone, "energy_uj"), range = read_number(zone, "max_energy_range_uj");
    if (now < 0) return -1;
    sum += now >= energy->start[zone] ? now - energy->start[zone] : now + (range > 0 ? range : 0) - energy->start[zone];
  }
  return sum > 0 ? sum / 1e6 : 0;
}
