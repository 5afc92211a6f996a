/* Tests read their data by paths from the folder tests/. A program that is run by hand elsewhere goes there first. */
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void go_home(void) {
  if (access("program/linear.pt", R_OK) && chdir(WICK_TESTS))
    fprintf(stderr, "the test's data is missing: %s, where it was built, is not there; run it in tests/\n", WICK_TESTS);
}
