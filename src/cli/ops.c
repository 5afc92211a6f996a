/* wick ops: the operators a program uses, and whether wick has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "cli/cli.h"
#include "serial/archive/used_operators.h"

typedef struct Listing {
  const char *allowed; /* text of --allow, or NULL */
  size_t missing, refused;
} Listing;

static void list_operator(void *argument, Str name, size_t calls, bool is_known) {
  Listing *listing = argument;
  bool refused = listing->allowed && !operator_name_is_listed(listing->allowed, name);
  listing->missing += !is_known;
  listing->refused += refused;
  printf("%-40.*s %6zu%s%s\n", STR_ARG(name), calls, is_known ? "" : "  not in wick", refused ? "  not allowed" : "");
}

/* A source has been compiled: its graphs say what it calls. */
static void count_block(const Block *block, Map *counts) {
  BLOCK_EACH(node, block) {
    if (node_operator(node)) {
      Str name = symbol_name(node->kind);
      map_put(counts, name, (void *)((uintptr_t)map_get(counts, name) + 1));
    }
    for (uint32_t i = 0; i < node->block_count; i++) count_block(node->blocks[i], counts);
  }
}

typedef struct Count {
  const CompilationUnit *unit;
  Arena arena;
  Map counts;
} Count;
static void count_unit(void *argument) {
  Count *count = argument;
  map_init(&count->counts, &count->arena);
  for (size_t i = 0; i < count->unit->functions.length; i++) {
    const Function *function = count->unit->functions.data[i];
    if (function->graph) count_block(function->graph->block, &count->counts);
  }
}

static int list_source(const char *path, const ModelOptions *model, Listing *listing) {
  wick_error *error;
  wick_module *module = model_open(path, model, &error);
  if (!module) {
    if (error) complain_error(path, error);
    return EXIT_USAGE;
  }
  Count count = {.unit = module->unit};
  arena_init(&count.arena, NULL);
  Status status = arena_protect(&count.arena, count_unit, &count);
  if (!status)
    for (MapEntry *e = map_next(&count.counts, NULL); e; e = map_next(&count.counts, e))
      list_operator(listing, e->key, (size_t)(uintptr_t)e->value, true);
  arena_dispose(&count.arena);
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
    status = used_operators_of_archive(source, &exec, list_operator, listing);
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
  if (result == EXIT_DONE && (listing.missing || listing.refused)) result = EXIT_FAILED;
  return result;
}

const Command command_ops = {"ops", "MODEL", "list the operators the program uses", run};
