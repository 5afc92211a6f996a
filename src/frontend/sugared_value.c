/* Asking SugaredValues, and the kind that is an ordinary Value: attributes by type, iteration, unpacking. */
#include "frontend/emitter.h"

#include <assert.h>

#include "frontend/container.h"
#include "frontend/hooked_call.h"
#include "frontend/suggest.h"

/* ---- asking ---- */

static SugaredValue *sugared_new(Compilation *c, const SugaredKind *kind) {
  SugaredValue *s = ARENA_NEW(&c->scratch, SugaredValue);
  s->kind = kind;
  return s;
}

Value *sugared_as_value(SugaredValue *s, Emitter *e, SourceRange range) {
  if (s->kind == &SUGARED_VALUE) return s->value;
  if (s->kind == &SUGARED_NAMESPACE)
    compilation_fail(e->c, range,
                     "python value of type 'module' cannot be used as a value. Perhaps it is a closed over global "
                     "variable? If so, please consider passing it in as an argument or use a local varible instead.");
  if (!s->kind->as_value) compilation_fail(e->c, range, "%s cannot be used as a value", s->kind->name);
  return s->kind->as_value(s, e, range);
}

static _Noreturn void fail_no_attribute(Value *value, Emitter *e, SourceRange range, Str name) {
  bool is_class = value->type->kind == TYPE_CLASS;
  compilation_fail(e->c, range, "'%s' object has no attribute or method '" STR_FMT "'.%s%s",
                   type_text(e->c, value->type), STR_ARG(name),
                   is_class ? " Did you forget to initialize an attribute in __init__()?" : "",
                   suggest_attribute(e, value, name));
}

SugaredValue *sugared_attr(SugaredValue *s, Emitter *e, SourceRange range, Str name) {
  SugaredValue *found = s->kind->attr ? s->kind->attr(s, e, range, name) : NULL;
  if (found) return found;
  if (s->kind == &SUGARED_VALUE) fail_no_attribute(s->value, e, range, name);
  compilation_fail(e->c, range, "attribute lookup is not defined on %s: there is no '" STR_FMT "'", s->kind->name,
                   STR_ARG(name));
}

void sugared_set_attr(SugaredValue *s, Emitter *e, SourceRange range, Str name, Value *value) {
  if (!s->kind->set_attr) compilation_fail(e->c, range, "attribute assignment is not defined on %s", s->kind->name);
  s->kind->set_attr(s, e, range, name, value);
}

SugaredValue *sugared_call(SugaredValue *s, Emitter *e, SourceRange range, const CallArguments *arguments,
                           uint32_t binders) {
  if (!s->kind->call) compilation_fail(e->c, range, "cannot call a %s", s->kind->name);
  return s->kind->call(s, e, range, arguments, binders);
}

SugaredValue *sugared_iter(SugaredValue *s, Emitter *e, SourceRange range) {
  if (s->kind->iter) return s->kind->iter(s, e, range);
  if (!s->kind->get_item) compilation_fail(e->c, range, "%s cannot be used as an iterable", s->kind->name);
  return s;
}

Value *sugared_len(SugaredValue *s, Emitter *e, SourceRange range) {
  if (!s->kind->len) compilation_fail(e->c, range, "'%s' object has no len()", s->kind->name);
  return s->kind->len(s, e, range);
}

SugaredValue *sugared_get_item(SugaredValue *s, Emitter *e, SourceRange range, Value *index, const Type *hint) {
  if (!s->kind->get_item) compilation_fail(e->c, range, "'%s' object is not subscriptable", s->kind->name);
  return s->kind->get_item(s, e, range, index, hint);
}

int64_t sugared_static_length(SugaredValue *s, Emitter *e) {
  return s->kind->static_length ? s->kind->static_length(s, e) : -1;
}

SugaredValue **sugared_elements(SugaredValue *s, Emitter *e, SourceRange range, uint32_t binders, uint32_t *out_count) {
  if (!s->kind->elements) compilation_fail(e->c, range, "%s cannot be used as a tuple", s->kind->name);
  return s->kind->elements(s, e, range, binders, out_count);
}

/* A plain class has the attributes that its __init__ sets, so that is compiled first. */
static ptrdiff_t find_slot(Emitter *e, SourceRange range, ClassType *c, Str name) {
  Function *init = c->is_module ? NULL : class_type_find_method(c, STR("__init__"));
  if (init && init->definition && !init->is_compiling && e->initializing != c) function_require(e, range, init);
  return class_type_find_attribute(c, name);
}

bool sugared_has_attr(SugaredValue *s, Emitter *e, SourceRange range, Str name) {
  if (s->kind != &SUGARED_VALUE) return s->kind->attr && s->kind->attr(s, e, range, name) != NULL;
  const Type *type = s->value->type;
  if (type->kind == TYPE_CLASS) {
    ClassType *c = type->class_type;
    if (find_slot(e, range, c, name) >= 0 || class_type_find_constant(c, name) >= 0 || class_type_find_method(c, name))
      return true;
    for (size_t i = 0; i < c->properties.length; i++)
      if (str_equal(c->properties.data[i].name, name)) return true;
    return false;
  }
  if (type->kind == TYPE_TUPLE && type->field_names) {
    for (uint32_t i = 0; i < type->count; i++)
      if (str_equal(type->field_names[i], name)) return true;
    return false;
  }
  if (type->kind == TYPE_INTERFACE) {
    const InterfaceType *interface = type->interface_type;
    for (size_t i = 0; i < interface->methods.length; i++)
      if (str_equal(interface->methods.data[i]->name, name)) return true;
    return false;
  }
  compilation_fail(e->c, range, "hasattr's first argument must be an object, got %s instead", type_text(e->c, type));
}

/* ---- values ---- */

Value *sugared_plain_value(const SugaredValue *s) {
  return s->kind == &SUGARED_VALUE ? s->value : NULL;
}

static Value *value_as_value(SugaredValue *self, Emitter *e, SourceRange range) {
  (void)e, (void)range;
  return self->value;
}

/* Properties that are operators of one argument. */
static const struct {
  TypeKind kind;
  const char *name, *op;
} properties[] = {
    {TYPE_TENSOR, "dtype", "prim::dtype"},
    {TYPE_TENSOR, "device", "prim::device"},
    {TYPE_TENSOR, "grad", "prim::grad"},
    {TYPE_TENSOR, "data", "prim::data"},
    {TYPE_TENSOR, "shape", "aten::size"},
    {TYPE_TENSOR, "is_cuda", "prim::is_cuda"},
    {TYPE_TENSOR, "is_cpu", "prim::is_cpu"},
    {TYPE_TENSOR, "is_xla", "prim::is_xla"},
    {TYPE_TENSOR, "is_xpu", "prim::is_xpu"},
    {TYPE_TENSOR, "is_sparse", "prim::is_sparse"},
    {TYPE_TENSOR, "is_sparse_csr", "prim::is_sparse_csr"},
    {TYPE_TENSOR, "is_mkldnn", "prim::is_mkldnn"},
    {TYPE_TENSOR, "is_mps", "prim::is_mps"},
    {TYPE_TENSOR, "is_quantized", "prim::is_quantized"},
    {TYPE_TENSOR, "is_vulkan", "prim::is_vulkan"},
    {TYPE_TENSOR, "is_ipu", "prim::is_ipu"},
    {TYPE_TENSOR, "is_meta", "prim::is_meta"},
    {TYPE_TENSOR, "is_ort", "prim::is_ort"},
    {TYPE_TENSOR, "is_maia", "prim::is_maia"},
    {TYPE_TENSOR, "is_mtia", "prim::is_mtia"},
    {TYPE_TENSOR, "itemsize", "prim::itemsize"},
    {TYPE_TENSOR, "nbytes", "prim::nbytes"},
    {TYPE_TENSOR, "is_leaf", "aten::is_leaf"},
    {TYPE_TENSOR, "retains_grad", "aten::retains_grad"},
    {TYPE_TENSOR, "is_nested", "prim::is_nested"},
    {TYPE_TENSOR, "requires_grad", "prim::requires_grad"},
    {TYPE_TENSOR, "layout", "prim::layout"},
    {TYPE_TENSOR, "T", "aten::numpy_T"},
    {TYPE_TENSOR, "H", "aten::matrix_H"},
    {TYPE_TENSOR, "mT", "aten::mT"},
    {TYPE_TENSOR, "mH", "aten::mH"},
    {TYPE_TENSOR, "real", "aten::real"},
    {TYPE_TENSOR, "imag", "aten::imag"},
    {TYPE_TENSOR, "ndim", "aten::dim"},
    {TYPE_TENSOR, "name", "prim::name"},
    {TYPE_DEVICE, "type", "prim::type"},
    {TYPE_DEVICE, "index", "prim::index"},
    {TYPE_COMPLEX, "real", "aten::real"},
    {TYPE_COMPLEX, "imag", "aten::imag"},
};

void sugared_offer_properties(Suggestion *s, const Type *type) {
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
    if (properties[i].kind == (TypeKind)type->kind) suggestion_offer(s, str_from(properties[i].name));
}

const Operator *property_operator(TypeKind kind, Str name) {
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
    if (properties[i].kind == kind && str_is(name, properties[i].name))
      return operator_find(str_from(properties[i].op));
  return NULL;
}

static SugaredValue *property_of(Emitter *e, SourceRange range, Value *value, Str name) {
  const Operator *op = property_operator((TypeKind)value->type->kind, name);
  return op ? sugared_value(e->c, emit_builtin(e, range, symbol_intern(op->name), 1, &value)) : NULL;
}

/* By its name or, when it is overloaded, by that of the first of its signatures. */
static bool class_has_method(Emitter *e, const ClassType *c, Str name) {
  return class_type_find_method(c, name) ||
         class_type_find_method(c, str_from(arena_printf(e->arena, STR_FMT "__0", STR_ARG(name))));
}

SugaredValue *class_attr(Emitter *e, SourceRange range, Value *value, Str name) {
  assert(value->type->kind == TYPE_CLASS);
  ClassType *c = value->type->class_type;
  if (class_has_method(e, c, name)) return sugared_method(e->c, value, name);
  ptrdiff_t slot = find_slot(e, range, c, name);
  if (slot >= 0) {
    Value *result = emit_typed(e, range, SYM_prim_GetAttr, 1, &value, c->attributes.data[slot].type);
    node_set_string(result->node, SYM_attr_name, name);
    bool is_number = name.length && name.data[0] >= '0' &&
                     name.data[0] <= '9'; /* a ModuleList's "0": names of values can't be numbers */
    if (is_number) name = str_from(arena_printf(e->arena, "_" STR_FMT, STR_ARG(name)));
    value_set_name(result, name);
    return sugared_value(e->c, result);
  }
  ptrdiff_t constant = class_type_find_constant(c, name);
  if (constant >= 0) return sugared_constant(e->c, *c->constants.data[constant].value);
  for (size_t i = 0; i < c->properties.length; i++)
    if (str_equal(c->properties.data[i].name, name) && c->properties.data[i].getter) {
      Str getter = c->properties.data[i].getter->name;
      ptrdiff_t dot = str_rfind_char(getter, '.');
      Value *result =
          emit_method_call(e, range, value, str_slice(getter, (size_t)(dot + 1), getter.length), &(CallArguments){0});
      return sugared_value(e->c, result);
    }
  for (size_t i = 0; i < c->static_methods.length; i++) {
    Str full = c->static_methods.data[i]->name;
    ptrdiff_t dot = str_rfind_char(full, '.');
    if (str_equal(str_slice(full, (size_t)(dot + 1), full.length), name))
      return sugared_function(e->c, c->static_methods.data[i]);
  }
  return container_method(e, value, name);
}

bool sugared_takes_receiver(Emitter *e, const FunctionSchema *schema, Value *value) {
  if (schema->is_vararg) return true;
  if (!schema->argument_count) return false;
  ptrdiff_t at = schema_find_argument(schema, STR("self"));
  const Type *formal = schema->arguments[at < 0 ? 0 : at].type;
  if (formal->has_var) {
    Map bindings;
    map_init(&bindings, e->arena);
    return type_match_vars(e->store, formal, value->type, &bindings, NULL) != NULL;
  }
  if (type_is_subtype(value->type, formal, NULL)) return true;
  if (formal->kind == TYPE_NUMBER)
    return value->type->kind == TYPE_INT || value->type->kind == TYPE_FLOAT || value->type->kind == TYPE_COMPLEX;
  return value->type->kind == TYPE_TUPLE && formal->kind == TYPE_LIST && type_converts_to_list(value->type, formal);
}

/* x.float() and its like: x.to(dtype). */
static const struct {
  const char *name;
  DType dtype;
} tensor_casts[] = {
    {"byte", DTYPE_UINT8}, {"char", DTYPE_INT8},    {"short", DTYPE_INT16},   {"int", DTYPE_INT32},
    {"long", DTYPE_INT64}, {"half", DTYPE_FLOAT16}, {"float", DTYPE_FLOAT32}, {"double", DTYPE_FLOAT64},
};

typedef struct SugaredTensorCast {
  SugaredValue base; /* value */
  DType dtype;
} SugaredTensorCast;

static SugaredValue *tensor_cast_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                      uint32_t binders) {
  (void)binders;
  if (arguments->count || arguments->keyword_count) compilation_fail(e->c, range, "A tensor's cast takes no arguments");
  Value *inputs[4] = {self->value, emit_int(e, range, ((SugaredTensorCast *)self)->dtype),
                      emit_constant(e, range, ivalue_bool(false)), NULL};
  inputs[3] = inputs[2];
  return sugared_value(e->c, emit_builtin(e, range, symbol_intern(STR("aten::to")), 4, inputs));
}
static const SugaredKind SUGARED_TENSOR_CAST = {.name = "method", .call = tensor_cast_call};

static SugaredValue *tensor_cast(Emitter *e, Value *tensor, Str name) {
  for (size_t i = 0; i < sizeof tensor_casts / sizeof *tensor_casts; i++) {
    if (!str_is(name, tensor_casts[i].name)) continue;
    SugaredTensorCast *s = ARENA_NEW(e->arena, SugaredTensorCast);
    s->base.kind = &SUGARED_TENSOR_CAST;
    s->base.value = tensor;
    s->dtype = tensor_casts[i].dtype;
    return &s->base;
  }
  return NULL;
}

/* A method that is an operator of the aten namespace. */
static SugaredValue *builtin_attr(Emitter *e, SourceRange range, Value *value, Str name) {
  Str qualified = str_from(arena_printf(e->arena, "aten::" STR_FMT, STR_ARG(name)));
  if (value->type->kind == TYPE_TENSOR && str_is(name, "type")) qualified = STR("aten::to");
  for (const Operator *op = operator_find(qualified); op; op = op->next)
    if (sugared_takes_receiver(e, operator_schema(op), value))
      return sugared_builtin_method(e->c, symbol_intern(qualified), value, range);
  return NULL;
}

static SugaredValue *value_attr(SugaredValue *self, Emitter *e, SourceRange range, Str name) {
  Value *value = self->value;
  const Type *type = value->type;
  SugaredValue *property = property_of(e, range, value, name);
  if (property) return property;
  switch (type->kind) {
    case TYPE_TUPLE:
      for (uint32_t i = 0; type->field_names && i < type->count; i++)
        if (str_equal(type->field_names[i], name)) return sugared_value(e->c, emit_tuple_index(e, range, value, i));
      break;
    case TYPE_CLASS:
      return class_attr(e, range, value, name);
    case TYPE_INTERFACE: {
      const InterfaceType *interface = type->interface_type;
      for (size_t i = 0; i < interface->methods.length; i++)
        if (str_equal(interface->methods.data[i]->name, name)) return sugared_method(e->c, value, name);
      return NULL;
    }
    case TYPE_ENUM: {
      bool is_name = str_is(name, "name");
      if (!is_name && !str_is(name, "value")) return NULL;
      return sugared_value(e->c, emit_typed(e, range, is_name ? SYM_prim_EnumName : SYM_prim_EnumValue, 1, &value,
                                            is_name ? TYPE(STRING) : type->enum_type->value_type));
    }
    case TYPE_TENSOR:
      if (str_is(name, "tolist")) return sugared_tolist(e->c, value);
      if ((property = tensor_cast(e, value, name))) return property;
      if (str_is(name, "__getitem__"))
        return sugared_magic(e->c, "__getitem__", sugared_builtin_method(e->c, SYM_aten_index, value, range));
      break;
    default:
      break;
  }
  return builtin_attr(e, range, value, name);
}

static void value_set_attr(SugaredValue *self, Emitter *e, SourceRange range, Str name, Value *value) {
  const Type *type = self->value->type;
  if (type->kind != TYPE_CLASS)
    compilation_fail(e->c, range, "Tried to set an attribute: " STR_FMT " on a non-class: %s", STR_ARG(name),
                     type_text(e->c, type));
  ClassType *c = type->class_type;
  ptrdiff_t slot = find_slot(e, range, c, name);
  if (slot < 0 && e->initializing == c) {
    if (class_type_find_method(c, name))
      compilation_fail(e->c, range, "Can't add attribute '" STR_FMT "' to %s: a method of that name is there",
                       STR_ARG(name), type_text(e->c, type));
    if (e->graph->insert_before->owning_block != e->graph->block)
      compilation_fail(
          e->c, range,
          "First assignment cannot be in a control-flow block. Initialize the field at the top level first");
    slot = class_type_add_attribute(c, name, value->type, ATTRIBUTE_PLAIN);
  }
  if (slot < 0) {
    for (size_t i = 0; i < c->properties.length; i++) {
      if (!str_equal(c->properties.data[i].name, name)) continue;
      if (!c->properties.data[i].setter)
        compilation_fail(e->c, range, "Tried to set read-only attribute: " STR_FMT, STR_ARG(name));
      Str setter = c->properties.data[i].setter->name;
      ptrdiff_t dot = str_rfind_char(setter, '.');
      NamedValue argument = named_argument(STR(""), value, range);
      emit_method_call(e, range, self->value, str_slice(setter, (size_t)(dot + 1), setter.length),
                       &(CallArguments){.count = 1, .positional = &argument});
      return;
    }
    compilation_fail(e->c, range,
                     "Tried to set nonexistent attribute: " STR_FMT ". Did you forget to initialize it in __init__()?",
                     STR_ARG(name));
  }
  const Type *expected = c->attributes.data[slot].type;
  value = emit_convert(e, range, expected, value, true);
  if (!type_is_subtype(value->type, expected, NULL))
    compilation_fail(e->c, range, "Wrong type for attribute assignment. Expected %s but got %s",
                     type_text(e->c, expected), type_text(e->c, value->type));
  Value *inputs[2] = {self->value, value};
  node_set_string(emit_node(e, range, SYM_prim_SetAttr, 2, inputs, 0), SYM_attr_name, name);
}

static SugaredValue *value_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                uint32_t binders) {
  Value *value = self->value;
  switch (value->type->kind) {
    case TYPE_CLASS:
    case TYPE_INTERFACE: {
      /* Modules are called by forward, other objects by __call__. */
      bool is_class = value->type->kind == TYPE_CLASS;
      if (is_class && class_has_hooks(value->type->class_type)) return hooked_call(e, range, value, arguments);
      bool has_call = is_class && class_type_find_method(value->type->class_type, STR("__call__"));
      return sugared_value(e->c,
                           emit_method_call(e, range, value, has_call ? STR("__call__") : STR("forward"), arguments));
    }
    case TYPE_FUNCTION:
      if (value->type->function)
        return sugared_call(sugared_function(e->c, (Function *)value->type->function), e, range, arguments, binders);
      break;
    default:
      break;
  }
  compilation_fail(e->c, range, "cannot call a value of type '%s'", type_text(e->c, value->type));
}

static SugaredValue *value_iter(SugaredValue *self, Emitter *e, SourceRange range) {
  Value *value = self->value;
  switch (value->type->kind) {
    case TYPE_LIST:
    case TYPE_STRING:
    case TYPE_TENSOR:
      return self;
    case TYPE_DICT:
      return sugared_value(e->c, emit_builtin(e, range, SYM_aten_keys, 1, &value));
    case TYPE_TUPLE: {
      uint32_t count;
      SugaredValue **elements = sugared_elements(self, e, range, 0, &count);
      return sugared_tuple(e->c, count, elements);
    }
    case TYPE_CLASS: {
      ContainerKind container = container_of(value->type);
      if (container) return container_tuple(e, range, value, container == CONTAINER_DICT, container == CONTAINER_LIST);
      break;
    }
    default:
      break;
  }
  compilation_fail(e->c, range, "'%s' object is not iterable", type_text(e->c, value->type));
}

static Value *value_len(SugaredValue *self, Emitter *e, SourceRange range) {
  Value *value = self->value;
  if (container_of(value->type)) return container_len(e, range, value);
  switch (value->type->kind) {
    case TYPE_TUPLE:
      return emit_int(e, range, value->type->count);
    case TYPE_LIST:
    case TYPE_STRING:
    case TYPE_DICT:
    case TYPE_TENSOR:
      return emit_builtin(e, range, SYM_aten_len, 1, &value);
    default:
      compilation_fail(e->c, range, "'%s' object has no len()", type_text(e->c, value->type));
  }
}

/* Modules have types of their own, so that which one is meant must be known. */
static void refuse_index(Emitter *e, SourceRange range, const Value *value) {
  ContainerKind kind = container_of(value->type);
  if (kind == CONTAINER_DICT)
    compilation_fail(e->c, range,
                     "Unable to extract string literal index. ModuleDict indexing is only supported with string "
                     "literals. Enumeration of ModuleDict is supported, e.g. 'for k, v in self.items(): ...'");
  if (kind)
    compilation_fail(e->c, range,
                     "Expected integer literal for index. ModuleList/Sequential indexing is only supported with "
                     "integer literals. Enumeration is supported, e.g. 'for index, v in enumerate(self): ...'");
}

static SugaredValue *value_get_item(SugaredValue *self, Emitter *e, SourceRange range, Value *index, const Type *hint) {
  Value *value = self->value, *inputs[3] = {value, index, NULL};
  switch (value->type->kind) {
    case TYPE_LIST:
    case TYPE_STRING:
    case TYPE_DICT:
      return sugared_value(e->c, emit_builtin(e, range, SYM_aten___getitem__, 2, inputs));
    case TYPE_TENSOR:
      inputs[1] = emit_int(e, range, 0);
      inputs[2] = index;
      return sugared_value(e->c, emit_builtin(e, range, SYM_aten_select, 3, inputs));
    case TYPE_CLASS: {
      const ClassType *c = value->type->class_type;
      if (c->is_module && hint)
        return sugared_value(e->c, emit_typed(e, range, SYM_prim_ModuleContainerIndex, 2, inputs, hint));
      IValue constant;
      if (c->is_module && !class_type_find_method(c, STR("__getitem__")) && value_is_constant(index, &constant)) {
        uint32_t count;
        if (constant.tag == TAG_STRING) {
          SugaredValue *found = class_attr(e, range, value, ivalue_str(constant));
          if (found) return found;
          compilation_fail(e->c, range, "Key Error, " STR_FMT, STR_ARG(ivalue_str(constant)));
        } else if (constant.tag == TAG_INT) {
          SugaredValue **elements = container_elements(e, range, value, false, true, &count);
          int64_t at = constant.i < 0 ? constant.i + count : constant.i;
          if (at >= 0 && at < count) return elements[at];
          compilation_fail(e->c, range, "Index %lld out of range of length %u", (long long)constant.i, count);
        }
      }
      if (c->is_module && !class_type_find_method(c, STR("__getitem__"))) refuse_index(e, range, value);
      NamedValue argument = named_argument(STR(""), index, range);
      return sugared_value(e->c, emit_method_call(e, range, value, STR("__getitem__"),
                                                  &(CallArguments){.count = 1, .positional = &argument}));
    }
    default:
      compilation_fail(e->c, range, "'%s' object is not subscriptable", type_text(e->c, value->type));
  }
}

static SugaredValue **value_elements(SugaredValue *self, Emitter *e, SourceRange range, uint32_t binders,
                                     uint32_t *out_count) {
  Value *value = self->value, **values;
  const Type *type = value->type;
  if (type->kind == TYPE_TUPLE) {
    *out_count = type->count;
    values = emit_tuple_unpack(e, range, value);
  } else if (type->kind == TYPE_LIST) {
    if (!binders) compilation_fail(e->c, range, "cannot statically infer the expected size of a list in this context");
    Node *unpack = emit_node(e, range, SYM_prim_ListUnpack, 1, &value, binders);
    for (uint32_t i = 0; i < binders; i++) node_output(unpack, i)->type = type->elements[0];
    values = unpack->outputs;
    *out_count = binders;
  } else if (container_of(type) == CONTAINER_LIST) {
    return container_elements(e, range, value, false, true, out_count);
  } else if (type->kind == TYPE_ANY_TUPLE) {
    compilation_fail(e->c, range,
                     "Provided tuple is not fully defined/refined including its element types, please provide a value "
                     "of type Tuple[...]");
  } else {
    compilation_fail(e->c, range, "%s cannot be used as a tuple", type_text(e->c, type));
  }
  SugaredValue **elements = ARENA_ARRAY(e->arena, SugaredValue *, *out_count + 1);
  for (uint32_t i = 0; i < *out_count; i++) elements[i] = sugared_value(e->c, values[i]);
  return elements;
}

const SugaredKind SUGARED_VALUE = {.name = "value",
                                   .as_value = value_as_value,
                                   .attr = value_attr,
                                   .set_attr = value_set_attr,
                                   .call = value_call,
                                   .iter = value_iter,
                                   .len = value_len,
                                   .get_item = value_get_item,
                                   .elements = value_elements};

SugaredValue *sugared_value(Compilation *c, Value *value) {
  SugaredValue *s = sugared_new(c, &SUGARED_VALUE);
  s->value = value;
  return s;
}

/* ---- constants: the value when it is asked for ---- */

static Value *constant_as_value(SugaredValue *self, Emitter *e, SourceRange range) {
  if (!constant_is_possible(self->constant) && self->constant.tag != TAG_OBJECT)
    compilation_fail(e->c, range, "This constant can't be used as a value here");
  Value *value = emit_constant(e, range, self->constant);
  /* As in PyTorch: what a tensor is known to be would be part of the types of lists and tuples that hold it. */
  value->type = type_without_refinement(e->store, value->type);
  return value;
}
static SugaredValue *constant_as_sugared(SugaredValue *self, Emitter *e, SourceRange range) {
  return sugared_value(e->c, constant_as_value(self, e, range));
}
static SugaredValue *constant_attr(SugaredValue *self, Emitter *e, SourceRange range, Str name) {
  return value_attr(constant_as_sugared(self, e, range), e, range, name);
}
static SugaredValue *constant_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                   uint32_t binders) {
  return sugared_call(constant_as_sugared(self, e, range), e, range, arguments, binders);
}
static SugaredValue *constant_iter(SugaredValue *self, Emitter *e, SourceRange range) {
  return value_iter(constant_as_sugared(self, e, range), e, range);
}
static Value *constant_len(SugaredValue *self, Emitter *e, SourceRange range) {
  return value_len(constant_as_sugared(self, e, range), e, range);
}
static SugaredValue *constant_get_item(SugaredValue *self, Emitter *e, SourceRange range, Value *index,
                                       const Type *hint) {
  return value_get_item(constant_as_sugared(self, e, range), e, range, index, hint);
}
static SugaredValue **constant_elements(SugaredValue *self, Emitter *e, SourceRange range, uint32_t binders,
                                        uint32_t *out_count) {
  return value_elements(constant_as_sugared(self, e, range), e, range, binders, out_count);
}

const SugaredKind SUGARED_CONSTANT = {.name = "constant",
                                      .as_value = constant_as_value,
                                      .attr = constant_attr,
                                      .call = constant_call,
                                      .iter = constant_iter,
                                      .len = constant_len,
                                      .get_item = constant_get_item,
                                      .elements = constant_elements};

SugaredValue *sugared_constant(Compilation *c, IValue value) {
  SugaredValue *s = sugared_new(c, &SUGARED_CONSTANT);
  s->constant = value;
  return s;
}

/* ---- namespaces ---- */

typedef struct SugaredNamespace {
  SugaredValue base;
  Str name;
  SugaredNamespaceAttr *attr;
  void *data;
} SugaredNamespace;

static SugaredValue *namespace_attr(SugaredValue *self, Emitter *e, SourceRange range, Str name) {
  const SugaredNamespace *ns = (const SugaredNamespace *)self;
  SugaredValue *found = ns->attr(ns->data, e->c, name, range);
  if (!found)
    compilation_fail(e->c, range, "object has no attribute " STR_FMT ": there is no " STR_FMT "." STR_FMT,
                     STR_ARG(name), STR_ARG(ns->name), STR_ARG(name));
  return found;
}

SugaredValue *sugared_namespace_lookup(SugaredValue *s, Compilation *c, Str name, SourceRange range) {
  if (s->kind == &SUGARED_NAMESPACE) {
    const SugaredNamespace *ns = (const SugaredNamespace *)s;
    return ns->attr(ns->data, c, name, range);
  }
  return NULL;
}

const SugaredKind SUGARED_NAMESPACE = {.name = "module", .attr = namespace_attr};

SugaredValue *sugared_namespace(Compilation *c, Str name, SugaredNamespaceAttr *attr, void *data) {
  SugaredNamespace *s = ARENA_NEW(&c->scratch, SugaredNamespace);
  *s = (SugaredNamespace){{.kind = &SUGARED_NAMESPACE}, name, attr, data};
  return &s->base;
}
