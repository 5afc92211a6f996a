/* Types that have a name and members: classes, interfaces, enums. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "type/type.h"

typedef enum AttributeKind { ATTRIBUTE_PLAIN, ATTRIBUTE_PARAMETER, ATTRIBUTE_BUFFER } AttributeKind;
typedef struct ClassAttribute {
  Str name;
  const Type *type;
  AttributeKind kind;
  bool is_hidden;            /* class_type_add_hidden */
  _Atomic bool is_relied_on; /* by a Snapshot: a write to this attribute moves the stamp (ivalue/snapshot.h) */
} ClassAttribute;
typedef struct ClassConstant {
  Str name;
  const struct IValue *value; /* in the unit's arena */
} ClassConstant;
typedef struct ClassProperty {
  Str name;
  struct Function *getter, *setter; /* setter may be NULL */
} ClassProperty;

/* What calling a module runs before its forward and after it, numbered as WICK_FORWARD_PRE_HOOK is. */
typedef enum HookKind { HOOK_BEFORE_FORWARD, HOOK_AFTER_FORWARD, HOOK_KIND_COUNT } HookKind;
extern const char *const class_hook_lists[HOOK_KIND_COUNT]; /* what classes call them: "__forward_pre_hooks__" */
/* Modules that hold modules by position or by name: programs go over those. */
typedef enum ContainerKind {
  CONTAINER_NONE,
  CONTAINER_LIST,
  CONTAINER_DICT,
  CONTAINER_OF_PARAMETERS = 4 /* besides: what it holds are parameters, not modules */
} ContainerKind;
/* Filled while its declaration compiles, immutable once its unit is published, but for what Snapshots rely on. Slots of
 * an Object follow `attributes`. */
struct ClassType {
  Type type;
  bool is_module;
  uint8_t container; /* ContainerKind, where a base of the class says so */
  VEC(ClassAttribute) attributes;
  VEC(ClassConstant) constants;
  VEC(struct Function *) methods;
  VEC(struct Function *) static_methods;
  VEC(struct Function *) hooks[HOOK_KIND_COUNT]; /* in the order they run; no methods; one may run more than once */
  VEC(ClassProperty) properties;
  Map attribute_index; /* name -> index + 1, where there are more than few */
  Map method_index;    /* name -> Function */
  Str doc;
};
struct InterfaceType {
  Type type;
  bool is_module;
  VEC(struct FunctionSchema *) methods;
};
struct EnumType {
  Type type;
  const Type *value_type;
  uint32_t count;
  const Str *names;
  const struct IValue *values;
};

/* ---- made as other types are: they throw to store->arena.catch_point ---- */
ClassType *class_type_new(TypeStore *store, Str qualified_name, bool is_module); /* nominal: always a new one */
InterfaceType *interface_type_new(TypeStore *store, Str qualified_name, bool is_module);
EnumType *enum_type_new(TypeStore *store, Str qualified_name, const Type *value_type, uint32_t count, const Str *names,
                        const struct IValue *values);

uint32_t class_type_add_attribute(ClassType *c, Str name, const Type *type, AttributeKind kind); /* its slot */
/* A slot that no program finds: what it holds is for operators alone. */
void class_type_add_hidden(ClassType *c, const Type *type);
/* Whether it is the slot of an attribute that programs may read and write. */
bool class_type_has_slot(const ClassType *c, int64_t slot);
ptrdiff_t class_type_find_attribute(const ClassType *c, Str name); /* slot or -1 */
ptrdiff_t class_type_find_constant(const ClassType *c, Str name);
struct Function *class_type_find_method(const ClassType *c, Str name);
void class_type_add_method(ClassType *c, Str name, struct Function *method);
void class_type_remove_method(ClassType *c, const struct Function *method);
