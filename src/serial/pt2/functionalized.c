#include "serial/pt2/functionalized.h"

#include <assert.h>

#include "serial/pt2/argument.h"
#include "serial/pt2/operator_call.h"

enum { MAX_BASES = 1000 };

typedef struct Functionalized {
  Pt2Builder *b;
  const Json *inputs; /* the first */
  const Operator *op;
  const FunctionSchema *schema;
  uint32_t base_count;
  Value **bases;           /* that the operator writes to: copies */
  uint32_t argument_count; /* by name */
  NamedValue *arguments;
} Functionalized;

static const Json *find_input(const Functionalized *f, const char *name) {
  Str other;
  for (const Json *e = f->inputs; e; e = json_next(e))
    if (json_string(json_get(e, "name"), &other) && str_is(other, name)) return json_get(e, "arg");
  return NULL;
}
/* "_x_base_index": the argument by that name, NULL where there is none. */
static const Json *part(const Functionalized *f, const char *prefix, const char *what) {
  return find_input(f, arena_printf(f->b->graph->arena, "%s_%s", prefix, what));
}
static const Json *needed_part(const Functionalized *f, const char *prefix, const char *what) {
  const Json *found = part(f, prefix, what);
  if (!found) pt2_fail(f->b, ERROR_DATA, "%s_%s is missing", prefix, what);
  return found;
}

/* Strides are those of the tensor, whatever they are: parts of bases are said by strides. */
static Value *copy(Pt2Builder *b, Value *tensor) {
  if (tensor->type->kind != TYPE_TENSOR) return tensor; /* None */
  Value *size = PT2_EMIT(b, "aten::size", tensor), *stride = PT2_EMIT(b, "aten::stride", tensor);
  Value *room = PT2_EMIT(b, "aten::new_empty_strided", tensor, size, stride);
  return PT2_EMIT(b, "aten::copy_", room, tensor);
}

/* The part of a base that the inputs of that prefix describe. */
static NamedValue read_view(const Functionalized *f, const char *prefix) {
  Pt2Builder *b = f->b;
  const Json *index = needed_part(f, prefix, "base_index"), *offset = part(f, prefix, "storage_offset"),
             *dim = part(f, prefix, "slice_dim");
  int64_t base;
  if (json_get(index, "as_none")) return (NamedValue){.constant = IVALUE_NONE, .is_constant = true};
  if (!json_int(json_get(index, "as_int"), &base) || base < 0 || base >= (int64_t)f->base_count)
    pt2_fail(b, ERROR_DATA, "%s_base_index is no base", prefix);
  Value *value = f->bases[base];
  if (offset) {
    Value *size = pt2_argument_value(b, needed_part(f, prefix, "size"), NULL),
          *stride = pt2_argument_value(b, needed_part(f, prefix, "stride"), NULL);
    value = PT2_EMIT(b, "aten::as_strided", value, size, stride, pt2_argument_value(b, offset, NULL));
  } else if (dim) {
    Value *start = pt2_argument_value(b, needed_part(f, prefix, "slice_start"), NULL),
          *end = pt2_argument_value(b, needed_part(f, prefix, "slice_end"), NULL);
    value = PT2_EMIT(b, "aten::slice", value, pt2_argument_value(b, dim, NULL), start, end);
  }
  return (NamedValue){.value = value};
}

static bool is_written(const Argument *argument) {
  return argument->alias && (argument->alias->is_write || argument->alias->contained_write);
}
static bool is_list(const Argument *argument) {
  const Type *type = argument->type->kind == TYPE_OPTIONAL ? argument->type->elements[0] : argument->type;
  return type->kind == TYPE_LIST;
}

/* A list of tensors that it writes to: _NAME_length, and a part for each. */
static NamedValue read_views(const Functionalized *f, const char *prefix) {
  Pt2Builder *b = f->b;
  const Json *length = needed_part(f, prefix, "length");
  int64_t count;
  if (json_get(length, "as_none")) return (NamedValue){.constant = IVALUE_NONE, .is_constant = true};
  if (!json_int(json_get(length, "as_int"), &count) || count < 0 || count > MAX_BASES)
    pt2_fail(b, ERROR_DATA, "%s_length is malformed", prefix);
  Value **items = ARENA_ARRAY(b->graph->arena, Value *, (size_t)count + 1);
  for (int64_t i = 0; i < count; i++) {
    NamedValue item = read_view(f, arena_printf(b->graph->arena, "%s_%lld", prefix, (long long)i));
    items[i] = named_value(b->graph, &item);
    if (items[i]->type->kind != TYPE_TENSOR) pt2_fail(b, ERROR_UNSUPPORTED, "a list of tensors with None");
  }
  return (NamedValue){.value = graph_insert_list(b->graph, TYPE(TENSOR), (uint32_t)count, items)};
}

static void begin(Functionalized *f, Pt2Builder *b, const Json *node) {
  Pt2OpName name;
  Str target;
  *f = (Functionalized){.b = b, .inputs = json_first(json_array(node, "inputs"))};
  if (!json_string(json_get(json_get(f->inputs, "arg"), "as_operator"), &target) || !pt2_split_name(b, target, &name) ||
      !(f->op = operator_find_overload(name.name, name.overload)))
    pt2_fail(b, ERROR_DATA, "no operator that writes");
  pt2_try(b, operator_schema_status(operator_schema(f->op)));
  pt2_try(b, operator_check_name(f->op));
  f->schema = operator_schema(f->op);
  f->inputs = json_next(f->inputs);
  f->arguments = ARENA_ARRAY(b->graph->arena, NamedValue, f->schema->argument_count + 1);
}
static void add_argument(Functionalized *f, const Argument *argument, NamedValue value) {
  assert(f->argument_count < f->schema->argument_count);
  value.name = argument->name;
  f->arguments[f->argument_count++] = value;
}
static const Json *input_of(const Functionalized *f, const Argument *argument) {
  return find_input(f, arena_strndup(f->b->graph->arena, argument->name.data, argument->name.length));
}

/* What the operator gives, or None where that is nothing; then what it wrote to. */
static void finish(Functionalized *f, const Json *node) {
  Pt2Builder *b = f->b;
  CallArguments call = {.keywords = f->arguments, .keyword_count = f->argument_count};
  Pt2Results own = pt2_call_operator(b, f->op, &call);
  Value **all = ARENA_ARRAY(b->graph->arena, Value *, (size_t)own.count + f->base_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < own.count; i++) all[count++] = own.values[i];
  if (!count) all[count++] = pt2_constant(b, IVALUE_NONE);
  for (uint32_t i = 0; i < f->base_count; i++) all[count++] = f->bases[i];
  pt2_define_outputs(b, json_first(json_array(node, "outputs")), count, all);
}

void pt2_build_functionalized(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Functionalized f;
  (void)target;
  begin(&f, b, node);
  f.bases = ARENA_ARRAY(b->graph->arena, Value *, f.schema->argument_count + 1);
  for (uint32_t i = 0; i < f.schema->argument_count; i++) {
    const Argument *argument = &f.schema->arguments[i];
    const Json *given = input_of(&f, argument);
    if (!given) continue;
    NamedValue value = pt2_argument(b, given, argument->type);
    if (is_written(argument)) {
      if (is_list(argument)) pt2_fail(b, ERROR_UNSUPPORTED, "an operator that writes to lists of tensors");
      value = (NamedValue){.value = f.bases[f.base_count++] = copy(b, named_value(b->graph, &value))};
    }
    add_argument(&f, argument, value);
  }
  finish(&f, node);
}

static void read_bases(Functionalized *f) {
  Pt2Builder *b = f->b;
  const Json *list = json_first(find_input(f, "_all_bases"));
  if (!json_is_array(list) || json_count(list) > MAX_BASES) pt2_fail(b, ERROR_DATA, "_all_bases is malformed");
  f->bases = ARENA_ARRAY(b->graph->arena, Value *, json_count(list) + 1);
  for (const Json *e = json_first(list); e; e = json_next(e)) {
    Value *base = json_get(e, "name") ? pt2_value(b, pt2_text(b, e, "name")) : pt2_argument_value(b, e, NULL);
    f->bases[f->base_count++] = copy(b, base);
  }
}
void pt2_build_functionalized_views(Pt2Builder *b, const Pt2Target *target, const Json *node) {
  Functionalized f;
  (void)target;
  begin(&f, b, node);
  read_bases(&f);
  for (uint32_t i = 0; i < f.schema->argument_count; i++) {
    const Argument *argument = &f.schema->arguments[i];
    const Json *given = input_of(&f, argument);
    if (is_written(argument)) {
      const char *prefix = arena_printf(b->graph->arena, "_" STR_FMT, PT2_SHORT(argument->name));
      add_argument(&f, argument, is_list(argument) ? read_views(&f, prefix) : read_view(&f, prefix));
    } else if (given) {
      add_argument(&f, argument, pt2_argument(b, given, argument->type));
    }
  }
  finish(&f, node);
}
