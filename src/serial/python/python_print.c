/* Functions as Python. A first walk, backwards, finds the nodes whose value can stand inside the one expression that
 * uses it without changing the order in which things happen; a second writes statements. */
#include <assert.h>

#include "base/stack.h"
#include "ir/node_kind.h"
#include "serial/python/python_printing.h"

enum { LONG_LINE = 40 /* expressions beyond it get a name */, INLINE_DEPTH = 200 };

void printing_fail(Printing *p, Status status) {
  catch_throw(p->arena->catch_point, status);
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

static void assign(Printing *p, const Value *value, PythonPiece piece) {
  PythonPiece *copy = ARENA_NEW(p->arena, PythonPiece);
  *copy = piece;
  ptrmap_put(&p->expressions, value, copy);
}
static void assign_name(Printing *p, const Value *value) {
  assign(p, value, (PythonPiece){.text = unique_name(p, name_base(p, value))});
}
const PythonPiece *printed(Printing *p, const Value *value) {
  const PythonPiece *piece = ptrmap_get(&p->expressions, value);
  if (!piece) printing_fail(p, status_internal("a value is used before it is printed"));
  return piece;
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
  if (use.user->kind == SYM_prim_Loop && use.offset >= 2) return false; /* would move after the loop's header */
  if (use.user->kind == SYM_prim_fork) return false;
  return !node_has_flag(node, KIND_OWN_LINE);
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
  if (STACK_IS_LOW()) printing_fail(p, status_new(ERROR_UNSUPPORTED, "a program is nested too deeply to be printed"));
  scan_node(p, block->ret, 0);
  BLOCK_EACH_REVERSE(node, block) scan_node(p, node, 0);
}

/* ---- statements ---- */

static void indent(Printing *p) {
  assert(p->level >= 0);
  strbuf_repeat(python_text_at(&p->out), ' ', (size_t)p->level * 2);
}
void put_type(Printing *p, PythonText *out, const Type *type) {
  python_depend_type(p->printer, type);
  type_print_annotation(type, python_text_at(out));
}
static void put_values(Printing *p, uint32_t count, Value *const *values) {
  for (uint32_t i = 0; i < count; i++) {
    if (i) put(&p->out, ", ");
    put_value(p, &p->out, values[i]);
  }
}
void put_inputs(Printing *p, PythonText *out, const Node *node, const char *begin, const char *end) {
  put(out, begin);
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i) put(out, ", ");
    put_value(p, out, node_input(node, i));
  }
  put(out, end);
}

static void put_definition(Printing *p, const Node *node, PythonPiece expression) {
  SourceRange outer = p->out.range;
  p->out.range = node->range;
  for (uint32_t i = 0; i < node->output_count; i++) assign_name(p, node_output(node, i));
  indent(p);
  put_values(p, node->output_count, node->outputs);
  if (node->output_count) put(&p->out, " = ");
  python_text_put(&p->out, &expression);
  put(&p->out, "\n");
  p->out.range = outer;
}

static bool is_long(const Printing *p, Str text) {
  return text.length + (size_t)p->level * 2 >= LONG_LINE;
}
/* Gives names to what is pending, up to the last long input of the node: what happens before it must be written before
 * it. */
static void split_long_inputs(Printing *p, const Node *node) {
  size_t count = 0;
  for (size_t i = p->pending.length; i-- > 0 && !count;) {
    const Value *value = node_output(p->pending.data[i], 0);
    if (value->uses.data[0].user != node) break;
    if (is_long(p, printed_text(p, value))) count = i + 1;
  }
  for (size_t i = 0; i < count; i++) {
    const Node *maker = p->pending.data[i];
    put_definition(p, maker, *printed(p, node_output(maker, 0)));
  }
  p->pending.length -= count;
  if (count) memmove(p->pending.data, p->pending.data + count, p->pending.length * sizeof *p->pending.data);
  while (p->pending.length && node_output(vec_last(&p->pending), 0)->uses.data[0].user == node)
    (void)vec_pop(&p->pending);
}

/* One assignment per type that must be said; the others together. */
static void put_assignments(Printing *p, uint32_t count, Value *const *to, const NodeInput *from, const char *colon) {
  PythonText *out = &p->out;
  for (uint32_t i = 0; i < count; i++) {
    indent(p);
    put_value(p, out, to[i]);
    if (!type_equal(to[i]->type, from[i].value->type)) {
      put(out, colon);
      put_type(p, out, to[i]->type);
    }
    put(out, " = ");
    put_value(p, out, from[i].value);
    put(out, "\n");
  }
}
/* All at once: what is assigned may be read on the right. */
static void put_assignment(Printing *p, uint32_t count, Value *const *to, const NodeInput *from) {
  if (!count) return;
  indent(p);
  put_values(p, count, to);
  put(&p->out, " = ");
  for (uint32_t i = 0; i < count; i++) {
    if (i) put(&p->out, ", ");
    put_value(p, &p->out, from[i].value);
  }
  put(&p->out, "\n");
}

static void print_node(Printing *p, const Node *node, bool constants);

static void print_block(Printing *p, const Block *block, bool has_more) {
  if (!has_more && block->param->next == block->ret) {
    indent(p);
    put(&p->out, "pass\n");
  }
  BLOCK_EACH(node, block) print_node(p, node, false);
}

static void print_branch(Printing *p, const Node *node, uint32_t i) {
  assert(i < node->block_count);
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
  assert(node->kind == SYM_prim_If && node->block_count == 2);
  for (uint32_t i = 0; i < node->output_count; i++) assign_name(p, node_output(node, i));
  indent(p);
  put_inputs(p, &p->out, node, "if ", ":\n");
  print_branch(p, node, 0);
  indent(p);
  put(&p->out, "else:\n");
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

/* Carried values keep one name: assigned before the loop, and at the end of its body. */
static void print_loop(Printing *p, const Node *node) {
  assert(node->kind == SYM_prim_Loop && node->block_count == 1);
  const Block *body = node->blocks[0];
  bool is_for = is_constant_true(node_input(node, 1)) && is_constant_true(block_output(body, 0));
  if (!is_for && !is_endless(node_input(node, 0)))
    printing_fail(p, status_new(ERROR_UNSUPPORTED, "a loop with a trip count and a condition can't be printed"));
  for (uint32_t i = 0; i < node->output_count; i++) {
    assign_name(p, node_output(node, i));
    assign(p, block_input(body, i + 1), *printed(p, node_output(node, i)));
  }
  put_assignments(p, node->output_count, node->outputs, node->inputs + 2, ": ");
  assign_name(p, block_input(body, 0));
  const Value *counter = block_input(body, 0);
  indent(p);
  if (is_for) {
    put(&p->out, "for ");
    put_value(p, &p->out, counter);
    put(&p->out, " in range(");
    put_value(p, &p->out, node_input(node, 0));
    put(&p->out, "):\n");
  } else {
    put_value(p, &p->out, counter);
    put(&p->out, " = ");
    put_value(p, &p->out, node_input(node, 1));
    put(&p->out, "\n");
    indent(p);
    put(&p->out, "while ");
    put_value(p, &p->out, counter);
    put(&p->out, ":\n");
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
  if (!subgraph || subgraph->tag != ATTR_GRAPH)
    printing_fail(p, status_new(ERROR_UNSUPPORTED, "a fork without its graph"));
  Str name = unique_name(p, STR("__forked_function"));
  indent(p);
  strbuf_printf(python_text_at(&p->out), "def " STR_FMT "():\n", STR_ARG(name));
  for (uint32_t i = 0; i < node->input_count; i++)
    assign(p, graph_input(subgraph->g, i), *printed(p, node_input(node, i)));
  p->level++;
  print_body(p, subgraph->g->block);
  p->level--;
  put_definition(p, node, (PythonPiece){.text = str_from(arena_printf(p->arena, "fork(" STR_FMT ")", STR_ARG(name)))});
}

static void print_enter(Printing *p, const Node *node) {
  Value *out = node_output(node, 0);
  indent(p);
  put_inputs(p, &p->out, node, "with ", "");
  if (value_has_uses(out)) {
    assign_name(p, out);
    put(&p->out, " as ");
    put_value(p, &p->out, out);
  }
  put(&p->out, ":\n");
  p->level++;
}

/* The buffer must not leak when printing throws. */
typedef struct Expression {
  Printing *p;
  const Node *node;
  PythonText text;
  PythonPiece piece;
} Expression;
static void write_expression(void *argument) {
  Expression *e = argument;
  put_expression(e->p, e->node, &e->text);
  if (e->text.text.failed) printing_fail(e->p, status_out_of_memory());
  e->piece = python_text_piece(&e->text);
}
static void print_expression(Printing *p, const Node *node) {
  Expression e = {.p = p, .node = node, .text = {.arena = p->arena, .range = node->range}};
  Status status = arena_protect(p->arena, write_expression, &e);
  strbuf_dispose(&e.text.text);
  if (status) printing_fail(p, status);
  if (is_inlined(p, node) && !(node->kind == SYM_prim_Constant && is_long(p, e.piece.text))) {
    assign(p, node_output(node, 0), e.piece);
    if (node->kind != SYM_prim_Constant) vec_arena_push(p->arena, &p->pending, node);
  } else {
    put_definition(p, node, e.piece);
  }
}

static void print_unpack(Printing *p, const Node *node) {
  for (uint32_t i = 0; i < node->output_count; i++) assign_name(p, node_output(node, i));
  indent(p);
  put_values(p, node->output_count, node->outputs);
  if (node->output_count) put(&p->out, ", = "); /* one name is unpacked to, too */
  put_inputs(p, &p->out, node, "", "\n");
}

static void print_set_attr(Printing *p, const Node *node) {
  PythonText *out = &p->out;
  indent(p);
  put_value(p, out, node_input(node, 0));
  strbuf_printf(python_text_at(out), "." STR_FMT " = ", STR_ARG(node_string(node, SYM_attr_name)));
  put_value(p, out, node_input(node, 1));
  put(out, "\n");
}

/* The interface that the modules share must be said. */
static void print_container_index(Printing *p, const Node *node) {
  PythonText *out = &p->out;
  assign_name(p, node_output(node, 0));
  indent(p);
  put_value(p, out, node_output(node, 0));
  put(out, " : ");
  put_type(p, out, node_output(node, 0)->type);
  put(out, " = ");
  put_value(p, out, node_input(node, 0));
  put(out, "[");
  put_value(p, out, node_input(node, 1));
  put(out, "]\n");
}

static void print_statement(Printing *p, const Node *node);

static void print_node(Printing *p, const Node *node, bool constants) {
  if (node->kind == SYM_prim_Constant && !constants) return;
  if (STACK_IS_LOW()) printing_fail(p, status_new(ERROR_UNSUPPORTED, "a program is nested too deeply to be printed"));
  SourceRange outer = p->out.range;
  p->out.range = node->range;
  split_long_inputs(p, node);
  print_statement(p, node);
  p->out.range = outer;
}
static void print_statement(Printing *p, const Node *node) {
  switch (node->kind) {
    case SYM_prim_Return:
      if (node->input_count) {
        indent(p);
        put_inputs(p, &p->out, node, "return ", "\n");
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
    case SYM_prim_SetAttr:
      print_set_attr(p, node);
      return;
    case SYM_prim_ModuleContainerIndex:
      print_container_index(p, node);
      return;
    case SYM_prim_fork:
      print_fork(p, node);
      return;
    case SYM_prim_Enter:
      print_enter(p, node);
      return;
    case SYM_prim_Exit:
      if (node->prev->kind == SYM_prim_Enter) {
        indent(p);
        put(&p->out, "pass\n");
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

static bool has_loop(const Block *block) {
  for (const Node *node = block->param->next; node != block->ret; node = node->next) {
    if (node->kind == SYM_prim_Loop) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (has_loop(node->blocks[i])) return true;
  }
  return false;
}
/* Callers know parameters by their names: reserved ones stay where nothing that is printed means something else by
 * them. No expression begins with `aten`; `range` stands in loops alone. */
static Str parameter_name(Printing *p, const Graph *graph, Str name) {
  bool is_free = str_is(name, "aten") || (str_is(name, "range") && !has_loop(graph->block));
  if (!is_free || map_has(&p->used, name)) return unique_name(p, name);
  map_put(&p->used, name, p);
  return name;
}

static void print_function(Printing *p, const Function *function, Str placeholder) {
  const FunctionSchema *schema = function->schema;
  const Graph *graph = function->graph;
  Str base = str_slice(function->name, (size_t)(str_rfind_char(function->name, '.') + 1), function->name.length);
  if (!graph || !schema || graph_input_count(graph) != schema->argument_count)
    printing_fail(p, status_new(ERROR_UNSUPPORTED, STR_FMT " has no graph to print", STR_ARG(function->name)));
  PythonText *out = &p->out;
  indent(p);
  strbuf_printf(python_text_at(out), "def " STR_FMT "(", STR_ARG(placeholder.length ? STR("forward") : base));
  if (placeholder.length) {
    unique_name(p, STR("self"));
    strbuf_printf(python_text_at(out), "self: " STR_FMT, STR_ARG(placeholder));
  }
  uint32_t required = schema->argument_count; /* a default before it (there are parameters by name only) has to go */
  while (required && schema->arguments[required - 1].has_default) required--;
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    const Argument *argument = &schema->arguments[i];
    Str name = parameter_name(p, graph, argument->name);
    put(out, i || placeholder.length ? ",\n    " : "");
    put_str(out, name);
    if (!(p->printer->bare_self && function->class_type && !i)) {
      put(out, ": ");
      put_type(p, out, argument->type);
    }
    if (argument->has_default && i >= required) {
      put(out, "=");
      Status status = python_print_constant(p->printer, argument->default_value, argument->type, python_text_at(out));
      if (status) printing_fail(p, status);
    }
    assign(p, graph_input(graph, i), (PythonPiece){.text = name});
  }
  put(out, ") -> ");
  put_type(p, out, schema->return_count ? schema->returns[0].type : TYPE(NONE));
  put(out, ":\n");
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
  vec_dispose(&printer->marks);
}

/* Where a class's static methods go: attributes of a class are its methods in archives, so they stand in a file of
 * their own, `__torch__.P__static`, with as many underscores after as make it no other type's name. */
static void print_static_scope(const CompilationUnit *unit, Str class_name, StrBuf *out) {
  StrBuf scope = {0};
  strbuf_printf(&scope, STR_FMT "__static", STR_ARG(class_name));
  while (!scope.failed && unit_find_type(unit, strbuf_view(&scope))) strbuf_char(&scope, '_');
  strbuf_str(out, strbuf_view(&scope));
  out->failed |= scope.failed;
  strbuf_dispose(&scope);
}

void python_print_function_name(const Function *function, StrBuf *out) {
  Str name = function->name;
  ptrdiff_t dot = str_rfind_char(name, '.');
  Str scope = str_slice(name, 0, dot < 0 ? 0 : (size_t)dot);
  if (!function->is_hook && unit_find_type(function->unit, scope)) {
    print_static_scope(function->unit, scope, out);
    strbuf_str(out, str_slice(name, scope.length, name.length));
    return;
  }
  if (!str_starts_with(name, "__torch__.")) strbuf_puts(out, "__torch__.");
  strbuf_str(out, name);
}

static Status give_text(Printing *p, StrBuf *out) {
  PythonText *text = &p->out;
  if (text->text.failed || !vec_reserve(&p->printer->marks, p->printer->marks.length + text->marks.length))
    return status_out_of_memory();
  for (size_t i = 0; i < text->marks.length; i++) {
    PythonMark mark = text->marks.data[i];
    mark.offset += out->length;
    p->printer->marks.data[p->printer->marks.length++] = mark;
  }
  strbuf_str(out, strbuf_view(&text->text));
  return out->failed ? status_out_of_memory() : OK;
}

typedef struct Request {
  Printing p;
  const Function *function;
  Str placeholder;
} Request;
static void print_request(void *argument) {
  Request *r = argument;
  Arena *arena = r->p.arena;
  ptrmap_init(&r->p.expressions, arena);
  ptrmap_init(&r->p.inlined, arena);
  map_init(&r->p.used, arena);
  map_init(&r->p.next, arena);
  print_function(&r->p, r->function, r->placeholder);
}

Status python_print_function(PythonPrinter *printer, const Function *function, int level, Str placeholder,
                             StrBuf *out) {
  Arena arena;
  Request r = {{.printer = printer, .arena = &arena, .out = {.arena = &arena}, .level = level}, function, placeholder};
  arena_init(&arena, NULL);
  Status status = arena_protect(&arena, print_request, &r);
  if (!status) status = give_text(&r.p, out);
  strbuf_dispose(&r.p.out.text);
  arena_dispose(&arena);
  return status ? status_context(status, STR_FMT, STR_ARG(function->name)) : OK;
}
