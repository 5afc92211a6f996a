/* Loading a TorchScript archive: constants, then data.pkl, whose classes bring in their code, whose objects get their
 * state. */
#include "serial/archive/import.h"

#include "call/native_class.h"
#include "base/work.h"
#include "interp/interp.h"
#include "ir/operator_use.h"
#include "serial/archive/bytecode.h"
#include "serial/formats/file_kind.h"
#include "serial/formats/model_json.h"
#include "serial/pt2/pt2.h"
#include "serial/python/reprint.h"

enum { NEWEST_VERSION = 10 };

static Status resolve_class(void *context, Str name, const Type **out) {
  Import *import = context;
  if (import->bytecode && !str_starts_with(name, "__torch__.torch.classes."))
    return bytecode_resolve_class(import->bytecode, name, out);
  return importer_resolve_class(&((Import *)context)->importer, name, out);
}
static Status parse_type(void *context, Str annotation, const Type **out) {
  return importer_parse_type(&((Import *)context)->importer, annotation, out);
}
static Status load_storage(void *context, Str key, Str location, DType dtype, size_t bytes, Storage **out) {
  return storage_table_load(&((Import *)context)->storages, key, location, dtype, bytes, out);
}

/* The argument of a class's own __setstate__ is typed as its schema says. */
Status import_set_state(Import *import, Function *method, IValue object, IValue state) {
  if (!method->schema || method->schema->argument_count != 2)
    return status_new(ERROR_DATA, STR_FMT " does not take a state", STR_ARG(method->name));
  IValue argument = ivalue_retain(state), result;
  Status status = ivalue_restore_type(&argument, method->schema->arguments[1].type, "the state of an object");
  if (!status) status = interp_call(import->importer.exec, method, (IValue[]){object, argument}, 2, &result);
  ivalue_release(argument);
  if (!status) ivalue_release(result);
  return status;
}

static Status set_attributes(Object *object, const ClassType *class_type, IValue state) {
  if (state.tag != TAG_DICT)
    return status_new(ERROR_DATA, "the state of a " STR_FMT " is no dict", STR_ARG(class_type->type.name));
  for (size_t i = 0; i < class_type->attributes.length; i++) {
    const ClassAttribute *attribute = &class_type->attributes.data[i];
    IValue key, value;
    TRY(ivalue_from_str(attribute->name, &key));
    bool found;
    Status status = dict_get(state.dict, key, &value, &found);
    ivalue_release(key);
    TRY(status);
    if (!found) {
      if (type_is_optional_like(attribute->type) || attribute->type->kind == TYPE_NONE) continue;
      return status_new(ERROR_DATA, "the archive has no value for attribute " STR_FMT "." STR_FMT,
                        STR_ARG(class_type->type.name), STR_ARG(attribute->name));
    }
    StrBuf what = {.max_length = 300};
    strbuf_printf(&what, "attribute " STR_FMT "." STR_FMT, STR_ARG(class_type->type.name), STR_ARG(attribute->name));
    status = ivalue_restore_type(&value, attribute->type, what.data ? what.data : "an attribute");
    strbuf_dispose(&what);
    if (status) {
      ivalue_release(value);
      return status;
    }
    ivalue_release(object->slots[i]);
    object->slots[i] = value;
  }
  return OK;
}

static Status make_object(void *context, ClassType *class_type, IValue state, IValue *out) {
  Import *import = context;
  if (import->bytecode && !native_class_find(class_type->type.name))
    return bytecode_make_object(import->bytecode, class_type, state, out);
  Object *object;
  TRY(object_new(class_type, &object));
  Function *setstate = class_type_find_method(class_type, STR("__setstate__"));
  Status status = setstate ? import_set_state(context, setstate, ivalue_object(object), state)
                           : set_attributes(object, class_type, state);
  *out = ivalue_object(object);
  if (status) ivalue_release(*out);
  return status;
}

PickleHost import_host(Import *import) {
  return (PickleHost){.context = import,
                      .device_map = &import->importer.unit->device_map,
                      .resolve_class = resolve_class,
                      .parse_type = parse_type,
                      .make_object = make_object,
                      .load_storage = load_storage};
}

Status import_read_pickle(Import *import, const char *name, const char *folder, IValue *out) {
  *out = IVALUE_NONE;
  const ArchiveRecord *record = archive_find(import->archive, str_from(name));
  if (!record) return status_new(ERROR_DATA, "the archive has no %s", name);
  char *data;
  size_t length;
  TRY(archive_read(import->archive, record, &data, &length));
  storage_table_init(&import->storages, import->archive, folder, &import->importer.unit->device_map);
  PickleHost host = import_host(import);
  Status status = pickle_read(data, length, &host, out, NULL);
  storage_table_dispose(&import->storages);
  mem_free(data);
  return status ? status_context(status, "%s", name) : OK;
}

/* Constants end up in graphs of the unit whose classes their objects have: they must not keep it. */
static Status disown_objects(IValue constant) {
  VEC(IValue) stack = {0};
  bool fine = vec_push(&stack, constant);
  while (fine && stack.length) {
    IValue v = vec_pop(&stack);
    if (v.tag != TAG_OBJECT || v.object->borrows_type) continue;
    object_borrow_type(v.object);
    for (uint32_t i = 0; fine && i < v.object->slot_count; i++) fine = vec_push(&stack, v.object->slots[i]);
  }
  vec_dispose(&stack);
  return fine ? OK : status_out_of_memory();
}

/* constants.pkl may be absent in archives that have none. */
static Status read_constants(Import *import) {
  if (!archive_find(import->archive, STR("constants.pkl"))) return OK;
  IValue constants;
  TRY(import_read_pickle(import, "constants.pkl", "constants/", &constants));
  Status status = OK;
  if (constants.tag != TAG_TUPLE) status = status_new(ERROR_DATA, "constants.pkl is no tuple");
  for (uint32_t i = 0; !status && i < constants.tuple->length; i++) {
    status = importer_add_constant(&import->importer, constants.tuple->values[i]);
    if (!status) status = disown_objects(constants.tuple->values[i]);
  }
  ivalue_release(constants);
  return status;
}

/* A record of one line, as version and byteorder are. *out is owned text. */
static Status read_line(Archive *archive, const ArchiveRecord *record, char **out, Str *out_line) {
  size_t length;
  TRY(archive_read(archive, record, out, &length));
  *out_line = (Str){*out, length};
  while (out_line->length && strchr("\r\n ", out_line->data[out_line->length - 1])) out_line->length--;
  return OK;
}

static Status read_version(Archive *archive, int64_t *out) {
  const ArchiveRecord *record = archive_find(archive, STR("version"));
  if (!record) record = archive_find(archive, STR(".data/version"));
  if (!record) return status_new(ERROR_DATA, "not a TorchScript archive: it has no version");
  char *text;
  Str digits;
  TRY(read_line(archive, record, &text, &digits));
  Status status = OK;
  if (!str_to_int64(digits, 10, out)) {
    status = status_new(ERROR_DATA, "the archive's version is no number");
  } else if (*out < 1) {
    status = status_new(ERROR_UNSUPPORTED, "archives of version %lld", (long long)*out);
  }
  mem_free(text);
  return status;
}

/* What PyTorch from 2.1 on writes beside an archive's program, whatever the version of its operators, and 1.13 does
 * not. 2.0 writes what 1.13 writes. */
static TorchVersion writer_version(const Archive *archive) {
  return archive_find(archive, STR("byteorder")) || archive_find(archive, STR(".data/serialization_id")) ? TORCH_2
                                                                                                         : TORCH_1;
}

/* Later releases than 1.13 say how numbers are stored. */
static Status check_byte_order(Archive *archive) {
  const ArchiveRecord *record = archive_find(archive, STR("byteorder"));
  if (!record) return OK;
  char *text;
  Str order;
  TRY(read_line(archive, record, &text, &order));
  Status status = str_is(order, "little")
                      ? OK
                      : status_new(ERROR_UNSUPPORTED, "tensors in '" STR_FMT "' byte order",
                                   STR_ARG(str_slice(order, 0, order.length < 20 ? order.length : 20)));
  mem_free(text);
  return status;
}

static Status read_extra_files(Archive *archive, Module *module) {
  for (size_t i = 0; i < archive->records.length; i++) {
    const ArchiveRecord *record = &archive->records.data[i];
    if (!str_starts_with(record->name, "extra/")) continue;
    char *text;
    size_t length;
    TRY(archive_read(archive, record, &text, &length));
    Status status = module_add_extra_file(module, str_slice(record->name, 6, record->name.length), (Str){text, length});
    mem_free(text);
    if (status) return status;
  }
  return OK;
}

/* The root object by data.pkl. */
static Status read_pickles(Import *import, IValue *out) {
  TRY(read_constants(import));
  return import_read_pickle(import, "data.pkl", "data/", out);
}

static Status read_bytecode(Import *import, IValue *out) {
  Bytecode bytecode;
  Status status = bytecode_read(&bytecode, import);
  if (!status) status = import_read_pickle(import, "data.pkl", "data/", out);
  if (!status) status = bytecode_define_methods(&bytecode);
  bytecode_dispose(&bytecode);
  return status;
}

typedef struct Setup {
  CompilationUnit *unit;
  const LoadOptions *options;
} Setup;
static void set_up_unit(void *argument) {
  const Setup *setup = argument;
  unit_set_device_map(setup->unit, setup->options->device_map);
  setup->unit->torch_version = setup->options->torch_version;
  if (setup->options->allow_ops) unit_allow_operators(setup->unit, setup->options->allow_ops);
}

Status import_new_unit(const LoadOptions *options, CompilationUnit **out) {
  TRY(unit_new(out));
  Status status = arena_protect(&(*out)->store.arena, set_up_unit, &(Setup){*out, options});
  if (status) unit_release(*out);
  return status;
}
Status import_begin(Import *import, Exec *exec) {
  CompilationUnit *unit;
  int64_t version;
  TRY(read_version(import->archive, &version));
  TRY(check_byte_order(import->archive));
  TRY(import_new_unit(import->options, &unit));
  Status status = importer_init(&import->importer, import->archive, unit, exec);
  import->importer.version = version;
  if (!unit->torch_version) unit->torch_version = (uint8_t)writer_version(import->archive);
  unit_enter(unit, exec);
  return status;
}
void import_end(Import *import) {
  CompilationUnit *unit = import->importer.unit;
  if (import->importer.exec) import->importer.exec->device_map = NULL;
  importer_dispose(&import->importer);
  unit_release(unit);
}

Status import_code(Import *import) {
  if (model_json_is_there(import->archive)) {
    IValue root;
    TRY(model_json_read(import, &root));
    ivalue_release(root);
    return OK;
  }
  if (bytecode_is_there(import->archive)) {
    IValue root;
    Status status = read_bytecode(import, &root);
    ivalue_release(root);
    return status;
  }
  TRY(read_constants(import));
  return importer_compile_all(&import->importer);
}
Status unit_import_code(ByteSource *source, Exec *exec, CompilationUnit **out) {
  Import import = {.options = &(LoadOptions){0}};
  TRY(archive_open(source, true, 0, &import.archive));
  Status status = import_begin(&import, exec);
  if (!status) status = import_code(&import);
  if (!status) *out = unit_retain(import.importer.unit);
  import_end(&import);
  archive_free(import.archive);
  return status;
}

/* The root object of the archive. */
static Status read_root(Import *import, IValue *out) {
  *out = IVALUE_NONE;
  TRY(model_json_is_there(import->archive) ? model_json_read(import, out)
      : bytecode_is_there(import->archive) ? read_bytecode(import, out)
                                           : read_pickles(import, out));
  return out->tag == TAG_OBJECT && out->object->class_type->is_module
             ? OK
             : status_new(ERROR_DATA, "the archive holds no module");
}
static Status import_module(Import *import, Module **out) {
  IValue root;
  Module *module = NULL;
  Status status = read_root(import, &root);
  if (!status) status = module_new(import->importer.unit, root.object, &module);
  if (!status) status = read_extra_files(import->archive, module);
  ivalue_release(root);
  if (status)
    module_release(module);
  else
    *out = module;
  return status;
}

static bool has_program(const Archive *archive) {
  return model_json_is_there(archive) ||
         (archive_find(archive, STR("data.pkl")) && archive_find(archive, STR("constants.pkl")));
}

static Status import_archive(Archive *archive, Exec *exec, const LoadOptions *options, Module **out) {
  Import import = {.archive = archive, .options = options};
  Status status = import_begin(&import, exec);
  if (!status) status = import_module(&import, out);
  int64_t version = import.importer.version;
  import_end(&import);
  if (!status || version <= NEWEST_VERSION) return status;
  return status_context(status, "an archive of version %lld (wick knows those up to %d)", (long long)version,
                        NEWEST_VERSION);
}

Status archive_open_program(ByteSource *source, uint64_t max_bytes, Archive **out) {
  Status status = archive_open(source, true, max_bytes, out);
  if (!status || status->code != ERROR_DATA) return status;
  Status other = archive_open(source, false, max_bytes, out);
  if (other) return status_free(other), status;
  if (pt2_is_there(*out)) return status_free(status), OK;
  archive_free(*out);
  return status;
}

/* The kinds of archives that hold a module. */
static const struct {
  bool (*is_there)(const Archive *archive);
  Status (*import)(Archive *archive, Exec *exec, const LoadOptions *options, Module **out);
} archive_kinds[] = {{has_program, import_archive}, {pt2_is_there, pt2_import}};

Status module_import(ByteSource *source, Exec *exec, const LoadOptions *options, Module **out) {
  Archive *archive;
  Status status = archive_open_program(source, options->max_bytes, &archive);
  if (status) return file_explain(source, status);
  archive->share_weights = options->share_weights;
  size_t kind = 0, kinds = sizeof archive_kinds / sizeof *archive_kinds;
  while (kind < kinds && !archive_kinds[kind].is_there(archive)) kind++;
  status = kind < kinds ? archive_kinds[kind].import(archive, exec, options, out)
                        : file_refuse(source, "a TorchScript archive");
  archive_free(archive);
  return status;
}
