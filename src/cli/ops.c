/* wick ops: the operators a program uses, or all that there are, and what wick can do with them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "wick/archive.h"

typedef struct Used {
  char *name, *overload;         /* "default": the one without a name of its own; NULL: nobody has the operator */
  const wick_overload *operator; /* NULL: the same */
  size_t places;
  bool is_refused;
} Used;
typedef struct Listing {
  const char *allowed; /* text of --allow, or NULL */
  bool grad;           /* --grad: only what has no gradient */
  bool all;            /* no model */
  Used *used;          /* by name, then overload */
  size_t count, capacity;
  size_t names, missing, refused, without_gradient; /* of names */
  bool failed;                                      /* out of memory */
} Listing;

/* ---- collecting ---- */

static bool is_listed(const char *lines, const char *name) {
  while (*lines) {
    size_t length = strcspn(lines, "\r\n");
    if (strlen(name) == length && !memcmp(lines, name, length)) return true;
    lines += length;
    lines += strspn(lines, "\r\n");
  }
  return false;
}

/* Of "aten::add.Tensor(Tensor self, ...": "Tensor". */
static char *overload_name(const wick_overload *operator, size_t name_length) {
  char *schema = NULL, *name = NULL;
  wick_error *error = NULL;
  if (!wick_overload_schema(operator, & schema, &error)) {
    const char *after = schema + name_length, *begin = *after == '.' ? after + 1 : "default(";
    name = strndup(begin, strcspn(begin, "("));
  }
  wick_error_free(error);
  wick_text_free(schema);
  return name;
}

static int note(void *user, const wick_overload *operator, const char * unknown_name, size_t places) {
  Listing *listing = user;
  if (listing->count == listing->capacity) {
    size_t capacity = listing->capacity ? 2 * listing->capacity : 64;
    Used *more = realloc(listing->used, capacity * sizeof *more);
    if (!more) return listing->failed = true;
    listing->used = more;
    listing->capacity = capacity;
  }
  Used used = {.operator= operator, .places = places };
  size_t length = unknown_name ? strlen(unknown_name) : 0;
  const char *name = operator? wick_overload_name(operator, & length) : unknown_name;
  used.name = strndup(name, length);
  used.overload = operator? overload_name(operator, length) : NULL;
  listing->used[listing->count++] = used;
  if (!used.name || (operator&& !used.overload)) return listing->failed = true;
  return 0;
}

static int compare(const void *a, const void *b) {
  const Used *left = a, *right = b;
  int order = strcmp(left->name, right->name);
  return order ? order : strcmp(left->overload ? left->overload : "", right->overload ? right->overload : "");
}
static void used_free(Used *used) {
  free(used->name);
  free(used->overload);
}
static bool lacks_gradient(const Used *used) {
  return used->operator&& wick_overload_gradient(used->operator) == WICK_GRADIENT_NONE;
}
/* No gradient ever comes through a form that writes into a tensor given as `out`. */
static bool is_out_form(const wick_overload *operator) {
  bool found = false;
  for (size_t i = 0; !found && i < wick_overload_parameter_count(operator); i++) {
    wick_parameter parameter = {.size = sizeof parameter};
    found = !wick_overload_parameter(operator, i, &parameter, NULL) && parameter.flags & WICK_PARAMETER_OUT;
  }
  return found;
}
static size_t end_of_name(const Listing *listing, size_t begin) {
  size_t end = begin;
  assert(begin < listing->count);
  while (end < listing->count && !strcmp(listing->used[begin].name, listing->used[end].name)) end++;
  return end;
}
static bool name_lacks_gradient(const Listing *listing, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++)
    if (lacks_gradient(&listing->used[i])) return true;
  return false;
}

/* In order, each overload once, counted. */
static void settle(Listing *listing) {
  size_t kept = 0;
  if (listing->count) qsort(listing->used, listing->count, sizeof *listing->used, compare);
  for (size_t i = 0; i < listing->count; i++) {
    if (kept && !listing->all && !compare(&listing->used[kept - 1], &listing->used[i])) {
      listing->used[kept - 1].places += listing->used[i].places;
      used_free(&listing->used[i]);
    } else {
      listing->used[kept++] = listing->used[i];
    }
  }
  listing->count = kept;
  for (size_t i = 0, end; i < kept; i = end) {
    end = end_of_name(listing, i);
    bool is_refused = listing->allowed && !is_listed(listing->allowed, listing->used[i].name);
    for (size_t k = i; k < end; k++) listing->used[k].is_refused = is_refused;
    listing->names++;
    listing->missing += !listing->used[i].operator;
    listing->refused += is_refused;
    listing->without_gradient += name_lacks_gradient(listing, i, end);
  }
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
  wick_status status = is_source ? wick_module_each_overload(module, note, listing, &error)
                                 : wick_archive_each_overload(path, listing->allowed, note, listing, &error);
  wick_module_release(module);
  if (status) complain_error(path, error);
  if (listing->failed) complain(path, "out of memory");
  return !status && !listing->failed;
}
static bool collect_all(Listing *listing) {
  for (const wick_overload *o = wick_overload_following(NULL); o && !listing->failed; o = wick_overload_following(o))
    note(listing, o, NULL, 0);
  if (listing->failed) complain(NULL, "out of memory");
  return !listing->failed;
}

/* ---- showing ---- */

static const char *const gradients[] = {[WICK_GRADIENT_NONE] = "none",
                                        [WICK_GRADIENT_FORMULA] = "formula",
                                        [WICK_GRADIENT_COMPOSED] = "composed",
                                        [WICK_GRADIENT_NEVER] = "-"};
static const char *const ways[] = {[WICK_RUNS_KERNEL] = "kernel",
                                   [WICK_RUNS_FORMULA] = "formula",
                                   [WICK_RUNS_BODY] = "body",
                                   [WICK_RUNS_NODE] = "node"};
static const char *gradient_of(const Used *used) {
  uint32_t gradient = wick_overload_gradient(used->operator);
  return gradient < sizeof gradients / sizeof *gradients ? gradients[gradient] : "other";
}
static const char *way_of(const Used *used) {
  uint32_t way = wick_overload_runs(used->operator);
  return way < sizeof ways / sizeof *ways ? ways[way] : "other";
}
static void print_libraries(void) {
  for (size_t i = 0; wick_library_path(i); i++) {
    show("library ");
    show_name(stdout, wick_library_path(i), 0);
    show("\n");
  }
}

/* One name of a program: its overloads, and what is wrong with it. */
static void print_name(const Listing *listing, size_t begin, size_t end) {
  const Used *first = &listing->used[begin];
  size_t places = 0;
  for (size_t i = begin; i < end; i++) places += listing->used[i].places;
  show_name(stdout, first->name, 40);
  show(" %6zu  ", places);
  for (size_t i = begin; i < end && first->operator; i++)
    show("%s%s%s", i > begin ? ", " : "", listing->used[i].overload,
         listing->grad && lacks_gradient(&listing->used[i]) ? " (no gradient)" : "");
  if (!first->operator) {
    const char *why = wick_op_missing(first->name);
    show("not in wick");
    if (*why) show(" (library %.*s: %s)", (int)strcspn(first->name, ":"), first->name, why);
  }
  show("%s\n", first->is_refused ? "  not allowed" : "");
}
static void print_program(const Listing *listing) {
  for (size_t i = 0, end; i < listing->count; i = end) {
    end = end_of_name(listing, i);
    if (!listing->grad || name_lacks_gradient(listing, i, end) || !listing->used[i].operator)
      print_name(listing, i, end);
  }
  print_libraries();
  show("%zu operators, ", listing->names);
  if (listing->missing)
    show("%zu of them not in wick", listing->missing);
  else
    show("all there");
  if (listing->refused) show(", %zu not allowed", listing->refused);
  if (listing->grad) show(", %zu without a gradient", listing->without_gradient);
  show(" (the numbers: places in the code)\n");
}

static void print_all(const Listing *listing) {
  size_t without = 0, out_forms = 0, fusable = 0;
  show("%-52s %-9s %-8s %s\n", "operator", "gradient", "runs as", "in groups");
  for (size_t i = 0; i < listing->count; i++) {
    const Used *used = &listing->used[i];
    char name[200];
    bool fuses = wick_overload_is_fusable(used->operator);
    without += lacks_gradient(used);
    out_forms += lacks_gradient(used) && is_out_form(used->operator);
    fusable += fuses;
    if (listing->grad && !lacks_gradient(used)) continue;
    snprintf(name, sizeof name, "%s.%s", used->name, used->overload);
    show("%-52s %-9s %-8s %s\n", name, gradient_of(used), way_of(used), fuses ? "yes" : "-");
  }
  print_libraries();
  show(
      "%zu overloads of %zu operators: %zu can be in groups that run as one, %zu have no gradient (%zu of them write "
      "into out=)\n",
      listing->count, listing->names, fusable, without, out_forms);
}

static void put_used(const Listing *listing, const Used *used, Json *json) {
  json_put_begin(json, '{');
  json_put_key(json, "name"), json_put_text(json, used->name);
  if (!listing->all) json_put_key(json, "places"), json_put_int(json, (long long)used->places);
  json_put_key(json, "known"), json_put_bool(json, used->operator!= NULL);
  if (used->operator) {
    json_put_key(json, "overload"), json_put_text(json, used->overload);
    json_put_key(json, "gradient"), json_put_text(json, gradient_of(used));
    json_put_key(json, "runs_as"), json_put_text(json, way_of(used));
    json_put_key(json, "fusable"), json_put_bool(json, wick_overload_is_fusable(used->operator));
  }
  if (listing->allowed) json_put_key(json, "allowed"), json_put_bool(json, !used->is_refused);
  json_put_end(json, '}');
}
static bool print_json(const Listing *listing) {
  Json json;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  json_put_key(&json, "operators");
  json_put_begin(&json, '[');
  for (size_t i = 0; i < listing->count; i++)
    if (!listing->grad || lacks_gradient(&listing->used[i]) || !listing->used[i].operator)
      put_used(listing, &listing->used[i], &json);
  json_put_end(&json, ']');
  json_put_key(&json, "libraries");
  json_put_begin(&json, '[');
  for (size_t i = 0; wick_library_path(i); i++) json_put_text(&json, wick_library_path(i));
  json_put_end(&json, ']');
  json_put_key(&json, "missing"), json_put_int(&json, (long long)listing->missing);
  json_put_key(&json, "refused"), json_put_int(&json, (long long)listing->refused);
  json_put_key(&json, "without_gradient"), json_put_int(&json, (long long)listing->without_gradient);
  json_put_end(&json, '}');
  return json_out_print(&json);
}

/* ---- what wick info says of them ---- */

/* Of the listed names those with the flaw, "a, b", as far as there is room. */
static void join_names(const Listing *listing, bool missing, char *out, size_t size) {
  size_t length = 0;
  *out = 0;
  for (size_t i = 0, end; i < listing->count; i = end) {
    end = end_of_name(listing, i);
    if (missing ? listing->used[i].operator!= NULL : !name_lacks_gradient(listing, i, end)) continue;
    const char *name = listing->used[i].name;
    if (length + strlen(name) + 8 > size) {
      snprintf(out + length, size - length, ", ...");
      return;
    }
    length += (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "", name);
  }
}
bool needs_of(const char *path, const wick_module *module, Needs *out) {
  Listing listing = {0};
  wick_error *error = NULL;
  bool fine = !wick_module_each_overload(module, note, &listing, &error) && !listing.failed;
  if (error) complain_error(path, error);
  *out = (Needs){0};
  if (fine) {
    settle(&listing);
    out->operators = listing.names;
    out->missing = listing.missing;
    out->without_gradient = listing.without_gradient;
    join_names(&listing, true, out->missing_names, sizeof out->missing_names);
    join_names(&listing, false, out->without_gradient_names, sizeof out->without_gradient_names);
  }
  for (size_t i = 0; i < listing.count; i++) used_free(&listing.used[i]);
  free(listing.used);
  return fine;
}

static int show_listing(Listing *listing, bool json) {
  settle(listing);
  if (json && !print_json(listing)) return EXIT_FAILED;
  if (!json) (listing->all ? print_all : print_program)(listing);
  bool lacks = listing->missing || listing->refused || (listing->grad && listing->without_gradient);
  return lacks && !listing->all ? EXIT_FAILED : EXIT_DONE;
}

static int run(const Command *command, int count, char **words) {
  const char *allow = NULL;
  bool json = false;
  ModelOptions model = {0};
  Listing listing = {0};
  const Option options[] = {
      {"--allow", OPTION_TEXT, &allow, "FILE", "exit 1 when it uses operators not in it, one a line"},
      {"--grad", OPTION_FLAG, &listing.grad, NULL, "those without a gradient; exit 1 when it uses one"},
      {"--json", OPTION_FLAG, &json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 0, 1, &result)) return result;
  char *text = NULL;
  size_t length;
  if (allow && !(text = file_read(allow, &length))) return EXIT_USAGE;
  listing.allowed = text;
  listing.all = count == 0;
  result = EXIT_USAGE;
  if (listing.all ? collect_all(&listing) : collect(words[0], &model, &listing)) result = show_listing(&listing, json);
  for (size_t i = 0; i < listing.count; i++) used_free(&listing.used[i]);
  free(listing.used);
  free(text);
  return result;
}

const Command command_ops = {"ops", "[MODEL]",
                             "Lists the operators that a program uses, and which wick lacks. Without a\n"
                             "MODEL all that there are: gradients, what runs them, whether plans fuse them.",
                             run};
