/* What programs ask of modules that hold modules. */
#include "frontend/container.h"

#include <assert.h>

ContainerKind container_named(Str base) {
  if (str_is(base, "ParameterList")) return CONTAINER_LIST | CONTAINER_OF_PARAMETERS;
  if (str_is(base, "ParameterDict")) return CONTAINER_DICT | CONTAINER_OF_PARAMETERS;
  if (str_is(base, "ModuleList") || str_is(base, "Sequential")) return CONTAINER_LIST;
  return str_is(base, "ModuleDict") ? CONTAINER_DICT : CONTAINER_NONE;
}

/* Archives name the classes "__torch__....container.ModuleList", possibly mangled. */
static ContainerKind kind_of(const Type *type) {
  if (type->kind != TYPE_CLASS || !type->class_type->is_module) return CONTAINER_NONE;
  if (type->class_type->container) return (ContainerKind)type->class_type->container;
  ptrdiff_t dot = str_rfind_char(type->name, '.');
  return container_named(str_slice(type->name, (size_t)(dot + 1), type->name.length));
}

ContainerKind container_of(const Type *type) {
  return kind_of(type) & ~(unsigned)CONTAINER_OF_PARAMETERS;
}

static bool is_module_type(const Type *type) {
  return (type->kind == TYPE_CLASS && type->class_type->is_module) ||
         (type->kind == TYPE_INTERFACE && type->interface_type->is_module);
}

static bool is_element(const Type *container, const ClassAttribute *attribute) {
  return kind_of(container) & CONTAINER_OF_PARAMETERS ? attribute->kind == ATTRIBUTE_PARAMETER
                                                      : is_module_type(attribute->type);
}

SugaredValue **container_elements(Emitter *e, SourceRange range, Value *module, bool with_keys, bool with_values,
                                  uint32_t *out_count) {
  assert(module->type->kind == TYPE_CLASS);
  const ClassType *c = module->type->class_type;
  SugaredValue **elements = ARENA_ARRAY(e->arena, SugaredValue *, c->attributes.length + 1);
  uint32_t count = 0;
  for (size_t i = 0; i < c->attributes.length; i++) {
    const ClassAttribute *attribute = &c->attributes.data[i];
    if (!is_element(module->type, attribute)) continue;
    SugaredValue *key = with_keys ? sugared_value(e->c, emit_string(e, range, attribute->name)) : NULL;
    SugaredValue *item = with_values ? class_attr(e, range, module, attribute->name) : NULL;
    elements[count++] = key && item ? sugared_tuple(e->c, 2, (SugaredValue *[]){key, item}) : key ? key : item;
  }
  *out_count = count;
  return elements;
}

SugaredValue *container_tuple(Emitter *e, SourceRange range, Value *module, bool with_keys, bool with_values) {
  uint32_t count;
  SugaredValue **elements = container_elements(e, range, module, with_keys, with_values, &count);
  return sugared_tuple(e->c, count, elements);
}

Value *container_len(Emitter *e, SourceRange range, Value *module) {
  uint32_t count;
  container_elements(e, range, module, false, false, &count);
  return emit_int(e, range, count);
}

Value *container_contains(Emitter *e, SourceRange range, Value *module, Value *name) {
  IValue constant;
  if (container_of(module->type) != CONTAINER_DICT)
    compilation_fail(e->c, range, "Only a ModuleDict or ParameterDict can be asked whether it has a name");
  if (!value_is_constant(name, &constant) || constant.tag != TAG_STRING)
    compilation_fail(e->c, range,
                     "The name that a dict of modules or parameters is asked for must be a constant string");
  ptrdiff_t slot = class_type_find_attribute(module->type->class_type, ivalue_str(constant));
  bool found = slot >= 0 && is_element(module->type, &module->type->class_type->attributes.data[slot]);
  return emit_constant(e, range, ivalue_bool(found));
}

/* ---- methods ---- */

typedef enum Asked { ASKED_CHILDREN, ASKED_MODULES, ASKED_BUFFERS } Asked;

typedef struct SugaredContainerMethod {
  SugaredValue base; /* value: the module */
  Asked asked;
  bool with_keys, with_values;
} SugaredContainerMethod;

typedef struct Walk {
  Emitter *e;
  SourceRange range;
  Asked asked;
  bool with_keys;
  VEC(SugaredValue *) found;
} Walk;

static void add_found(Walk *w, Str path, SugaredValue *item) {
  SugaredValue *pair[2] = {w->with_keys ? sugared_value(w->e->c, emit_string(w->e, w->range, path)) : NULL, item};
  vec_arena_push(w->e->arena, &w->found, w->with_keys ? sugared_tuple(w->e->c, 2, pair) : item);
}

/* The module and all below it, outer ones first; or its own buffers. What is held twice is met twice. */
static void walk_modules(Walk *w, Value *module, Str path) {
  if (w->asked == ASKED_MODULES) add_found(w, path, sugared_value(w->e->c, module));
  if (module->type->kind != TYPE_CLASS) return;
  const ClassType *c = module->type->class_type;
  for (int modules = 0; modules < 2; modules++) {
    for (size_t i = 0; i < c->attributes.length; i++) {
      const ClassAttribute *attribute = &c->attributes.data[i];
      bool is_module = is_module_type(attribute->type);
      if (is_module != modules || (!is_module && (w->asked != ASKED_BUFFERS || attribute->kind != ATTRIBUTE_BUFFER)))
        continue;
      const char *inner = arena_printf(w->e->arena, STR_FMT "%s" STR_FMT, STR_ARG(path), path.length ? "." : "",
                                       STR_ARG(attribute->name));
      SugaredValue *item = class_attr(w->e, w->range, module, attribute->name);
      if (!is_module)
        add_found(w, str_from(inner), item);
      else if (w->asked == ASKED_MODULES)
        walk_modules(w, sugared_as_value(item, w->e, w->range), str_from(inner));
    }
  }
}

static SugaredValue *method_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                 uint32_t binders) {
  (void)binders;
  const SugaredContainerMethod *method = (const SugaredContainerMethod *)self;
  if (arguments->count || arguments->keyword_count) compilation_fail(e->c, range, "This method takes no arguments");
  if (method->asked == ASKED_CHILDREN)
    return container_tuple(e, range, self->value, method->with_keys, method->with_values);
  Walk walk = {.e = e, .range = range, .asked = method->asked, .with_keys = method->with_keys};
  walk_modules(&walk, self->value, STR(""));
  return sugared_tuple(e->c, (uint32_t)walk.found.length, walk.found.data);
}
static const SugaredKind SUGARED_CONTAINER_METHOD = {.name = "method", .call = method_call};

SugaredValue *container_method(Emitter *e, Value *module, Str name) {
  static const struct {
    const char *name;
    Asked asked;
    bool of_dicts, with_keys, with_values;
  } methods[] = {
      {"keys", ASKED_CHILDREN, true, true, false},           {"values", ASKED_CHILDREN, true, false, true},
      {"items", ASKED_CHILDREN, true, true, true},           {"children", ASKED_CHILDREN, false, false, true},
      {"named_children", ASKED_CHILDREN, false, true, true}, {"modules", ASKED_MODULES, false, false, true},
      {"named_modules", ASKED_MODULES, false, true, true},   {"named_buffers", ASKED_BUFFERS, false, true, true}};
  const Type *type = module->type;
  if (type->kind != TYPE_CLASS || !type->class_type->is_module) return NULL;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (!str_is(name, methods[i].name) || (methods[i].of_dicts && container_of(type) != CONTAINER_DICT)) continue;
    SugaredContainerMethod *s = ARENA_NEW(e->arena, SugaredContainerMethod);
    *s = (SugaredContainerMethod){{.kind = &SUGARED_CONTAINER_METHOD, .value = module},
                                  methods[i].asked,
                                  methods[i].with_keys,
                                  methods[i].with_values};
    return &s->base;
  }
  return NULL;
}
