/* Functions as Python. A first walk, backwards, finds the nodes whose value can stand inside the one expression that
 * uses it without changing the order in which things happen; a second writes statements. */
#include "serial/python_print.h"

enum { LONG_LINE = 40 /* expressions beyond it get a name */, INLINE_DEPTH = 200 };

typedef struct Printing {
  PythonPrinter *printer;
  Arena *arena;
  StrBuf *out;
  int level;
  PtrMap expressions; /* Value -> Str: its name, or the expression it stands for */
  PtrMap inlined;     /* nodes */
  Map used, next;     /* names; the next number to try behind one */
} Printing;

static _Noreturn void fail(Printing *p, Status status) {
  catch_throw(p->arena->catch_point, status);
}
static void check(Printing *p, Status status) {
  if (status) fail(p, status);
}

/* ---- names ---- */

/* Words that mean something where the code is read, and so are no variables. */
static const char *const reserved[] = {"_",
                                       "as",
                                       "aten",
                                       "attribute",
                                       "CONSTANTS",
                                       "fork",
                                       "getattr",
                                       "inf",
                                       "nan",
                                       "infj",
                                       "nanj",
                                       "ops",
                                       "__torch__",
                                       "torch",
                                       "False",
                                       "None",
                                       "True",
                                       "and",
                                       "assert",
                                       "async",
                                       "await",
                                       "break",
                                       "class",
                                       "continue",
                                       "def",
                                       "del",
                                       "elif",
                                       "else",
                                       "except",
                                       "finally",
                                       "for",
                                       "from",
                                       "global",
                                       "if",
                                       "import",
                                       "in",
                                       "is",
                                       "lambda",
                                       "nonlocal",
                                       "not",
                                       "or",
                                       "pass",
                                       "raise",
                                       "return",
                                       "try",
                                       "while",
                                       "with",
                                       "yield",
                                       "annotate",
                                       "uninitialized",
                                       "unchecked_cast",
                                       "isinstance",
                                       "int",
                                       "float",
                                       "bool",
                                       "str",
                                       "print",
                                       "range",
                                       "complex",
                                       "sorted",
                                       "unchecked_unwrap_optional",
                                       "hasattr",
                                       "rpc_async",
                                       "tuple",
                                       "list",
                                       "dict",
                                       "len"};
static bool is_reserved(Str name) {
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (str_is(name, reserved[i])) return true;
  return false;
}

static Str unique_name(Printing *p, Str wanted) {
  Str name = wanted;
  while (map_has(&p->used, name) || is_reserved(name)) {
    uintptr_t number = (uintptr_t)map_get(&p->next, name);
    map_put(&p->next, name, (void *)(number + 1));
    name = str_from(arena_printf(p->arena, STR_FMT "%zu", STR_ARG(wanted), (size_t)number));
  }
  map_put(&p->used, name, p);
  return name;
}

/* The name without the number that made it unique, as an identifier. */
static Str name_base(Printing *p, const Value *value) {
  Str name = value->name;
  ptrdiff_t dot = str_rfind_char(name, '.');
  if (!name.length) return STR("_");
  if (dot > 0 && (size_t)dot + 1 < name.length) {
    bool digits = true;
    for (size_t i = (size_t)dot + 1; i < name.length; i++)
      digits = digits && name.data[i] >= '0' && name.data[i] <= '9';
    if (digits) name.length = (size_t)dot;
  }
  char *text =
      arena_printf(p->arena, "%s" STR_FMT, name.data[0] >= '0' && name.data[0] <= '9' ? "_" : "", STR_ARG(name));
  for (char *c = text; *c; c++)
    if (!python_is_identifier((Str){c, 1}) && !(*c >= '0' && *c <= '9')) *c = '_';
  return str_from(text);
}

static void assign(Printing *p, const Value *value, Str expression) {
  Str *copy = ARENA_NEW(p->arena, Str);
  *copy = expression;
  ptrmap_put(&p->expressions, value, copy);
}
static void assign_name(Printing *p, const Value *value) {
  assign(p, value, unique_name(p, name_base(p, value)));
}
static Str use(Printing *p, const Value *value) {
  const Str *text = ptrmap_get(&p->expressions, value);
  if (!text) fail(p, status_new(ERROR_INTERNAL, "a value is used before it is printed"));
  return *text;
}

/* ---- what stands inside expressions ---- */

static bool is_inlined(const Printing *p, const Node *node) {
  return ptrmap_has(&p->inlined, node);
}

static bool may_inline(const Value *value) {
  const Node *node = value->node;
  if (node->output_count != 1 || value->uses.length != 1 || node->block_count) return false;
  Use use = value->uses.data[0];
  if (value->name.length && use.user->kind != SYM_prim_Return) return false;
  if (use.user->kind == SYM_prim_Loop && use.offset >= 2) return false; /* would move behind the loop's header */
  if (use.user->kind == SYM_prim_fork || node->kind == SYM_prim_fork) return false;
  /* Read back inside a condition it would refine types a second time. */
  return node->kind != SYM_prim_isinstance && node->kind != SYM_prim_Enter && node->kind != SYM_prim_Exit &&
         node->kind != SYM_prim_Param;
}

static Node *before_constants(const Node *node) {
  Node *n = node->prev;
  while (n->kind == SYM_prim_Constant) n = n->prev;
  return n;
}

static void scan_block(Printing *p, const Block *block);

/* Inputs are evaluated left to right, so, read backwards, the last input's node must come right before its user, then
 * the one before it: `at` is the node that an expression may take in next. */
static const Node *scan_node(Printing *p, const Node *node, int depth) {
  if (is_inlined(p, node)) return node;
  for (uint32_t i = 0; i < node->block_count; i++) scan_block(p, node->blocks[i]);
  const Node *at = before_constants(node);
  for (uint32_t i = node->input_count; i-- > 0;) {
    const Value *value = node_input(node, i);
    if (value->node == at && depth < INLINE_DEPTH && may_inline(value)) {
      const Node *inlined = at;
      at = scan_node(p, inlined, depth + 1);
      ptrmap_put(&p->inlined, inlined, p);
    } else if (value->node->kind == SYM_prim_Constant) {
      ptrmap_put(&p->inlined, value->node, p);
    }
  }
  return at;
}
static void scan_block(Printing *p, const Block *block) {
  if (STACK_IS_LOW()) fail(p, status_new(ERROR_UNSUPPORTED, "a program is nested too deeply to be printed"));
  scan_node(p, block->ret, 0);
  BLOCK_EACH_REVERSE(node, block) scan_node(p, node, 0);
}

/* ---- statements ---- */

static void indent(Printing *p) {
  strbuf_repeat(p->out, ' ', (size_t)p->level * 2);
}
static void put_type(Printing *p, StrBuf *out, const Type *type) {
  python_depend_type(p->printer, type);
  type_print_annotation(type, out);
}
static void put_values(Printing *p, StrBuf *out, uint32_t count, Value *const *values) {
  for (uint32_t i = 0; i < count; i++) {
    if (i) strbuf_puts(out, ", ");
    strbuf_str(out, use(p, values[i]));
  }
}
static void put_inputs(Printing *p, StrBuf *out, const Node *node, const char *begin, const char *end) {
  strbuf_puts(out, begin);
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i) strbuf_puts(out, ", ");
    strbuf_str(out, use(p, node_input(node, i)));
  }
  strbuf_puts(out, end);
}

static void put_definition(Printing *p, const Node *node, Str expression) {
  for (uint32_t i = 0; i < node->output_count; i++) assign_name(p, node_output(node, i));
  indent(p);
  put_values(p, p->out, node->output_count, node->outputs);
  if (node->output_count) strbuf_puts(p->out, " = ");
  strbuf_str(p->out, expression);
  strbuf_char(p->out, '\n');
}

static bool is_long(const Printing *p, Str text) {
  return text.length + (size_t)p->level * 2 >= LONG_LINE;
}
/* Gives names to the inlined inputs up to the last one that is long; all of them, so that their order stays. */
static void split_long_inputs(Printing *p, const Node *node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const Value *value = node_input(node, i);
    if (is_inlined(p, value->node) && is_long(p, use(p, value))) count = i + 1;
  }
  for (uint32_t i = 0; i < count; i++) {
    const Value *value = node_input(node, i);
    const Node *maker = value->node;
    if (maker->kind == SYM_prim_Constant || !is_inlined(p, maker)) continue;
    Str expression = use(p, value);
    put_definition(p, maker, expression);
  }
}

/* One assignment per type that must be said; the others together. */
static void put_assignments(Printing *p, uint32_t count, Value *const *to, const NodeInput *from, const char *colon) {
  for (uint32_t i = 0; i < count; i++) {
    indent(p);
    strbuf_str(p->out, use(p, to[i]));
    if (colon && !type_equal(to[i]->type, from[i].value->type)) {
      strbuf_puts(p->out, colon);
      put_type(p, p->out, to[i]->type);
    }
    strbuf_puts(p->out, " = ");
    strbuf_str(p->out, use(p, from[i].value));
    strbuf_char(p->out, '\n');
  }
}
/* All at once: what is assigned may be read on the right. */
static void put_assignment(Printing *p, uint32_t count, Value *const *to, const NodeInput *from) {
  if (!count) return;
  indent(p);
  put_values(p, p->out, count, to);
  strbuf_puts(p->out, " = ");
  for (uint32_t i = 0; i < count; i++) {
    if (i) strbuf_puts(p->out, ", ");
    strbuf_str(p->out, use(p, from[i].value));
  }
  strbuf_char(p->out, '\n');
}

static void print_node(Printing *p, const Node *node, bool constants);

static void print_block(Printing *p, const Block *block, bool has_more) {
  if (!has_more && block->param->next == block->ret) {
    indent(p);
    strbuf_puts(p->out, "pass\n");
  }
  BLOCK_EACH(node, block) print_node(p, node, false);
}

static void print_branch(Printing *p, const Node *node, uint32_t i) {
  const Block *block = node->blocks[i];
  p->level++;
  print_block(p, block, node->output_count != 0);
  split_long_inputs(p, block->ret);
  bool differs = false;
  for (uint32_t k = 0; k < node->output_count && !i; k++)
    differs = differs || !type_equal(node_output(node, k)->type, block_output(block, k)->type);
  if (differs) {
    put_assignments(p, node->output_count, node->outputs, block->ret->inputs, " : ");
  } else {
    put_assignment(p, node->output_count, node->outputs, block->ret->inputs);
  }
  p->level--;
}

static void print_if(Printing *p, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) assign_name(p, node_output(node, i));
  indent(p);
  strbuf_printf(p->out, "if " STR_FMT ":\n", STR_ARG(use(p, node_input(node, 0))));
  print_branch(p, node, 0);
  indent(p);
  strbuf_puts(p->out, "else:\n");
  print_branch(p, node, 1);
}

static bool is_constant_true(const Value *value) {
  IValue v;
  return value_is_constant(value, &v) && v.tag == TAG_BOOL && v.b;
}
static bool is_endless(const Value *trip_count) {
  IValue v;
  return value_is_constant(trip_count, &v) && v.tag == TAG_INT && v.i == INT64_MAX;
}

/* What a carried variable starts with says its type when that is not the variable's; one that starts as None may be
 * typed so in the graph, though its body assigns something else. */
static void put_initial(Printing *p, const Node *loop) {
  for (uint32_t i = 0; i < loop->output_count; i++) {
    Value *output = node_output(loop, i);
    const Type *next = block_output(loop->blocks[0], i + 1)->type;
    if (output->type->kind != TYPE_NONE || next->kind == TYPE_NONE) {
      put_assignments(p, 1, &output, &loop->inputs[i + 2], ": ");
      continue;
    }
    bool wrap = !type_is_optional_like(next);
    indent(p);
    strbuf_printf(p->out, STR_FMT ": %s", STR_ARG(use(p, output)), wrap ? "Optional[" : "");
    put_type(p, p->out, next);
    strbuf_printf(p->out, "%s = " STR_FMT "\n", wrap ? "]" : "", STR_ARG(use(p, node_input(loop, i + 2))));
  }
}

/* Carried values keep one name: assigned before the loop, and at the end of its body. */
static void print_loop(Printing *p, const Node *node) {
  const Block *body = node->blocks[0];
  bool is_for = is_constant_true(node_input(node, 1)) && is_constant_true(block_output(body, 0));
  if (!is_for && !is_endless(node_input(node, 0)))
    fail(p, status_new(ERROR_UNSUPPORTED, "a loop with a trip count and a condition can't be printed"));
  for (uint32_t i = 0; i < node->output_count; i++) {
    assign_name(p, node_output(node, i));
    assign(p, block_input(body, i + 1), use(p, node_output(node, i)));
  }
  put_initial(p, node);
  assign_name(p, block_input(body, 0));
  Str counter = use(p, block_input(body, 0));
  indent(p);
  if (is_for) {
    strbuf_printf(p->out, "for " STR_FMT " in range(" STR_FMT "):\n", STR_ARG(counter),
                  STR_ARG(use(p, node_input(node, 0))));
  } else {
    strbuf_printf(p->out, STR_FMT " = " STR_FMT "\n", STR_ARG(counter), STR_ARG(use(p, node_input(node, 1))));
    indent(p);
    strbuf_printf(p->out, "while " STR_FMT ":\n", STR_ARG(counter));
  }
  uint32_t skip = is_for, count = block_output_count(body) - skip;
  p->level++;
  print_block(p, body, count != 0);
  split_long_inputs(p, body->ret);
  put_assignment(p, count, body->param->outputs + skip, body->ret->inputs + skip);
  p->level--;
}

static void print_body(Printing *p, const Block *block);

/* The forked graph is a function of no parameters that reads the variables around it. */
static void print_fork(Printing *p, const Node *node) {
  const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
  if (!subgraph || subgraph->tag != ATTR_GRAPH) fail(p, status_new(ERROR_UNSUPPORTED, "a fork without its graph"));
  Str name = unique_name(p, STR("__forked_function"));
  indent(p);
  strbuf_printf(p->out, "def " STR_FMT "():\n", STR_ARG(name));
  for (uint32_t i = 0; i < node->input_count; i++) assign(p, graph_input(subgraph->g, i), use(p, node_input(node, i)));
  p->level++;
  print_body(p, subgraph->g->block);
  p->level--;
  put_definition(p, node, str_from(arena_printf(p->arena, "fork(" STR_FMT ")", STR_ARG(name))));
}

static void print_enter(Printing *p, const Node *node) {
  Value *out = node_output(node, 0);
  indent(p);
  strbuf_printf(p->out, "with " STR_FMT, STR_ARG(use(p, node_input(node, 0))));
  if (value_has_uses(out)) {
    assign_name(p, out);
    strbuf_printf(p->out, " as " STR_FMT, STR_ARG(use(p, out)));
  }
  strbuf_puts(p->out, ":\n");
  p->level++;
}

/* ---- expressions ---- */

static void put_list(Printing *p, const Node *node, StrBuf *out) {
  const Type *type = node_output(node, 0)->type;
  bool annotated = !node->input_count || !python_items_tell_type(type->elements[0]);
  if (annotated) {
    strbuf_puts(out, "annotate(");
    put_type(p, out, type);
    strbuf_puts(out, ", ");
  }
  put_inputs(p, out, node, "[", annotated ? "])" : "]");
}

static void put_dict(Printing *p, const Node *node, StrBuf *out) {
  const Type *type = node_output(node, 0)->type;
  bool annotated =
      !node->input_count || !python_items_tell_type(type->elements[0]) || !python_items_tell_type(type->elements[1]);
  if (annotated) {
    strbuf_puts(out, "annotate(");
    put_type(p, out, type);
    strbuf_puts(out, ", ");
  }
  strbuf_char(out, '{');
  for (uint32_t i = 0; i + 1 < node->input_count; i += 2)
    strbuf_printf(out, "%s" STR_FMT ": " STR_FMT, i ? ", " : "", STR_ARG(use(p, node_input(node, i))),
                  STR_ARG(use(p, node_input(node, i + 1))));
  strbuf_puts(out, annotated ? "})" : "}");
}

static void put_constant(Printing *p, const Node *node, StrBuf *out) {
  const Type *type = node_output(node, 0)->type;
  IValue value;
  if (type->kind == TYPE_FUNCTION) {
    if (p->printer->depend) p->printer->depend(p->printer->context, NULL, type->function);
    python_print_function_name(type->function, out);
  } else if (value_is_constant(node_output(node, 0), &value)) {
    bool typed = value.tag == TAG_NONE && type->kind != TYPE_NONE;
    if (typed) {
      strbuf_puts(out, "annotate(");
      put_type(p, out, type);
      strbuf_puts(out, ", ");
    }
    check(p, python_print_constant(p->printer, value, type, out));
    if (typed) strbuf_char(out, ')');
  } else {
    fail(p, status_new(ERROR_UNSUPPORTED, "a constant without a value can't be printed"));
  }
}

static void put_get_attr(Printing *p, const Node *node, StrBuf *out) {
  Str object = use(p, node_input(node, 0)), name = node_string(node, SYM_attr_name);
  if (python_is_identifier(name)) {
    strbuf_printf(out, python_is_identifier(object) ? STR_FMT "." STR_FMT : "(" STR_FMT ")." STR_FMT, STR_ARG(object),
                  STR_ARG(name));
  } else {
    strbuf_printf(out, "getattr(" STR_FMT ", \"" STR_FMT "\")", STR_ARG(object), STR_ARG(name));
  }
}

/* `f(a, b, )`: the first input is what is called. */
static void put_call(Printing *p, const Node *node, StrBuf *out) {
  Str callee = use(p, node_input(node, 0));
  if (node->kind == SYM_prim_CallMethod) {
    Str method = node_string(node, SYM_attr_name);
    strbuf_printf(out, "(" STR_FMT ")." STR_FMT "(", STR_ARG(callee), STR_ARG(method));
  } else {
    strbuf_printf(out, STR_FMT "(", STR_ARG(callee));
  }
  for (uint32_t i = 1; i < node->input_count; i++)
    strbuf_printf(out, STR_FMT ", ", STR_ARG(use(p, node_input(node, i))));
  strbuf_char(out, ')');
}

static void put_isinstance(Printing *p, const Node *node, StrBuf *out) {
  const NodeAttribute *types = node_attribute(node, SYM_attr_types);
  strbuf_printf(out, "isinstance(" STR_FMT ", ", STR_ARG(use(p, node_input(node, 0))));
  if (!types || types->tag != ATTR_TYPES) fail(p, status_new(ERROR_INTERNAL, "isinstance without types"));
  if (types->count != 1) strbuf_char(out, '(');
  for (uint32_t i = 0; i < types->count; i++) {
    put_type(p, out, types->types[i]);
    if (types->count != 1) strbuf_puts(out, ", ");
  }
  strbuf_puts(out, types->count != 1 ? "))" : ")");
}

/* `torch.size(x)[0]` is written with parentheses, a variable without. */
static void put_subscript(Printing *p, const Node *node, StrBuf *out, bool parentheses) {
  Str from = use(p, node_input(node, 0));
  strbuf_printf(out, !parentheses && python_is_identifier(from) ? STR_FMT "[" : "(" STR_FMT ")[", STR_ARG(from));
  strbuf_str(out, use(p, node_input(node, 1)));
  if (node->kind == SYM_prim_TupleSlice) fail(p, status_new(ERROR_UNSUPPORTED, "a slice of a tuple as a node"));
  strbuf_char(out, ']');
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
    bool comparable = true;
    if (!argument->has_default || !value_is_constant(node_input(node, count - 1), &value)) break;
    if (value.tag != argument->default_value.tag || !ivalue_equal(value, argument->default_value, &comparable) ||
        !comparable)
      break;
  }
  return count;
}

/* From what version of archives on an operator means what it means now. */
static const struct {
  const char *name;
  int version;
} changed_operators[] = {{"aten::div", 4},      {"aten::div_", 4},     {"aten::full", 5},
                         {"aten::linspace", 8}, {"aten::logspace", 9}, {"aten::gelu", 10}};

static void put_operator(Printing *p, const Node *node, StrBuf *out) {
  const FunctionSchema *schema = node_schema(node);
  Str name = symbol_name(node->kind), base = symbol_base(node->kind), space = symbol_space(node->kind);
  if (!schema) fail(p, status_new(ERROR_UNSUPPORTED, "a " STR_FMT " can't be printed", STR_ARG(name)));
  for (size_t i = 0; i < sizeof changed_operators / sizeof *changed_operators; i++)
    if (str_is(name, changed_operators[i].name) && p->printer->min_version < changed_operators[i].version)
      p->printer->min_version = changed_operators[i].version;
  if (str_is(name, "aten::backward") || str_is(name, "aten::grad")) {
    strbuf_printf(out, "torch.autograd." STR_FMT "(", STR_ARG(base));
  } else if (str_is(space, "aten")) {
    strbuf_printf(out, "torch." STR_FMT "(", STR_ARG(base));
  } else {
    strbuf_printf(out, "ops." STR_FMT "." STR_FMT "(", STR_ARG(space), STR_ARG(base));
  }
  uint32_t out_count, count = necessary_arguments(schema, node, &out_count), written = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i >= count && i < node->input_count - out_count) continue;
    if (written++) strbuf_puts(out, ", ");
    if (i < schema->argument_count && schema->arguments[i].kwarg_only)
      strbuf_printf(out, STR_FMT "=", STR_ARG(schema->arguments[i].name));
    strbuf_str(out, use(p, node_input(node, i)));
  }
  strbuf_char(out, ')');
}

/* annotate(T, x...) and its kin. */
static void put_typed(Printing *p, const Node *node, StrBuf *out, const char *form, const char *end) {
  strbuf_puts(out, form);
  put_type(p, out, node_output(node, 0)->type);
  if (node->input_count) strbuf_printf(out, ", " STR_FMT, STR_ARG(use(p, node_input(node, 0))));
  strbuf_puts(out, end);
}

static void put_expression(Printing *p, const Node *node, StrBuf *out) {
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
      put_subscript(p, node, out, true);
      return;
    case SYM_aten___getitem__:
      put_subscript(p, node, out, false);
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
      strbuf_puts(out, ".__new__(");
      put_type(p, out, type);
      strbuf_char(out, ')');
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
    case SYM_prim_Closure:
    case SYM_prim_Function:
      fail(p, status_new(ERROR_UNSUPPORTED, "closures can't be saved"));
    default:
      if (str_is(symbol_name(node->kind), "aten::sorted") && node->input_count == 1) {
        put_inputs(p, out, node, "sorted(", ")");
      } else {
        put_operator(p, node, out);
      }
  }
}

static void print_expression(Printing *p, const Node *node) {
  StrBuf text = {0};
  /* The buffer must not leak when printing throws. */
  Catch here, *outer = p->arena->catch_point;
  char *volatile copy = NULL;
  if (catch_enter(&here)) {
    p->arena->catch_point = &here;
    put_expression(p, node, &text);
    if (text.failed) fail(p, status_out_of_memory());
    copy = arena_strndup(p->arena, strbuf_view(&text).data, text.length);
  }
  p->arena->catch_point = outer;
  Str expression = {copy, text.length};
  strbuf_dispose(&text);
  if (here.status) catch_throw(outer, here.status);
  if (is_inlined(p, node) && !(node->kind == SYM_prim_Constant && is_long(p, expression))) {
    assign(p, node_output(node, 0), expression);
  } else {
    put_definition(p, node, expression);
  }
}

static void print_unpack(Printing *p, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) assign_name(p, node_output(node, i));
  indent(p);
  put_values(p, p->out, node->output_count, node->outputs);
  if (node->output_count == 1) strbuf_char(p->out, ',');
  if (node->output_count) strbuf_puts(p->out, " = ");
  put_inputs(p, p->out, node, "", "\n");
}

static void print_node(Printing *p, const Node *node, bool constants) {
  if (node->kind == SYM_prim_Constant && !constants) return;
  if (STACK_IS_LOW()) fail(p, status_new(ERROR_UNSUPPORTED, "a program is nested too deeply to be printed"));
  split_long_inputs(p, node);
  switch (node->kind) {
    case SYM_prim_Return:
      if (node->input_count) {
        indent(p);
        put_inputs(p, p->out, node, "return ", "\n");
      }
      return;
    case SYM_prim_Loop:
      print_loop(p, node);
      return;
    case SYM_prim_If:
      print_if(p, node);
      return;
    case SYM_prim_TupleUnpack:
    case SYM_prim_ListUnpack:
      print_unpack(p, node);
      return;
    case SYM_prim_SetAttr: {
      Str object = use(p, node_input(node, 0)), value = use(p, node_input(node, 1)),
          name = node_string(node, SYM_attr_name);
      indent(p);
      strbuf_printf(p->out, STR_FMT "." STR_FMT " = " STR_FMT "\n", STR_ARG(object), STR_ARG(name), STR_ARG(value));
      return;
    }
    case SYM_prim_fork:
      print_fork(p, node);
      return;
    case SYM_prim_Enter:
      print_enter(p, node);
      return;
    case SYM_prim_Exit:
      if (node->prev->kind == SYM_prim_Enter) {
        indent(p);
        strbuf_puts(p->out, "pass\n");
      }
      p->level--;
      return;
    default:
      print_expression(p, node);
  }
}

/* Constants come first, in the order of their use. */
static void print_constants(Printing *p, const Block *block) {
  for (const Node *node = block->param->next;; node = node->next) {
    for (uint32_t i = 0; i < node->input_count; i++) {
      const Node *maker = node_input(node, i)->node;
      if (maker->kind == SYM_prim_Constant && !ptrmap_has(&p->expressions, maker->outputs[0]))
        print_node(p, maker, true);
    }
    for (uint32_t i = 0; i < node->block_count; i++) print_constants(p, node->blocks[i]);
    if (node == block->ret) return;
  }
}

static void print_body(Printing *p, const Block *block) {
  scan_block(p, block);
  print_constants(p, block);
  print_block(p, block, block->ret->input_count != 0);
  print_node(p, block->ret, false);
}

static void print_function(Printing *p, const Function *function, Str placeholder) {
  const FunctionSchema *schema = function->schema;
  const Graph *graph = function->graph;
  Str base = str_slice(function->name, (size_t)(str_rfind_char(function->name, '.') + 1), function->name.length);
  if (!graph || !schema || graph_input_count(graph) != schema->argument_count)
    fail(p, status_new(ERROR_UNSUPPORTED, STR_FMT " has no graph to print", STR_ARG(function->name)));
  indent(p);
  strbuf_printf(p->out, "def " STR_FMT "(", STR_ARG(placeholder.length ? STR("forward") : base));
  if (placeholder.length) {
    unique_name(p, STR("self"));
    strbuf_printf(p->out, "self: " STR_FMT, STR_ARG(placeholder));
  }
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    Str name = unique_name(p, argument->name);
    strbuf_printf(p->out, "%s" STR_FMT ": ", i || placeholder.length ? ",\n    " : "", STR_ARG(name));
    put_type(p, p->out, argument->type);
    if (argument->has_default) {
      strbuf_char(p->out, '=');
      check(p, python_print_constant(p->printer, argument->default_value, argument->type, p->out));
    }
    assign(p, graph_input(graph, i), name);
  }
  strbuf_puts(p->out, ") -> ");
  put_type(p, p->out, schema->return_count ? schema->returns[0].type : TYPE(NONE));
  strbuf_puts(p->out, ":\n");
  p->level++;
  print_body(p, graph->block);
  p->level--;
}

void python_printer_init(PythonPrinter *printer) {
  *printer = (PythonPrinter){.min_version = PYTHON_PRINT_FIRST_VERSION};
}
void python_printer_dispose(PythonPrinter *printer) {
  for (size_t i = 0; i < printer->constants.length; i++) ivalue_release(printer->constants.data[i]);
  vec_dispose(&printer->constants);
}

void python_print_function_name(const Function *function, StrBuf *out) {
  if (!str_starts_with(function->name, "__torch__.")) strbuf_puts(out, "__torch__.");
  strbuf_str(out, function->name);
}

Status python_print_function(PythonPrinter *printer, const Function *function, int level, Str placeholder,
                             StrBuf *out) {
  Catch c;
  Arena arena;
  arena_init(&arena, &c);
  if (catch_enter(&c)) {
    Printing p = {.printer = printer, .arena = &arena, .out = out, .level = level};
    ptrmap_init(&p.expressions, &arena);
    ptrmap_init(&p.inlined, &arena);
    map_init(&p.used, &arena);
    map_init(&p.next, &arena);
    print_function(&p, function, placeholder);
    if (out->failed) fail(&p, status_out_of_memory());
  }
  arena_dispose(&arena);
  return c.status ? status_context(c.status, STR_FMT, STR_ARG(function->name)) : OK;
}
