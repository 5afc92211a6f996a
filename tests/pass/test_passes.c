/* Runs every tests/pass/<anything>.ir: a line "# pass: name name ...", IR text, a line "---", the expected text (a
 * graph, or "error: " and a message); more such cases may follow after lines "===". Every pass must have a file of its
 * name with a case, here or in tests/ir, and bear one name in all places. */
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
/* ---- one name ---- */

static bool file_exists(const char *path) {
  FILE *file = fopen(path, "r");
  if (file) fclose(file);
  return file != NULL;
}

/* A case of tests/pass/NAME.ir runs the pass. */
static bool has_text(const Pass *pass) {
  char path[256], word[128];
  bool found = false;
  snprintf(path, sizeof path, "pass/%s.ir", pass->name);
  snprintf(word, sizeof word, " %s", pass->name);
  if (!file_exists(path)) return false;
  char *text = read_file(path);
  for (char *line = text; !found && (line = strstr(line, "# pass:")); line++) {
    char *at = line, *end = line + strcspn(line, "\n");
    while (!found && (at = strstr(at, word)) && at < end) {
      at += strlen(word);
      found = *at == ' ' || *at == '\n';
    }
  }
  free(text);
  return found;
}

/* tests/ir/PROGRAM.A,B,NAME.pass is what comes of a program. */
static bool has_program(const Pass *pass) {
  DIR *folder = opendir("ir");
  bool found = false;
  assert_non_null(folder);
  for (struct dirent *entry; !found && (entry = readdir(folder));) {
    char name[256];
    snprintf(name, sizeof name, "%s", entry->d_name);
    char *end = strrchr(name, '.'), *begin = strchr(name, '.');
    if (!end || end == begin || strcmp(end, ".pass") != 0) continue;
    *end = 0;
    char *comma = strrchr(begin, ',');
    found = !strcmp((comma ? comma : begin) + 1, pass->name);
  }
  closedir(folder);
  return found;
}

/* FILE.c in a folder of sources, or in one of its rooms. */
static char *read_source(const char *folder, const char *file) {
  char path[512];
  char *text = NULL;
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  for (struct dirent *entry; !text && (entry = readdir(entries));) {
    if (entry->d_name[0] == '.') continue;
    size_t length = strlen(entry->d_name);
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (length > 2 && !strcmp(entry->d_name + length - 2, ".c")) {
      if (strlen(file) == length - 2 && !strncmp(file, entry->d_name, length - 2)) text = read_file(path);
    } else if (entry->d_type == DT_DIR) {
      text = read_source(path, file);
    }
  }
  closedir(entries);
  return text;
}

/* The file has its name, defines the function of the pass's name, calls it in the row, and logs under its own name. */
static bool has_source(const Pass *pass) {
  char function[160], *text = read_source("../src", pass->file);
  if (!text) return false;
  snprintf(function, sizeof function, " %s(Graph *graph", pass->name);
  char *definition = strstr(text, function), *row = strstr(text, "\nPASS"), *call = NULL;
  while (definition && definition[strcspn(definition, ";{")] != '{') definition = strstr(definition + 1, function);
  bool is_static = false;
  if (definition) {
    char *line = definition;
    while (line > text && line[-1] != '\n') line--;
    is_static = !strncmp(line, "static", 6);
  }
  snprintf(function, sizeof function, "(%s, ", pass->name);
  for (; row && !call; row = strstr(row + 1, "\nPASS"))
    if (strstr(row, function) && strstr(row, function) < row + 16) call = row;
  free(text);
  return definition && !is_static && call;
}

static void test_every_pass_has_one_name(void **state) {
  (void)state;
  bool fine = true;
  for (const Pass *pass = pass_next(NULL); pass; pass = pass_next(pass)) {
    if (!has_text(pass) && !has_program(pass)) {
      print_error("no case of tests/pass/%s.ir or tests/ir/*.%s.pass runs it\n", pass->name, pass->name);
      fine = false;
    }
    if (!has_source(pass)) {
      print_error("no %s.c of src/ defines %s and its row\n", pass->file, pass->name);
      fine = false;
    }
    if (pass_find(str_from(pass->name)) != pass || (pass->also && pass_find(str_from(pass->also)) != pass)) {
      print_error("%s is not found by its names\n", pass->name);
      fine = false;
    }
  }
  assert_true(fine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_every_pass_has_one_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
