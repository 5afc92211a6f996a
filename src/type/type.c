/* Types: the static ones, the constructors, and class types' attributes and methods. */
#include "type/type.h"

#include <assert.h>

#include "type/class_type.h"
#include "type/store.h"

/* Kinds without parts, in the order of TypeKind. */
/* clang-format off */
#define SIMPLE_KINDS(X)                                                                                          \
  X(ANY)                                                                                                         \
  X(TENSOR)                                                                                                      \
  X(INT)                                                                                                         \
  X(FLOAT) X(COMPLEX) X(BOOL) X(STRING) X(NONE) X(NUMBER) X(DEVICE) X(GENERATOR) X(STREAM) X(STORAGE) X(QSCHEME) \
      X(CAPSULE) X(ANY_LIST) X(ANY_TUPLE) X(ANY_CLASS) X(ANY_ENUM) X(ERROR)
/* clang-format on */

#define IS_MUTABLE(kind) \
  ((kind) == TYPE_ANY || (kind) == TYPE_TENSOR || (kind) == TYPE_ANY_LIST || (kind) == TYPE_ANY_CLASS)
#define HASH_WRAPPED(outer, kind) TYPE_HASH_JOIN(TYPE_HASH_OF_KIND(outer), TYPE_HASH_OF_KIND(kind))

static const Type simple_types[TYPE_ERROR + 1] = {
#define X(k)     \
  [TYPE_##k] = { \
      .kind = TYPE_##k, .may_be_mutable = IS_MUTABLE(TYPE_##k), .hash = TYPE_HASH_OF_KIND(TYPE_##k), .name = {"", 0}},
    SIMPLE_KINDS(X)
#undef X
};
static const Type *const simple_pointers[TYPE_ERROR + 1] = {
#define X(k) [TYPE_##k] = &simple_types[TYPE_##k],
    SIMPLE_KINDS(X)
#undef X
};
#define WRAPPED(outer, mutable_always, k)                                   \
  [TYPE_##k] = {.kind = outer,                                              \
                .depth = 1,                                                 \
                .parts = 1,                                                 \
                .may_be_mutable = (mutable_always) || IS_MUTABLE(TYPE_##k), \
                .hash = HASH_WRAPPED(outer, TYPE_##k),                      \
                .count = 1,                                                 \
                .elements = &simple_pointers[TYPE_##k],                     \
                .name = {"", 0}},
static const Type list_types[TYPE_ERROR + 1] = {
#define X(k) WRAPPED(TYPE_LIST, true, k)
    SIMPLE_KINDS(X)
#undef X
};
static const Type optional_types[TYPE_ERROR + 1] = {
#define X(k) WRAPPED(TYPE_OPTIONAL, false, k)
    SIMPLE_KINDS(X)
#undef X
};
static const Type future_types[TYPE_ERROR + 1] = {
#define X(k) WRAPPED(TYPE_FUTURE, true, k)
    SIMPLE_KINDS(X)
#undef X
};
static const Type empty_tuple = {.kind = TYPE_TUPLE, .hash = TYPE_HASH_OF_KIND(TYPE_TUPLE), .name = {"", 0}};

const Type *type_simple(TypeKind kind) {
  assert(kind <= TYPE_ERROR && simple_pointers[kind]); /* of the kinds without parts */
  return simple_pointers[kind];
}
const Type *type_list_of(TypeKind element) {
  assert(simple_pointers[element]);
  return &list_types[element];
}
const Type *type_optional_of(TypeKind element) {
  assert(simple_pointers[element]);
  return &optional_types[element];
}

const Type *type_find_static(const Type *key) {
  if (key->count == 0) {
    if (key->kind == TYPE_TUPLE) return key->name.length || key->field_names ? NULL : &empty_tuple;
    return key->kind == TYPE_TENSOR && key->tensor ? NULL : simple_pointers[key->kind];
  }
  const Type *element = key->elements[0];
  if (key->count != 1 || element != simple_pointers[element->kind]) return NULL;
  switch (key->kind) {
    case TYPE_LIST:
      return &list_types[element->kind];
    case TYPE_OPTIONAL:
      return &optional_types[element->kind];
    case TYPE_FUTURE:
      return &future_types[element->kind];
    default:
      return NULL;
  }
}

const Type *type_wrapped(TypeStore *store, TypeKind kind, const Type *element) {
  if (element->kind == TYPE_ERROR) return element;
  Type key = {.kind = (uint8_t)kind, .count = 1, .elements = &element, .name = STR("")};
  return type_intern(store, &key);
}

const Type *type_list(TypeStore *store, const Type *element) {
  return type_wrapped(store, TYPE_LIST, element);
}
const Type *type_future(TypeStore *store, const Type *element) {
  return type_wrapped(store, TYPE_FUTURE, element);
}

const Type *type_optional(TypeStore *store, const Type *element) {
  switch (element->kind) {
    case TYPE_OPTIONAL:
    case TYPE_NONE:
      return element;
    case TYPE_UNION:
      return type_union(store, 2, (const Type *const[]){element, TYPE(NONE)});
    default:
      return type_wrapped(store, TYPE_OPTIONAL, element);
  }
}

const Type *type_dict(TypeStore *store, const Type *key_type, const Type *value) {
  if (key_type->kind == TYPE_ERROR || value->kind == TYPE_ERROR) return TYPE(ERROR);
  Type key = {.kind = TYPE_DICT, .count = 2, .elements = (const Type *const[]){key_type, value}, .name = STR("")};
  return type_intern(store, &key);
}

const Type *type_tuple(TypeStore *store, uint32_t count, const Type *const *elements) {
  return type_named_tuple(store, STR(""), count, elements, NULL);
}

const Type *type_named_tuple(TypeStore *store, Str qualified_name, uint32_t count, const Type *const *elements,
                             const Str *field_names) {
  for (uint32_t i = 0; i < count; i++)
    if (elements[i]->kind == TYPE_ERROR) return TYPE(ERROR);
  Type key = {
      .kind = TYPE_TUPLE, .count = count, .elements = elements, .name = qualified_name, .field_names = field_names};
  return type_intern(store, &key);
}

const Type *type_var(TypeStore *store, Str name) {
  Type key = {.kind = TYPE_VAR, .name = name};
  return type_intern(store, &key);
}

const Type *type_function(TypeStore *store, const struct Function *function) {
  Type key = {.kind = TYPE_FUNCTION, .name = STR(""), .function = function};
  return type_intern(store, &key);
}

static bool any_known(const int64_t *dims, int ndim) {
  for (int i = 0; i < ndim; i++)
    if (dims[i] != -1) return true;
  return ndim == 0;
}

/* One form for one meaning, so that equal types are one pointer. */
const Type *type_tensor_refined(TypeStore *store, const TensorInfo *info) {
  if (info->dtype < 0 && info->device_type < 0 && info->ndim < 0 && info->requires_grad < 0 && info->undefined < 0)
    return TYPE(TENSOR);
  TensorInfo canonical = *info;
  canonical.has_sizes = info->ndim >= 0 && (info->ndim == 0 || (info->has_sizes && any_known(info->sizes, info->ndim)));
  canonical.has_strides =
      info->ndim >= 0 && (info->ndim == 0 || (info->has_strides && any_known(info->strides, info->ndim)));
  Type key = {.kind = TYPE_TENSOR, .name = STR(""), .tensor = &canonical};
  return type_intern(store, &key);
}

/* PyTorch's order of kinds inside a Union: part of how it prints. */
static int union_rank(TypeKind kind) {
  static const TypeKind order[] = {
      TYPE_ANY,      TYPE_ENUM,      TYPE_ANY_ENUM,  TYPE_TENSOR,    TYPE_STORAGE, TYPE_TUPLE,     TYPE_LIST,
      TYPE_DICT,     TYPE_NUMBER,    TYPE_FLOAT,     TYPE_COMPLEX,   TYPE_FUTURE,  TYPE_RREF,      TYPE_AWAIT,
      TYPE_INT,      TYPE_NONE,      TYPE_STRING,    TYPE_GENERATOR, TYPE_BOOL,    TYPE_OPTIONAL,  TYPE_VAR,
      TYPE_DEVICE,   TYPE_STREAM,    TYPE_FUNCTION,  TYPE_CLASS,     TYPE_CAPSULE, TYPE_INTERFACE, TYPE_QSCHEME,
      TYPE_ANY_LIST, TYPE_ANY_TUPLE, TYPE_ANY_CLASS, TYPE_UNION,     TYPE_ERROR};
  for (int i = 0;; i++)
    if (order[i] == kind) return i;
}

static bool union_before(TypeStore *store, const Type *a, const Type *b) {
  if (a->kind != b->kind) return union_rank((TypeKind)a->kind) < union_rank((TypeKind)b->kind);
  StrBuf text_a = {0}, text_b = {0};
  type_print_str(a, &text_a);
  type_print_str(b, &text_b);
  bool before = str_compare(strbuf_view(&text_a), strbuf_view(&text_b)) < 0, failed = text_a.failed || text_b.failed;
  strbuf_dispose(&text_a);
  strbuf_dispose(&text_b);
  if (failed && !store->is_process && store->arena.catch_point)
    catch_throw(store->arena.catch_point, status_out_of_memory());
  return before;
}

typedef struct Members {
  const Type *types[TYPE_MAX_MEMBERS];
  uint32_t count;
} Members;

/* Optional and Number dissolve into their members; nested Unions are flat already. */
static bool members_add(Members *members, const Type *type) {
  switch (type->kind) {
    case TYPE_UNION:
      for (uint32_t i = 0; i < type->count; i++)
        if (!members_add(members, type->elements[i])) return false;
      return true;
    case TYPE_OPTIONAL:
      return members_add(members, type->elements[0]) && members_add(members, TYPE(NONE));
    case TYPE_NUMBER:
      return members_add(members, TYPE(INT)) && members_add(members, TYPE(FLOAT)) &&
             members_add(members, TYPE(COMPLEX));
    default:
      if (members->count == TYPE_MAX_MEMBERS) return false;
      members->types[members->count++] = type;
      return true;
  }
}

/* From the right, each member melts into the nearest one on its left that it unifies with; None stays by itself. */
static void members_coalesce(Members *members, TypeStore *store) {
  assert(members->count <= TYPE_MAX_MEMBERS);
  for (uint32_t i = members->count; i-- > 1;) {
    for (uint32_t j = i; j-- > 0;) {
      if ((members->types[i]->kind == TYPE_NONE) != (members->types[j]->kind == TYPE_NONE)) continue;
      const Type *unified = type_unify(store, members->types[i], members->types[j], false);
      if (!unified) continue;
      members->types[j] = unified;
      members->types[i] = members->types[--members->count];
      break;
    }
  }
}

const Type *type_union(TypeStore *store, uint32_t count, const Type *const *types) {
  Members members = {.count = 0};
  for (uint32_t i = 0; i < count; i++) {
    if (types[i]->kind == TYPE_ERROR) return types[i];
    if (!members_add(&members, types[i])) {
      if (!store->is_process && store->arena.catch_point)
        catch_throw(store->arena.catch_point,
                    status_new(ERROR_INVALID_ARGUMENT, "a Union has more than %d members", TYPE_MAX_MEMBERS));
      return TYPE(ERROR);
    }
  }
  if (members.count == 0) return TYPE(NONE);
  members_coalesce(&members, store);
  for (uint32_t i = 1; i < members.count; i++)
    for (uint32_t j = i; j > 0 && union_before(store, members.types[j], members.types[j - 1]); j--) {
      const Type *moved = members.types[j];
      members.types[j] = members.types[j - 1];
      members.types[j - 1] = moved;
    }
  const Type *other = NULL; /* the last member that is not None */
  bool has_none = false;
  uint32_t numbers = 0;
  for (uint32_t i = 0; i < members.count; i++) {
    TypeKind kind = (TypeKind)members.types[i]->kind;
    if (kind == TYPE_ANY) return members.types[i];
    if (kind == TYPE_NONE)
      has_none = true;
    else
      other = members.types[i];
    numbers += kind == TYPE_INT || kind == TYPE_FLOAT || kind == TYPE_COMPLEX;
  }
  if (members.count == 1) return members.types[0];
  if (numbers == 3 && members.count == 3) return TYPE(NUMBER);
  if (numbers == 3 && members.count == 4 && has_none) return type_optional_of(TYPE_NUMBER);
  if (members.count == 2 && has_none) return type_optional(store, other);
  Type key = {.kind = TYPE_UNION, .count = members.count, .elements = members.types, .name = STR("")};
  return type_intern(store, &key);
}

/* ---- nominal types: always new ---- */

static void nominal_init(Type *type, TypeStore *store, TypeKind kind, Str name) {
  *type = (Type){.kind = (uint8_t)kind, .may_be_mutable = kind != TYPE_ENUM, .store = store};
  type->name = (Str){arena_strndup(&store->arena, name.data, name.length), name.length};
  type->hash = TYPE_HASH_JOIN(TYPE_HASH_OF_KIND(kind), (uint32_t)str_hash(name));
}

ClassType *class_type_new(TypeStore *store, Str qualified_name, bool is_module) {
  ClassType *c = ARENA_NEW(&store->arena, ClassType);
  nominal_init(&c->type, store, TYPE_CLASS, qualified_name);
  c->type.class_type = c;
  c->is_module = is_module;
  c->doc = STR("");
  map_init(&c->attribute_index, &store->arena);
  map_init(&c->method_index, &store->arena);
  return c;
}

InterfaceType *interface_type_new(TypeStore *store, Str qualified_name, bool is_module) {
  InterfaceType *interface = ARENA_NEW(&store->arena, InterfaceType);
  nominal_init(&interface->type, store, TYPE_INTERFACE, qualified_name);
  interface->type.interface_type = interface;
  interface->is_module = is_module;
  return interface;
}

EnumType *enum_type_new(TypeStore *store, Str qualified_name, const Type *value_type, uint32_t count, const Str *names,
                        const struct IValue *values) {
  EnumType *e = ARENA_NEW(&store->arena, EnumType);
  nominal_init(&e->type, store, TYPE_ENUM, qualified_name);
  e->type.enum_type = e;
  e->value_type = value_type;
  e->count = count;
  Str *copies = ARENA_ARRAY(&store->arena, Str, count ? count : 1);
  for (uint32_t i = 0; i < count; i++)
    copies[i] = (Str){arena_strndup(&store->arena, names[i].data, names[i].length), names[i].length};
  e->names = copies;
  e->values = values;
  return e;
}

enum { FEW_ATTRIBUTES = 8 /* are looked through */ };

static void index_attributes(ClassType *c) {
  size_t count = c->attributes.length;
  if (count <= FEW_ATTRIBUTES) return;
  for (size_t i = count == FEW_ATTRIBUTES + 1 ? 0 : count - 1; i < count; i++)
    if (!c->attributes.data[i].is_hidden)
      map_put(&c->attribute_index, c->attributes.data[i].name, (void *)(uintptr_t)(i + 1));
}

uint32_t class_type_add_attribute(ClassType *c, Str name, const Type *type, AttributeKind kind) {
  Arena *arena = &c->type.store->arena;
  Str copy = {arena_strndup(arena, name.data, name.length), name.length};
  vec_arena_push(arena, &c->attributes, ((ClassAttribute){.name = copy, .type = type, .kind = kind}));
  index_attributes(c);
  return (uint32_t)c->attributes.length - 1;
}
void class_type_add_hidden(ClassType *c, const Type *type) {
  ClassAttribute attribute = {.name = STR("value"), .type = type, .is_hidden = true};
  vec_arena_push(&c->type.store->arena, &c->attributes, attribute);
  index_attributes(c);
}

bool class_type_has_slot(const ClassType *c, int64_t slot) {
  return slot >= 0 && (uint64_t)slot < c->attributes.length && !c->attributes.data[slot].is_hidden &&
         class_type_find_attribute(c, c->attributes.data[slot].name) == slot;
}

ptrdiff_t class_type_find_attribute(const ClassType *c, Str name) {
  if (c->attributes.length > FEW_ATTRIBUTES) return (ptrdiff_t)(uintptr_t)map_get(&c->attribute_index, name) - 1;
  for (size_t i = c->attributes.length; i-- > 0;)
    if (!c->attributes.data[i].is_hidden && str_equal(c->attributes.data[i].name, name)) return (ptrdiff_t)i;
  return -1;
}

ptrdiff_t class_type_find_constant(const ClassType *c, Str name) {
  for (size_t i = 0; i < c->constants.length; i++)
    if (str_equal(c->constants.data[i].name, name)) return (ptrdiff_t)i;
  return -1;
}

const char *const class_hook_lists[] = {
    [HOOK_BEFORE_FORWARD] = "__forward_pre_hooks__", [HOOK_AFTER_FORWARD] = "__forward_hooks__"};

struct Function *class_type_find_method(const ClassType *c, Str name) {
  return map_get(&c->method_index, name);
}

void class_type_add_method(ClassType *c, Str name, struct Function *method) {
  Arena *arena = &c->type.store->arena;
  struct Function *old = map_get(&c->method_index, name);
  if (old) {
    for (size_t i = 0; i < c->methods.length; i++)
      if (c->methods.data[i] == old) c->methods.data[i] = method;
  } else {
    vec_arena_push(arena, &c->methods, method);
  }
  map_put(&c->method_index, (Str){arena_strndup(arena, name.data, name.length), name.length}, method);
}

void class_type_remove_method(ClassType *c, const struct Function *method) {
  size_t kept = 0;
  for (size_t i = 0; i < c->methods.length; i++)
    if (c->methods.data[i] != method) c->methods.data[kept++] = c->methods.data[i];
  c->methods.length = kept;
  for (MapEntry *it = map_next(&c->method_index, NULL); it; it = map_next(&c->method_index, it))
    if (it->value == method) {
      map_remove(&c->method_index, it->key);
      return;
    }
}

bool type_is_autocast(const Type *type) {
  return type->kind == TYPE_CLASS && str_starts_with(type->name, "__torch__.torch.") &&
         str_is(str_after_last(type->name, '.'), "autocast");
}

bool type_is_strict_fusion(const Type *type) {
  return type->kind == TYPE_CLASS && str_starts_with(type->name, "__torch__.torch.jit.") &&
         str_is(str_after_last(type->name, '.'), "strict_fusion");
}
