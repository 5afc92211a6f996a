/* Values of expressions that stand where no code runs: defaults of parameters, members of enums, constants of classes
 * and of programs. They are literals, names of constants, members of enums and devices; defaults are NamedTuples,
 * too. */
#include <assert.h>
#include <math.h>

#include "frontend/compilation.h"
#include "frontend/emitter.h"
#include "syntax/view.h"

typedef struct Reader {
  Compilation *c;
  Resolver *resolver;
  bool is_default; /* NamedTuples are read, and without their names */
} Reader;

/* An owned value, or false. type (may be NULL) is what it will be. */
static bool read_value(Reader *r, const Tree *expr, const Type *type, IValue *out);

static void require(Reader *r, Status status) {
  if (status) catch_throw(&r->c->catch_point, status);
}

/* ---- numbers ---- */

static bool read_number(Reader *r, const Tree *expr, bool negative, IValue *out) {
  int64_t integer = 0;
  double real = 0;
  switch (number_parse(expr->text, negative, &integer, &real)) {
    case NUMBER_INT:
      *out = ivalue_int(integer);
      return true;
    case NUMBER_FLOAT:
      *out = ivalue_float(real);
      return true;
    case NUMBER_COMPLEX:
      require(r, ivalue_from_complex(__builtin_complex(negative ? -0.0 : 0.0, real), out));
      return true;
    default:
      return false;
  }
}

static bool negate(IValue *value) {
  if (value->tag == TAG_FLOAT)
    value->f = -value->f;
  else if (value->tag == TAG_INT && value->i != INT64_MIN)
    value->i = -value->i;
  else {
    ivalue_release(*value);
    return false;
  }
  return true;
}

static bool read_minus(Reader *r, const Tree *expr, const Type *type, IValue *out) {
  const Tree *operand = unary_operand(expr);
  if (operand->kind == TK_CONST) return read_number(r, operand, true, out);
  return read_value(r, operand, type, out) && negate(out);
}

/* The number that `1.+2.j` begins with. */
static bool as_real(IValue value, double *out) {
  *out = value.tag == TAG_INT ? (double)value.i : value.f;
  return value.tag == TAG_INT || value.tag == TAG_FLOAT;
}
static bool read_complex(Reader *r, const Tree *expr, IValue *out) {
  IValue real, imaginary;
  double number;
  const Tree *second = binary_rhs(expr);
  if (second->kind != TK_CONST || !read_value(r, binary_lhs(expr), NULL, &real)) return false;
  bool fine = as_real(real, &number);
  if (!fine) ivalue_release(real);
  if (!fine || !read_number(r, second, expr->kind == '-', &imaginary)) return false;
  fine = imaginary.tag == TAG_COMPLEX;
  double part = fine ? __imag__ ivalue_complex(imaginary) : 0;
  ivalue_release(imaginary);
  if (fine) require(r, ivalue_from_complex(__builtin_complex(number, part), out));
  return fine;
}

/* float("inf") */
static bool read_float_text(const Tree *text, IValue *out) {
  if (text->kind != TK_STRINGLITERAL) return false;
  Str name = string_text(text);
  bool negative = name.length && name.data[0] == '-';
  Str magnitude = str_slice(name, negative, name.length);
  if (!str_is(magnitude, "inf") && !str_is(name, "nan")) return false;
  *out = ivalue_float(str_is(name, "nan") ? NAN : negative ? -INFINITY : INFINITY);
  return true;
}

/* ---- containers ---- */

/* What was read of an expression waits in the compilation's `held` for the rest, which may throw. Room is made first,
 * for that may throw, too. */
static void make_room(Reader *r) {
  vec_arena_reserve(&r->c->scratch, &r->c->held, r->c->held.length + 1);
}
static void hold(Reader *r, IValue value) {
  r->c->held.data[r->c->held.length++] = value;
}
/* Those from mark on, which are their taker's now; good until another is held. */
static IValue *take_held(Reader *r, size_t mark) {
  r->c->held.length = mark;
  return r->c->held.data ? r->c->held.data + mark : NULL;
}

/* Holds the items; false: one of them is no constant, and none is held. types may be NULL, as may each. */
static bool hold_items(Reader *r, const Tree *items, const Type *const *types) {
  size_t mark = r->c->held.length;
  for (uint32_t i = 0; i < items->count; i++) {
    IValue value;
    make_room(r);
    if (!read_value(r, items->children[i], types ? types[i] : NULL, &value)) {
      compilation_release_held(r->c, mark);
      return false;
    }
    hold(r, value);
  }
  return true;
}

static const Type *const *repeated(Reader *r, const Type *type, uint32_t count) {
  const Type **types = ARENA_ARRAY(&r->c->scratch, const Type *, count + 1);
  for (uint32_t i = 0; i < count; i++) types[i] = type;
  return types;
}

/* Takes the values over. */
static IValue list_of(Reader *r, const Type *element, uint32_t count, IValue *values) {
  List *list = NULL;
  Status status = list_new(element, count, &list);
  for (uint32_t i = 0; i < count; i++) {
    if (status)
      ivalue_release(values[i]);
    else
      status = list_append(list, values[i]);
  }
  if (status && list) ivalue_release(ivalue_list(list));
  require(r, status);
  list_borrow_type(list);
  return ivalue_list(list);
}
static IValue tuple_of(Reader *r, uint32_t count, const IValue *values) {
  Tuple *tuple;
  Status status = tuple_new(count, NULL, &tuple);
  for (uint32_t i = 0; i < count; i++) {
    if (status)
      ivalue_release(values[i]);
    else
      tuple->values[i] = values[i];
  }
  require(r, status);
  return ivalue_tuple(tuple);
}

static bool read_sequence(Reader *r, const Tree *expr, const Type *type, IValue *out) {
  const Tree *items = expr->children[0];
  uint32_t count = items->count;
  bool is_list = type ? type->kind == TYPE_LIST : expr->kind == TK_LIST_LITERAL;
  const Type *element = type && type->kind == TYPE_LIST ? type->elements[0] : NULL;
  const Type *const *types = element                                                    ? repeated(r, element, count)
                             : type && type->kind == TYPE_TUPLE && type->count == count ? type->elements
                                                                                        : NULL;
  size_t mark = r->c->held.length;
  if (!hold_items(r, items, types)) return false;
  if (is_list && !element) element = count ? ivalue_type(r->c->held.data[mark], &r->c->unit->store) : TYPE(TENSOR);
  IValue *values = take_held(r, mark);
  *out = is_list ? list_of(r, element, count, values) : tuple_of(r, count, values);
  return true;
}

/* ---- what has a name ---- */

bool enum_member(Compilation *c, const Type *type, Str name, IValue *out) {
  assert(type->kind == TYPE_ENUM);
  for (uint32_t i = 0; i < type->enum_type->count; i++) {
    if (!str_equal(type->enum_type->names[i], name)) continue;
    EnumValue *member;
    Status status = enum_value_new(type, i, &member);
    if (status) catch_throw(&c->catch_point, status);
    enum_value_borrow_type(member);
    *out = (IValue){.tag = TAG_ENUM, .enum_value = member};
    return true;
  }
  return false;
}

static bool read_name(Reader *r, const Tree *expr, IValue *out) {
  SugaredValue *value = dotted_value(r->c, r->resolver, expr);
  if (value && value->kind == &SUGARED_CONSTANT) {
    *out = ivalue_retain(value->constant);
    return true;
  }
  if (expr->kind != '.') return false;
  const Tree *scope = select_value(expr);
  const Type *type =
      scope->kind == TK_VAR || scope->kind == '.' ? annotation_type_or_null(r->c, r->resolver, scope) : NULL;
  return type && type->kind == TYPE_ENUM && enum_member(r->c, type, ident_text(select_name(expr)), out);
}

/* ---- what looks like a call ---- */

static bool read_device(Reader *r, const Tree *inputs, IValue *out) {
  IValue index = ivalue_int(-1);
  Device device;
  if (!inputs->count || inputs->count > 2 || inputs->children[0]->kind != TK_STRINGLITERAL) return false;
  if (inputs->count == 2 && !read_value(r, inputs->children[1], TYPE(INT), &index)) return false;
  if (index.tag != TAG_INT || index.i < -1 || index.i > INT8_MAX) {
    ivalue_release(index);
    return false;
  }
  require(r, device_parse(string_text(inputs->children[0]), &device));
  if (inputs->count == 2) device.index = (int8_t)index.i;
  *out = ivalue_device(device_map_apply(&r->c->unit->device_map, device));
  return true;
}

static const Tree *field_of_call(const Tree *call, uint32_t index, Str name) {
  const Tree *inputs = apply_inputs(call), *keywords = apply_attributes(call);
  if (index < inputs->count) return inputs->children[index];
  for (uint32_t i = 0; i < keywords->count; i++)
    if (str_equal(ident_text(attribute_name(keywords->children[i])), name))
      return attribute_value(keywords->children[i]);
  return NULL;
}

static bool read_field(Reader *r, const Type *type, const Tree *call, uint32_t index, IValue *out) {
  assert(index < type->count);
  const IValue *defaults = named_tuple_defaults(r->c, type);
  const Tree *given = field_of_call(call, index, type->field_names[index]);
  if (given) return read_value(r, given, type->elements[index], out);
  if (!defaults || (defaults[index].tag == TAG_NONE && !defaults[index].extra)) return false;
  *out = ivalue_retain(defaults[index]);
  out->extra = 0;
  return true;
}

/* The type stands with the parameter: a tuple that has it would keep the unit that keeps the default. */
static bool read_named_tuple(Reader *r, const Type *type, const Tree *call, IValue *out) {
  assert(type->kind == TYPE_TUPLE && type->field_names);
  if (apply_inputs(call)->count + apply_attributes(call)->count > type->count) return false;
  size_t mark = r->c->held.length;
  for (uint32_t i = 0; i < type->count; i++) {
    IValue value;
    make_room(r);
    if (!read_field(r, type, call, i, &value)) {
      compilation_release_held(r->c, mark);
      return false;
    }
    hold(r, value);
  }
  *out = tuple_of(r, type->count, take_held(r, mark));
  return true;
}

static bool read_call(Reader *r, const Tree *expr, IValue *out) {
  const Tree *callee = apply_callee(expr), *inputs = apply_inputs(expr);
  if (callee->kind == TK_VAR && str_is(var_text(callee), "float"))
    return inputs->count == 1 && read_float_text(inputs->children[0], out);
  if (callee->kind == TK_VAR && str_is(var_text(callee), "annotate"))
    return inputs->count == 2 &&
           read_value(r, inputs->children[1], annotation_type_or_null(r->c, r->resolver, inputs->children[0]), out);
  if (callee->kind != TK_VAR && callee->kind != '.') return false;
  const Type *made = annotation_type_or_null(r->c, r->resolver, callee);
  if (made && made->kind == TYPE_DEVICE) return read_device(r, inputs, out);
  return made && made->kind == TYPE_TUPLE && made->field_names && r->is_default && read_named_tuple(r, made, expr, out);
}

/* ---- all ---- */

static bool read_any(Reader *r, const Tree *expr, const Type *type, IValue *out) {
  switch (expr->kind) {
    case TK_NONE:
      *out = IVALUE_NONE;
      return true;
    case TK_TRUE:
    case TK_FALSE:
      *out = ivalue_bool(expr->kind == TK_TRUE);
      return true;
    case TK_CONST:
      return read_number(r, expr, false, out);
    case TK_UNARY_MINUS:
      return read_minus(r, expr, type, out);
    case '+':
    case '-':
      return read_complex(r, expr, out);
    case TK_STRINGLITERAL:
      require(r, ivalue_from_str(string_text(expr), out));
      return true;
    case TK_LIST_LITERAL:
    case TK_TUPLE_LITERAL:
      return read_sequence(r, expr, type, out);
    case TK_APPLY:
      return read_call(r, expr, out);
    case TK_VAR:
    case '.':
      return read_name(r, expr, out);
    default:
      return false;
  }
}

static bool read_value(Reader *r, const Tree *expr, const Type *type, IValue *out) {
  if (type && type->kind == TYPE_OPTIONAL && expr->kind != TK_NONE) type = type->elements[0];
  if (!read_any(r, expr, type, out)) return false;
  if (type && type->kind == TYPE_FLOAT && out->tag == TAG_INT) *out = ivalue_float((double)out->i);
  return true;
}

bool constant_from_tree(Compilation *c, Resolver *resolver, const Tree *expr, const Type *type, IValue *out) {
  return read_value(&(Reader){.c = c, .resolver = resolver}, expr, type, out);
}

bool default_from_tree(Compilation *c, Resolver *resolver, const Tree *expr, const Type *type, IValue *out) {
  return read_value(&(Reader){.c = c, .resolver = resolver, .is_default = true}, expr, type, out);
}

bool default_fits(IValue value, const Type *type) {
  if (type->kind == TYPE_OPTIONAL && value.tag == TAG_TUPLE) type = type->elements[0];
  if (value.tag != TAG_TUPLE || type->kind != TYPE_TUPLE) return ivalue_is_instance(value, type);
  bool fits = value.tuple->length == type->count;
  for (uint32_t i = 0; fits && i < type->count; i++) fits = default_fits(value.tuple->values[i], type->elements[i]);
  return fits;
}
