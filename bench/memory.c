/* What nets take in memory: prints one JSON object, in MiB of this process that are in memory beyond what it had at its
 * start. usage: memory read|map MODEL             one net, again and again
 *               memory read|map COUNT MODEL...    as many loads, calls and releases, of one net after the other */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wick/wick.h"

enum { SIDE = 224, CALLS = 8 };

static double read_mib(const char *file, const char *key) {
  char line[256];
  double kib = 0;
  FILE *f = fopen(file, "r");
  while (f && fgets(line, sizeof line, f))
    if (!strncmp(line, key, strlen(key))) kib = atof(line + strlen(key));
  if (f) fclose(f);
  return kib / 1024;
}
static double resident(void) {
  return read_mib("/proc/self/smaps_rollup", "Rss:");
}

static void check(wick_status status, wick_error *error) {
  if (!status) return;
  fprintf(stderr, "memory: %s\n", wick_error_message(error));
  exit(1);
}

static wick_module *load(const char *path, uint32_t mode, uint32_t shares) {
  wick_load_options options = {.size = sizeof options, .mode = mode, .share_weights = shares};
  wick_module *module;
  wick_error *error = NULL;
  check(wick_load(NULL, path, &options, &module, &error), error);
  return module;
}

static void call(wick_module *module, wick_value *image, int times) {
  for (int i = 0; i < times; i++) {
    wick_value *out;
    wick_error *error = NULL;
    check(wick_forward(module, &image, 1, &out, &error), error);
    wick_value_release(out);
    if (times > 1) wick_wait_for_plans();
  }
}

static wick_value *make_image(void) {
  static float pixels[3 * SIDE * SIDE];
  wick_value *image;
  wick_error *error = NULL;
  check(wick_tensor_borrow(pixels, WICK_FLOAT32, 4, (const int64_t[]){1, 3, SIDE, SIDE}, NULL, NULL, NULL, &image,
                           &error),
        error);
  return image;
}

static void measure_one(const char *path, uint32_t mode, wick_value *image) {
  wick_error *error = NULL;
  double start = resident();
  wick_module *first = load(path, mode, 1);
  call(first, image, 1);
  double peak = read_mib("/proc/self/status", "VmHWM:") - start;
  call(first, image, CALLS);
  double settled = resident();
  wick_module *second = load(path, mode, 0);
  call(second, image, CALLS);
  double twice = resident();
  wick_module *alike = load(path, mode, 1);
  call(alike, image, CALLS);
  double shared = resident();
  wick_module *clone;
  check(wick_module_clone(first, NULL, 0, &clone, &error), error);
  call(clone, image, CALLS);
  double cloned = resident();
  wick_module_release(clone);
  wick_module_release(alike);
  wick_module_release(second);
  wick_module_release(first);
  double released = resident();
  printf("{\"first\": %.1f, \"peak\": %.1f, \"second\": %.1f, \"shared\": %.1f, \"clone\": %.1f, \"left\": %.1f}\n",
         settled - start, peak, twice - settled, shared - twice, cloned - shared, released - start);
}

/* With one of them loaded, the most of the first round and of all. */
static void measure_in_turn(int rounds, int nets, char **paths, uint32_t mode, wick_value *image) {
  double start = resident(), early = 0, most = 0;
  for (int i = 0; i < rounds; i++) {
    wick_module *module = load(paths[i % nets], mode, 0);
    call(module, image, 2);
    double now = resident() - start;
    if (now > most) most = now;
    if (i < nets) early = most;
    wick_module_release(module);
  }
  printf("{\"early\": %.1f, \"most\": %.1f, \"left\": %.1f}\n", early, most, resident() - start);
}

int main(int count, char **words) {
  if (count < 3) return 2;
  uint32_t mode = strcmp(words[1], "map") ? WICK_LOAD_READ : WICK_LOAD_MAP;
  wick_value *image = make_image();
  if (count == 3)
    measure_one(words[2], mode, image);
  else
    measure_in_turn(atoi(words[2]), count - 3, words + 3, mode, image);
  wick_value_release(image);
  return 0;
}
