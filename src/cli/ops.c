/* wick ops: the operators a program uses, and whether wick has them. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

typedef struct Used {
  char *name;
  size_t places;
  bool is_known, is_refused;
} Used;
typedef struct Listing {
  const char *allowed; /* text of --allow, or NULL */
  Used *used;
  size_t count, capacity, missing, refused;
  bool failed; /* out of memory */
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

static int note_operator(void *argument, const char *name, size_t calls, int is_known) {
  Listing *listing = argument;
  if (listing->count == listing->capacity) {
    size_t capacity = listing->capacity ? 2 * listing->capacity : 64;
    Used *more = realloc(listing->used, capacity * sizeof *more);
    if (!more) return listing->failed = true;
    listing->used = more;
    listing->capacity = capacity;
  }
  Used *used = &listing->used[listing->count];
  *used = (Used){strdup(name), calls, is_known, listing->allowed && !is_listed(listing->allowed, name)};
  if (!used->name) return listing->failed = true;
  listing->count++;
  listing->missing += !is_known;
  listing->refused += used->is_refused;
  return 0;
}
static int compare_names(const void *a, const void *b) {
  return strcmp(((const Used *)a)->name, ((const Used *)b)->name);
}

static void print_listing(const Listing *listing) {
  for (size_t i = 0; i < listing->count; i++) {
    const Used *used = &listing->used[i];
    const char *why = used->is_known ? "" : wick_op_missing(used->name);
    printf("%-40s %6zu%s", used->name, used->places, used->is_known ? "" : "  not in wick");
    if (*why) printf(" (library %.*s: %s)", (int)strcspn(used->name, ":"), used->name, why);
    puts(used->is_refused ? "  not allowed" : "");
  }
  for (size_t i = 0; wick_library_path(i); i++) printf("library %s\n", wick_library_path(i));
  printf("%zu operators, ", listing->count);
  if (listing->missing)
    printf("%zu of them not in wick", listing->missing);
  else
    printf("all there");
  if (listing->refused) printf(", %zu not allowed", listing->refused);
  puts(" (the numbers: places in the code)");
}
static bool print_json(const Listing *listing) {
  Json json;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  json_put_key(&json, "operators");
  json_put_begin(&json, '[');
  for (size_t i = 0; i < listing->count; i++) {
    const Used *used = &listing->used[i];
    json_put_begin(&json, '{');
    json_put_key(&json, "name"), json_put_text(&json, used->name);
    json_put_key(&json, "places"), json_put_int(&json, (long long)used->places);
    json_put_key(&json, "known"), json_put_bool(&json, used->is_known);
    if (listing->allowed) json_put_key(&json, "allowed"), json_put_bool(&json, !used->is_refused);
    json_put_end(&json, '}');
  }
  json_put_end(&json, ']');
  json_put_key(&json, "libraries");
  json_put_begin(&json, '[');
  for (size_t i = 0; wick_library_path(i); i++) json_put_text(&json, wick_library_path(i));
  json_put_end(&json, ']');
  json_put_key(&json, "missing"), json_put_int(&json, (long long)listing->missing);
  json_put_key(&json, "refused"), json_put_int(&json, (long long)listing->refused);
  json_put_end(&json, '}');
  return json_out_print(&json);
}

/* false: it was complained about. */
static bool collect(const char *path, const ModelOptions *model, Listing *listing) {
  wick_error *error = NULL;
  wick_module *module = NULL;
  bool is_source = is_source_file(path);
  if (complain_missing_file(path)) return false;
  if (is_source && !(module = model_open(path, model, &error))) {
    if (error) complain_error(path, error);
    return false;
  }
  wick_status status = is_source ? wick_module_each_operator(module, note_operator, listing, &error)
                                 : wick_archive_each_operator(path, listing->allowed, note_operator, listing, &error);
  wick_module_release(module);
  if (status) complain_error(path, error);
  if (listing->failed) complain(path, "out of memory");
  return !status && !listing->failed;
}

static int run(const Command *command, int count, char **words) {
  const char *allow = NULL;
  bool json = false;
  ModelOptions model = {0};
  const Option options[] = {
      {"--allow", OPTION_TEXT, &allow, "FILE", "exit 1 when it uses operators not in it, one a line"},
      {"--json", OPTION_FLAG, &json, NULL, "print one JSON object"},
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
  result = EXIT_USAGE;
  if (collect(words[0], &model, &listing)) {
    result = listing.missing || listing.refused ? EXIT_FAILED : EXIT_DONE;
    if (listing.count) qsort(listing.used, listing.count, sizeof *listing.used, compare_names);
    if (!json)
      print_listing(&listing);
    else if (!print_json(&listing))
      result = EXIT_FAILED;
  }
  for (size_t i = 0; i < listing.count; i++) free(listing.used[i].name);
  free(listing.used);
  free(text);
  return result;
}

const Command command_ops = {"ops", "MODEL", "Lists the operators that a program uses, and which wick lacks.", run};
