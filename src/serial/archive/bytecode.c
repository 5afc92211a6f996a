/* See bytecode.h. What the pickle says is checked where it is used: here the shape of its outermost tables, in
 * bytecode_lift.c what methods consist of. */
#include "serial/archive/bytecode.h"

#include <assert.h>

#include "serial/archive/bytecode_lift.h"
#include "serial/python/python_print.h"

enum { OLDEST_BYTECODE = 4, NEWEST_BYTECODE = 9, MAX_WIDENINGS = 16 };

bool bytecode_is_there(const Archive *archive) {
  if (!archive_find(archive, STR("bytecode.pkl"))) return false;
  for (size_t i = 0; i < archive->records.length; i++) {
    Str name = archive->records.data[i].name;
    if (str_starts_with(name, "code/") && str_ends_with(name, ".py")) return false;
  }
  return true;
}

/* ---- reading ---- */

static Status malformed(const char *what) {
  return status_new(ERROR_DATA, "%s", what);
}

static Status add_function(Bytecode *bytecode, IValue entry) {
  if (entry.tag != TAG_TUPLE || entry.tuple->length < 2 || entry.tuple->values[0].tag != TAG_STRING)
    return malformed("a function of the bytecode is no (name, code)");
  Str qualified = ivalue_str(entry.tuple->values[0]);
  ptrdiff_t dot = str_rfind_char(qualified, '.');
  if (dot <= 0) return malformed("a function of the bytecode is no method");
  if (!python_is_name(str_slice(qualified, (size_t)dot + 1, qualified.length)))
    return malformed("a method of the bytecode has a name that is no identifier");
  BytecodeFunction function = {.class_name = str_slice(qualified, 0, (size_t)dot),
                               .name = str_slice(qualified, (size_t)dot + 1, qualified.length),
                               .code = entry.tuple->values[1],
                               .schema = entry.tuple->length > 2 ? entry.tuple->values[2] : IVALUE_NONE};
  return vec_push(&bytecode->functions, function) ? OK : status_out_of_memory();
}

static Status add_functions(Bytecode *bytecode) {
  IValue root = bytecode->root;
  if (root.tag != TAG_TUPLE || !root.tuple->length || root.tuple->values[0].tag != TAG_INT)
    return malformed("it does not begin with a version");
  int64_t version = root.tuple->values[0].i;
  if (version < OLDEST_BYTECODE || version > NEWEST_BYTECODE)
    return status_new(ERROR_UNSUPPORTED, "bytecode of version %lld (wick knows %d to %d)", (long long)version,
                      OLDEST_BYTECODE, NEWEST_BYTECODE);
  for (uint32_t i = 1; i < root.tuple->length; i++) TRY(add_function(bytecode, root.tuple->values[i]));
  return OK;
}

/* Operators that wick does not have, of all functions together, and those that only its passes make. */
static Status check_operators(const Bytecode *bytecode) {
  StrBuf text = {.max_length = 1 << 16};
  size_t count = 0;
  Status status = OK;
  for (size_t i = 0; i < bytecode->functions.length; i++) {
    IValue rows = bytecode_table_get(bytecode->functions.data[i].code, "operators");
    for (uint32_t k = 0; rows.tag == TAG_TUPLE && k < rows.tuple->length; k++) {
      BytecodeOperator op;
      bool is_known;
      if (!bytecode_operator(rows.tuple->values[k], &op)) continue;
      TRY_GOTO(bytecode_operator_find(&op, &is_known), done);
      if (is_known) continue;
      strbuf_printf(&text, "%s  " STR_FMT "%s" STR_FMT, count++ ? "\n" : "", STR_ARG(op.name),
                    op.overload_name.length ? "." : "", STR_ARG(op.overload_name));
    }
  }
  if (count)
    status = status_new(ERROR_UNSUPPORTED, "the archive uses %zu operator%s that wick does not have:\n" STR_FMT, count,
                        count == 1 ? "" : "s", STR_ARG(strbuf_view(&text)));
done:
  strbuf_dispose(&text);
  return status;
}

Status bytecode_read(Bytecode *bytecode, Import *import) {
  *bytecode = (Bytecode){.import = import};
  ptrmap_init(&bytecode->classes, &import->importer.arena);
  import->bytecode = bytecode;
  Status status = import_read_pickle(import, "bytecode.pkl", "constants/", &bytecode->root);
  if (!status) status = status_context(add_functions(bytecode), "bytecode.pkl");
  return status ? status : check_operators(bytecode);
}

void bytecode_dispose(Bytecode *bytecode) {
  if (bytecode->import) bytecode->import->bytecode = NULL;
  ivalue_release(bytecode->root);
  vec_dispose(&bytecode->functions);
}

/* ---- classes ---- */

typedef struct ClassRequest {
  CompilationUnit *unit;
  Str name;
  ClassType *made;
} ClassRequest;

static void make_class(Compilation *c, void *argument) {
  (void)c;
  ClassRequest *request = argument;
  Arena *arena = &request->unit->store.arena;
  Str name = {arena_strndup(arena, request->name.data, request->name.length), request->name.length};
  request->made = class_type_new(&request->unit->store, name, true);
  unit_add_type(request->unit, &request->made->type);
}

/* `__torch__.a.B`: no program can name others, and what is saved is a program. */
static bool is_class_name(Str name) {
  for (;;) {
    ptrdiff_t dot = str_find_char(name, '.');
    if (!python_is_name(dot < 0 ? name : str_slice(name, 0, (size_t)dot))) return false;
    if (dot < 0) return true;
    name = str_slice(name, (size_t)dot + 1, name.length);
  }
}

Status bytecode_resolve_class(Bytecode *bytecode, Str name, const Type **out) {
  ClassRequest request = {bytecode->import->importer.unit, name, NULL};
  *out = unit_find_type(request.unit, name);
  if (*out) return OK;
  if (!is_class_name(name)) return malformed("a class of the pickle has a name that is no identifier");
  TRY(importer_compile(&bytecode->import->importer, make_class, &request));
  *out = &request.made->type;
  return OK;
}

/* ---- objects ---- */

typedef struct Declaration {
  Bytecode *bytecode;
  ClassType *class_type;
  const Dict *state; /* NULL: the attributes are declared */
} Declaration;

/* What an archive with source would say by its lists of parameters and buffers. */
static AttributeKind attribute_kind(IValue value) {
  if (value.tag != TAG_TENSOR) return ATTRIBUTE_PLAIN;
  return tensor_is_defined(value.tensor) && value.tensor->flags & TENSOR_REQUIRES_GRAD ? ATTRIBUTE_PARAMETER
                                                                                       : ATTRIBUTE_BUFFER;
}

/* Objects hold as many slots as their class had attributes when they were made, so the first one's are all. */
static void declare_attribute(Compilation *c, const Declaration *d, Str name, IValue value) {
  TypeStore *store = &c->unit->store;
  const Type *type = ivalue_type(value, store);
  ptrdiff_t slot = class_type_find_attribute(d->class_type, name);
  if (slot < 0) {
    class_type_add_attribute(d->class_type, name, type, attribute_kind(value));
    return;
  }
  ClassAttribute *attribute = &d->class_type->attributes.data[slot];
  attribute->type = type_unify(store, attribute->type, type, true);
}

static void declare_attributes(Compilation *c, void *argument) {
  const Declaration *d = argument;
  bool is_first = !ptrmap_has(&d->bytecode->classes, d->class_type);
  ptrmap_put(&d->bytecode->classes, d->class_type, d->bytecode);
  size_t count = 0;
  for (DictEntry *e = d->state ? dict_next(d->state, NULL) : NULL; e; e = dict_next(d->state, e), count++) {
    if (e->key.tag != TAG_STRING || (!is_first && class_type_find_attribute(d->class_type, ivalue_str(e->key)) < 0))
      catch_throw(&c->catch_point,
                  status_new(ERROR_DATA, "the state of a " STR_FMT " names other attributes than before",
                             STR_ARG(d->class_type->type.name)));
    declare_attribute(c, d, ivalue_str(e->key), e->value);
  }
  if (d->state && count != d->class_type->attributes.length)
    catch_throw(&c->catch_point, status_new(ERROR_DATA, "the state of a " STR_FMT " lacks attributes",
                                            STR_ARG(d->class_type->type.name)));
}
static Status declare(Bytecode *bytecode, ClassType *class_type, const Dict *state) {
  return importer_compile(&bytecode->import->importer, declare_attributes, &(Declaration){bytecode, class_type, state});
}

static void set_slots(Object *object, const Dict *state) {
  for (DictEntry *e = dict_next(state, NULL); e; e = dict_next(state, e)) {
    ptrdiff_t slot = class_type_find_attribute(object->class_type, ivalue_str(e->key));
    assert(slot >= 0); /* declared just now */
    object_set(object, (uint32_t)slot, ivalue_retain(e->value));
  }
}

static Status make_plain(Bytecode *bytecode, ClassType *class_type, IValue state, Object **out) {
  if (state.tag != TAG_DICT)
    return status_new(ERROR_DATA, "the state of a " STR_FMT " is no dict", STR_ARG(class_type->type.name));
  TRY(declare(bytecode, class_type, state.dict));
  TRY(object_new(class_type, out));
  set_slots(*out, state.dict);
  return OK;
}

/* ---- methods ---- */

typedef struct LiftRequest {
  Bytecode *bytecode;
  BytecodeFunction *function;
  bool widened;
} LiftRequest;

static Function *method_of(Compilation *c, const Bytecode *bytecode, const BytecodeFunction *source) {
  CompilationUnit *unit = bytecode->import->importer.unit;
  const Type *type = unit_find_type(unit, source->class_name);
  if (!type || type->kind != TYPE_CLASS)
    catch_throw(&c->catch_point,
                status_new(ERROR_DATA, "the bytecode has a method of " STR_FMT ", of which nothing is there",
                           STR_ARG(source->class_name)));
  Function *method = class_type_find_method(type->class_type, source->name);
  if (method) return method;
  return unit_new_method(unit, type->class_type, source->name);
}

static void lift_function(Compilation *c, void *argument) {
  LiftRequest *request = argument;
  bytecode_lift(request->bytecode, c, request->function, method_of(c, request->bytecode, request->function),
                &request->widened);
}

static Status lift(Bytecode *bytecode, BytecodeFunction *function, bool *out_widened) {
  LiftRequest request = {bytecode, function, false};
  Status status = importer_compile(&bytecode->import->importer, lift_function, &request);
  *out_widened |= request.widened;
  return status ? status_context(status, STR_FMT "." STR_FMT, STR_ARG(function->class_name), STR_ARG(function->name))
                : OK;
}

static BytecodeFunction *find_function(Bytecode *bytecode, Str class_name, const char *name) {
  for (size_t i = 0; i < bytecode->functions.length; i++) {
    BytecodeFunction *function = &bytecode->functions.data[i];
    if (str_equal(function->class_name, class_name) && str_is(function->name, name)) return function;
  }
  return NULL;
}

/* Lifted before the object is made: it declares the attributes that it sets. */
static Status make_by_setstate(Bytecode *bytecode, BytecodeFunction *source, ClassType *class_type, IValue state,
                               Object **out) {
  bool widened = !source->is_used;
  for (int i = 0; widened && i < MAX_WIDENINGS; i++) {
    widened = false;
    TRY(lift(bytecode, source, &widened));
  }
  Function *method = class_type_find_method(class_type, source->name);
  source->is_used = true;
  TRY(declare(bytecode, class_type, NULL));
  TRY(object_new(class_type, out));
  TRY(import_set_state(bytecode->import, method, ivalue_object(*out), state));
  for (uint32_t i = 0; i < (*out)->slot_count; i++) {
    const ClassAttribute *attribute = &class_type->attributes.data[i];
    if (!ivalue_is_instance((*out)->slots[i], attribute->type))
      return status_new(ERROR_DATA, STR_FMT ".__setstate__ leaves attribute " STR_FMT " unset",
                        STR_ARG(class_type->type.name), STR_ARG(attribute->name));
  }
  return OK;
}

Status bytecode_make_object(Bytecode *bytecode, ClassType *class_type, IValue state, IValue *out) {
  Object *object = NULL;
  BytecodeFunction *setstate = find_function(bytecode, class_type->type.name, "__setstate__");
  Status status = setstate ? make_by_setstate(bytecode, setstate, class_type, state, &object)
                           : make_plain(bytecode, class_type, state, &object);
  *out = object ? ivalue_object(object) : IVALUE_NONE;
  if (status) ivalue_release(*out);
  return status;
}

Status bytecode_define_methods(Bytecode *bytecode) {
  bool widened = true;
  for (int i = 0; widened && i < MAX_WIDENINGS; i++) {
    widened = false;
    for (size_t k = 0; k < bytecode->functions.length; k++)
      if (!bytecode->functions.data[k].is_used) TRY(lift(bytecode, &bytecode->functions.data[k], &widened));
  }
  return widened ? status_new(ERROR_DATA, "an attribute is set to ever wider types") : OK;
}
