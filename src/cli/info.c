/* wick info: what is in a file. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "wick/archive.h"

/* What the walk through a module found, in its order. */
typedef struct Entry {
  char *name, *type, *value; /* value: printed; of plain attributes */
  enum { ENTRY_MODULE, ENTRY_PARAMETER, ENTRY_BUFFER, ENTRY_PACKED, ENTRY_ATTRIBUTE } kind;
  wick_tensor_spec spec;     /* of tensors */
  bool is_tensor;            /* of packed weights: the weight, when it can be told */
  long long elements, bytes; /* of a module: of all that it holds */
} Entry;
typedef struct Contents {
  Entry *entries;
  size_t count, capacity;
  bool failed; /* out of memory */
} Contents;

static Entry *contents_add(Contents *c, const char *name, const char *type) {
  if (c->count == c->capacity) {
    size_t capacity = c->capacity ? 2 * c->capacity : 64;
    Entry *more = realloc(c->entries, capacity * sizeof *more);
    if (!more) return c->failed = true, NULL;
    c->entries = more;
    c->capacity = capacity;
  }
  Entry *entry = &c->entries[c->count++];
  *entry = (Entry){.name = strdup(name), .type = strdup(type ? type : "")};
  if (entry->name && entry->type) return entry;
  return c->failed = true, NULL;
}
static void contents_dispose(Contents *c) {
  for (size_t i = 0; i < c->count; i++) {
    free(c->entries[i].name);
    free(c->entries[i].type);
    wick_text_free(c->entries[i].value);
  }
  free(c->entries);
}
/* Expanded tensors have more elements than memory: the most that there can be instead of what is too large. */
static long long sum(long long a, long long b) {
  return a > LLONG_MAX - b ? LLONG_MAX : a + b;
}
static void note_tensor(Entry *entry, const wick_value *value) {
  if (wick_tensor_spec_of(value, &entry->spec, NULL)) return;
  entry->is_tensor = true;
  entry->elements = 1;
  for (int i = 0; i < entry->spec.ndim; i++) entry->elements *= entry->spec.sizes[i];
  if (__builtin_mul_overflow(entry->elements, (long long)wick_dtype_bytes(entry->spec.dtype), &entry->bytes))
    entry->bytes = LLONG_MAX;
}
/* Weights that quantized operators keep packed, with their bias, in an object of a native class: what unpacks them
 * tells what they are. false: it is no such object. */
static bool note_packed(Entry *entry, const char *type, const wick_value *value) {
  static const struct {
    const char *class_name, *operator;
  } classes[] = {{"LinearPackedParamsBase", "quantized::linear_unpack"},
                 {"Conv2dPackedParamsBase", "quantized::conv2d_unpack"},
                 {"Conv3dPackedParamsBase", "quantized::conv3d_unpack"},
                 {"EmbeddingPackedParamsBase", "quantized::embedding_bag_unpack"}};
  size_t i = 0, count = sizeof classes / sizeof *classes;
  const char *dot = strrchr(type, '.');
  while (i < count && strcmp(dot ? dot + 1 : type, classes[i].class_name) != 0) i++;
  if (i == count) return false;
  wick_value *parts = NULL;
  wick_error *error = NULL;
  entry->kind = ENTRY_PACKED;
  if (!wick_op_call(NULL, classes[i].operator, "", (const wick_value *const[]){value}, 1, NULL, 0, &parts, &error)) {
    bool is_pair = wick_value_kind(parts) == WICK_TUPLE && wick_value_length(parts) == 2;
    wick_value *weight = is_pair ? wick_value_item(parts, 0) : wick_value_retain(parts);
    wick_value *bias = is_pair ? wick_value_item(parts, 1) : NULL;
    Entry small = {0};
    note_tensor(entry, weight);
    if (bias && wick_value_kind(bias) == WICK_TENSOR) note_tensor(&small, bias);
    entry->elements = sum(entry->elements, small.elements);
    entry->bytes = sum(entry->bytes, small.bytes);
    wick_value_release(weight);
    wick_value_release(bias);
  }
  wick_error_free(error);
  wick_value_release(parts);
  return true;
}
static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Entry *entry = contents_add(user, name, type);
  if (!entry) return 1;
  if (wick_value_kind(value) == WICK_OBJECT) {
    if (!note_packed(entry, entry->type, value)) entry->kind = ENTRY_MODULE;
    return 0;
  }
  if (wick_value_kind(value) == WICK_TENSOR) note_tensor(entry, value);
  entry->kind = !entry->is_tensor || kind == WICK_ATTRIBUTE ? ENTRY_ATTRIBUTE /* a bias that is None, too */
                : kind == WICK_PARAMETER                    ? ENTRY_PARAMETER
                                                            : ENTRY_BUFFER;
  if (entry->kind == ENTRY_ATTRIBUTE) wick_value_print_short(value, &entry->value, NULL);
  return 0;
}
static int visit_tensor(void *user, const char *name, const wick_value *tensor) {
  Entry *entry = contents_add(user, name, "Tensor");
  if (!entry) return 1;
  entry->kind = ENTRY_BUFFER;
  note_tensor(entry, tensor);
  return 0;
}
static bool is_inside(const char *name, const char *module) {
  size_t length = strlen(module);
  return !strncmp(name, module, length) && name[length] == '.';
}
static bool is_stored(const Entry *entry) {
  return entry->kind == ENTRY_PARAMETER || entry->kind == ENTRY_BUFFER || entry->kind == ENTRY_PACKED;
}
/* Submodules stand before what they hold, which follows them without a gap. */
static void sum_modules(Contents *c) {
  for (size_t i = 0; i < c->count; i++) {
    Entry *module = &c->entries[i];
    for (size_t k = i + 1; module->kind == ENTRY_MODULE && k < c->count; k++) {
      if (!is_inside(c->entries[k].name, module->name)) break;
      if (!is_stored(&c->entries[k])) continue;
      module->elements = sum(module->elements, c->entries[k].elements);
      module->bytes = sum(module->bytes, c->entries[k].bytes);
    }
  }
}
static int depth_of(const char *name) {
  int depth = 1;
  for (const char *at = name; (at = strchr(at, '.')); at++) depth++;
  return depth;
}

typedef struct Info {
  const char *path;
  long depth; /* of names that are shown; 0: all */
  bool all, json;
  ModelOptions model;
  Contents contents;
  size_t parameters, buffers, packed; /* packed: weights in objects of native classes */
  long long elements, bytes;
} Info;
static void sum_up(Info *info) {
  sum_modules(&info->contents);
  for (size_t i = 0; i < info->contents.count; i++) {
    const Entry *entry = &info->contents.entries[i];
    if (!is_stored(entry)) continue;
    *(entry->kind == ENTRY_PARAMETER ? &info->parameters
      : entry->kind == ENTRY_BUFFER  ? &info->buffers
                                     : &info->packed) += 1;
    info->elements = sum(info->elements, entry->elements);
    info->bytes = sum(info->bytes, entry->bytes);
  }
}

/* ---- the archive itself ---- */

typedef struct Archive {
  char version[32];
  const char *origin; /* "" where nothing tells */
  size_t files, records;
  unsigned long long bytes;
  wick_archive *open; /* NULL: it is none */
} Archive;
static bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}
static Archive archive_of(const char *path) {
  Archive a = {.version = "?", .origin = ""};
  char *text = NULL;
  size_t length;
  if (is_source_file(path) || wick_archive_open(path, &ARCHIVE_OPTIONS, &a.open, NULL)) return a;
  if (wick_archive_read(a.open, "version", &text, &length, NULL))
    wick_archive_read(a.open, ".data/version", &text, &length, NULL);
  if (text) snprintf(a.version, sizeof a.version, "%.*s", (int)strcspn(text, " \r\n"), text);
  wick_text_free(text);
  a.bytes = wick_archive_bytes(a.open);
  a.records = wick_archive_count(a.open);
  for (size_t i = 0; i < wick_archive_count(a.open); i++) {
    const char *name = wick_archive_name(a.open, i);
    a.files += starts_with(name, "code/") && is_source_file(name);
    if (!strcmp(name, ".data/serialization_id") || !strcmp(name, "byteorder")) a.origin = "PyTorch 2.1 or later";
    if (!strcmp(name, "model.json")) a.origin = "PyTorch 1.0 or 1.1";
    if (!strcmp(name, "bytecode.pkl")) a.origin = "PyTorch, for the lite interpreter";
  }
  return a;
}
static void print_line(const char *what, const char *name) {
  show("%-9s ", what);
  show_name(stdout, name, 0);
  show("\n");
}
static void print_archive(const Archive *a) {
  if (!a->open) return;
  show("archive   version %s, %zu source files, %zu records in all, %llu bytes\n", a->version, a->files, a->records,
       a->bytes);
  if (*a->origin) show("written   by %s\n", a->origin);
  for (size_t i = 0; i < wick_archive_count(a->open); i++)
    if (starts_with(wick_archive_name(a->open, i), "extra/")) print_line("extra", wick_archive_name(a->open, i));
}

/* ---- for people ---- */

/* Types and schemas as their authors wrote them: `__torch__` and the numbers by which archives tell classes of one name
 * apart are left out, and where the classes of torch.nn stand. */
static void show_type(const char *text) {
  static const char start[] = "__torch__.", library[] = "torch.nn.modules.", quantized[] = "torch.ao.nn.quantized.";
  for (const char *at = text; *at;) {
    size_t length = strcspn(at, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"); /* what no name begins with */
    show("%.*s", (int)length, at);
    at += length;
    const char *end = at;
    while (*end == '_' || *end == '.' || isalnum((unsigned char)*end)) end++;
    if (starts_with(at, start)) {
      at += strlen(start);
      const char *last = end;
      while (last > at && last[-1] != '.') last--;
      bool is_library = starts_with(at, library) || starts_with(at, "torch.nn.quantized.");
      if (starts_with(at, quantized)) show("quantized "), is_library = true;
      if (starts_with(at, "torch.classes.")) at += strlen("torch.classes.");
      if (is_library) at = last;
    }
    while (at < end) {
      size_t part = strcspn(at, ".");
      if (part > (size_t)(end - at)) part = (size_t)(end - at);
      bool has_more = at + part < end;
      if (!starts_with(at, "___torch_mangle_")) show("%.*s%s", (int)part, at, has_more ? "." : "");
      at += part + has_more;
    }
  }
}
static void print_mode(const wick_module *module) {
  char training[200];
  const char *mode = mode_name(module);
  size_t count = mode_training(module, training, sizeof training);
  if (!*mode) return;
  show("mode      %s", mode);
  if (!strcmp(mode, "mixed")) show(": %zu submodules in training mode, first %s", count, training);
  show("\n");
}

static void print_spec(const wick_tensor_spec *spec) {
  show("%s[", wick_dtype_name(spec->dtype));
  for (int i = 0; i < spec->ndim; i++) show("%s%lld", i ? ", " : "", (long long)spec->sizes[i]);
  show("]");
}
/* Those of the module (NULL) or a submodule, in the order they run. */
static void print_hooks(const wick_module *module, const char *submodule) {
  for (uint32_t kind = WICK_FORWARD_PRE_HOOK; kind <= WICK_FORWARD_HOOK; kind++)
    for (size_t i = 0; i < wick_module_hook_count(module, submodule, kind); i++) {
      char *schema = NULL;
      if (!wick_module_hook_schema(module, submodule, kind, i, &schema, NULL))
        show("%s%s  %s\n", submodule ? "  " : "", kind == WICK_FORWARD_HOOK ? "hook    " : "pre-hook", schema);
      wick_text_free(schema);
    }
}
static void print_entry(const Info *info, const wick_module *module, const Entry *entry, const char *tensor_word) {
  static const char *const words[] = {"module", "parameter", "buffer", "packed", "attribute"};
  if (info->depth && depth_of(entry->name) > info->depth) return;
  bool is_plain = entry->kind == ENTRY_ATTRIBUTE;
  if (is_plain && !info->all) return;
  show("  %-9s ", tensor_word ? tensor_word : words[entry->kind]);
  show_name(stdout, entry->name, 40);
  show(" ");
  if (is_stored(entry) && entry->is_tensor)
    print_spec(&entry->spec);
  else if (is_plain) {
    show_name(stdout, entry->type, 0);
    show(" = ");
    show_start(entry->value ? entry->value : "?", 60);
  } else {
    show_type(entry->type);
  }
  if (entry->kind == ENTRY_MODULE && entry->elements)
    show("  (%lld elements, %lld bytes)", entry->elements, entry->bytes);
  show("\n");
  if (entry->kind == ENTRY_MODULE) print_hooks(module, entry->name);
}
static void print_sample(void *user, const char *name, const wick_value *tensor) {
  wick_tensor_spec spec;
  (void)user;
  if (!tensor) {
    print_line("samples", name);
  } else if (!wick_tensor_spec_of(tensor, &spec, NULL)) {
    show("  input     ");
    show_name(stdout, name, 40);
    show(" ");
    print_spec(&spec);
    show("\n");
  }
}
static void print_total(const Info *info) {
  show("total     %zu parameters", info->parameters);
  show(info->packed ? ", %zu buffers and %zu packed weights" : " and %zu buffers", info->buffers, info->packed);
  show(", %lld elements, %lld bytes\n", info->elements, info->bytes);
}
/* "forward(Tensor ids, Tensor? pad=None) -> Tensor": as people call it. */
/* Each dtype of stored tensors and of attributes once, in the order of dtypes. */
static bool has_dtype(const Contents *c, uint32_t dtype) {
  for (size_t i = 0; i < c->count; i++)
    if (c->entries[i].is_tensor && c->entries[i].spec.dtype == dtype) return true;
  return false;
}
/* What has to be there to run it. */
static void print_needs(const Info *info, const wick_module *module) {
  Needs needs;
  char *devices = NULL;
  if (!needs_of(info->path, module, &needs)) return;
  show("needs     %zu operators", needs.operators);
  show(needs.missing ? ", %zu of them not in wick: " : ", all there", needs.missing);
  show("%s\n", needs.missing ? needs.missing_names : "");
  if (needs.without_gradient)
    show("          gradients: all but of %s (`wick ops --grad`)\n", needs.without_gradient_names);
  else
    show("          gradients: of all that differentiate\n");
  size_t shown = 0;
  for (uint32_t dtype = 0; dtype < WICK_DTYPE_LIMIT; dtype++)
    if (has_dtype(&info->contents, dtype)) show(shown++ ? ", %s" : "          dtypes: %s", wick_dtype_name(dtype));
  if (shown) show("\n");
  if (!wick_module_replaced_devices(module, &devices, NULL) && *devices)
    show("          devices: made for %s, runs on cpu\n", devices);
  wick_text_free(devices);
}
static void print_method(const wick_module *module, const char *name, bool is_class) {
  char *schema = NULL;
  wick_module_schema(module, name, &schema, NULL);
  const char *arguments = schema ? strchr(schema, '(') : NULL;
  if (arguments && is_class) { /* without self */
    int nesting = 0;
    size_t length = 1;
    for (; arguments[length] && (nesting || !strchr(",)", arguments[length])); length++)
      nesting += (arguments[length] == '(') - (arguments[length] == ')');
    const char *after = arguments + length;
    if (!starts_with(arguments, "(__torch__.")) after = arguments + 1;
    while (*after == ',' || *after == ' ') after++;
    show("method    %s(", name);
    show_type(after);
    show("\n");
  } else {
    show("%s  ", is_class ? "method  " : "function");
    show_type(schema ? schema : name);
    show("\n");
  }
  wick_text_free(schema);
}
static void print_module(Info *info, const wick_module *module) {
  Archive archive = archive_of(info->path);
  bool is_class = *wick_module_class_name(module);
  print_archive(&archive);
  wick_archive_release(archive.open);
  if (is_class) show("class     "), show_type(wick_module_class_name(module)), show("\n");
  print_mode(module);
  for (size_t i = 0; i < wick_module_method_count(module); i++) {
    print_method(module, wick_module_method_name(module, i), is_class);
  }
  samples_each(info->path, print_sample, NULL);
  print_hooks(module, NULL);
  for (size_t i = 0; i < info->contents.count; i++) print_entry(info, module, &info->contents.entries[i], NULL);
  print_needs(info, module);
  for (size_t i = 0; wick_library_path(i); i++) print_line("library", wick_library_path(i));
  if (is_class) print_total(info);
}

/* ---- as JSON ---- */

static void put_text(Json *json, const char *key, const char *text) {
  json_put_key(json, key);
  json_put_text(json, text);
}
static void put_int(Json *json, const char *key, long long value) {
  json_put_key(json, key);
  json_put_int(json, value);
}
static void put_entry(Json *json, const Entry *entry) {
  static const char *const words[] = {"module", "parameter", "buffer", "packed", "attribute"};
  json_put_begin(json, '{');
  put_text(json, "kind", words[entry->kind]);
  put_text(json, "name", entry->name);
  put_text(json, "type", entry->type);
  if (entry->is_tensor) {
    put_text(json, "dtype", wick_dtype_name(entry->spec.dtype));
    json_put_key(json, "sizes");
    json_put_begin(json, '[');
    for (int i = 0; i < entry->spec.ndim; i++) json_put_int(json, entry->spec.sizes[i]);
    json_put_end(json, ']');
  }
  if (entry->is_tensor || entry->kind == ENTRY_MODULE) {
    put_int(json, "elements", entry->elements);
    put_int(json, "bytes", entry->bytes);
  }
  if (entry->value && !entry->is_tensor) put_text(json, "value", entry->value);
  json_put_end(json, '}');
}
static void put_entries(Json *json, const Info *info) {
  json_put_key(json, "contents");
  json_put_begin(json, '[');
  for (size_t i = 0; i < info->contents.count; i++)
    if (!info->depth || depth_of(info->contents.entries[i].name) <= info->depth)
      put_entry(json, &info->contents.entries[i]);
  json_put_end(json, ']');
  put_int(json, "parameters", (long long)info->parameters);
  put_int(json, "buffers", (long long)info->buffers);
  put_int(json, "packed_weights", (long long)info->packed);
  put_int(json, "elements", info->elements);
  put_int(json, "bytes", info->bytes);
}
static void put_archive(Json *json, const char *path) {
  Archive archive = archive_of(path);
  if (archive.open) {
    put_text(json, "version", archive.version);
    put_text(json, "written_by", *archive.origin ? archive.origin : NULL);
    put_int(json, "source_files", (long long)archive.files);
    put_int(json, "records", (long long)archive.records);
    put_int(json, "file_bytes", (long long)archive.bytes);
  }
  wick_archive_release(archive.open);
}
static void put_sample(void *user, const char *name, const wick_value *tensor) {
  if (!tensor) json_put_text(user, name);
}
static void put_names(Json *json, const char *key, const char *names) {
  json_put_key(json, key);
  json_put_begin(json, '[');
  while (*names) {
    char name[200];
    size_t length = strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, names);
    json_put_text(json, name);
    names += length + strspn(names + length, ", ");
  }
  json_put_end(json, ']');
}
static void put_needs(Json *json, const Info *info, const wick_module *module) {
  Needs needs;
  char *devices = NULL;
  if (!needs_of(info->path, module, &needs)) return;
  json_put_key(json, "needs");
  json_put_begin(json, '{');
  put_int(json, "operators", (long long)needs.operators);
  put_names(json, "missing", needs.missing_names);
  put_names(json, "without_gradient", needs.without_gradient_names);
  json_put_key(json, "dtypes");
  json_put_begin(json, '[');
  for (uint32_t dtype = 0; dtype < WICK_DTYPE_LIMIT; dtype++)
    if (has_dtype(&info->contents, dtype)) json_put_text(json, wick_dtype_name(dtype));
  json_put_end(json, ']');
  if (wick_module_replaced_devices(module, &devices, NULL)) devices = NULL;
  put_names(json, "devices", devices ? devices : "");
  wick_text_free(devices);
  json_put_key(json, "libraries");
  json_put_begin(json, '[');
  for (size_t i = 0; wick_library_path(i); i++) json_put_text(json, wick_library_path(i));
  json_put_end(json, ']');
  json_put_end(json, '}');
}
static bool print_module_json(const Info *info, const wick_module *module) {
  Json json;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  put_text(&json, "file", info->path);
  put_archive(&json, info->path);
  put_text(&json, "class", *wick_module_class_name(module) ? wick_module_class_name(module) : NULL);
  put_text(&json, "mode", *mode_name(module) ? mode_name(module) : NULL);
  json_put_key(&json, "methods");
  json_put_begin(&json, '[');
  for (size_t i = 0; i < wick_module_method_count(module); i++) {
    char *schema = NULL;
    wick_module_schema(module, wick_module_method_name(module, i), &schema, NULL);
    json_put_text(&json, schema ? schema : wick_module_method_name(module, i));
    wick_text_free(schema);
  }
  json_put_end(&json, ']');
  json_put_key(&json, "samples");
  json_put_begin(&json, '[');
  samples_each(info->path, put_sample, &json);
  json_put_end(&json, ']');
  put_needs(&json, info, module);
  put_entries(&json, info);
  json_put_end(&json, '}');
  return json_out_print(&json);
}

/* ---- files without a program that runs ---- */

/* What it is, why it does not load as a program, and what tensors it has. */
static bool print_file(const Info *info, const wick_file_kind *kind, const char *description, const char *why) {
  Json json;
  bool is_program = kind->use == WICK_FILE_PROGRAM;
  if (info->json) {
    if (!json_out_open(&json)) return false;
    json_put_begin(&json, '{');
    put_text(&json, "file", info->path);
    put_text(&json, "is", is_program ? "a program" : kind->name);
    if (is_program) put_archive(&json, info->path);
    if (is_program) put_text(&json, "does_not_load", why);
    if (description) put_text(&json, "holds", description);
    put_entries(&json, info);
    json_put_end(&json, '}');
    return json_out_print(&json);
  }
  Archive archive = archive_of(info->path);
  if (is_program) {
    print_archive(&archive);
    show("does not load: %s\n", why);
  } else {
    show("file      %s: %s\n", kind->name, description ? description : "");
  }
  wick_archive_release(archive.open);
  for (size_t i = 0; i < info->contents.count; i++) print_entry(info, NULL, &info->contents.entries[i], "tensor");
  show("total     %zu tensors, %lld elements, %lld bytes\n", info->buffers, info->elements, info->bytes);
  if (!is_program) show("next      %s\n", kind->advice);
  return true;
}
/* false: nothing was found to print. */
static bool info_of_file(Info *info, const wick_error *why) {
  wick_load_options options = {.size = sizeof options, .mode = info->model.read ? WICK_LOAD_READ : WICK_LOAD_MAP};
  wick_file_kind kind = {.size = sizeof kind};
  wick_value *value = NULL;
  wick_error *error = NULL;
  char *description = NULL;
  if (wick_file_kind_of(info->path, &options, &kind, NULL) || wick_file_contents(info->path, &options, &value, NULL))
    return false;
  if (kind.use != WICK_FILE_PROGRAM) wick_value_describe(value, &description, NULL);
  bool is_whole = !wick_value_each_tensor(value, visit_tensor, &info->contents, &error);
  sum_up(info);
  bool printed = print_file(info, &kind, description, wick_error_message(why));
  if (!is_whole) complain_error(info->path, error);
  wick_text_free(description);
  wick_value_release(value);
  return printed;
}

static int run(const Command *command, int count, char **words) {
  Info info = {0};
  const Option options[] = {
      {"--depth", OPTION_INT, &info.depth, "N", "names of N parts at most: sums stand for the others"},
      {"--all", OPTION_FLAG, &info.all, NULL, "plain attributes with their values too"},
      {"--json", OPTION_FLAG, &info.json, NULL, "print one JSON object"},
      {.kind = OPTION_MODEL, .to = &info.model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, 1, &result)) return result;
  wick_error *error;
  info.path = words[0];
  if (info.json && !model_print_aside(&info.model)) return EXIT_FAILED;
  wick_module *module = model_open(info.path, &info.model, &error);
  result = EXIT_USAGE;
  if (module && wick_module_each(module, visit, &info.contents, &error)) {
    result = EXIT_FAILED;
  } else if (module) {
    sum_up(&info);
    result = EXIT_DONE;
    if (!info.json)
      print_module(&info, module);
    else if (!print_module_json(&info, module))
      result = EXIT_FAILED;
  } else if (error && !is_source_file(info.path) && info_of_file(&info, error)) {
    wick_error_free(error);
    error = NULL;
    result = EXIT_DONE;
  }
  if (error) complain_error(info.path, error);
  if (info.contents.failed) {
    complain(info.path, "out of memory");
    result = EXIT_FAILED;
  }
  contents_dispose(&info.contents);
  wick_module_release(module);
  wick_runtime_release(info.model.runtime);
  return result;
}

const Command command_info = {"info", "MODEL", "Shows what is in a file: modules, parameters, methods.", run};
