/* model.json describes one main module: its submodules, parameters (by their number in a table of tensors), attributes
 * (by their number in attributes.pkl) and the record with its methods. First every class is declared with its
 * attributes, then methods compile, since they may call those of submodules; then objects are filled. */
#include "serial/formats/model_json.h"

#include "base/stack.h"
#include "serial/archive/used_operators.h"
#include "serial/formats/json.h"

/* The names protocol buffers gave to element types then. */
static const struct {
  const char *name;
  DType dtype;
} data_types[] = {
    {"FLOAT", DTYPE_FLOAT32},   {"INT32", DTYPE_INT32},    {"BYTE", DTYPE_UINT8},        {"BOOL", DTYPE_BOOL},
    {"UINT8", DTYPE_UINT8},     {"INT8", DTYPE_INT8},      {"INT16", DTYPE_INT16},       {"INT64", DTYPE_INT64},
    {"FLOAT16", DTYPE_FLOAT16}, {"DOUBLE", DTYPE_FLOAT64}, {"BFLOAT16", DTYPE_BFLOAT16},
};

typedef struct JsonModule {
  const Json *json;
  ClassType *class_type;
  uint32_t count;
  struct JsonModule **submodules;
} JsonModule;

typedef struct Model {
  Import *import;
  const Json *root;
  JsonModule *main;
  VEC(Tensor *) tensors; /* owned */
  IValue attributes;     /* owned: what attributes.pkl holds */
} Model;

/* ---- tensors ---- */

static Status damaged(const char *what) {
  return status_new(ERROR_DATA, "damaged model.json: %s", what);
}

static Status read_dtype(const Json *tensor, DType *out) {
  Str name;
  if (!json_string(json_get(tensor, "dataType"), &name)) return damaged("a tensor has no dataType");
  for (size_t i = 0; i < sizeof data_types / sizeof *data_types; i++) {
    if (!str_is(name, data_types[i].name)) continue;
    *out = data_types[i].dtype;
    return OK;
  }
  return status_new(ERROR_UNSUPPORTED, "tensors with dataType '" STR_FMT "'", STR_ARG(name));
}

/* An absent list is empty: protocol buffers leave out what has no elements. */
static Status read_sizes(const Json *tensor, const char *key, int *out_ndim, int64_t *out) {
  int count = 0;
  for (const Json *e = json_first(json_array(tensor, key)); e; e = json_next(e)) {
    if (count == TENSOR_MAX_DIMS) return damaged("a tensor has too many dimensions");
    if (!json_int(e, &out[count++])) return damaged("a tensor's size is no number");
  }
  *out_ndim = count;
  return OK;
}

static Status read_tensor(Import *import, const Json *json, Tensor **out) {
  DType dtype;
  int ndim, stride_count;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], offset = 0;
  TRY(read_dtype(json, &dtype));
  TRY(read_sizes(json, "dims", &ndim, sizes));
  TRY(read_sizes(json, "strides", &stride_count, strides));
  if (ndim != stride_count) return damaged("a tensor has not as many strides as dimensions");
  const Json *offset_json = json_get(json, "offset");
  if (offset_json && !json_int(offset_json, &offset)) return damaged("a tensor's offset is no number");
  Str key, location = STR("cpu");
  if (!json_string(json_get(json_get(json, "data"), "key"), &key)) return damaged("a tensor names no data");
  json_string(json_get(json, "device"), &location);
  const ArchiveRecord *record = archive_find(import->archive, key);
  if (!record)
    return status_new(ERROR_DATA, "the archive has no record '" STR_FMT "' with a tensor's data", STR_ARG(key));
  if (record->size > SIZE_MAX) return status_out_of_memory();
  Storage *storage;
  TRY(storage_table_load(&import->storages, key, location, dtype, (size_t)record->size, &storage));
  if (!storage) return status_new(ERROR_UNSUPPORTED, "meta tensors in archives of the first format");
  Status status = tensor_from_storage(storage, dtype, ndim, sizes, strides, offset, out);
  storage_release(storage);
  bool requires_grad = false;
  if (!status && json_bool(json_get(json, "requiresGrad"), &requires_grad) && requires_grad)
    (*out)->flags |= TENSOR_REQUIRES_GRAD;
  return status ? status_context(status, "tensor with data '" STR_FMT "'", STR_ARG(key)) : OK;
}

/* Programs name the same table's tensors as CONSTANTS.c0, ... */
static Status read_tensors(Model *m) {
  for (const Json *e = json_first(json_array(m->root, "tensors")); e; e = json_next(e)) {
    Tensor *tensor;
    TRY(read_tensor(m->import, e, &tensor));
    if (!vec_push(&m->tensors, tensor)) {
      tensor_release(tensor);
      return status_out_of_memory();
    }
    TRY(importer_add_constant(&m->import->importer, ivalue_tensor(tensor)));
  }
  return OK;
}

static Status find_tensor(const Model *m, int64_t index, Tensor **out) {
  if (index < 0 || (uint64_t)index >= m->tensors.length)
    return status_new(ERROR_DATA, "tensor %lld of a table of %zu", (long long)index, m->tensors.length);
  *out = tensor_retain(m->tensors.data[index]);
  return OK;
}

/* ---- attributes.pkl ---- */

/* The pickle's host is the import's, with numbers of tensors in place of storages. */
typedef struct AttributeHost {
  PickleHost outer;
  const Model *model;
} AttributeHost;
static Status resolve_class(void *context, Str name, const Type **out) {
  const PickleHost *outer = &((AttributeHost *)context)->outer;
  return outer->resolve_class(outer->context, name, out);
}
static Status parse_type(void *context, Str annotation, const Type **out) {
  const PickleHost *outer = &((AttributeHost *)context)->outer;
  return outer->parse_type(outer->context, annotation, out);
}
static Status make_object(void *context, ClassType *class_type, IValue state, IValue *out) {
  const PickleHost *outer = &((AttributeHost *)context)->outer;
  return outer->make_object(outer->context, class_type, state, out);
}
static Status load_tensor(void *context, int64_t index, Tensor **out) {
  return find_tensor(((AttributeHost *)context)->model, index, out);
}

static Status read_attributes(Model *m) {
  const ArchiveRecord *record = archive_find(m->import->archive, STR("attributes.pkl"));
  if (!record) return OK;
  char *data;
  size_t length;
  TRY(archive_read(m->import->archive, record, &data, &length));
  AttributeHost context = {import_host(m->import), m};
  PickleHost host = {.context = &context,
                     .resolve_class = resolve_class,
                     .parse_type = parse_type,
                     .make_object = make_object,
                     .load_tensor = load_tensor};
  Status status = pickle_read(data, length, &host, &m->attributes, NULL);
  mem_free(data);
  if (status) return status_context(status, "attributes.pkl");
  bool fits =
      m->attributes.tag == TAG_TUPLE || (m->attributes.tag == TAG_LIST && m->attributes.list->kind == LIST_VALUES);
  return fits ? OK : status_new(ERROR_DATA, "attributes.pkl is neither a tuple nor a list");
}

/* Borrowed. */
static Status find_attribute(const Model *m, int64_t index, IValue *out) {
  size_t count = m->attributes.tag == TAG_TUPLE  ? m->attributes.tuple->length
                 : m->attributes.tag == TAG_LIST ? m->attributes.list->length
                                                 : 0;
  if (index < 0 || (uint64_t)index >= count)
    return status_new(ERROR_DATA, "attribute %lld of %zu in attributes.pkl", (long long)index, count);
  *out = m->attributes.tag == TAG_TUPLE ? m->attributes.tuple->values[index] : m->attributes.list->values[index];
  return OK;
}

/* ---- classes: these throw ---- */

static _Noreturn void fail(Compilation *c, const char *what) {
  catch_throw(&c->catch_point, damaged(what));
}

static Str member_name(Compilation *c, const Json *json) {
  Str name;
  if (!json_string(json_get(json, "name"), &name) || !name.length) fail(c, "a part of a module has no name");
  return name;
}
static void add_member(Compilation *c, JsonModule *module, Str name, const Type *type, AttributeKind kind) {
  if (class_type_find_attribute(module->class_type, name) >= 0)
    catch_throw(&c->catch_point,
                status_new(ERROR_DATA, "damaged model.json: a module has '" STR_FMT "' twice", STR_ARG(name)));
  class_type_add_attribute(module->class_type, name, type, kind);
}

/* `__torch__.outer.inner`, made different from other types' names. */
static Str class_name(Compilation *c, Str outer, Str name) {
  Arena *arena = &c->scratch;
  char *part = arena_strndup(arena, name.data, name.length);
  for (char *p = part; *p; p++)
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) *p = '_';
  Str whole = str_from(arena_printf(arena, STR_FMT ".%s", STR_ARG(outer), *part ? part : "module"));
  Str unique = whole;
  for (unsigned i = 0; unit_find_type(c->unit, unique); i++)
    unique = str_from(arena_printf(arena, STR_FMT "_%u", STR_ARG(whole), i));
  return unique;
}

static JsonModule *declare_module(Model *m, Compilation *c, const Json *json, Str outer) {
  if (!json_is_object(json)) fail(c, "a module is no object");
  if (STACK_IS_LOW()) fail(c, "modules are nested too deeply");
  Importer *importer = &m->import->importer;
  JsonModule *module = ARENA_NEW(&importer->arena, JsonModule);
  Str name = STR("");
  json_string(json_get(json, "name"), &name);
  module->json = json;
  module->class_type = class_type_new(&c->unit->store, class_name(c, outer, name), true);
  unit_add_type(c->unit, &module->class_type->type);
  const Json *submodules = json_array(json, "submodules");
  size_t count = json_count(submodules);
  module->submodules = ARENA_ARRAY(&importer->arena, JsonModule *, count);
  for (const Json *e = json_first(submodules); e; e = json_next(e)) {
    JsonModule *submodule = declare_module(m, c, e, module->class_type->type.name);
    module->submodules[module->count++] = submodule;
    add_member(c, module, member_name(c, e), &submodule->class_type->type, ATTRIBUTE_PLAIN);
  }
  for (const Json *e = json_first(json_array(json, "parameters")); e; e = json_next(e)) {
    bool is_buffer = false;
    json_bool(json_get(e, "isBuffer"), &is_buffer);
    add_member(c, module, member_name(c, e), TYPE(TENSOR), is_buffer ? ATTRIBUTE_BUFFER : ATTRIBUTE_PARAMETER);
  }
  for (const Json *e = json_first(json_array(json, "attributes")); e; e = json_next(e)) {
    Str type;
    if (!json_string(json_get(e, "type"), &type)) fail(c, "an attribute has no type");
    add_member(c, module, member_name(c, e), frontend_parse_type(c, type, &importer->resolver), ATTRIBUTE_PLAIN);
  }
  return module;
}

static void define_methods(Model *m, Compilation *c, const JsonModule *module) {
  Str key;
  for (uint32_t i = 0; i < module->count; i++) define_methods(m, c, module->submodules[i]);
  if (json_string(json_get(json_get(module->json, "torchscriptArena"), "key"), &key))
    importer_define_methods(&m->import->importer, c, key, module->class_type);
}

static void compile_body(Compilation *c, void *argument) {
  Model *m = argument;
  m->main = declare_module(m, c, json_get(m->root, "mainModule"), STR("__torch__"));
  define_methods(m, c, m->main);
}

/* ---- objects ---- */

static Status fill_object(Model *m, const JsonModule *module, Object *object);

static Status make_module(Model *m, const JsonModule *module, IValue *out) {
  Object *object;
  TRY(object_new(module->class_type, &object));
  Status status = fill_object(m, module, object);
  if (status) {
    ivalue_release(ivalue_object(object));
    return status;
  }
  *out = ivalue_object(object);
  return OK;
}

/* A number of the members of `list`, which are in the order of the slots. */
static Status read_number(const Json *json, const char *key, int64_t *out) {
  const Json *number = json_get(json, key);
  *out = 0;
  if (number && !json_int(number, out)) return status_new(ERROR_DATA, "damaged model.json: %s is no number", key);
  return OK;
}

static Status fill_object(Model *m, const JsonModule *module, Object *object) {
  const ClassType *class_type = module->class_type;
  int64_t number;
  size_t slot = 0;
  for (uint32_t i = 0; i < module->count; i++) TRY(make_module(m, module->submodules[i], &object->slots[slot++]));
  for (const Json *e = json_first(json_array(module->json, "parameters")); e; e = json_next(e)) {
    Tensor *tensor;
    TRY(read_number(e, "tensorId", &number));
    TRY(find_tensor(m, number, &tensor));
    object->slots[slot++] = ivalue_tensor(tensor);
  }
  for (const Json *e = json_first(json_array(module->json, "attributes")); e; e = json_next(e), slot++) {
    const ClassAttribute *attribute = &class_type->attributes.data[slot];
    IValue value;
    TRY(read_number(e, "id", &number));
    if (number == -1) continue; /* its value comes from __setstate__ */
    TRY(find_attribute(m, number, &value));
    ivalue_retain(value);
    Status status = ivalue_restore_type(&value, attribute->type, "an attribute");
    if (status) {
      ivalue_release(value);
      return status_context(status, STR_FMT "." STR_FMT, STR_ARG(class_type->type.name), STR_ARG(attribute->name));
    }
    object->slots[slot] = value;
  }
  Function *setstate = class_type_find_method(class_type, STR("__setstate__"));
  const Json *state = json_get(module->json, "getStateAttributeId");
  if (!setstate || !state) return OK;
  IValue value;
  TRY(read_number(module->json, "getStateAttributeId", &number));
  TRY(find_attribute(m, number, &value));
  return import_set_state(m->import, setstate, ivalue_object(object), value);
}

/* ---- the whole ---- */

bool model_json_is_there(const Archive *archive) {
  return archive_find(archive, STR("model.json")) != NULL;
}

static Status read_model(Model *m, IValue *out) {
  TRY(importer_add_libraries(&m->import->importer));
  TRY(read_tensors(m));
  TRY(read_attributes(m));
  Status status = importer_compile(&m->import->importer, compile_body, m);
  if (status) return used_operators_explain(&m->import->importer, status);
  return make_module(m, m->main, out);
}

Status model_json_read(Import *import, IValue *out) {
  char *text;
  size_t length;
  TRY(archive_read(import->archive, archive_find(import->archive, STR("model.json")), &text, &length));
  Json *root;
  Status status = json_parse((Str){text, length}, &root);
  mem_free(text);
  if (status) return status_context(status, "model.json");
  Model m = {.import = import, .root = root};
  storage_table_init(&import->storages, import->archive, "", &import->importer.unit->device_map);
  status = read_model(&m, out);
  storage_table_dispose(&import->storages);
  for (size_t i = 0; i < m.tensors.length; i++) tensor_release(m.tensors.data[i]);
  vec_dispose(&m.tensors);
  ivalue_release(m.attributes);
  json_free(root);
  return status;
}
