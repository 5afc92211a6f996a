#include "serial/pt2/container.h"

#include "serial/pt2/pt2.h"

#define OLDER_PROGRAM "serialized_exported_program.json"
#define MODELS "models/"

enum { OLDEST_SCHEMA = 5, NEWEST_SCHEMA = 8 };

/* "models/NAME.json": the name. */
static bool is_model(const ArchiveRecord *record, Str *out) {
  Str name = record->name;
  size_t before = strlen(MODELS), after = strlen(".json");
  if (!str_starts_with(name, MODELS) || !str_ends_with(name, ".json") || name.length <= before + after) return false;
  *out = str_slice(name, before, name.length - after);
  return str_find_char(*out, '/') < 0;
}

bool pt2_is_there(const Archive *archive) {
  Str unused;
  if (archive_find(archive, STR(OLDER_PROGRAM)) || archive_find(archive, STR("archive_format"))) return true;
  for (size_t i = 0; i < archive->records.length; i++)
    if (is_model(&archive->records.data[i], &unused)) return true;
  return false;
}

Status pt2_read_json(Archive *archive, Str name, Json **out) {
  const ArchiveRecord *record = archive_find(archive, name);
  char *text;
  size_t length;
  *out = NULL;
  if (!record) return OK;
  TRY(archive_read(archive, record, &text, &length));
  Status status = json_parse((Str){text, length}, out);
  mem_free(text);
  return status_context(status, STR_FMT, STR_ARG(name));
}

/* No program in a PT2 archive: what is there instead? */
static Status no_program(const Archive *archive) {
  for (size_t i = 0; i < archive->records.length; i++)
    if (str_starts_with(archive->records.data[i].name, "data/aotinductor/"))
      return status_new(
          ERROR_UNSUPPORTED,
          "a package of AOTInductor: machine code that was compiled for one processor, without the "
          "program; torch.export.save(torch.export.export(model, inputs), \"model.pt2\") writes what wick "
          "loads");
  return status_new(ERROR_DATA, "the archive of torch.export holds no program");
}

Status pt2_find_models(const Archive *archive, Str **out_names, uint32_t *out_count) {
  Str name = STR("");
  bool is_older = archive_find(archive, STR(OLDER_PROGRAM)) != NULL;
  uint32_t count = 0;
  *out_count = 0;
  *out_names = NULL;
  for (size_t i = 0; i < archive->records.length && !is_older; i++) count += is_model(&archive->records.data[i], &name);
  if (!count && !is_older) return no_program(archive);
  *out_names = mem_calloc((size_t)count + 1, sizeof **out_names);
  if (!*out_names) return status_out_of_memory();
  if (is_older) (*out_names)[(*out_count)++] = STR("");
  for (size_t i = 0; i < archive->records.length && !is_older; i++)
    if (is_model(&archive->records.data[i], &name)) (*out_names)[(*out_count)++] = name;
  return OK;
}

static Status check_version(const Json *program) {
  const Json *version = json_get(program, "schema_version");
  Str torch = STR("");
  int64_t major;
  if (!json_int(json_get(version, "major"), &major)) return status_new(ERROR_DATA, "the program has no schema_version");
  if (major >= OLDEST_SCHEMA && major <= NEWEST_SCHEMA) return OK;
  json_string(json_get(program, "torch_version"), &torch);
  return status_new(ERROR_UNSUPPORTED, "a program of torch.export by schema %lld%s" STR_FMT " (wick reads %d to %d)",
                    (long long)major, torch.length ? ", from PyTorch " : "",
                    STR_ARG(str_slice(torch, 0, torch.length < 40 ? torch.length : 40)), OLDEST_SCHEMA, NEWEST_SCHEMA);
}

Status pt2_container_open(Archive *archive, Str model, Pt2Container *out) {
  *out =
      (Pt2Container){.archive = archive, .model = model, .is_older = archive_find(archive, STR(OLDER_PROGRAM)) != NULL};
  StrBuf name = {0};
  strbuf_printf(&name, MODELS STR_FMT ".json", STR_ARG(out->model));
  Status status = name.failed
                      ? status_out_of_memory()
                      : pt2_read_json(archive, out->is_older ? STR(OLDER_PROGRAM) : strbuf_view(&name), &out->program);
  strbuf_dispose(&name);
  return status ? status : check_version(out->program);
}
void pt2_container_dispose(Pt2Container *container) {
  json_free(container->program);
}
