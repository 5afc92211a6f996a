/* wick ops: the operators a program uses, and whether wick has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "call/operator_library.h"
#include "cli/cli.h"
#include "ir/operator_use.h"
#include "serial/archive/used_operators.h"

typedef struct Listing {
  const char *allowed; /* text of --allow, or NULL */
  size_t missing, refused;
} Listing;

static bool is_listed(const char *lines, Str name) {
  while (*lines) {
    size_t length = strcspn(lines, "\r\n");
    if (str_equal((Str){lines, length}, name)) return true;
    lines += length;
    lines += strspn(lines, "\r\n");
  }
  return false;
}

static void list_operator(void *argument, Str name, size_t calls, bool is_known) {
  Listing *listing = argument;
  bool refused = listing->allowed && !is_listed(listing->allowed, name);
  listing->missing += !is_known;
  listing->refused += refused;
  StrBuf why = {0};
  if (!is_known) operator_library_print_reason(name, &why);
  printf("%-40.*s %6zu%s" STR_FMT "%s\n", STR_ARG(name), calls, is_known ? "" : "  not in wick",
         STR_ARG(strbuf_view(&why)), refused ? "  not allowed" : "");
  strbuf_dispose(&why);
}
static void print_library(void *unused, const char *path) {
  (void)unused;
  printf("library %s\n", path);
}
static void list_known(void *argument, Str name, size_t calls) {
  list_operator(argument, name, calls, true);
}

static int list_source(const char *path, const ModelOptions *model, Listing *listing) {
  wick_error *error;
  wick_module *module = model_open(path, model, &error);
  if (!module) {
    if (error) complain_error(path, error);
    return EXIT_USAGE;
  }
  Status status = unit_each_operator(module->unit, list_known, listing);
  wick_module_release(module);
  if (status) complain_error(path, (wick_error *)status);
  return status ? EXIT_USAGE : EXIT_DONE;
}

static int list_archive(const char *path, Listing *listing) {
  Exec exec;
  ByteSource *source;
  api_exec_init(&exec, NULL);
  Status status = byte_source_open(path, true, &source);
  if (!status) {
    status = used_operators_of_archive(source, &exec, listing->allowed, list_operator, listing);
    byte_source_release(source);
  }
  if (!status) return EXIT_DONE;
  complain_error(path, (wick_error *)status);
  return EXIT_USAGE;
}

static int run(const Command *command, int count, char **words) {
  const char *allow = NULL;
  ModelOptions model = {0};
  const Option options[] = {
      {"--allow", OPTION_TEXT, &allow, "FILE  names of operators, one a line: exit 1 when the program uses others"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  Listing listing = {0};
  char *text = NULL;
  size_t length;
  if (allow && !(text = file_read(allow, &length))) return EXIT_USAGE;
  listing.allowed = text;
  result = is_source_file(words[0]) ? list_source(words[0], &model, &listing) : list_archive(words[0], &listing);
  free(text);
  operator_library_each(print_library, NULL);
  if (result == EXIT_DONE && (listing.missing || listing.refused)) result = EXIT_FAILED;
  return result;
}

const Command command_ops = {"ops", "MODEL", "list the operators the program uses", run};
