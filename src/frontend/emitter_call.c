/* Calls: evaluating arguments, and the special forms, whose arguments are not plain values (types, names, functions).
 */
#include "frontend/emitter.h"

#include "syntax/view.h"

CallArguments emit_arguments(Emitter *e, const Tree *inputs, const Tree *attributes, uint32_t skip) {
  VEC(NamedValue) positional = {0};
  for (uint32_t i = skip; i < inputs->count; i++) {
    const Tree *input = inputs->children[i];
    if (input->kind != TK_STARRED) {
      vec_arena_push(e->arena, &positional, named_argument(STR(""), emit_expr(e, input, NULL), input->range));
      continue;
    }
    uint32_t count;
    SugaredValue **elements =
        sugared_elements(emit_sugared(e, starred_value(input), 1, NULL), e, input->range, 0, &count);
    for (uint32_t k = 0; k < count; k++)
      vec_arena_push(e->arena, &positional,
                     named_argument(STR(""), sugared_as_value(elements[k], e, input->range), input->range));
  }
  NamedValue *keywords = ARENA_ARRAY(e->arena, NamedValue, attributes->count + 1);
  for (uint32_t i = 0; i < attributes->count; i++) {
    const Tree *attribute = attributes->children[i];
    if (attribute->kind != TK_ATTRIBUTE) compilation_fail(e->c, attribute->range, "** arguments are not supported");
    keywords[i] = named_argument(ident_text(attribute_name(attribute)), emit_expr(e, attribute_value(attribute), NULL),
                                 attribute->range);
  }
  return (CallArguments){.count = (uint32_t)positional.length,
                         .positional = positional.data,
                         .keyword_count = attributes->count,
                         .keywords = keywords};
}

static void expect_inputs(Emitter *e, const Tree *apply, const char *name, uint32_t least, uint32_t most) {
  uint32_t count = apply_inputs(apply)->count;
  if (apply_attributes(apply)->count)
    compilation_fail(e->c, apply->range, "%s does not accept keyword arguments", name);
  if (count >= least && count <= most) return;
  if (least == most)
    compilation_fail(e->c, apply->range, "%s expected exactly %u argument%s but found %u", name, least,
                     least == 1 ? "" : "s", count);
  compilation_fail(e->c, apply->range, "%s expected at %s %u arguments but found %u", name,
                   count < least ? "least" : "most", count < least ? least : most, count);
}

static SugaredValue *wrap(Emitter *e, Value *value) {
  return sugared_value(e->c, value);
}

/* ---- fork ---- */

typedef struct Forked {
  SugaredValue *callee;
  const CallArguments *arguments;
  SourceRange range;
} Forked;

static void emit_forked_body(Emitter *e, Block *block, void *argument) {
  const Forked *f = argument;
  block_register_output(block, sugared_as_value(sugared_call(f->callee, e, f->range, f->arguments, 1), e, f->range));
}

SugaredValue *emit_fork(Emitter *e, SourceRange range, SugaredValue *callee, const CallArguments *arguments) {
  Value *closure;
  if (callee->kind == &SUGARED_CLOSURE) {
    if (arguments->count || arguments->keyword_count)
      compilation_fail(e->c, range, "A nested function that is forked takes no arguments");
    closure = callee->value;
  } else {
    Forked forked = {callee, arguments, range};
    closure = emit_closure(e, range, emit_forked_body, &forked);
  }
  const Type *result = block_output(closure->node->blocks[0], 0)->type;
  return wrap(e, emit_typed(e, range, SYM_prim_forkClosure, 1, &closure, type_future(e->store, result)));
}

/* ---- types as arguments ---- */

static SugaredValue *emit_annotate(Emitter *e, const Tree *apply) {
  expect_inputs(e, apply, "annotate", 2, 2);
  const Tree *inputs = apply_inputs(apply);
  const Type *type = annotation_type(e->c, e->resolver, inputs->children[0]);
  Value *value = emit_convert(e, apply->range, type, emit_expr(e, inputs->children[1], type), true);
  if (!type_is_subtype(value->type, type, NULL))
    compilation_fail(e->c, inputs->range, "expected an expression of type %s but found %s", type_text(e->c, type),
                     type_text(e->c, value->type));
  /* None is remembered as the Optional it stands for. */
  if (value->type->kind == TYPE_NONE && type->kind != TYPE_NONE) {
    value = emit_none(e, apply->range);
    value->type = type_is_optional_like(type) ? type : type_optional(e->store, type);
  }
  return wrap(e, value);
}

static SugaredValue *emit_cast_to(Emitter *e, const Tree *apply) {
  expect_inputs(e, apply, "unchecked_cast", 2, 2);
  const Type *type = annotation_type(e->c, e->resolver, apply_inputs(apply)->children[0]);
  Value *value = emit_expr(e, apply_inputs(apply)->children[1], NULL);
  /* Serialized code has them already. */
  if (value->node->kind == SYM_prim_unchecked_cast && type_equal(value->type, type)) return wrap(e, value);
  return wrap(e, emit_unchecked_cast(e, apply->range, value, type));
}

static SugaredValue *emit_typing_cast(Emitter *e, const Tree *apply) {
  expect_inputs(e, apply, "cast", 2, 2);
  const Type *type = annotation_type(e->c, e->resolver, apply_inputs(apply)->children[0]);
  Value *value = emit_expr(e, apply_inputs(apply)->children[1], type);
  if (type_equal(value->type, type)) return wrap(e, value);
  return wrap(e, emit_unchecked_cast(e, apply->range, value, type));
}

/* The codes of elements of prim::tolist. */
static const Type *tolist_element(int64_t code) {
  const Type *const types[] = {TYPE(INT), TYPE(FLOAT), TYPE(BOOL), TYPE(COMPLEX)};
  return code >= 0 && code < (int64_t)(sizeof types / sizeof *types) ? types[code] : NULL;
}

/* How deep the lists of the type go, and the code of their elements. */
static bool tolist_shape(const Type *type, int64_t *out_depth, int64_t *out_element) {
  *out_depth = 0;
  for (; type->kind == TYPE_LIST; type = type->elements[0]) ++*out_depth;
  for (*out_element = 0; tolist_element(*out_element); ++*out_element)
    if (tolist_element(*out_element)->kind == type->kind) return true;
  return false;
}

const Type *tolist_type(TypeStore *store, int64_t depth, int64_t element) {
  const Type *type = tolist_element(element);
  for (int64_t i = 0; type && i < depth; i++) type = type_list(store, type);
  return type;
}

static SugaredValue *emit_tolist(Emitter *e, const Tree *apply, Value *tensor, const Type *hint) {
  expect_inputs(e, apply, "tolist", 0, 0);
  if (!hint) compilation_fail(e->c, apply->range, "Expected type hint for result of tolist()");
  int64_t depth, element;
  if (!tolist_shape(hint, &depth, &element))
    compilation_fail(e->c, apply->range,
                     "%s is not one of the supported element types for tolist: int, float, complex, bool",
                     type_text(e->c, hint));
  Value *inputs[3] = {tensor, emit_int(e, apply->range, depth), emit_int(e, apply->range, element)};
  return wrap(e, emit_typed(e, apply->range, SYM_prim_tolist, 3, inputs, hint));
}

/* ---- attributes by name ---- */

static SugaredValue *emit_getattr(Emitter *e, const Tree *apply) {
  expect_inputs(e, apply, "getattr", 2, 3);
  const Tree *inputs = apply_inputs(apply);
  SugaredValue *object = emit_sugared(e, inputs->children[0], 1, NULL);
  if (inputs->children[1]->kind != TK_STRINGLITERAL)
    compilation_fail(e->c, apply->range, "getattr's second argument must be a string literal");
  Str name = string_text(inputs->children[1]);
  if (inputs->count == 2 || sugared_has_attr(object, e, apply->range, name))
    return sugared_attr(object, e, apply->range, name);
  return emit_sugared(e, inputs->children[2], 1, NULL);
}

/* ---- containers from iterables ---- */

static const Tree *temporary(Emitter *e, const char *prefix, SourceRange range) {
  return tree_var(e->arena, range, str_from(arena_printf(e->arena, "%s%u", prefix, e->temporaries++)));
}

static SugaredValue *emit_list_form(Emitter *e, const Tree *apply, const Type *hint) {
  expect_inputs(e, apply, "list", 0, 1);
  if (!apply_inputs(apply)->count)
    return wrap(e, emit_typed(e, apply->range, SYM_prim_ListConstruct, 0, NULL,
                              hint && hint->kind == TYPE_LIST ? hint : type_list_of(TYPE_TENSOR)));
  const Tree *input = apply_inputs(apply)->children[0];
  if (input->kind == TK_LIST_COMP) return wrap(e, emit_list_comprehension(e, input, hint));
  SugaredValue *iterable = emit_sugared(e, input, 1, hint);
  Value *plain = sugared_plain_value(iterable);
  if (plain && (plain->type->kind == TYPE_LIST || plain->type->kind == TYPE_STRING))
    return wrap(e, emit_builtin(e, apply->range, SYM_aten_list, 1, &plain));
  Tree *source = (Tree *)temporary(e, "$_iter", apply->range), *element = (Tree *)temporary(e, "$_elem", apply->range);
  environment_set(e, apply->range, var_text(source), iterable, NULL);
  Tree *comprehension = TREE(e->arena, TK_LIST_COMP, apply->range, element, element, source);
  return wrap(e, emit_list_comprehension(e, comprehension, hint));
}

static Value *emit_dict_of_pairs(Emitter *e, SourceRange range, SugaredValue *source, const Type *hint) {
  Tree *iter = (Tree *)temporary(e, "$_iter", range), *key = (Tree *)temporary(e, "$_key", range),
       *value = (Tree *)temporary(e, "$_value", range);
  environment_set(e, range, var_text(iter), source, NULL);
  Tree *target = TREE(e->arena, TK_TUPLE_LITERAL, range, TREE(e->arena, TK_LIST, range, key, value));
  return emit_expr(e, TREE(e->arena, TK_DICT_COMP, range, key, value, target, iter), hint);
}

/* Keyword arguments, and the entries of a dict literal, as (key, value) tuples. */
static Tree *pairs_of(Emitter *e, SourceRange range, const Tree *input, const Tree *attributes) {
  bool is_dict = input && input->kind == TK_DICT_LITERAL;
  const Tree *items = !input ? NULL : is_dict ? dict_literal_keys(input) : list_literal_items(input);
  uint32_t count = items ? items->count : 0;
  Tree **pairs = ARENA_ARRAY(e->arena, Tree *, count + attributes->count + 1);
  for (uint32_t i = 0; i < count; i++) {
    Tree *item = items->children[i];
    pairs[i] = is_dict ? TREE(e->arena, TK_TUPLE_LITERAL, item->range,
                              TREE(e->arena, TK_LIST, item->range, item, dict_literal_values(input)->children[i]))
                       : item;
  }
  for (uint32_t i = 0; i < attributes->count; i++) {
    const Tree *attribute = attributes->children[i];
    Tree *key = tree_atom(e->arena, TK_STRINGLITERAL, attribute->range, ident_text(attribute_name(attribute)));
    pairs[count++] = TREE(e->arena, TK_TUPLE_LITERAL, attribute->range,
                          TREE(e->arena, TK_LIST, attribute->range, key, attribute_value(attribute)));
  }
  return TREE(e->arena, TK_LIST_LITERAL, range, tree_list(e->arena, range, count, pairs));
}

static void check_one_dict(Emitter *e, SourceRange range, const Type *hint) {
  uint32_t candidates = 0;
  for (uint32_t i = 0; hint && hint->kind == TYPE_UNION && i < hint->count; i++)
    candidates += hint->elements[i]->kind == TYPE_DICT;
  if (candidates > 1)
    compilation_fail(e->c, range,
                     "There are multiple candidate Dict types in the Union type annotation `%s`, and full type "
                     "inference is not yet supported",
                     type_text(e->c, hint));
}

static SugaredValue *emit_dict_form(Emitter *e, const Tree *apply, const Type *hint) {
  const Tree *inputs = apply_inputs(apply), *attributes = apply_attributes(apply);
  SourceRange range = apply->range;
  if (inputs->count > 1) compilation_fail(e->c, range, "dict expected at most 1 argument but found %u", inputs->count);
  check_one_dict(e, range, hint);
  const Tree *input = inputs->count ? inputs->children[0] : NULL;
  bool is_list = input && input->kind == TK_LIST_LITERAL;
  bool is_empty = is_list ? list_literal_items(input)->count == 0 : !input;
  if (is_empty && !attributes->count) {
    Tree *none = tree_list(e->arena, range, 0, NULL);
    return wrap(e, emit_expr(e, TREE(e->arena, TK_DICT_LITERAL, range, none, none), hint));
  }
  if (attributes->count && (!input || is_list || input->kind == TK_DICT_LITERAL)) {
    Value *pairs = emit_expr(e, pairs_of(e, range, input, attributes), NULL);
    return wrap(e, emit_dict_of_pairs(e, range, sugared_value(e->c, pairs), hint));
  }
  SugaredValue *source = emit_sugared(e, input, 1, NULL);
  Value *plain = sugared_plain_value(source);
  bool is_dict = plain && plain->type->kind == TYPE_DICT;
  Value *dict = is_dict ? emit_builtin(e, range, SYM_aten_dict, 1, &plain) : emit_dict_of_pairs(e, range, source, hint);
  for (uint32_t i = 0; i < attributes->count; i++) {
    const Tree *attribute = attributes->children[i];
    Value *entry[3] = {dict, emit_string(e, attribute->range, ident_text(attribute_name(attribute))), NULL};
    entry[2] = emit_expr(e, attribute_value(attribute), NULL);
    emit_builtin(e, range, SYM_aten__set_item, 3, entry);
  }
  return wrap(e, dict);
}

static SugaredValue *emit_tuple_form(Emitter *e, const Tree *apply) {
  expect_inputs(e, apply, "tuple", 0, 1);
  if (!apply_inputs(apply)->count) return wrap(e, emit_tuple(e, apply->range, 0, NULL));
  SugaredValue *source = emit_sugared(e, apply_inputs(apply)->children[0], 1, NULL);
  uint32_t count;
  SugaredValue **elements = sugared_elements(source, e, apply->range, 0, &count);
  Value **values = ARENA_ARRAY(e->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) values[i] = sugared_as_value(elements[i], e, apply->range);
  return wrap(e, emit_tuple(e, apply->range, count, values));
}

/* ---- iterables ---- */

static SugaredValue *emit_range_form(Emitter *e, const Tree *apply) {
  CallArguments arguments = emit_arguments(e, apply_inputs(apply), apply_attributes(apply), 0);
  if (arguments.keyword_count) compilation_fail(e->c, apply->range, "range does not accept keyword arguments");
  Value **inputs = ARENA_ARRAY(e->arena, Value *, arguments.count + 1);
  for (uint32_t i = 0; i < arguments.count; i++) inputs[i] = arguments.positional[i].value;
  return sugared_range(e, apply->range, arguments.count, inputs, -1);
}

static SugaredValue *emit_enumerate(Emitter *e, const Tree *apply) {
  const Tree *inputs = apply_inputs(apply), *attributes = apply_attributes(apply);
  if (!inputs->count) compilation_fail(e->c, apply->range, "enumerate expected at least 1 arguments, got 0");
  if (inputs->count + attributes->count > 2)
    compilation_fail(e->c, apply->range, "enumerate expected at most 2 arguments, got %u",
                     inputs->count + attributes->count);
  const Tree *start = inputs->count == 2  ? inputs->children[1]
                      : attributes->count ? attribute_value(attributes->children[0])
                                          : NULL;
  Value *bounds[2];
  uint32_t count = 0;
  if (start) bounds[count++] = emit_expr(e, start, NULL);
  bounds[count++] = emit_number_constant(e, apply->range, ivalue_int(INT64_MAX));
  SugaredValue *iterable = sugared_iter(emit_sugared(e, inputs->children[0], 1, NULL), e, apply->range);
  SugaredValue *children[2] = {sugared_range(e, apply->range, count, bounds, sugared_static_length(iterable, e)),
                               iterable};
  return sugared_iterable(e, apply->range, 2, children);
}

static SugaredValue *emit_zip(Emitter *e, const Tree *apply) {
  const Tree *inputs = apply_inputs(apply);
  if (!inputs->count) compilation_fail(e->c, apply->range, "zip expected at least 1 arguments, got 0");
  SugaredValue **children = ARENA_ARRAY(e->arena, SugaredValue *, inputs->count);
  for (uint32_t i = 0; i < inputs->count; i++)
    children[i] = sugared_iter(emit_sugared(e, inputs->children[i], 1, NULL), e, apply->range);
  return sugared_iterable(e, apply->range, inputs->count, children);
}

static SugaredValue *emit_slice_form(Emitter *e, const Tree *apply) {
  expect_inputs(e, apply, "slice", 1, 3);
  const Tree *inputs = apply_inputs(apply);
  Value *values[3] = {0};
  for (uint32_t i = 0; i < inputs->count; i++) {
    values[i] = emit_expr(e, inputs->children[i], NULL);
    if (values[i]->type->kind == TYPE_NONE) values[i] = NULL;
  }
  SugaredSlice *slice = ARENA_NEW(e->arena, SugaredSlice);
  slice->base.kind = &SUGARED_SLICE;
  if (inputs->count == 1) {
    slice->stop = values[0];
  } else {
    slice->start = values[0];
    slice->stop = values[1];
    slice->step = values[2];
  }
  return &slice->base;
}

/* ---- the rest ---- */

static SugaredValue *emit_print(Emitter *e, const Tree *apply) {
  if (apply_attributes(apply)->count)
    compilation_fail(e->c, apply->range, "print doesn't accept any keyword arguments");
  CallArguments arguments = emit_arguments(e, apply_inputs(apply), apply_attributes(apply), 0);
  Value **inputs = ARENA_ARRAY(e->arena, Value *, arguments.count + 1);
  for (uint32_t i = 0; i < arguments.count; i++) inputs[i] = arguments.positional[i].value;
  emit_node(e, apply->range, SYM_prim_Print, arguments.count, inputs, 0);
  return wrap(e, emit_none(e, apply->range));
}

/* torch.FloatTensor(...): sizes, or the elements in a list. */
static SugaredValue *emit_legacy_tensor(Emitter *e, const Tree *apply, const SugaredForm *form) {
  CallArguments arguments = emit_arguments(e, apply_inputs(apply), apply_attributes(apply), 0);
  NamedValue dtype = {
      .name = STR("dtype"), .is_constant = true, .constant = ivalue_int(form->dtype), .range = apply->range};
  if (arguments.count == 1 && arguments.positional[0].value->type->kind != TYPE_INT)
    return wrap(e, emit_builtin_call(
                       e, apply->range, SYM_aten_tensor,
                       &(CallArguments){
                           .count = 1, .positional = arguments.positional, .keyword_count = 1, .keywords = &dtype}));
  bool fits =
      !arguments.keyword_count || (arguments.keyword_count == 1 && str_is(arguments.keywords[0].name, "device"));
  Value **sizes = ARENA_ARRAY(e->arena, Value *, arguments.count + 1);
  for (uint32_t i = 0; i < arguments.count; i++) {
    sizes[i] = arguments.positional[i].value;
    fits = fits && sizes[i]->type->kind == TYPE_INT;
  }
  if (!fits)
    compilation_fail(e->c, apply->range,
                     "Legacy Tensor Constructor only supports two schemas in TorchScript:\n'new(IntArrayRef size, *, "
                     "Device? device=None)',\n"
                     "'new(PyObject* data, *, Device? device=None)'");
  if (!arguments.count) {
    NamedValue empty = named_argument(STR(""), emit_list(e, apply->range, TYPE(INT), 0, NULL), apply->range);
    return wrap(e, emit_builtin_call(
                       e, apply->range, SYM_aten_tensor,
                       &(CallArguments){.count = 1, .positional = &empty, .keyword_count = 1, .keywords = &dtype}));
  }
  NamedValue size =
      named_argument(STR(""), emit_list(e, apply->range, TYPE(INT), arguments.count, sizes), apply->range);
  return wrap(
      e, emit_builtin_call(e, apply->range, symbol_intern(STR("aten::empty")),
                           &(CallArguments){.count = 1, .positional = &size, .keyword_count = 1, .keywords = &dtype}));
}

static SugaredValue *emit_form(Emitter *e, const Tree *apply, const SugaredForm *form, const Type *hint) {
  const Tree *inputs = apply_inputs(apply);
  SourceRange range = apply->range;
  switch (form->form) {
    case FORM_FORK: {
      if (!inputs->count) compilation_fail(e->c, range, "Expected at least one argument to fork()");
      SugaredValue *callee = emit_sugared(e, inputs->children[0], 1, NULL);
      CallArguments arguments = emit_arguments(e, inputs, apply_attributes(apply), 1);
      return emit_fork(e, range, callee, &arguments);
    }
    case FORM_ANNOTATE:
      return emit_annotate(e, apply);
    case FORM_UNCHECKED_CAST:
      return emit_cast_to(e, apply);
    case FORM_CAST:
      return emit_typing_cast(e, apply);
    case FORM_UNINITIALIZED:
      expect_inputs(e, apply, "uninitialized", 1, 1);
      return wrap(e, emit_typed(e, range, SYM_prim_Uninitialized, 0, NULL,
                                annotation_type(e->c, e->resolver, inputs->children[0])));
    case FORM_TUPLE:
      return emit_tuple_form(e, apply);
    case FORM_LIST:
      return emit_list_form(e, apply, hint);
    case FORM_DICT:
      return emit_dict_form(e, apply, hint);
    case FORM_GETATTR:
      return emit_getattr(e, apply);
    case FORM_HASATTR:
      expect_inputs(e, apply, "hasattr", 2, 2);
      return wrap(e, emit_has_attr(e, range, inputs->children[0], inputs->children[1]).value);
    case FORM_ISINSTANCE:
      expect_inputs(e, apply, "isinstance", 2, 2);
      return wrap(e, emit_isinstance(e, range, inputs->children[0], inputs->children[1]).value);
    case FORM_RANGE:
      return emit_range_form(e, apply);
    case FORM_ENUMERATE:
      return emit_enumerate(e, apply);
    case FORM_ZIP:
      return emit_zip(e, apply);
    case FORM_REVERSED:
      expect_inputs(e, apply, "reversed", 1, 1);
      return sugared_reversed(e, range, sugared_iter(emit_sugared(e, inputs->children[0], 1, NULL), e, range));
    case FORM_SLICE:
      return emit_slice_form(e, apply);
    case FORM_CREATE_OBJECT: {
      expect_inputs(e, apply, "__new__", 1, 1);
      const Type *type = annotation_type(e->c, e->resolver, inputs->children[0]);
      if (type->kind != TYPE_CLASS) compilation_fail(e->c, range, "Only an instance of a class can be made by __new__");
      return wrap(e, emit_typed(e, range, SYM_prim_CreateObject, 0, NULL, type));
    }
    case FORM_TOLIST:
      return emit_tolist(e, apply, form->self, hint);
    case FORM_LEGACY_TENSOR:
      return emit_legacy_tensor(e, apply, form);
    case FORM_IS_SCRIPTING:
      return wrap(e, emit_constant(e, range, ivalue_bool(true)));
    case FORM_IS_TRACING:
      return wrap(e, emit_constant(e, range, ivalue_bool(false)));
    case FORM_PRINT:
      return emit_print(e, apply);
    case FORM_IDENTITY:
      if (!inputs->count) compilation_fail(e->c, range, "Expected at least one argument");
      return emit_sugared(e, inputs->children[0], 1, hint);
  }
  compilation_fail(e->c, range, "This can't be called");
}

SugaredValue *emit_apply(Emitter *e, const Tree *apply, uint32_t binders, const Type *hint) {
  SugaredValue *callee = emit_sugared(e, apply_callee(apply), 1, NULL);
  if (callee->kind == &SUGARED_SPECIAL_FORM) return emit_form(e, apply, (const SugaredForm *)callee, hint);
  CallArguments arguments = emit_arguments(e, apply_inputs(apply), apply_attributes(apply), 0);
  return sugared_call(callee, e, apply_callee(apply)->range, &arguments, binders);
}
