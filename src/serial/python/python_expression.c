/* Expressions of printed Python: what one node computes, over the pieces that stand for its inputs. */
#include "call/row.h"
#include "ir/node_kind.h"
#include "serial/python/python_printing.h"

static void put_list(Printing *p, const Node *node, PythonText *out) {
  const Type *type = node_output(node, 0)->type;
  bool annotated = !node->input_count || !python_items_tell_type(type->elements[0]);
  if (annotated) {
    put(out, "annotate(");
    put_type(p, out, type);
    put(out, ", ");
  }
  put_inputs(p, out, node, "[", annotated ? "])" : "]");
}

static void put_dict(Printing *p, const Node *node, PythonText *out) {
  const Type *type = node_output(node, 0)->type;
  bool annotated =
      !node->input_count || !python_items_tell_type(type->elements[0]) || !python_items_tell_type(type->elements[1]);
  if (annotated) {
    put(out, "annotate(");
    put_type(p, out, type);
    put(out, ", ");
  }
  put(out, "{");
  for (uint32_t i = 0; i + 1 < node->input_count; i += 2) {
    if (i) put(out, ", ");
    put_value(p, out, node_input(node, i));
    put(out, ": ");
    put_value(p, out, node_input(node, i + 1));
  }
  put(out, annotated ? "})" : "}");
}

static void put_constant(Printing *p, const Node *node, PythonText *out) {
  const Type *type = node_output(node, 0)->type;
  IValue value;
  if (type->kind == TYPE_FUNCTION) {
    if (type->function->is_hook)
      python_depend_type(p->printer, &type->function->class_type->type);
    else if (p->printer->depend)
      p->printer->depend(p->printer->context, NULL, type->function);
    python_print_function_name(type->function, python_text_at(out));
  } else if (value_is_constant(node_output(node, 0), &value)) {
    bool typed = value.tag == TAG_NONE && type->kind != TYPE_NONE;
    if (typed) {
      put(out, "annotate(");
      put_type(p, out, type);
      put(out, ", ");
    }
    Status status = python_print_constant(p->printer, value, type, python_text_at(out));
    if (status) printing_fail(p, status);
    if (typed) put(out, ")");
  } else {
    printing_fail(p, status_new(ERROR_UNSUPPORTED, "a constant without a value can't be printed"));
  }
}

/* A variable as it is, anything else in parentheses. */
static void put_operand(Printing *p, PythonText *out, const Value *value) {
  bool plain = python_is_identifier(printed_text(p, value));
  if (!plain) put(out, "(");
  put_value(p, out, value);
  if (!plain) put(out, ")");
}

static void put_get_attr(Printing *p, const Node *node, PythonText *out) {
  Str name = node_string(node, SYM_attr_name);
  if (python_is_name(name)) {
    put_operand(p, out, node_input(node, 0));
    put(out, ".");
    put_str(out, name);
  } else {
    put(out, "getattr(");
    put_value(p, out, node_input(node, 0));
    put(out, ", ");
    python_quote(name, python_text_at(out));
    put(out, ")");
  }
}

/* `f(a, b, )`: the first input is what is called. */
static void put_call(Printing *p, const Node *node, PythonText *out) {
  bool is_method = node->kind == SYM_prim_CallMethod;
  if (is_method) put(out, "(");
  put_value(p, out, node_input(node, 0));
  if (is_method) {
    put(out, ").");
    put_str(out, node_string(node, SYM_attr_name));
  }
  put(out, "(");
  for (uint32_t i = 1; i < node->input_count; i++) {
    put_value(p, out, node_input(node, i));
    put(out, ", ");
  }
  put(out, ")");
}

static void put_isinstance(Printing *p, const Node *node, PythonText *out) {
  const NodeAttribute *types = node_attribute(node, SYM_attr_types);
  put(out, "isinstance(");
  put_value(p, out, node_input(node, 0));
  put(out, ", ");
  if (!types || types->tag != ATTR_TYPES) printing_fail(p, status_internal("isinstance without types"));
  if (types->count != 1) put(out, "(");
  for (uint32_t i = 0; i < types->count; i++) {
    put_type(p, out, types->types[i]);
    if (types->count != 1) put(out, ", ");
  }
  put(out, types->count != 1 ? "))" : ")");
}

static void put_subscript(Printing *p, const Node *node, PythonText *out) {
  put(out, "[");
  put_value(p, out, node_input(node, 1));
  put(out, "]");
}

/* Arguments that equal their defaults are left out at the end, where out arguments do not count. */
static uint32_t necessary_arguments(const FunctionSchema *schema, const Node *node, uint32_t *out_count) {
  uint32_t count = schema->argument_count;
  *out_count = 0;
  if (count < node->input_count) return node->input_count;
  if (node->input_count < count) count = node->input_count;
  while (count && schema->arguments[count - 1].is_out) count--, (*out_count)++;
  for (; count; count--) {
    const Argument *argument = &schema->arguments[count - 1];
    IValue value;
    if (!argument->has_default || !value_is_constant(node_input(node, count - 1), &value)) break;
    if (value.tag != argument->default_value.tag || !ivalue_is_surely_equal(value, argument->default_value)) break;
  }
  return count;
}

static _Noreturn void fail_to_print(Printing *p, const Node *node) {
  printing_fail(p, status_new(ERROR_UNSUPPORTED, "a " STR_FMT " can't be printed", STR_ARG(symbol_name(node->kind))));
}

static void put_operator(Printing *p, const Node *node, PythonText *out) {
  const FunctionSchema *schema = node_schema(node);
  Str name = symbol_name(node->kind), base = symbol_base(node->kind), space = symbol_space(node->kind);
  if (!schema) fail_to_print(p, node);
  const Operator *changed = operator_find_changed(name);
  if (changed && p->printer->min_version < changed->row->since) p->printer->min_version = changed->row->since;
  if (str_is(name, "aten::backward") || str_is(name, "aten::grad")) {
    strbuf_printf(python_text_at(out), "torch.autograd." STR_FMT "(", STR_ARG(base));
  } else if (str_is(space, "aten")) {
    strbuf_printf(python_text_at(out), "torch." STR_FMT "(", STR_ARG(base));
  } else {
    strbuf_printf(python_text_at(out), "ops." STR_FMT "." STR_FMT "(", STR_ARG(space), STR_ARG(base));
  }
  uint32_t out_count, count = necessary_arguments(schema, node, &out_count), written = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i >= count && i < node->input_count - out_count) continue;
    if (written++) put(out, ", ");
    if (i < schema->argument_count && schema->arguments[i].kwarg_only)
      strbuf_printf(python_text_at(out), STR_FMT "=", STR_ARG(schema->arguments[i].name));
    put_value(p, out, node_input(node, i));
  }
  put(out, ")");
}

/* annotate(T, x...) and its kin. */
static void put_typed(Printing *p, const Node *node, PythonText *out, const char *form, const char *end) {
  put(out, form);
  put_type(p, out, node_output(node, 0)->type);
  if (node->input_count) {
    put(out, ", ");
    put_value(p, out, node_input(node, 0));
  }
  put(out, end);
}

void put_expression(Printing *p, const Node *node, PythonText *out) {
  if (!node_has_flag(node, KIND_MAY_SAVE)) fail_to_print(p, node);
  switch (node->kind) {
    case SYM_prim_Constant:
      put_constant(p, node, out);
      return;
    case SYM_prim_Uninitialized:
      put_typed(p, node, out, "uninitialized(", ")");
      return;
    case SYM_prim_unchecked_cast:
      put_typed(p, node, out, "unchecked_cast(", ")");
      return;
    case SYM_prim_annotate:
    case SYM_aten_ScalarImplicit:
    case SYM_aten_FloatImplicit:
    case SYM_aten_IntImplicit:
    case SYM_aten_ComplexImplicit:
      put_typed(p, node, out, "annotate(", ")");
      return;
    case SYM_prim_tolist:
      put_typed(p, node, out, "annotate(", ".tolist())");
      return;
    case SYM_prim_unchecked_unwrap_optional:
      put_inputs(p, out, node, "unchecked_unwrap_optional(", ")");
      return;
    case SYM_aten_Int:
      put_inputs(p, out, node, "int(", ")");
      return;
    case SYM_aten_Float:
      put_inputs(p, out, node, "float(", ")");
      return;
    case SYM_aten_Bool:
      put_inputs(p, out, node, "bool(", ")");
      return;
    case SYM_aten_str:
      put_inputs(p, out, node, "str(", ")");
      return;
    case SYM_prim_Print:
      put_inputs(p, out, node, "print(", ")");
      return;
    case SYM_prim_TupleConstruct: {
      const Type *type = node_output(node, 0)->type;
      if (type->name.length) put_type(p, out, type);
      put_inputs(p, out, node, "(", node->input_count == 1 && !type->name.length ? ",)" : ")");
      return;
    }
    case SYM_prim_TupleIndex:
      put(out, "(");
      put_value(p, out, node_input(node, 0));
      put(out, ")");
      put_subscript(p, node, out);
      return;
    case SYM_aten___getitem__:
      put_operand(p, out, node_input(node, 0));
      put_subscript(p, node, out);
      return;
    case SYM_prim_ListConstruct:
      put_list(p, node, out);
      return;
    case SYM_prim_DictConstruct:
      put_dict(p, node, out);
      return;
    case SYM_prim_CreateObject: {
      const Type *type = node_output(node, 0)->type;
      put_type(p, out, type);
      put(out, ".__new__(");
      put_type(p, out, type);
      put(out, ")");
      return;
    }
    case SYM_prim_GetAttr:
      put_get_attr(p, node, out);
      return;
    case SYM_prim_CallFunction:
    case SYM_prim_CallMethod:
      put_call(p, node, out);
      return;
    case SYM_prim_isinstance:
      put_isinstance(p, node, out);
      return;
    case SYM_prim_EnumName:
      put_inputs(p, out, node, "(", ").name");
      return;
    case SYM_prim_EnumValue:
      put_inputs(p, out, node, "(", ").value");
      return;
    default:
      if (str_is(symbol_name(node->kind), "aten::sorted") && node->input_count == 1) {
        put_inputs(p, out, node, "sorted(", ")");
      } else {
        put_operator(p, node, out);
      }
  }
}
