/* Machine code: it runs, no page is writable and executable, guards stand around it, the bound holds, a refusal of the
 * system is an error with a name, and after a fork neither side sees what the other writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine_code.h"
#include "base/memory.h"

/* A function that answers `number`. */
static size_t write_answer(uint8_t *to, uint32_t number) {
#if defined(__x86_64__)
  to[0] = 0xb8;
  memcpy(to + 1, &number, 4);
  to[5] = 0xc3;
  return 6;
#elif defined(__aarch64__)
  uint32_t words[2] = {0x52800000u | (number & 0xffff) << 5, 0xd65f03c0u};
  memcpy(to, words, 8);
  return 8;
#else
  (void)to, (void)number;
  return 0;
#endif
}

static int call(const MachineCode *code) {
  int (*function)(void);
  const void *start = machine_code_start(code);
  memcpy(&function, &start, sizeof function);
  return function();
}

static MachineCode *make(uint32_t number, size_t size) {
  uint8_t *bytes = calloc(1, size);
  write_answer(bytes, number);
  MachineCode *code;
  assert_null(machine_code_new(bytes, size, &code));
  free(bytes);
  return code;
}

static int set_up(void **state) {
  (void)state;
  uint8_t bytes[16];
  machine_code_refuse(0);
  machine_code_set_max(0);
  if (!write_answer(bytes, 1)) skip();
  return 0;
}

/* What /proc says of the page at an address: 'r', 'w', 'x' as it does; "" where nothing is mapped. */
static void access_at(uintptr_t address, char out[5]) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  unsigned long from, to;
  char access[8];
  out[0] = 0;
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &from, &to, access) == 3 && address >= from && address < to) memcpy(out, access, 5);
  fclose(maps);
}

static void expect_access(const MachineCode *code) {
  uintptr_t start = (uintptr_t)machine_code_start(code), page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t region = start / page * page;
  char access[5];
  access_at(start, access);
  assert_memory_equal(access, "r-x", 3);
  for (access_at(region, access); access[2] == 'x'; access_at(region, access)) region -= page;
  assert_memory_equal(access, "---", 3);
  for (region = start, access_at(region, access); access[2] == 'x'; access_at(region, access)) region += page;
  assert_memory_equal(access, "---", 3);
}

static void expect_nothing_writable_and_executable(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps)) assert_null(strstr(line, " rwx"));
  fclose(maps);
}

static void test_code_runs(void **state) {
  (void)state;
  for (unsigned ways = 0; ways < 2; ways++) {
    machine_code_refuse(ways ? MACHINE_CODE_REFUSE_MEMFD : 0);
    MachineCode *codes[100];
    for (int i = 0; i < 100; i++) codes[i] = make((uint32_t)i, (size_t)16 + (size_t)(i % 7) * 100);
    expect_access(codes[0]);
    expect_access(codes[99]);
    expect_nothing_writable_and_executable();
    for (int i = 0; i < 100; i += 2) machine_code_free(codes[i]);
    for (int i = 0; i < 100; i += 2) codes[i] = make((uint32_t)(1000 + i), 64);
    for (int i = 0; i < 100; i++) {
      assert_int_equal(call(codes[i]), i % 2 ? i : 1000 + i);
      assert_int_equal((uintptr_t)machine_code_start(codes[i]) % 64, 0);
    }
    assert_true(machine_code_held() > 0);
    for (int i = 0; i < 100; i++) machine_code_free(codes[i]);
    assert_int_equal(machine_code_held(), 0);
  }
}

static void test_large_code_has_its_own_pages(void **state) {
  (void)state;
  MachineCode *code = make(7, 3 << 20);
  assert_int_equal(call(code), 7);
  assert_int_equal(machine_code_size(code), 3 << 20);
  expect_access(code);
  machine_code_free(code);
  assert_int_equal(machine_code_held(), 0);
}

static void expect_error(size_t size, ErrorCode code, const char *message) {
  uint8_t *bytes = calloc(1, size + 16);
  MachineCode *made;
  Status status = machine_code_new(bytes, size, &made);
  assert_non_null(status);
  assert_null(made);
  assert_int_equal(status->code, code);
  if (!strstr(status->message, message)) fail_msg("%s", status->message);
  status_free(status);
  free(bytes);
}

static void test_refusals_have_names(void **state) {
  (void)state;
  machine_code_refuse(MACHINE_CODE_REFUSE_MEMFD | MACHINE_CODE_REFUSE_PROTECT);
  assert_true(machine_code_is_allowed());
  expect_error(10, ERROR_UNSUPPORTED, "the system refuses executable memory");
  assert_false(machine_code_is_allowed());
  expect_error(10, ERROR_UNSUPPORTED, "the system refuses executable memory");
  machine_code_refuse(0);
  assert_true(machine_code_is_allowed());
  expect_error(0, ERROR_INVALID_ARGUMENT, "0 bytes");
  expect_error((size_t)MACHINE_CODE_MAX + 1, ERROR_INVALID_ARGUMENT, "bytes");
}

static void test_the_bound_holds(void **state) {
  (void)state;
  machine_code_set_max(10000);
  MachineCode *small = make(3, 100);
  expect_error(10000, ERROR_OUT_OF_MEMORY, "more than 10000 bytes");
  assert_true(machine_code_is_allowed());
  assert_int_equal(call(small), 3);
  machine_code_free(small);
}

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  uint8_t bytes[16];
  size_t size = write_answer(bytes, 5);
  int failures = 0;
  for (int64_t n = 1;; n++) {
    MachineCode *code;
    mem_fail_after(n);
    Status status = machine_code_new(bytes, size, &code);
    mem_fail_after(0);
    if (!status) {
      assert_int_equal(call(code), 5);
      machine_code_free(code);
      break;
    }
    assert_int_equal(status->code, ERROR_OUT_OF_MEMORY);
    status_free(status);
    failures++;
  }
  assert_int_equal(failures, 2);
  assert_int_equal(machine_code_held(), 0);
  assert_true(machine_code_is_allowed());
}

/* The child keeps the code it came with, while its parent frees it and writes other code, and the reverse. */
static void test_forks_share_no_new_code(void **state) {
  (void)state;
  MachineCode *before = make(1, 64), *other = make(2, 64);
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  pid_t child = fork();
  if (!child) {
    char byte;
    close(pipes[1]);
    machine_code_free(other);
    MachineCode *mine = make(30, 64);
    bool is_right = read(pipes[0], &byte, 1) == 1 && call(before) == 1 && call(mine) == 30;
    machine_code_free(before);
    machine_code_free(mine);
    _exit(is_right && machine_code_held() == 0 ? 0 : 1);
  }
  machine_code_free(before);
  MachineCode *mine = make(40, 64);
  assert_int_equal(write(pipes[1], "x", 1), 1);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(call(other), 2);
  assert_int_equal(call(mine), 40);
  machine_code_free(other);
  machine_code_free(mine);
  close(pipes[0]);
  close(pipes[1]);
  assert_int_equal(machine_code_held(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_code_runs, set_up),
      cmocka_unit_test_setup(test_large_code_has_its_own_pages, set_up),
      cmocka_unit_test_setup(test_refusals_have_names, set_up),
      cmocka_unit_test_setup(test_the_bound_holds, set_up),
      cmocka_unit_test_setup(test_every_allocation_may_fail, set_up),
      cmocka_unit_test_setup(test_forks_share_no_new_code, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
