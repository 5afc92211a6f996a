/* Module: an Object with its unit, walked by attributes. Walks keep their own stack; a module that contains itself is
 * met once on each path at most. */
#include "module/module.h"

#include <assert.h>

#include "ivalue/snapshot.h"
#include "tensor/device_class.h"
#include "tensor/layout.h"

Status module_new(CompilationUnit *unit, Object *object, Module **out) {
  Module *module = mem_calloc(1, sizeof *module);
  if (!module) return status_out_of_memory();
  ref_init(&module->refs);
  map_init(&module->extra_files, NULL);
  module->unit = unit_retain(unit);
  module->object = object;
  ref_retain(&object->refs);
  *out = module;
  return OK;
}
void module_release(Module *module) {
  if (!module || !ref_release(&module->refs)) return;
  for (MapEntry *e = map_next(&module->extra_files, NULL); e; e = map_next(&module->extra_files, e)) {
    mem_free((char *)(uintptr_t)e->key.data);
    ivalue_release(ivalue_string(e->value));
  }
  map_dispose(&module->extra_files);
  ivalue_release(ivalue_object(module->object));
  unit_release(module->unit);
  mem_free(module);
}

Status module_add_extra_file(Module *module, Str name, Str text) {
  if (map_has(&module->extra_files, name)) return OK;
  String *content;
  TRY(string_new(text, &content));
  char *key = mem_alloc(name.length + 1);
  if (key) memcpy(key, name.data, name.length);
  if (!key || !map_put(&module->extra_files, (Str){key, name.length}, content)) {
    mem_free(key);
    ivalue_release(ivalue_string(content));
    return status_out_of_memory();
  }
  return OK;
}

Status module_set_extra_file(Module *module, Str name, Str text) {
  String *old = map_get(&module->extra_files, name), *content;
  if (!old) return module_add_extra_file(module, name, text);
  TRY(string_new(text, &content));
  map_put(&module->extra_files, name, content); /* in the place of the old one: takes no memory */
  ivalue_release(ivalue_string(old));
  return OK;
}

Function *module_find_method(const Module *module, Str name) {
  return class_type_find_method(module->object->class_type, name);
}

/* One object on the path to where the walk is. */
typedef struct Frame {
  Object *object; /* retained: other threads may take it from its place */
  uint32_t slot;
  size_t name_length; /* of the path before the slot's own name */
} Frame;
typedef VEC(Frame) Path;

static bool on_path(const Path *path, const Object *object) {
  for (size_t i = 0; i < path->length; i++)
    if (path->data[i].object == object) return true;
  return false;
}

static bool is_submodule(IValue v) {
  return v.tag == TAG_OBJECT && v.object->class_type->is_module;
}

/* Bounds what modules that share parts (each path is a name) can make of a walk. */
enum { MAX_SLOTS = 1 << 22, MAX_DEPTH = 10000 };

static Status enter(Path *path, Object *object, size_t name_length) {
  if (path->length >= MAX_DEPTH) return status_new(ERROR_DATA, "the module is nested too deeply");
  if (!vec_push(path, ((Frame){object, 0, name_length}))) return status_out_of_memory();
  ref_retain(&object->refs);
  return OK;
}
static void leave(Path *path) {
  assert(path->length > 0);
  ivalue_release(ivalue_object(vec_pop(path).object));
}

Status module_each(const Module *module, bool recurse, ModuleVisit *visit, void *argument) {
  Path path = {0};
  StrBuf name = {.max_length = 1 << 16};
  Status status = enter(&path, module->object, 0);
  bool more = true;
  for (size_t visited = 0; path.length && more && !status; visited++) {
    Frame *frame = &vec_last(&path);
    const ClassType *type = frame->object->class_type;
    if (frame->slot >= type->attributes.length || frame->slot >= frame->object->slot_count) {
      leave(&path);
      continue;
    }
    if (visited > MAX_SLOTS) {
      status = status_new(ERROR_DATA, "the module has too many attributes");
      break;
    }
    const ClassAttribute *attribute = &type->attributes.data[frame->slot];
    uint32_t at = frame->slot++;
    name.length = frame->name_length;
    if (name.length) strbuf_char(&name, '.');
    strbuf_str(&name, attribute->name);
    if (name.failed) {
      status = status_out_of_memory();
      break;
    }
    IValue value = object_get(frame->object, at);
    more =
        visit(argument, &(ModuleSlot){strbuf_view(&name), attribute->kind, attribute->type, frame->object, at, value});
    if (more && recurse && is_submodule(value) && !on_path(&path, value.object))
      status = enter(&path, value.object, name.length);
    ivalue_release(value);
  }
  while (path.length) leave(&path);
  vec_dispose(&path);
  strbuf_dispose(&name);
  return status;
}

typedef struct Train {
  bool training;
} Train;
static void train_object(Object *object, bool training) {
  ptrdiff_t slot = class_type_find_attribute(object->class_type, STR("training"));
  if (slot < 0) return;
  IValue before = object_get(object, (uint32_t)slot);
  if (before.tag == TAG_BOOL) object_set(object, (uint32_t)slot, ivalue_bool(training));
  ivalue_release(before);
}
static bool train_visit(void *argument, const ModuleSlot *slot) {
  if (is_submodule(slot->value)) train_object(slot->value.object, ((Train *)argument)->training);
  return true;
}
Status module_train(Module *module, bool training) {
  Train train = {training};
  train_object(module->object, training);
  return module_each(module, true, train_visit, &train);
}

typedef struct Conversion {
  DType dtype;          /* DTYPE_NONE: as they are */
  const Device *device; /* NULL: where they are */
  PtrMap done;          /* tensor before -> tensor after, so that tied tensors stay tied */
  Status status;
} Conversion;

/* A copy there, of the same strides where they leave no gaps. */
static Status move(const Tensor *from, Device device, Tensor **out) {
  TensorSpec spec;
  tensor_spec_of(from, &spec);
  spec.device = device;
  layout_preserve(from, &spec);
  TRY(tensor_new(&spec, out));
  Status status = tensor_copy(*out, from, 1);
  if (status) tensor_release(*out);
  return status;
}

static Status convert_slot(Conversion *c, const ModuleSlot *slot) {
  assert(slot->value.tag == TAG_TENSOR);
  Tensor *from = slot->value.tensor, *to = ptrmap_get(&c->done, from);
  if (!to) {
    TRY(c->device ? move(from, *c->device, &to) : tensor_to_dtype(from, c->dtype, &to));
    to->flags |= from->flags & TENSOR_REQUIRES_GRAD;
    if (!ptrmap_put(&c->done, from, to)) {
      tensor_release(to);
      return status_out_of_memory();
    }
    tensor_retain(from); /* the key must stay that tensor */
  }
  object_set(slot->object, slot->index, ivalue_tensor(tensor_retain(to)));
  return OK;
}
static bool convert_visit(void *argument, const ModuleSlot *slot) {
  Conversion *c = argument;
  if (slot->kind == ATTRIBUTE_PLAIN || slot->value.tag != TAG_TENSOR || !tensor_is_defined(slot->value.tensor))
    return true;
  const Tensor *t = slot->value.tensor;
  DType dtype = (DType)t->dtype;
  if (c->device ? device_equal(tensor_device(t), *c->device) : !dtype_is_floating(dtype) || dtype == c->dtype)
    return true;
  c->status = convert_slot(c, slot);
  return c->status == OK;
}

static Status convert_all(Module *module, Conversion *c) {
  object_drop_snapshots(module->object); /* they would keep what is replaced */
  ptrmap_init(&c->done, NULL);
  Status status = module_each(module, true, convert_visit, c);
  for (uint32_t i = 0; i < c->done.slot_count; i++)
    if (c->done.slots[i].key) {
      tensor_release((Tensor *)(uintptr_t)c->done.slots[i].key);
      tensor_release(c->done.slots[i].value);
    }
  ptrmap_dispose(&c->done);
  return status ? status : c->status;
}

Status module_to(Module *module, DType dtype) {
  if (!dtype_is_floating(dtype))
    return status_new(ERROR_INVALID_ARGUMENT, "modules are converted to floating dtypes only, not %s",
                      dtype_name(dtype));
  return convert_all(module, &(Conversion){.dtype = dtype});
}

Status module_to_device(Module *module, Device device) {
  TRY(device_choose(&device));
  return convert_all(module, &(Conversion){.dtype = DTYPE_NONE, .device = &device});
}

typedef struct StateDict {
  Dict *dict;
  Status status;
} StateDict;
static bool state_visit(void *argument, const ModuleSlot *slot) {
  StateDict *state = argument;
  if (slot->kind == ATTRIBUTE_PLAIN || slot->value.tag != TAG_TENSOR) return true;
  IValue key;
  state->status = ivalue_from_str(slot->name, &key);
  if (!state->status) state->status = dict_set(state->dict, key, ivalue_retain(slot->value));
  return state->status == OK;
}

Status module_state_dict(const Module *module, Dict **out) {
  StateDict state = {0};
  TRY(dict_new(TYPE(STRING), TYPE(TENSOR), &state.dict));
  Status status = module_each(module, true, state_visit, &state);
  if (!status) status = state.status;
  if (status) {
    ivalue_release(ivalue_dict(state.dict));
    return status;
  }
  *out = state.dict;
  return OK;
}
