/* Unification of two types, as branches of an `if` and elements of a list literal need it, and matching of type
 * variables. Memoised over pairs like subtyping. */
#include <assert.h>

#include "base/map.h"
#include "type/pair_map.h"
#include "type/tensor_type.h"

typedef struct Unifier {
  TypeStore *store;
  bool default_to_union;
  PairMap memo;   /* pair -> Type; NULL: none */
  PtrMap rebuilt; /* type -> its unrefined or substituted form */
  Arena scratch;
  const Map *bindings;
} Unifier;

static const Type *unify(Unifier *u, const Type *a, const Type *b, bool default_to_union);

/* Rebuilds a composite type from parts mapped by `map`; NULL when a part has none. */
static const Type *map_elements(Unifier *u, const Type *type, const Type *(*map)(Unifier *u, const Type *type)) {
  assert(type->count > 0);
  const Type *known = ptrmap_get(&u->rebuilt, type);
  if (known) return known;
  const Type **elements = ARENA_ARRAY(&u->scratch, const Type *, type->count);
  const Type *result = type;
  for (uint32_t i = 0; i < type->count && result; i++)
    if (!(elements[i] = map(u, type->elements[i]))) result = NULL;
  if (result) {
    switch (type->kind) {
      case TYPE_OPTIONAL:
        result = type_optional(u->store, elements[0]);
        break;
      case TYPE_UNION:
        result = type_union(u->store, type->count, elements);
        break;
      case TYPE_DICT:
        result = type_dict(u->store, elements[0], elements[1]);
        break;
      case TYPE_TUPLE:
        result = type_named_tuple(u->store, type->name, type->count, elements, type->field_names);
        break;
      default:
        result = type_wrapped(u->store, (TypeKind)type->kind, elements[0]);
        break;
    }
    ptrmap_put(&u->rebuilt, type, (void *)(uintptr_t)result);
  }
  return result;
}

static const Type *unrefined(Unifier *u, const Type *type) {
  if (!type->has_refinement) return type;
  return type->kind == TYPE_TENSOR ? TYPE(TENSOR) : map_elements(u, type, unrefined);
}

static const Type *substituted(Unifier *u, const Type *type) {
  if (!type->has_var) return type;
  return type->kind == TYPE_VAR ? map_get(u->bindings, type->name) : map_elements(u, type, substituted);
}

static const Type *unify_tuples(Unifier *u, const Type *a, const Type *b, bool default_to_union) {
  if (a->count != b->count) return NULL;
  const Type **elements = ARENA_ARRAY(&u->scratch, const Type *, a->count);
  for (uint32_t i = 0; i < a->count; i++)
    if (!(elements[i] = unify(u, a->elements[i], b->elements[i], default_to_union))) return NULL;
  return type_tuple(u->store, a->count, elements);
}

static const Type *unify_rules(Unifier *u, const Type *a, const Type *b, bool default_to_union) {
  if (type_is_subtype(a, b, NULL)) return b;
  if (type_is_subtype(b, a, NULL)) return a;
  if (a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR) return type_merge_tensor(u->store, a, b);
  if (a->kind == TYPE_NONE) return type_optional(u->store, b);
  if (b->kind == TYPE_NONE) return type_optional(u->store, a);
  if (a->kind == TYPE_OPTIONAL || b->kind == TYPE_OPTIONAL) {
    const Type *element =
        a->kind == TYPE_OPTIONAL ? unify(u, a->elements[0], b, false) : unify(u, b->elements[0], a, false);
    if (element) return type_optional(u->store, element);
  }
  if (a->kind == TYPE_TUPLE && b->kind == TYPE_TUPLE) return unify_tuples(u, a, b, default_to_union);
  if (a->kind == TYPE_FUTURE && b->kind == TYPE_FUTURE) {
    const Type *element = unify(u, a->elements[0], b->elements[0], false);
    if (element) return type_future(u->store, element);
  }
  const Type *plain_a = unrefined(u, a), *plain_b = unrefined(u, b);
  if (!plain_a || !plain_b || (plain_a == a && plain_b == b)) return NULL;
  if (type_is_subtype(plain_a, plain_b, NULL)) return plain_b;
  return type_is_subtype(plain_b, plain_a, NULL) ? plain_a : NULL;
}

static const Type *unify(Unifier *u, const Type *a, const Type *b, bool default_to_union) {
  if (a == b) return a;
  bool remembered = a->depth > 1 && b->depth > 1 && default_to_union == u->default_to_union;
  void **known = remembered ? pair_map_find(&u->memo, a, b) : NULL;
  if (known) return *known;
  const Type *result = unify_rules(u, a, b, default_to_union);
  if (!result && default_to_union) result = type_union(u->store, 2, (const Type *const[]){a, b});
  if (remembered) pair_map_put(&u->memo, a, b, (void *)(uintptr_t)result);
  return result;
}

typedef struct Task {
  Unifier unifier;
  const Type *a, *b, *result;
  const Type *(*map)(Unifier *u, const Type *type);
} Task;

static void run_task(void *argument) {
  Task *task = argument;
  Unifier *u = &task->unifier;
  if (!u->store->is_process) u->store->arena.catch_point = u->scratch.catch_point;
  task->result = task->map ? task->map(u, task->a) : unify(u, task->a, task->b, u->default_to_union);
}

/* Under a catch point of its own, because constructors throw past the memos. */
static const Type *task_run(Task *task) {
  Unifier *u = &task->unifier;
  Catch *outer = u->store->arena.catch_point;
  ptrmap_init(&u->rebuilt, NULL);
  arena_init(&u->scratch, NULL);
  Status status = arena_protect(&u->scratch, run_task, task);
  if (!u->store->is_process) u->store->arena.catch_point = outer;
  pair_map_dispose(&u->memo);
  ptrmap_dispose(&u->rebuilt);
  arena_dispose(&u->scratch);
  if (status == OK) return task->result;
  if (outer && !u->store->is_process) catch_throw(outer, status);
  status_free(status);
  return NULL;
}

const Type *type_unify(TypeStore *store, const Type *a, const Type *b, bool default_to_union) {
  if (a == b) return a;
  Task task = {.unifier = {.store = store, .default_to_union = default_to_union}, .a = a, .b = b};
  return task_run(&task);
}

static const Type *copied(Unifier *u, const Type *type) {
  if (!type->store || !type->store->home || type->store == u->store) return type;
  if (type->kind == TYPE_TENSOR) return type_tensor_refined(u->store, type->tensor);
  if (type->kind == TYPE_FUNCTION) return type_function(u->store, type->function);
  if (type->kind == TYPE_TUPLE && !type->count) return type_tuple(u->store, 0, NULL);
  return type->count ? map_elements(u, type, copied) : type;
}

const Type *type_copy(TypeStore *store, const Type *type) {
  if (!type->store || !type->store->home || type->store == store) return type;
  Task task = {.unifier = {.store = store}, .a = type, .map = copied};
  const Type *result = task_run(&task);
  return result ? result : type;
}

const Type *type_without_refinement(TypeStore *store, const Type *type) {
  if (!type->has_refinement) return type;
  Task task = {.unifier = {.store = store}, .a = type, .map = unrefined};
  const Type *result = task_run(&task);
  return result ? result : type;
}

/* Not by map_elements: the home's arena is used by other threads. */
static const Type *at_home(TypeStore *home, const Type *type, uint32_t *steps_left) {
  enum { FEW = 16 };
  const Type *few[FEW];
  if (!type->store || !type->store->home) return type;
  if (type->kind == TYPE_TENSOR) return TYPE(TENSOR);
  if (type->count > FEW || !*steps_left) return TYPE(ANY);
  --*steps_left;
  for (uint32_t i = 0; i < type->count; i++) few[i] = at_home(home, type->elements[i], steps_left);
  switch (type->kind) {
    case TYPE_OPTIONAL:
      return type_optional(home, few[0]);
    case TYPE_UNION:
      return type_union(home, type->count, few);
    case TYPE_DICT:
      return type_dict(home, few[0], few[1]);
    case TYPE_TUPLE:
      return type_named_tuple(home, type->name, type->count, few, type->field_names);
    case TYPE_LIST:
    case TYPE_FUTURE:
    case TYPE_RREF:
    case TYPE_AWAIT:
      return type_wrapped(home, (TypeKind)type->kind, few[0]);
    default:
      return TYPE(ANY);
  }
}

const Type *type_for_value(const Type *type) {
  uint32_t steps = 1000;
  return type && type->store && type->store->home ? at_home(type->store->home, type, &steps) : type;
}

const Type *type_substitute(TypeStore *store, const Type *type, const Map *bindings) {
  if (!type->has_var) return type;
  Task task = {.unifier = {.store = store, .bindings = bindings}, .a = type, .map = substituted};
  return task_run(&task);
}

/* ---- type variables ---- */

static bool mismatch(StrBuf *why, const char *format, const Type *a, const Type *b) {
  if (!why) return false;
  StrBuf text_a = {0}, text_b = {0};
  type_print_annotation(a, &text_a);
  if (b) type_print_annotation(b, &text_b);
  for (const char *p = format; *p; p++) {
    if (*p == '1')
      strbuf_str(why, strbuf_view(&text_a));
    else if (*p == '2')
      strbuf_str(why, strbuf_view(&text_b));
    else
      strbuf_char(why, *p);
  }
  strbuf_dispose(&text_a);
  strbuf_dispose(&text_b);
  return false;
}

static bool match(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why);

static bool match_var(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why) {
  const Type *bound = map_get(bindings, formal->name);
  if (!bound) return map_put(bindings, formal->name, (void *)(uintptr_t)actual);
  if (type_unify(store, bound, actual, false)) return true; /* whether it fits is for the subtype check that follows */
  if (why) strbuf_printf(why, "Type variable '" STR_FMT "' previously matched to type ", STR_ARG(formal->name));
  return mismatch(why, "1 is matched to type 2", bound, actual);
}

static bool match_list(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why) {
  const Type *element = formal->elements[0];
  if (actual->kind == TYPE_LIST) return match(store, element, actual->elements[0], bindings, why);
  if (actual->kind == TYPE_TUPLE && actual->count) {
    const Type *unified = actual->elements[0];
    for (uint32_t i = 1; i < actual->count && unified; i++)
      unified = type_unify(store, unified, actual->elements[i], false);
    if (unified) return match(store, element, unified, bindings, why);
  }
  return mismatch(why, "Cannot match 1 to 2", formal, actual);
}

static bool match_elements(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why) {
  for (uint32_t i = 0; i < formal->count; i++)
    if (!match(store, formal->elements[i], actual->elements[i], bindings, why)) return false;
  return true;
}

static bool match(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why) {
  if (!formal->has_var) return true;
  switch (formal->kind) {
    case TYPE_VAR:
      return match_var(store, formal, actual, bindings, why);
    case TYPE_LIST:
      return match_list(store, formal, actual, bindings, why);
    case TYPE_TUPLE:
      if (actual->kind != TYPE_TUPLE) return mismatch(why, "Cannot match a tuple to 1", actual, NULL);
      if (actual->count != formal->count) return mismatch(why, "Cannot match tuples of mismatched size", actual, NULL);
      return match_elements(store, formal, actual, bindings, why);
    case TYPE_OPTIONAL:
      if (actual->kind == TYPE_OPTIONAL) return match_elements(store, formal, actual, bindings, why);
      if (actual->kind != TYPE_NONE) return match(store, formal->elements[0], actual, bindings, why);
      return mismatch(why, "Cannot match an Optional[T] to None, because there is no way to determine T from None",
                      actual, NULL);
    case TYPE_DICT:
      if (actual->kind != TYPE_DICT) return mismatch(why, "Cannot match a dict to 1", actual, NULL);
      return match_elements(store, formal, actual, bindings, why);
    case TYPE_FUTURE:
    case TYPE_RREF:
    case TYPE_AWAIT:
      if (actual->kind == formal->kind) return match_elements(store, formal, actual, bindings, why);
      return mismatch(why, formal->kind == TYPE_FUTURE ? "Cannot match a future to 1" : "Cannot match a rref to 1",
                      actual, NULL);
    default:
      return mismatch(why, "Cannot match 1 to 2", formal, actual);
  }
}

const Type *type_match_vars(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why) {
  if (!formal->has_var) return formal;
  if (!match(store, formal, actual, bindings, why)) return NULL;
  return type_substitute(store, formal, bindings);
}
