#include "serial/pt2/attributes.h"

#include "type/class_type.h"

enum { MAX_NAME = 2000, MAX_NESTING = 200 };

struct Pt2Module {
  ClassType *type;
  Map children;        /* name -> Pt2Module */
  VEC(IValue) slots;   /* of the heap: owned, NONE for children */
  VEC(Pt2Module *) at; /* of the arena: the child of a slot, or NULL */
  Value *value;        /* in the graph, once it was read */
};

static const Pt2InputKind input_kinds[] = {{"parameter", "parameter_name", ATTRIBUTE_PARAMETER, false},
                                           {"buffer", "buffer_name", ATTRIBUTE_BUFFER, false},
                                           {"tensor_constant", "tensor_constant_name", ATTRIBUTE_PLAIN, true}};
const Pt2InputKind *pt2_input_kind(const Json *spec) {
  const Json *member = json_first(spec);
  for (size_t i = 0; json_is_object(spec) && member && i < sizeof input_kinds / sizeof *input_kinds; i++)
    if (str_is(json_key(member), input_kinds[i].kind)) return &input_kinds[i];
  return NULL;
}

/* ---- classes ---- */

static void add_slot(Pt2Builder *b, Pt2Module *module, Str name, const Type *type, AttributeKind kind, IValue value,
                     Pt2Module *child) {
  Arena *arena = b->graph->arena;
  bool is_there = class_type_find_attribute(module->type, name) >= 0;
  Status status = vec_arena_try_reserve(arena, &module->at, module->at.length + 1);
  if (!status && !is_there && !vec_reserve(&module->slots, module->slots.length + 1)) status = status_out_of_memory();
  if (status || is_there) {
    ivalue_release(value);
    pt2_try(b, status);
    pt2_fail(b, ERROR_DATA, "two parameters, buffers or modules are called '" STR_FMT "'", PT2_SHORT(name));
  }
  module->slots.data[module->slots.length++] = value;
  module->at.data[module->at.length++] = child;
  Arena *of_unit = &module->type->type.store->arena;
  class_type_add_attribute(module->type, (Str){arena_strndup(of_unit, name.data, name.length), name.length}, type,
                           kind);
}

static Pt2Module *new_module(Pt2Builder *b, Pt2Attributes *a) {
  Arena *of_unit = &a->unit->store.arena;
  Pt2Module *module = ARENA_NEW(b->graph->arena, Pt2Module);
  const char *name = a->modules ? arena_printf(of_unit, "__torch__.___torch_mangle_%u.Module", a->modules - 1)
                                : "__torch__.ExportedProgram";
  a->modules++;
  map_init(&module->children, b->graph->arena);
  module->type = class_type_new(&a->unit->store, str_from(name), true);
  unit_add_type(a->unit, &module->type->type);
  return module;
}
static void end_module(Pt2Builder *b, Pt2Module *module) {
  if (class_type_find_attribute(module->type, STR("training")) < 0)
    add_slot(b, module, STR("training"), TYPE(BOOL), ATTRIBUTE_PLAIN, ivalue_bool(false), NULL);
  for (MapEntry *e = map_next(&module->children, NULL); e; e = map_next(&module->children, e)) end_module(b, e->value);
}

/* What all programs but the root's own are in. */
#define PROGRAMS "programs"

void pt2_attributes_begin(Pt2Builder *b, Pt2Attributes *a, CompilationUnit *unit, Pt2Weights *weights, Str name) {
  a->unit = unit;
  a->weights = weights;
  if (!a->root) a->root = new_module(b, a);
  Pt2Module *programs = map_get(&a->root->children, STR(PROGRAMS));
  if (programs) programs->value = NULL; /* of another graph */
  a->prefix = STR("");
  if (name.length) a->prefix = str_from(arena_printf(b->graph->arena, PROGRAMS "." STR_FMT ".", STR_ARG(name)));
}
void pt2_attributes_end(Pt2Builder *b, Pt2Attributes *a) {
  end_module(b, a->root);
}
static Str full_name(const Pt2Builder *b, const Pt2Attributes *a, Str name) {
  if (!a->prefix.length) return name;
  return str_from(arena_printf(b->graph->arena, STR_FMT STR_FMT, STR_ARG(a->prefix), STR_ARG(name)));
}
ClassType *pt2_attributes_class(const Pt2Attributes *a) {
  return a->root->type;
}

/* The next part of a dotted name, which is cut off. */
static Str next_part(const Pt2Builder *b, Str *name) {
  ptrdiff_t dot = str_find_char(*name, '.');
  Str part = dot < 0 ? *name : str_slice(*name, 0, (size_t)dot);
  if (!part.length) pt2_fail(b, ERROR_DATA, "a parameter or buffer has an empty name");
  *name = dot < 0 ? STR("") : str_slice(*name, (size_t)dot + 1, name->length);
  if (dot >= 0 && !name->length) pt2_fail(b, ERROR_DATA, "a parameter's or buffer's name ends in a dot");
  return part;
}

static Pt2Module *child_of(Pt2Builder *b, Pt2Attributes *a, Pt2Module *module, Str name) {
  Pt2Module *child = map_get(&module->children, name);
  if (child) return child;
  child = new_module(b, a);
  add_slot(b, module, name, &child->type->type, ATTRIBUTE_PLAIN, IVALUE_NONE, child);
  Arena *arena = b->graph->arena;
  map_put(&module->children, (Str){arena_strndup(arena, name.data, name.length), name.length}, child);
  return child;
}

/* Takes over the tensor. */
static void add_tensor(Pt2Builder *b, Pt2Attributes *a, Str name, AttributeKind kind, Tensor *tensor) {
  graph_hold(b->graph, ivalue_tensor(tensor));
  Pt2Module *module = a->root;
  uint32_t depth = 0;
  if (name.length > MAX_NAME) pt2_fail(b, ERROR_DATA, "a parameter's or buffer's name is too long");
  Str rest = full_name(b, a, name), part = next_part(b, &rest);
  for (; rest.length; part = next_part(b, &rest)) {
    if (++depth > MAX_NESTING) pt2_fail(b, ERROR_DATA, "modules are nested too deeply");
    module = child_of(b, a, module, part);
  }
  add_slot(b, module, part, TYPE(TENSOR), kind, ivalue_tensor(tensor_retain(tensor)), NULL);
}

static AttributeKind kind_of(const Pt2InputKind *row, const Json *spec) {
  bool persistent = true;
  json_bool(json_get(json_first(spec), "persistent"), &persistent);
  return row->attribute == ATTRIBUTE_BUFFER && !persistent ? ATTRIBUTE_PLAIN : row->attribute;
}

typedef struct Named {
  const Pt2InputKind *row;
  const Json *spec;
} Named;

/* In the order of the state, which is that of the modules; then what is not part of it. */
void pt2_attributes_add_all(Pt2Builder *b, Pt2Attributes *a, const Json *specs) {
  Map named;
  map_init(&named, b->graph->arena);
  for (const Json *e = json_first(specs); e; e = json_next(e)) {
    const Pt2InputKind *row = pt2_input_kind(e);
    if (!row) continue;
    Named *entry = ARENA_NEW(b->graph->arena, Named);
    *entry = (Named){row, e};
    map_put(&named, pt2_text(b, json_first(e), row->name), entry);
  }
  const Dict *state = a->weights->state;
  for (const DictEntry *at = dict_next(state, NULL); at; at = dict_next(state, (DictEntry *)(uintptr_t)at)) {
    IValue key = at->key, value = at->value;
    if (key.tag != TAG_STRING || value.tag != TAG_TENSOR) continue;
    const Named *entry = map_get(&named, ivalue_str(key));
    bool records = value.tensor->flags & TENSOR_REQUIRES_GRAD;
    AttributeKind kind = entry ? kind_of(entry->row, entry->spec) : records ? ATTRIBUTE_PARAMETER : ATTRIBUTE_BUFFER;
    add_tensor(b, a, ivalue_str(key), kind, tensor_retain(value.tensor));
    if (entry) map_remove(&named, ivalue_str(key));
  }
  for (MapEntry *e = map_next(&named, NULL); e; e = map_next(&named, e)) {
    const Named *entry = e->value;
    Tensor *tensor;
    pt2_try(b, pt2_weights_find(a->weights, e->key, true, &tensor));
    add_tensor(b, a, e->key, kind_of(entry->row, entry->spec), tensor);
  }
}

/* ---- in the graph ---- */

static Value *get_attribute(Pt2Builder *b, Value *object, Str name, const Type *type) {
  Node *node = graph_create(b->graph, SYM_prim_GetAttr, 1, &object, 1);
  node_set_string(node, SYM_attr_name, name);
  node->outputs[0]->type = type;
  return graph_insert_node(b->graph, node)->outputs[0];
}
Value *pt2_attribute_value(Pt2Builder *b, Pt2Attributes *a, Value *self, Str name) {
  Pt2Module *module = a->root;
  module->value = self;
  Str rest = full_name(b, a, name), part = next_part(b, &rest);
  for (; rest.length; part = next_part(b, &rest)) {
    Pt2Module *child = map_get(&module->children, part);
    if (!child) pt2_fail(b, ERROR_DATA, "the file holds no tensor '" STR_FMT "'", PT2_SHORT(name));
    if (!child->value) child->value = get_attribute(b, module->value, part, &child->type->type);
    module = child;
  }
  ptrdiff_t slot = class_type_find_attribute(module->type, part);
  if (slot < 0 || module->type->attributes.data[slot].type->kind != TYPE_TENSOR)
    pt2_fail(b, ERROR_DATA, "the file holds no tensor '" STR_FMT "'", PT2_SHORT(name));
  return get_attribute(b, module->value, part, TYPE(TENSOR));
}

/* ---- objects ---- */

static Status make_object(const Pt2Module *module, Object **out) {
  TRY(object_new(module->type, out));
  Status status = OK;
  for (size_t i = 0; i < module->slots.length && !status; i++) {
    Object *child;
    (*out)->slots[i] = ivalue_retain(module->slots.data[i]);
    if (!module->at.data[i]) continue;
    status = make_object(module->at.data[i], &child);
    if (!status) (*out)->slots[i] = ivalue_object(child);
  }
  if (status) ivalue_release(ivalue_object(*out));
  return status;
}
Status pt2_attributes_object(const Pt2Attributes *a, Object **out) {
  return make_object(a->root, out);
}

static void dispose_module(Pt2Module *module) {
  for (size_t i = 0; i < module->slots.length; i++) ivalue_release(module->slots.data[i]);
  vec_dispose(&module->slots);
  for (MapEntry *e = map_next(&module->children, NULL); e; e = map_next(&module->children, e)) dispose_module(e->value);
}
void pt2_attributes_dispose(Pt2Attributes *a) {
  if (a->root) dispose_module(a->root);
}
