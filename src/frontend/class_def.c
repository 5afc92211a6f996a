/* Classes: modules and plain classes, NamedTuples, enums, interfaces. In archives attributes stand as annotations with
 * __parameters__ and __buffers__ lists; in source a plain class gets them by what its __init__ assigns. */
#include <assert.h>

#include "frontend/compilation.h"
#include "frontend/container.h"
#include "syntax/view.h"

static Str keep_text(Compilation *c, Str text) {
  return (Str){arena_strndup(&c->unit->store.arena, text.data, text.length), text.length};
}

static Str last_name(const Tree *expr) {
  if (expr->kind == TK_VAR) return var_text(expr);
  if (expr->kind == '.') return ident_text(select_name(expr));
  if (expr->kind == TK_APPLY) return last_name(apply_callee(expr));
  return STR("");
}

static bool has_decorator(const Tree *list, const char *name) {
  for (uint32_t i = 0; list && i < list->count; i++)
    if (str_is(last_name(list->children[i]), name)) return true;
  return false;
}

/* ---- NamedTuple ---- */

const IValue *named_tuple_defaults(Compilation *c, const Type *type) {
  const CompilationUnit *unit = c->unit;
  const IValue *found = ptrmap_get(&unit->tuple_defaults, type);
  for (size_t i = 0; !found && i < unit->used.length; i++)
    found = ptrmap_get(&unit->used.data[i]->tuple_defaults, type);
  return found;
}

static const Type *define_named_tuple(Compilation *c, const Tree *def, Str name, Resolver *resolver) {
  const Tree *body = class_body(def);
  Str *names = ARENA_ARRAY(&c->unit->store.arena, Str, body->count + 1);
  const Type **types = ARENA_ARRAY(&c->scratch, const Type *, body->count + 1);
  IValue *defaults = ARENA_ARRAY(&c->unit->store.arena, IValue, body->count + 1);
  uint32_t count = 0;
  bool any_default = false;
  for (uint32_t i = 0; i < body->count; i++) {
    const Tree *stmt = body->children[i];
    if (stmt->kind != TK_ASSIGN || !option_get(assign_type(stmt)) || assign_targets(stmt)->children[0]->kind != TK_VAR)
      continue;
    names[count] = keep_text(c, var_text(assign_targets(stmt)->children[0]));
    types[count] = annotation_type(c, resolver, option_get(assign_type(stmt)));
    const Tree *value = option_get(assign_value(stmt));
    if (value) {
      if (!constant_from_tree(c, resolver, value, types[count], &defaults[count]))
        compilation_fail(c, value->range, "The default of a NamedTuple's field must be a constant");
      unit_hold(c->unit, ivalue_retain(defaults[count]));
      ivalue_release(defaults[count]);
      defaults[count].extra = 1;
      any_default = true;
    } else if (any_default) {
      compilation_fail(c, stmt->range, "Non-default namedtuple field " STR_FMT " cannot follow default field " STR_FMT,
                       STR_ARG(names[count]), STR_ARG(names[count - 1]));
    }
    count++;
  }
  const Type *type = require_small_type(c, def->range, type_named_tuple(&c->unit->store, name, count, types, names));
  if (any_default) ptrmap_put(&c->unit->tuple_defaults, type, defaults);
  unit_add_type(c->unit, type);
  return type;
}

/* ---- Enum ---- */

static const Type *define_enum(Compilation *c, const Tree *def, Str name, Resolver *resolver) {
  const Tree *body = class_body(def);
  Arena *arena = &c->unit->store.arena;
  Str *names = ARENA_ARRAY(arena, Str, body->count + 1);
  IValue *values = ARENA_ARRAY(arena, IValue, body->count + 1);
  uint32_t count = 0;
  const Type *type = NULL;
  for (uint32_t i = 0; i < body->count; i++) {
    const Tree *stmt = body->children[i];
    if (stmt->kind != TK_ASSIGN || assign_targets(stmt)->children[0]->kind != TK_VAR) continue;
    const Tree *value = option_get(assign_value(stmt));
    if (!value || !constant_from_tree(c, resolver, value, NULL, &values[count]))
      compilation_fail(c, stmt->range, "The value of an enum's member must be a constant");
    unit_hold(c->unit, values[count]);
    const Type *value_type = ivalue_type(values[count], &c->unit->store);
    if (type && !type_equal(type, value_type))
      compilation_fail(c, stmt->range, "Could not unify type list for enum " STR_FMT ": its members are %s and %s",
                       STR_ARG(name), type_text(c, type), type_text(c, value_type));
    type = value_type;
    names[count++] = keep_text(c, var_text(assign_targets(stmt)->children[0]));
  }
  if (!count) compilation_fail(c, def->range, "Enum class can not have no members");
  EnumType *enumeration = enum_type_new(&c->unit->store, name, type, count, names, values);
  unit_add_type(c->unit, &enumeration->type);
  return &enumeration->type;
}

/* ---- interfaces ---- */

static const Type *define_interface(Compilation *c, const Tree *def, Str name, Resolver *resolver, bool is_module) {
  InterfaceType *interface = interface_type_new(&c->unit->store, name, is_module);
  unit_add_type(c->unit, &interface->type);
  const Tree *body = class_body(def);
  for (uint32_t i = 0; i < body->count; i++) {
    const Tree *stmt = body->children[i];
    if (stmt->kind != TK_DEF) continue;
    FunctionSchema *schema = schema_from_def(c, resolver, stmt, NULL, ident_text(def_name(stmt)), false);
    if (!schema->argument_count) compilation_fail(c, stmt->range, "method must have 'self' as its first argument");
    schema->arguments[0].type = &interface->type;
    if (!schema->return_count) {
      schema->returns = ARENA_NEW(&c->unit->store.arena, Argument);
      schema->return_count = 1;
      schema->returns[0].type = TYPE(TENSOR);
    }
    vec_arena_push(&c->unit->store.arena, &interface->methods, schema);
  }
  return &interface->type;
}

/* ---- classes ---- */

/* A statement of the form `name = [...]`; the strings in the list. */
static bool is_string_list(const Tree *stmt, const char *name) {
  return assign_targets(stmt)->count == 1 && assign_targets(stmt)->children[0]->kind == TK_VAR &&
         str_is(var_text(assign_targets(stmt)->children[0]), name) && option_get(assign_value(stmt)) &&
         option_get(assign_value(stmt))->kind == TK_LIST_LITERAL;
}

static bool is_listed(const Tree *list, Str name) {
  for (uint32_t i = 0; list && i < list->count; i++)
    if (list->children[i]->kind == TK_STRINGLITERAL && str_equal(string_text(list->children[i]), name)) return true;
  return false;
}

typedef struct ClassBuild {
  Compilation *c;
  ClassType *class_type;
  Resolver *resolver;
  const Tree *parameters, *buffers; /* lists of names, or NULL */
  const Tree *hooks[HOOK_KIND_COUNT];
  Map hook_functions; /* name -> Function */
  Map overloads;      /* declarations marked @_overload_method by name: TreeList */
} ClassBuild;

static void add_attribute(ClassBuild *b, Str name, const Type *type) {
  AttributeKind kind = is_listed(b->parameters, name) ? ATTRIBUTE_PARAMETER
                       : is_listed(b->buffers, name)  ? ATTRIBUTE_BUFFER
                                                      : ATTRIBUTE_PLAIN;
  if (class_type_find_attribute(b->class_type, name) < 0)
    class_type_add_attribute(b->class_type, keep_text(b->c, name), type, kind);
}

static void add_constant(ClassBuild *b, Str name, const Tree *value, const Type *type) {
  IValue *constant = ARENA_NEW(&b->c->unit->store.arena, IValue);
  if (!constant_from_tree(b->c, b->resolver, value, type, constant))
    compilation_fail(b->c, value->range,
                     "The value of the constant '" STR_FMT "' is not known when the program is compiled",
                     STR_ARG(name));
  unit_hold(b->c->unit, *constant);
  ClassConstant entry = {keep_text(b->c, name), constant};
  vec_arena_push(&b->c->unit->store.arena, &b->class_type->constants, entry);
}

static bool is_final(const Tree *annotation) {
  return annotation->kind == TK_SUBSCRIPT ? str_is(last_name(subscript_value(annotation)), "Final")
                                          : str_is(last_name(annotation), "Final");
}

static void add_assign(ClassBuild *b, const Tree *stmt) {
  const Tree *target = assign_targets(stmt)->children[0], *annotation = option_get(assign_type(stmt)),
             *value = option_get(assign_value(stmt));
  if (target->kind == TK_VAR) {
    Str name = var_text(target);
    if (str_starts_with(name, "__") && str_ends_with(name, "__") && !annotation)
      return; /* __parameters__ and its like: read before */
    if (annotation && is_final(annotation) && value) {
      add_constant(b, name, value,
                   annotation->kind == TK_SUBSCRIPT ? annotation_type(b->c, b->resolver, annotation) : NULL);
    } else if (annotation && (!value || b->class_type->is_module)) {
      add_attribute(b, name, annotation_type(b->c, b->resolver, annotation));
    } else if (value) {
      IValue probe;
      if (!constant_from_tree(b->c, b->resolver, value, NULL, &probe)) return;
      ivalue_release(probe);
      add_constant(b, name, value, annotation ? annotation_type(b->c, b->resolver, annotation) : NULL);
    }
    return;
  }
  /* __annotations__["0"] = Type: attributes whose names are no identifiers. */
  if (target->kind == TK_SUBSCRIPT && subscript_value(target)->kind == TK_VAR &&
      str_is(var_text(subscript_value(target)), "__annotations__") && subscript_indices(target)->count == 1 &&
      subscript_indices(target)->children[0]->kind == TK_STRINGLITERAL && value) {
    add_attribute(b, string_text(subscript_indices(target)->children[0]), annotation_type(b->c, b->resolver, value));
    return;
  }
  compilation_fail(b->c, stmt->range, "Unexpected statement in a class");
}

static ClassProperty *property_named(ClassBuild *b, Str name) {
  for (size_t i = 0; i < b->class_type->properties.length; i++)
    if (str_equal(b->class_type->properties.data[i].name, name)) return &b->class_type->properties.data[i];
  ClassProperty property = {.name = keep_text(b->c, name)};
  vec_arena_push(&b->c->unit->store.arena, &b->class_type->properties, property);
  return &vec_last(&b->class_type->properties);
}

static bool is_setter(const Tree *decorators) {
  for (uint32_t i = 0; decorators && i < decorators->count; i++)
    if (decorators->children[i]->kind == '.' && str_is(last_name(decorators->children[i]), "setter")) return true;
  return false;
}

static void add_method(ClassBuild *b, const Tree *def) {
  const Tree *decorators = def_decorators(def);
  Str name = ident_text(def_name(def));
  if (has_decorator(decorators, "ignore") || has_decorator(decorators, "_overload_method")) return;
  if (has_decorator(decorators, "staticmethod")) {
    Str qualified = str_from(
        arena_printf(&b->c->unit->store.arena, STR_FMT "." STR_FMT, STR_ARG(b->class_type->type.name), STR_ARG(name)));
    Function *function = frontend_define_function(b->c, def, qualified, b->resolver);
    vec_arena_push(&b->c->unit->store.arena, &b->class_type->static_methods, function);
    return;
  }
  if (is_listed(b->hooks[HOOK_BEFORE_FORWARD], name) || is_listed(b->hooks[HOOK_AFTER_FORWARD], name)) {
    map_put(&b->hook_functions, name, define_hook(b->c, b->class_type, def, b->resolver));
    return;
  }
  bool setter = is_setter(decorators);
  if (setter || has_decorator(decorators, "property")) {
    Str method_name = str_from(
        arena_printf(&b->c->unit->store.arena, "__" STR_FMT "_%s", STR_ARG(name), setter ? "setter" : "getter"));
    Function *method = define_method(b->c, b->class_type, def, method_name, b->resolver);
    ClassProperty *property = property_named(b, name);
    if (setter)
      property->setter = method;
    else
      property->getter = method;
    return;
  }
  define_method(b->c, b->class_type, def, name, b->resolver);
}

/* Each @_overload_method signature with the body of the method itself: name__0, name__1, ... */
static void add_overloads(ClassBuild *b, const Tree *body) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Tree *impl = body->children[i];
    if (impl->kind != TK_DEF || has_decorator(def_decorators(impl), "_overload_method")) continue;
    const TreeList *overloads = map_get(&b->overloads, ident_text(def_name(impl)));
    for (size_t k = 0; overloads && k < overloads->length; k++) {
      const Tree *overload = overloads->data[k];
      Str name = str_from(arena_printf(&b->c->scratch, STR_FMT "__%zu", STR_ARG(ident_text(def_name(impl))), k));
      Tree *decorators = def_decorators(impl);
      if (!decorators) decorators = tree_list(&b->c->scratch, impl->range, 0, NULL);
      Tree *def = TREE(&b->c->scratch, TK_DEF, impl->range, tree_atom(&b->c->scratch, TK_IDENT, impl->range, name),
                       def_decl(overload), def_body(impl), decorators);
      define_method(b->c, b->class_type, def, name, b->resolver);
    }
  }
}

/* In the order of the lists, which may name a hook twice. */
static void add_hooks(ClassBuild *b, HookKind kind) {
  assert(kind < HOOK_KIND_COUNT);
  for (uint32_t i = 0; b->hooks[kind] && i < b->hooks[kind]->count; i++) {
    const Tree *item = b->hooks[kind]->children[i];
    if (item->kind != TK_STRINGLITERAL) compilation_fail(b->c, item->range, "The name of a hook must be a string");
    Function *hook = map_get(&b->hook_functions, string_text(item));
    if (!hook) compilation_fail(b->c, item->range, "The class has no hook '" STR_FMT "'", STR_ARG(string_text(item)));
    class_type_add_hook(b->class_type, kind, hook);
  }
}

static const Type *define_plain_class(Compilation *c, const Tree *def, Str name, Resolver *resolver, bool is_module,
                                      ContainerKind container) {
  ClassType *class_type = class_type_new(&c->unit->store, name, is_module);
  class_type->container = (uint8_t)container;
  unit_add_type(c->unit, &class_type->type);
  ClassBuild b = {.c = c, .class_type = class_type, .resolver = resolver};
  const Tree *body = class_body(def);
  map_init(&b.overloads, &c->scratch);
  map_init(&b.hook_functions, &c->scratch);
  for (uint32_t i = 0; i < body->count; i++) {
    const Tree *stmt = body->children[i];
    if (stmt->kind == TK_DEF && has_decorator(def_decorators(stmt), "_overload_method"))
      tree_list_add(&b.overloads, ident_text(def_name(stmt)), stmt);
    if (stmt->kind != TK_ASSIGN) continue;
    if (is_string_list(stmt, "__parameters__")) b.parameters = list_literal_items(option_get(assign_value(stmt)));
    if (is_string_list(stmt, "__buffers__")) b.buffers = list_literal_items(option_get(assign_value(stmt)));
    for (int kind = 0; kind < HOOK_KIND_COUNT; kind++)
      if (is_module && is_string_list(stmt, class_hook_lists[kind]))
        b.hooks[kind] = list_literal_items(option_get(assign_value(stmt)));
  }
  for (uint32_t i = 0; i < body->count; i++) {
    const Tree *stmt = body->children[i];
    switch (stmt->kind) {
      case TK_ASSIGN:
        add_assign(&b, stmt);
        break;
      case TK_DEF:
        if (!map_get(&b.overloads, ident_text(def_name(stmt)))) add_method(&b, stmt);
        break;
      case TK_PASS:
      case TK_EXPR_STMT:
        break;
      default:
        compilation_fail(c, stmt->range, "Unexpected statement in a class: %s", token_kind_name(stmt->kind));
    }
  }
  for (int kind = 0; kind < HOOK_KIND_COUNT; kind++) add_hooks(&b, (HookKind)kind);
  add_overloads(&b, body);
  return &class_type->type;
}

const Type *frontend_define_class(Compilation *c, const Tree *def, Str qualified_name, Resolver *resolver) {
  if (!resolver) resolver = frontend_builtin_resolver();
  Str name = keep_text(c, qualified_name);
  bool is_module = false, is_interface = has_decorator(class_decorators(def), "interface");
  ContainerKind container = CONTAINER_NONE;
  for (uint32_t i = 0; i < class_bases(def)->count; i++) {
    const Tree *base = class_bases(def)->children[i];
    if (base->kind == TK_ATTRIBUTE) continue;
    Str base_name = last_name(base);
    if (str_is(base_name, "NamedTuple")) return define_named_tuple(c, def, name, resolver);
    if (str_is(base_name, "Enum") || str_is(base_name, "IntEnum")) return define_enum(c, def, name, resolver);
    if (str_is(base_name, "Interface")) return define_interface(c, def, name, resolver, false);
    if (str_is(base_name, "ModuleInterface")) return define_interface(c, def, name, resolver, true);
    ContainerKind base_container = container_named(base_name);
    if (base_container) container = base_container;
    if (base_container || str_is(base_name, "Module") || str_is(base_name, "ScriptModule"))
      is_module = true;
    else if (!str_is(base_name, "object") && !is_interface)
      compilation_fail(
          c, base->range,
          "Inheritance is not supported: a class may derive from object, Module, NamedTuple, Enum or an interface");
  }
  if (is_interface) return define_interface(c, def, name, resolver, is_module);
  return define_plain_class(c, def, name, resolver, is_module, container);
}

void frontend_define_method(Compilation *c, ClassType *class_type, const Tree *def, Resolver *resolver) {
  define_method(c, class_type, def, ident_text(def_name(def)), resolver);
}
