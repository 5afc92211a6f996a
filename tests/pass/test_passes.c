/* Runs every tests/pass/<anything>.ir: a line "# pass: name name ...", IR text, a line "---", the expected text (a
 * graph, or "error: " and a message); more such cases may follow behind lines "===". Every pass must have
 * a case, here or in tests/ir. */
#include <dirent.h>
#include <stdlib.h>

#include "../unit/ir_fixture.h"

#include "pass/pass.h"

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, file);
  text[n] = 0;
  fclose(file);
  return text;
}

enum { MAX_PASSES = 256 };
static const Pass *with_case[MAX_PASSES];
static int with_case_count;

static void note_case(const Pass *pass) {
  for (int i = 0; i < with_case_count; i++)
    if (with_case[i] == pass) return;
  assert_true(with_case_count < MAX_PASSES);
  with_case[with_case_count++] = pass;
}

static bool has_case(const Pass *pass) {
  for (int i = 0; i < with_case_count; i++)
    if (with_case[i] == pass) return true;
  return false;
}

/* What is printed reads back as the same, but for tensors of several elements. */
static void check_that_it_reads_back(const char *path, const char *printed) {
  IrText ir;
  StrBuf again = {0};
  if (strstr(printed, "<Tensor>")) return;
  ir_parse(&ir, printed);
  graph_print(ir.graph, false, &again);
  if (strcmp(again.data, printed) != 0) print_error("%s\n", path);
  assert_text(&again, printed);
  ir_dispose(&ir);
}

static void run_case(const char *path, char *text) {
  char *names = strstr(text, "# pass:"), *body = names ? strchr(names, '\n') : NULL,
       *expected = body ? strstr(body, "\n---\n") : NULL;
  if (!expected) fail_msg("%s: a case needs '# pass:' and '---'", path);
  *body++ = 0;
  expected[1] = 0;
  expected += 5;
  IrText ir;
  StrBuf out = {0};
  ir_parse(&ir, body);
  Exec exec;
  exec_init(&exec, NULL);
  Status lint = graph_lint(ir.graph);
  if (lint) fail_msg("%s: %s", path, lint->message);
  for (char *name = strtok(names + 7, " "); name; name = strtok(NULL, " ")) {
    const Pass *pass = pass_find(str_from(name));
    if (!pass) fail_msg("%s: no pass '%s'", path, name);
    note_case(pass);
    Status status = pass_run(pass, ir.graph, &exec);
    if (!status) status = graph_lint(ir.graph);
    if (!status) continue;
    strbuf_printf(&out, "error: %s\n", status->message);
    status_free(status);
    break;
  }
  if (!out.length) graph_print(ir.graph, false, &out);
  if (strcmp(out.data, expected) != 0) print_error("%s\n", path);
  assert_text(&out, expected);
  ir_dispose(&ir);
  if (!str_starts_with(str_from(expected), "error: ")) check_that_it_reads_back(path, expected);
}

static void test_files(void **state) {
  (void)state;
  DIR *folder = opendir("pass");
  assert_non_null(folder);
  int cases = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!str_ends_with(str_from(entry->d_name), ".ir")) continue;
    char path[512];
    snprintf(path, sizeof path, "pass/%s", entry->d_name);
    char *text = read_file(path);
    for (char *next = text, *one; next; cases++) {
      one = next;
      next = strstr(one, "\n===\n");
      if (next) {
        next[1] = 0;
        next += 5;
      }
      run_case(path, one);
    }
    free(text);
  }
  closedir(folder);
  assert_true(cases > 0);
}

/* tests/ir/<program>.<pass>.pass (or pass,pass: the last is meant): of what IR text alone can't write. */
static void note_programs(void) {
  DIR *folder = opendir("ir");
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[256];
    snprintf(name, sizeof name, "%s", entry->d_name);
    char *end = strrchr(name, '.'), *begin = strchr(name, '.');
    if (!end || end == begin || strcmp(end, ".pass") != 0) continue;
    *end = 0;
    char *comma = strrchr(begin, ',');
    const Pass *pass = pass_find(str_from((comma ? comma : begin) + 1));
    if (pass) note_case(pass);
  }
  closedir(folder);
}

static void test_every_pass_has_a_case(void **state) {
  (void)state;
  note_programs();
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass))
    if (!has_case(pass)) fail_msg("no case in tests/pass runs %s", pass->name);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_every_pass_has_a_case)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
