/* Random networks do in every executor what they do as written, failing calls too.
 *
 * WICK_RANDOM_PROGRAMS is how many (PROGRAMS by default), WICK_RANDOM_SEED the first one's seed. */
#include <stdlib.h>

#include "../unit/as_written.h"
#include "report/reason.h"
#include "network_text.h"

#ifdef __SANITIZE_THREAD__
enum { PROGRAMS = 20 }; /* one thread, which the sanitizer makes slow and has nothing to say about */
#elif defined(__SANITIZE_ADDRESS__)
enum { PROGRAMS = 100 };
#else
enum { PROGRAMS = 500 };
#endif

static int64_t setting(const char *name, int64_t fallback) {
  const char *text = getenv(name);
  int64_t value;
  return text && str_to_int64(str_from(text), 10, &value) ? value : fallback;
}

static bool check_network(uint64_t seed) {
  StrBuf text = {0};
  char name[64];
  bool acts = network_text(seed, &text);
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  bool fine = runs_as_written(name, strbuf_view(&text), 1e-3, !acts);
  strbuf_dispose(&text);
  return fine;
}

static void test_random_networks(void **state) {
  (void)state;
  int64_t fallback = getenv("WICK_TEST_EMULATED") ? PROGRAMS / 10 : PROGRAMS;
  int64_t count = setting("WICK_RANDOM_PROGRAMS", fallback), first = setting("WICK_RANDOM_SEED", 1), wrong = 0;
  for (int64_t i = 0; i < count && wrong < 5; i++) {
    wrong += !check_network((uint64_t)(first + i));
    if (i % 1000 == 999) print_message("%lld networks, %lld wrong\n", (long long)(i + 1), (long long)wrong);
  }
  print_message("%lld calls were fine, %lld failed\n", (long long)as_written_fine, (long long)as_written_failing);
  assert_int_equal(wrong, 0);
  assert_int_equal(reason_count(REASON_PLAN_FAILED_ALONE), 0); /* where the program as written does not */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
