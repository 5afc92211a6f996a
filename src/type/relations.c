/* Equality and subtyping. Walks over two types remember the pairs of composite types they decided, so shared structure
 * costs once; recursion is bounded by TYPE_MAX_DEPTH. */
#include "type/class_type.h"
#include "type/pair_map.h"
#include "type/store.h"

typedef struct Walk {
  PairMap equal_pairs, subtype_pairs; /* value NULL: it does not hold */
  StrBuf *why;
  bool any_tensor; /* what is known of tensors does not count */
} Walk;

static bool tensor_info_equal(const TensorInfo *a, const TensorInfo *b) {
  if (a == b) return true;
  if (!a || !b) return false;
  size_t bytes = a->ndim > 0 ? (size_t)a->ndim * sizeof(int64_t) : 0;
  return a->dtype == b->dtype && a->device_type == b->device_type && a->device_index == b->device_index &&
         a->ndim == b->ndim && a->has_sizes == b->has_sizes && a->has_strides == b->has_strides &&
         a->requires_grad == b->requires_grad && a->undefined == b->undefined &&
         (!a->has_sizes || !memcmp(a->sizes, b->sizes, bytes)) &&
         (!a->has_strides || !memcmp(a->strides, b->strides, bytes));
}

static bool equal(Walk *walk, const Type *a, const Type *b);

static bool equal_parts(Walk *walk, const Type *a, const Type *b) {
  switch (a->kind) {
    case TYPE_TENSOR:
      return walk->any_tensor || tensor_info_equal(a->tensor, b->tensor);
    case TYPE_VAR:
      return str_equal(a->name, b->name);
    case TYPE_FUNCTION:
      return a->function == b->function;
    case TYPE_CLASS:
    case TYPE_INTERFACE:
    case TYPE_ENUM:
      return a == b;
    default:
      break;
  }
  if (a->count != b->count) return false;
  if (a->kind == TYPE_TUPLE) {
    if (!str_equal(a->name, b->name) || !a->field_names != !b->field_names) return false;
    for (uint32_t i = 0; a->field_names && i < a->count; i++)
      if (!str_equal(a->field_names[i], b->field_names[i])) return false;
  }
  for (uint32_t i = 0; i < a->count; i++)
    if (!equal(walk, a->elements[i], b->elements[i])) return false;
  return true;
}

static bool equal(Walk *walk, const Type *a, const Type *b) {
  if (a == b) return true;
  if (a->kind != b->kind || (a->hash != b->hash && !walk->any_tensor)) return false;
  if (!a->count) return equal_parts(walk, a, b);
  void **known = pair_map_find(&walk->equal_pairs, a, b);
  if (known) return *known != NULL;
  bool result = equal_parts(walk, a, b);
  if (a->depth > 2) pair_map_put(&walk->equal_pairs, a, b, result ? walk : NULL);
  return result;
}

bool type_equal_parts(const Type *a, const Type *b) {
  Walk walk = {0};
  bool result = equal_parts(&walk, a, b);
  pair_map_dispose(&walk.equal_pairs);
  return result;
}

bool type_equal(const Type *a, const Type *b) {
  if (a == b) return true;
  if (a->hash != b->hash || a->kind != b->kind) return false;
  return type_equal_parts(a, b);
}

/* Everything known of `super` is known and the same of `sub`. */
static bool tensor_is_subtype(const TensorInfo *sub, const TensorInfo *super) {
  if (!super) return true;
  if (!sub) return false;
  if (super->dtype >= 0 && sub->dtype != super->dtype) return false;
  if (super->device_type >= 0 && (sub->device_type != super->device_type || sub->device_index != super->device_index))
    return false;
  if (super->requires_grad >= 0 && sub->requires_grad != super->requires_grad) return false;
  if (super->undefined >= 0 && sub->undefined != super->undefined) return false;
  if (super->ndim < 0) return true;
  if (sub->ndim != super->ndim) return false;
  for (int i = 0; i < super->ndim; i++) {
    if (super->has_sizes && super->sizes[i] >= 0 && (!sub->has_sizes || sub->sizes[i] != super->sizes[i])) return false;
    if (super->has_strides && super->strides[i] >= 0 && (!sub->has_strides || sub->strides[i] != super->strides[i]))
      return false;
  }
  return true;
}

static bool subtype(Walk *walk, const Type *a, const Type *b);

static bool any_member(Walk *walk, const Type *a, const Type *of_union) {
  for (uint32_t i = 0; i < of_union->count; i++)
    if (subtype(walk, a, of_union->elements[i])) return true;
  return false;
}

static bool every_member(Walk *walk, const Type *of_union, const Type *b) {
  for (uint32_t i = 0; i < of_union->count; i++)
    if (!subtype(walk, of_union->elements[i], b)) return false;
  return true;
}

static bool tuple_is_subtype(Walk *walk, const Type *a, const Type *b) {
  if (a->count != b->count || (b->field_names && !a->field_names)) return false;
  for (uint32_t i = 0; b->field_names && i < b->count; i++)
    if (!str_equal(a->field_names[i], b->field_names[i])) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!subtype(walk, a->elements[i], b->elements[i])) return false;
  return true;
}

static bool implements(Walk *walk, const Type *a, const Type *b) {
  const InterfaceType *interface = b->interface_type;
  bool a_is_module = a->kind == TYPE_CLASS ? a->class_type->is_module : a->interface_type->is_module;
  if (interface->is_module && !a_is_module) {
    if (walk->why)
      strbuf_printf(walk->why, "%s '" STR_FMT "' is not a subtype of the module interface '" STR_FMT "'%s\n",
                    a->kind == TYPE_CLASS ? "Class" : "Interface", STR_ARG(a->name), STR_ARG(b->name),
                    a->kind == TYPE_CLASS ? " , only ScriptModule class can be subtype of module interface." : "");
    return false;
  }
  TypeStore *store = b->store;
  return store && store->implements && store->implements(a, interface, walk->why);
}

/* Rules of each kind on the left beyond those that hold for all. */
static bool subtype_by_kind(Walk *walk, const Type *a, const Type *b) {
  switch (a->kind) {
    case TYPE_NONE:
      return b->kind == TYPE_OPTIONAL;
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
      return b->kind == TYPE_NUMBER;
    case TYPE_NUMBER:
      return b->kind == TYPE_UNION && any_member(walk, TYPE(INT), b) && any_member(walk, TYPE(FLOAT), b) &&
             any_member(walk, TYPE(COMPLEX), b);
    case TYPE_TENSOR:
      return b->kind == TYPE_TENSOR && (walk->any_tensor || tensor_is_subtype(a->tensor, b->tensor));
    case TYPE_LIST:
      return b->kind == TYPE_ANY_LIST;
    case TYPE_TUPLE:
      return b->kind == TYPE_ANY_TUPLE || (b->kind == TYPE_TUPLE && tuple_is_subtype(walk, a, b));
    case TYPE_ENUM:
      return b->kind == TYPE_ANY_ENUM;
    case TYPE_FUTURE:
    case TYPE_RREF:
    case TYPE_AWAIT:
      return b->kind == a->kind && subtype(walk, a->elements[0], b->elements[0]);
    case TYPE_CLASS:
      return b->kind == TYPE_ANY_CLASS || (b->kind == TYPE_INTERFACE && implements(walk, a, b));
    case TYPE_INTERFACE:
      return b->kind == TYPE_INTERFACE && implements(walk, a, b);
    default:
      return false;
  }
}

static bool subtype_rules(Walk *walk, const Type *a, const Type *b) {
  if (a->kind == TYPE_OPTIONAL) {
    if (b->kind == TYPE_OPTIONAL) return subtype(walk, a->elements[0], b->elements[0]);
    return b->kind == TYPE_UNION && any_member(walk, TYPE(NONE), b) && subtype(walk, a->elements[0], b);
  }
  if (a->kind == TYPE_UNION) return every_member(walk, a, b);
  if (subtype_by_kind(walk, a, b)) return true;
  if (b->kind == TYPE_OPTIONAL) return subtype(walk, a, b->elements[0]);
  if (b->kind == TYPE_UNION) return any_member(walk, a, b);
  return equal(walk, a, b);
}

static bool subtype(Walk *walk, const Type *a, const Type *b) {
  if (a == b || b->kind == TYPE_ANY || a->kind == TYPE_ERROR || b->kind == TYPE_ERROR) return true;
  if (a->depth < 2 && a->kind != TYPE_CLASS && a->kind != TYPE_INTERFACE) return subtype_rules(walk, a, b);
  void **known = pair_map_find(&walk->subtype_pairs, a, b);
  if (known) return *known != NULL;
  bool result = subtype_rules(walk, a, b);
  pair_map_put(&walk->subtype_pairs, a, b, result ? walk : NULL);
  return result;
}

static bool decide_subtype(Walk *walk, const Type *sub, const Type *super) {
  if (sub == super || super->kind == TYPE_ANY) return true;
  bool result = subtype(walk, sub, super);
  pair_map_dispose(&walk->equal_pairs);
  pair_map_dispose(&walk->subtype_pairs);
  return result;
}

bool type_is_subtype(const Type *sub, const Type *super, StrBuf *why) {
  return decide_subtype(&(Walk){.why = why}, sub, super);
}

bool type_is_subtype_unrefined(const Type *sub, const Type *super) {
  return decide_subtype(&(Walk){.any_tensor = true}, sub, super);
}

bool type_is_optional_like(const Type *type) {
  if (type->kind != TYPE_UNION) return type->kind == TYPE_OPTIONAL;
  for (uint32_t i = 0; i < type->count; i++)
    if (type->elements[i]->kind == TYPE_NONE) return true;
  return false;
}

bool type_may_be_mutable(const Type *type) {
  return type->may_be_mutable;
}
