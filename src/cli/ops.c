/* wick ops: the operators a program uses, and whether wick has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct Listing {
  const char *allowed; /* text of --allow, or NULL */
  size_t missing, refused;
} Listing;

static bool is_listed(const char *lines, const char *name) {
  while (*lines) {
    size_t length = strcspn(lines, "\r\n");
    if (strlen(name) == length && !memcmp(lines, name, length)) return true;
    lines += length;
    lines += strspn(lines, "\r\n");
  }
  return false;
}

static int list_operator(void *argument, const char *name, size_t calls, int is_known) {
  Listing *listing = argument;
  bool refused = listing->allowed && !is_listed(listing->allowed, name);
  const char *why = is_known ? "" : wick_op_missing(name);
  listing->missing += !is_known;
  listing->refused += refused;
  printf("%-40s %6zu%s", name, calls, is_known ? "" : "  not in wick");
  if (*why) printf(" (library %.*s: %s)", (int)strcspn(name, ":"), name, why);
  puts(refused ? "  not allowed" : "");
  return 0;
}

static int list_source(const char *path, const ModelOptions *model, Listing *listing) {
  wick_error *error;
  wick_module *module = model_open(path, model, &error);
  if (!module) {
    if (error) complain_error(path, error);
    return EXIT_USAGE;
  }
  wick_status status = wick_module_each_operator(module, list_operator, listing, &error);
  wick_module_release(module);
  if (status) complain_error(path, error);
  return status ? EXIT_USAGE : EXIT_DONE;
}

static int list_archive(const char *path, Listing *listing) {
  wick_error *error;
  if (!wick_archive_each_operator(path, listing->allowed, list_operator, listing, &error)) return EXIT_DONE;
  complain_error(path, error);
  return EXIT_USAGE;
}

static int run(const Command *command, int count, char **words) {
  const char *allow = NULL;
  ModelOptions model = {0};
  const Option options[] = {
      {"--allow", OPTION_TEXT, &allow, "FILE", "exit 1 when it uses operators not in it, one a line"},
      {.kind = OPTION_MODEL, .to = &model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, 1, &result)) return result;
  Listing listing = {0};
  char *text = NULL;
  size_t length;
  if (allow && !(text = file_read(allow, &length))) return EXIT_USAGE;
  listing.allowed = text;
  result = is_source_file(words[0]) ? list_source(words[0], &model, &listing) : list_archive(words[0], &listing);
  free(text);
  for (size_t i = 0; wick_library_path(i); i++) printf("library %s\n", wick_library_path(i));
  if (result == EXIT_DONE && (listing.missing || listing.refused)) result = EXIT_FAILED;
  return result;
}

const Command command_ops = {"ops", "MODEL", "Lists the operators that a program uses.", run};
