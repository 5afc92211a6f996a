/* The text of graphs, exactly as PyTorch 1.13 prints it. */
#include <ctype.h>

#include "ir/node_kind.h"
#include "ivalue/print.h"
#include "report/jit_log.h"

enum { MAX_SHOWN_ELEMENTS = 10 };

typedef struct Printer {
  StrBuf *out;
  bool with_source;
  VEC(const Node *) groups; /* nodes whose Subgraph is printed after the graph */
} Printer;

static void print_tensor(const Tensor *t, StrBuf *out) {
  if (!tensor_is_defined(t)) {
    strbuf_puts(out, "<Tensor>");
  } else if (t->numel == 1 && t->storage && !(t->flags & TENSOR_UNUSUAL & ~TENSOR_LIMITED)) {
    strbuf_char(out, '{');
    if (dtype_is_complex((DType)t->dtype)) {
      complex128 c = tensor_item_complex(t);
      strbuf_char(out, '(');
      strbuf_double_g(out, __real__ c, 6);
      strbuf_char(out, ',');
      strbuf_double_g(out, __imag__ c, 6);
      strbuf_char(out, ')');
    } else if (dtype_is_floating((DType)t->dtype)) {
      strbuf_double_g(out, tensor_item_double(t), 6);
    } else {
      strbuf_printf(out, "%lld", (long long)tensor_item_int(t));
    }
    strbuf_char(out, '}');
  } else if (t->numel <= MAX_SHOWN_ELEMENTS) {
    StrBuf text = {0};
    Status status = tensor_print(t, &text);
    if (status) {
      out->failed |= status->code == ERROR_OUT_OF_MEMORY;
      status_free(status);
      strbuf_clear(&text);
      strbuf_puts(&text, "<Tensor>");
    }
    for (size_t i = 0; i < text.length; i++) strbuf_char(out, text.data[i] == '\n' ? ' ' : text.data[i]);
    strbuf_dispose(&text);
  } else {
    strbuf_puts(out, "<Tensor>");
  }
}

/* Constants are not deep: constant_is_possible bounds them. */
static void print_constant(IValue v, StrBuf *out) {
  switch ((Tag)v.tag) {
    case TAG_TENSOR:
      print_tensor(v.tensor, out);
      return;
    case TAG_STRING:
      print_quoted(ivalue_str(v), out);
      return;
    case TAG_LIST:
      if (v.list->kind != LIST_VALUES) break;
      if (v.list->element && v.list->element->kind == TYPE_TENSOR) {
        strbuf_puts(out, "[<Tensors>]");
        return;
      }
      strbuf_char(out, '[');
      for (size_t i = 0; i < v.list->length; i++) {
        if (i) strbuf_puts(out, ", ");
        print_constant(v.list->values[i], out);
      }
      strbuf_char(out, ']');
      return;
    case TAG_TUPLE:
      strbuf_char(out, '(');
      for (uint32_t i = 0; i < v.tuple->length; i++) {
        if (i) strbuf_puts(out, ", ");
        print_constant(v.tuple->values[i], out);
      }
      strbuf_puts(out, v.tuple->length == 1 ? ",)" : ")");
      return;
    case TAG_OBJECT:
      strbuf_printf(out, "object(%p)", (void *)v.object);
      return;
    default:
      break;
  }
  Status status = ivalue_print_repr(v, out);
  if (status) {
    out->failed |= status->code == ERROR_OUT_OF_MEMORY;
    status_free(status);
    strbuf_puts(out, "<...>");
  }
}

static void print_attribute(const NodeAttribute *a, StrBuf *out) {
#define LIST(field, print)                  \
  strbuf_char(out, '[');                    \
  for (uint32_t i = 0; i < a->count; i++) { \
    if (i) strbuf_puts(out, ", ");          \
    print;                                  \
  }                                         \
  strbuf_char(out, ']')
  switch ((AttributeTag)a->tag) {
    case ATTR_INT:
      strbuf_printf(out, "%lld", (long long)a->i);
      break;
    case ATTR_FLOAT:
      print_constant(ivalue_float(a->f), out);
      break;
    case ATTR_COMPLEX:
      if (a->boxed.tag == TAG_COMPLEX) {
        print_constant(a->boxed, out);
      } else {
        ComplexBox box = {.value = a->c};
        print_constant((IValue){.tag = TAG_COMPLEX, .complex = &box}, out);
      }
      break;
    case ATTR_STRING:
      print_quoted(a->s, out);
      break;
    case ATTR_TENSOR:
      print_tensor(a->t, out);
      break;
    case ATTR_GRAPH:
      strbuf_puts(out, "<Graph>");
      break;
    case ATTR_TYPE:
      type_print(a->ty, out);
      break;
    case ATTR_IVALUE:
      print_constant(a->value, out);
      break;
    case ATTR_INTS:
      LIST(ints, strbuf_printf(out, "%lld", (long long)a->ints[i]));
      break;
    case ATTR_FLOATS:
      LIST(floats, print_constant(ivalue_float(a->floats[i]), out));
      break;
    case ATTR_COMPLEXES:
      LIST(complexes, strbuf_double_g(out, __real__ a->complexes[i], 17));
      break;
    case ATTR_STRINGS:
      LIST(strings, print_quoted(a->strings[i], out));
      break;
    case ATTR_TENSORS:
      strbuf_puts(out, "[<Tensors>]");
      break;
    case ATTR_GRAPHS:
      strbuf_puts(out, "[<Graphs>]");
      break;
    case ATTR_TYPES:
      LIST(types, type_print(a->types[i], out));
      break;
  }
#undef LIST
}

static void print_value(const Value *value, StrBuf *out) {
  strbuf_char(out, '%');
  if (value->name.length)
    strbuf_str(out, value->name);
  else
    strbuf_printf(out, "%u", value->unique);
}

static void print_typed(const Value *value, StrBuf *out) {
  print_value(value, out);
  if (jit_type_verbosity() == TYPE_VERBOSITY_NONE) return;
  strbuf_puts(out, " : ");
  type_print(value->type, out);
}

static void print_inputs(const Node *node, StrBuf *out) {
  strbuf_char(out, '(');
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i) strbuf_puts(out, ", ");
    print_value(node_input(node, i), out);
  }
  strbuf_char(out, ')');
}

static void print_typed_outputs(const Node *node, const char *separator, StrBuf *out) {
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (i) strbuf_puts(out, separator);
    print_typed(node->outputs[i], out);
  }
}

static void print_source(const Node *node, StrBuf *out) {
  SourceRange range = source_range_original(node->range);
  if (!range.source || !range.source->filename) return;
  uint32_t line, column;
  source_position(range.source, range.begin, &line, &column);
  strbuf_printf(out, " # %s:%u:%u", range.source->filename, line, column);
}

static void print_node(Printer *p, const Node *node, uint32_t level) {
  StrBuf *out = p->out;
  strbuf_repeat(out, ' ', 2 * (size_t)level);
  print_typed_outputs(node, ", ", out);
  strbuf_puts(out, " = ");
  strbuf_str(out, symbol_name(node->kind));
  const NodeAttribute *subgraph = node_attribute(node, SYM_attr_Subgraph);
  bool is_group = subgraph && subgraph->tag == ATTR_GRAPH;
  uint32_t shown = node->attribute_count;
  if (is_group) {
    strbuf_printf(out, "_%zu", p->groups.length);
    shown = node_has_flag(node, KIND_IS_BARE) ? 0 : shown - 1;
    if (!vec_push(&p->groups, node)) out->failed = true;
  }
  if (shown) {
    const char *separator = "[";
    for (uint32_t i = 0; i < node->attribute_count; i++) {
      const NodeAttribute *a = &node->attributes[i];
      if (is_group && a == subgraph) continue;
      strbuf_puts(out, separator);
      strbuf_str(out, symbol_base(a->name));
      strbuf_char(out, '=');
      print_attribute(a, out);
      separator = ", ";
    }
    strbuf_char(out, ']');
  }
  print_inputs(node, out);
  if (node->scope != SYMBOL_NONE) strbuf_printf(out, ", scope: " STR_FMT, STR_ARG(symbol_base(node->scope)));
  if (p->with_source) print_source(node, out);
  strbuf_char(out, '\n');
  for (uint32_t i = 0; i < node->block_count; i++) {
    const Block *block = node->blocks[i];
    strbuf_repeat(out, ' ', 2 * (size_t)level + 2);
    strbuf_printf(out, "block%u(", i);
    print_typed_outputs(block->param, ", ", out);
    strbuf_puts(out, "):\n");
    BLOCK_EACH(nested, block) print_node(p, nested, level + 2);
    strbuf_repeat(out, ' ', 2 * (size_t)level + 4);
    strbuf_puts(out, "-> ");
    print_inputs(block->ret, out);
    strbuf_char(out, '\n');
  }
}

void graph_print(const Graph *graph, bool with_source, StrBuf *out) {
  if (!graph_fits_stack(graph)) {
    strbuf_puts(out, "graph(blocks nested too deeply for the stack of this thread)\n");
    return;
  }
  Printer p = {.out = out, .with_source = with_source};
  strbuf_puts(out, "graph(");
  print_typed_outputs(graph->block->param, ",\n      ", out);
  strbuf_puts(out, "):\n");
  BLOCK_EACH(node, graph->block) print_node(&p, node, 1);
  strbuf_puts(out, "  return ");
  print_inputs(graph->block->ret, out);
  strbuf_char(out, '\n');
  for (size_t i = 0; i < p.groups.length; i++) {
    const Node *node = p.groups.data[i];
    strbuf_puts(out, "with ");
    strbuf_str(out, symbol_name(node->kind));
    strbuf_printf(out, "_%zu = ", i);
    graph_print(node_attribute(node, SYM_attr_Subgraph)->g, with_source, out);
  }
  vec_dispose(&p.groups);
}

void node_print(const Node *node, StrBuf *out) {
  Printer p = {.out = out, .with_source = true};
  print_node(&p, node, 0);
  vec_dispose(&p.groups);
}
