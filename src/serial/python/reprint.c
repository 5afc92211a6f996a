/* A unit's code goes through an archive in memory into a second unit, whose graphs must be the first one's. */
#include "serial/python/reprint.h"

#include <assert.h>
#include <ctype.h>

#include "base/stack.h"
#include "ir/node_kind.h"
#include "pass/pass.h"
#include "serial/python/python_print.h"

/* What printed code does not hold, and canonical text leaves out: whether a list of constants is itself a constant
 * (defaults are) and where it was made, the order of the constants and of prim::Uninitialized at the top of a graph
 * (they stand where they are used), names for the items of a tuple that an operator gave, and addresses. */
static bool is_list_of_constants(const Node *node) {
  if (node->kind != SYM_prim_ListConstruct || node_output(node, 0)->uses.length != 1) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node_input(node, i)->node->kind != SYM_prim_Constant) return false;
  return true;
}
static void spell_list(Graph *graph, Node *user, uint32_t at, const List *list) {
  assert(at < user->input_count);
  Node *made = graph_create(graph, SYM_prim_ListConstruct, 0, NULL, 1);
  node_output(made, 0)->type = node_input(user, at)->type;
  graph_set_insert_point(graph, user);
  for (size_t i = 0; i < list->length; i++) {
    IValue item = list_get(list, i);
    graph_hold(graph, item);
    node_add_input(made, graph_insert_constant(graph, item, list->element));
  }
  node_insert_before(made, user);
  node_replace_input(user, at, node_output(made, 0));
}
static void spell_lists_in(Graph *graph, Node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    Node *maker = node_input(node, i)->node;
    IValue value;
    if (value_is_constant(node_input(node, i), &value) && value.tag == TAG_LIST) {
      spell_list(graph, node, i, value.list);
    } else if (is_list_of_constants(maker)) {
      node_move_before(maker, node);
    }
  }
}
static void spell_lists(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    spell_lists_in(graph, node);
    for (uint32_t i = 0; i < node->block_count; i++) spell_lists(graph, node->blocks[i]);
  }
  spell_lists_in(graph, block->ret);
}

/* What stands at the top, in the order of its first use. */
typedef struct Tops {
  PtrMap seen;          /* Node */
  PtrMap uninitialized; /* Type -> the one node that there is for it */
} Tops;
static void order_uses(Node *node, Node *end, Node *top, Tops *tops) {
  for (;; node = node->next) {
    for (uint32_t i = 0; i < node->input_count; i++) {
      Node *maker = node_input(node, i)->node;
      if (!node_has_flag(maker, KIND_LASTS) || ptrmap_has(&tops->seen, maker)) continue;
      if (maker->kind == SYM_prim_Uninitialized) {
        const Type *type = node_input(node, i)->type;
        Node *first = ptrmap_get(&tops->uninitialized, type);
        if (first) {
          node_replace_input(node, i, node_output(first, 0));
          if (!value_has_uses(node_output(maker, 0))) node_destroy(maker);
          continue;
        }
        ptrmap_put(&tops->uninitialized, type, maker);
      }
      ptrmap_put(&tops->seen, maker, maker);
      node_move_before(maker, top);
    }
    for (uint32_t i = 0; i < node->block_count; i++)
      order_uses(node->blocks[i]->param->next, node->blocks[i]->ret, top, tops);
    if (node == end) return;
  }
}
static void order_constants(Graph *graph, Arena *arena) {
  Tops tops;
  Node *top = graph->block->param->next;
  while (node_has_flag(top, KIND_LASTS)) top = top->next;
  ptrmap_init(&tops.seen, arena);
  ptrmap_init(&tops.uninitialized, arena);
  order_uses(top, graph->block->ret, top, &tops);
  BLOCK_EACH(node, graph->block) {
    if (node == top) break;
    if (!value_has_uses(node_output(node, 0))) node_destroy(node);
  }
}
static const Type *without_item_names(const Type *type, TypeStore *store) {
  if (type->kind != TYPE_TUPLE || type->name.length || STACK_IS_LOW()) return type;
  const Type **items = ARENA_ARRAY(&store->arena, const Type *, type->count + 1);
  for (uint32_t i = 0; i < type->count; i++) items[i] = without_item_names(type->elements[i], store);
  return type_tuple(store, type->count, items);
}
static void forget_item_names(Block *block, TypeStore *store) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->output_count; i++)
      node_output(node, i)->type = without_item_names(node_output(node, i)->type, store);
    for (uint32_t i = 0; i < node->block_count; i++) forget_item_names(node->blocks[i], store);
  }
}

static void forget_addresses(StrBuf *text) {
  size_t to = 0;
  for (size_t from = 0; from < text->length;) {
    bool is_address = text->length - from > 2 && !memcmp(text->data + from, "0x", 2);
    text->data[to++] = text->data[from++];
    if (is_address)
      while (from < text->length && (text->data[from] == 'x' || isxdigit((unsigned char)text->data[from]))) from++;
  }
  text->length = to;
}

typedef struct Canonical {
  const Function *function;
  TypeStore store; /* and the copy's arena */
  StrBuf text;
} Canonical;

static void write_canonical(void *argument) {
  Canonical *c = argument;
  const Graph *graph = c->function->graph;
  Graph *copy = graph_copy(graph, &c->store.arena, &c->store);
  spell_lists(copy, copy->block);
  constant_pooling(copy);
  order_constants(copy, &c->store.arena);
  forget_item_names(copy->block, &c->store);
  canonicalize_names(copy);
  graph_print(copy, false, &c->text);
  forget_addresses(&c->text);
  graph_dispose(copy);
}
static Status canonical_text(const Function *function, StrBuf *out) {
  Canonical c = {.function = function, .text = {.max_length = 1 << 24}};
  TRY(type_store_init(&c.store, NULL));
  Status status = arena_protect(&c.store.arena, write_canonical, &c);
  type_store_dispose(&c.store);
  *out = c.text;
  return status;
}

static Str line_at(Str text, size_t at) {
  assert(at <= text.length);
  size_t end = at;
  while (end < text.length && text.data[end] != '\n') end++;
  return str_slice(text, at, end);
}
/* The first lines that differ. */
static void tell_difference(const Function *function, Str was, Str is, StrBuf *out) {
  size_t start = 0;
  for (size_t i = 0; i < was.length && i < is.length && was.data[i] == is.data[i]; i++)
    if (was.data[i] == '\n') start = i + 1;
  strbuf_printf(out, STR_FMT ":\n  was  " STR_FMT "\n  is   " STR_FMT "\n", STR_ARG(function->name),
                STR_ARG(line_at(was, start)), STR_ARG(line_at(is, start)));
}

static Function *find_again(const CompilationUnit *again, const Function *function, StrBuf *name) {
  name->length = 0;
  if (function->class_type) {
    const Type *type = unit_find_type(again, function->class_type->type.name);
    if (!type || type->kind != TYPE_CLASS) return NULL;
    Str own_name = str_after_last(function->name, '.');
    return function->is_hook ? class_type_find_hook(type->class_type, own_name)
                             : class_type_find_method(type->class_type, own_name);
  }
  python_print_function_name(function, name);
  return unit_find_function(again, strbuf_view(name));
}

static Status compare(const CompilationUnit *again, const Function *function, StrBuf *differences) {
  StrBuf name = {0}, was = {0}, is = {0};
  const Function *copy = find_again(again, function, &name);
  strbuf_dispose(&name);
  if (!copy || !copy->graph) {
    strbuf_printf(differences, STR_FMT " is not there again\n", STR_ARG(function->name));
    return OK;
  }
  Status status = canonical_text(function, &was);
  if (!status) status = canonical_text(copy, &is);
  if (!status && !str_equal(strbuf_view(&was), strbuf_view(&is)))
    tell_difference(function, strbuf_view(&was), strbuf_view(&is), differences);
  strbuf_dispose(&was);
  strbuf_dispose(&is);
  return status;
}

static Status compile_again(const CompilationUnit *unit, Exec *exec, CompilationUnit **out) {
  StrBuf archive = {0};
  ByteSource *source = NULL;
  Status status = unit_export_code(unit, exec, &archive);
  if (!status) status = byte_source_from_memory(archive.data, archive.length, &source);
  if (!status) status = unit_import_code(source, exec, out);
  byte_source_release(source);
  strbuf_dispose(&archive);
  return status;
}

Status unit_reprint(const CompilationUnit *unit, Exec *exec, StrBuf *differences, size_t *out_count) {
  CompilationUnit *again;
  *out_count = 0;
  TRY(compile_again(unit, exec, &again));
  Status status = OK;
  for (size_t i = 0; i < unit->all_functions.length && !status; i++) {
    const Function *function = unit->all_functions.data[i];
    if (!function->graph) continue;
    *out_count += 1;
    status = compare(again, function, differences);
  }
  unit_release(again);
  return status;
}
