/* What wick knows of a graph, for those outside: places in the source, types as numbers, aliasing; and calls of
 * operators that are matched as a program's are. */
#include <assert.h>

#include "api/handles.h"
#include "api/ir_handles.h"
#include "ir/alias_db.h"
#include "ir/match.h"

/* ---- places ---- */

static wick_source_place place_of(SourceRange written) {
  wick_source_place place = {.file = ""};
  SourceRange range = source_range_original(written);
  if (!range.source) return place;
  source_position(range.source, range.begin, &place.line, &place.column);
  if (range.source->filename) place.file = range.source->filename;
  return place;
}

wick_status wick_node_place(const wick_node *node, wick_source_place *out, wick_error **error) {
  API_NEED(out);
  API_TRY(api_check_size("wick_source_place", out->size));
  wick_source_place place = node ? place_of(node_of(node)->range) : (wick_source_place){.file = ""};
  place.size = out->size;
  memcpy(out, &place, out->size < sizeof place ? out->size : sizeof place);
  API_NEED(node);
  return WICK_OK;
}

wick_status wick_node_inlined_call(const wick_node *node, size_t index, wick_inlined_call *out, wick_error **error) {
  API_NEED(out);
  API_TRY(api_check_size("wick_inlined_call", out->size));
  wick_inlined_call found = {.size = out->size, .file = "", .function = "", .instance = ""};
  const InlinedCall *call = node ? node_of(node)->inlined : NULL;
  for (size_t i = 0; call && i < index; i++) call = call->caller;
  if (call) {
    wick_source_place place = place_of(call->range);
    found.line = place.line;
    found.column = place.column;
    found.file = place.file;
    if (call->function) found.function = call->function->name.data;
    if (call->instance.length) found.instance = call->instance.data;
  }
  memcpy(out, &found, out->size < sizeof found ? out->size : sizeof found);
  API_NEED(node);
  if (!call) return api_status(status_new(ERROR_NOT_FOUND, "the node was inlined by no more calls"), error);
  return WICK_OK;
}

wick_status wick_node_excerpt(const wick_node *node, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 20};
  API_OUT(out_text);
  API_NEED(node);
  strbuf_puts(&text, "");
  if (node_of(node)->range.source) source_range_highlight(node_of(node)->range, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

/* ---- types ---- */

uint32_t kind_of_type(const Type *type) {
  switch ((TypeKind)type->kind) {
    case TYPE_NONE:
      return WICK_NONE;
    case TYPE_INT:
      return WICK_INT;
    case TYPE_FLOAT:
      return WICK_DOUBLE;
    case TYPE_BOOL:
      return WICK_BOOL;
    case TYPE_DEVICE:
      return WICK_DEVICE;
    case TYPE_TENSOR:
      return WICK_TENSOR;
    case TYPE_COMPLEX:
      return WICK_COMPLEX;
    case TYPE_STRING:
      return WICK_STRING;
    case TYPE_LIST:
    case TYPE_ANY_LIST:
      return WICK_LIST;
    case TYPE_DICT:
      return WICK_DICT;
    case TYPE_TUPLE:
    case TYPE_ANY_TUPLE:
      return WICK_TUPLE;
    case TYPE_CLASS:
    case TYPE_INTERFACE:
    case TYPE_ANY_CLASS:
      return WICK_OBJECT;
    case TYPE_ENUM:
    case TYPE_ANY_ENUM:
      return WICK_ENUM;
    case TYPE_FUNCTION:
      return WICK_FUNCTION;
    case TYPE_FUTURE:
      return WICK_FUTURE;
    case TYPE_GENERATOR:
      return WICK_GENERATOR;
    default:
      return WICK_OTHER;
  }
}

uint32_t wick_ir_value_kind(const wick_ir_value *value) {
  return value ? kind_of_type(value_of(value)->type) : WICK_NONE;
}

wick_status wick_ir_value_tensor(const wick_ir_value *value, wick_tensor_facts *out, wick_error **error) {
  API_NEED(out);
  API_TRY(api_check_size("wick_tensor_facts", out->size));
  wick_tensor_facts facts = {.size = out->size, .dtype = -1, .ndim = -1, .requires_grad = -1};
  API_NEED(value);
  if (value_of(value)->type->kind != TYPE_TENSOR)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no Tensor"), error);
  const TensorInfo *info = value_of(value)->type->tensor;
  for (int i = 0; i < TENSOR_MAX_DIMS; i++) facts.sizes[i] = -1;
  if (info) {
    facts.dtype = info->dtype;
    facts.ndim = info->ndim;
    facts.requires_grad = info->requires_grad;
    for (int i = 0; info->has_sizes && i < info->ndim; i++) facts.sizes[i] = info->sizes[i] < 0 ? -1 : info->sizes[i];
  }
  memcpy(out, &facts, out->size < sizeof facts ? out->size : sizeof facts);
  return WICK_OK;
}
wick_status wick_ir_value_size(const wick_ir_value *value, size_t dim, int64_t *out, wick_error **error) {
  API_NEED(out);
  *out = -1;
  API_NEED(value);
  const TensorInfo *info = value_of(value)->type->kind == TYPE_TENSOR ? value_of(value)->type->tensor : NULL;
  if (info && info->has_sizes && info->ndim > 0 && dim < (size_t)info->ndim) *out = info->sizes[dim];
  return WICK_OK;
}
_Static_assert(TENSOR_MAX_DIMS == sizeof((wick_tensor_facts *)0)->sizes / sizeof(int64_t), "a place for each size");

/* ---- calls of operators ---- */

typedef struct Insertion {
  Graph *graph;
  Node *before;
  Exec *exec;
  const char *name;
  CallArguments call;
  Value *made;
} Insertion;

static void insert(void *argument) {
  Insertion *in = argument;
  assert(in->before);
  graph_set_insert_point(in->graph, in->before);
  in->made = operator_emit(in->graph, in->exec, str_from(in->name), (SourceRange){0}, &in->call);
}

wick_status wick_node_insert(wick_block *block, wick_node *before, const char *name, wick_ir_value *const *inputs,
                             size_t count, const char *const *names, size_t named_count, wick_ir_value **out,
                             wick_error **error) {
  Exec exec;
  API_OUT(out);
  API_NEED(block);
  API_NEED(name);
  API_NEED_ITEMS(inputs, count);
  API_NEED_ITEMS(names, named_count);
  Graph *graph = block_of(block)->graph;
  Insertion in = {.graph = graph, .exec = &exec, .name = name};
  if (named_count > count) return api_status(status_new(ERROR_INVALID_ARGUMENT, "more names than inputs"), error);
  API_TRY(ir_place(block, before, &in.before));
  API_TRY(ir_check_inputs(graph, inputs, count));
  NamedValue *arguments = mem_calloc(count + 1, sizeof *arguments);
  if (!arguments) return api_status(status_out_of_memory(), error);
  size_t positional = count - named_count;
  for (size_t i = 0; i < count; i++) {
    arguments[i].value = value_of(inputs[i]);
    if (i >= positional) arguments[i].name = str_from(names[i - positional]);
  }
  in.call = (CallArguments){.count = (uint32_t)positional,
                            .positional = arguments,
                            .keyword_count = (uint32_t)named_count,
                            .keywords = arguments + positional};
  Node *const point = graph->insert_before;
  api_exec_init(&exec, NULL);
  Status status = ir_protect(graph, insert, &in);
  graph->insert_before = point;
  mem_free(arguments);
  *out = (wick_ir_value *)in.made;
  return api_status(status, error);
}

/* ---- aliasing ---- */

struct wick_alias {
  Arena arena;
  Graph *graph;
  AliasDb *db;
};

typedef struct Question {
  wick_alias *alias;
  const Value *a, *b;
  Node *node, *point;
  bool answer;
} Question;

static void make_db(void *argument) {
  wick_alias *alias = argument;
  alias->db = alias_db_new(alias->graph, &alias->arena);
}

wick_status wick_alias_new(wick_graph *graph, wick_alias **out, wick_error **error) {
  API_OUT(out);
  API_NEED(graph);
  API_TRY(graph_check(graph->graph));
  wick_alias *alias = mem_calloc(1, sizeof *alias);
  if (!alias) return api_status(status_out_of_memory(), error);
  alias->graph = graph->graph;
  arena_init(&alias->arena, NULL);
  Status status = arena_protect(&alias->arena, make_db, alias);
  if (status)
    wick_alias_release(alias);
  else
    *out = alias;
  return api_status(status, error);
}

void wick_alias_release(wick_alias *alias) {
  if (!alias) return;
  arena_dispose(&alias->arena);
  mem_free(alias);
}

/* What can't be found out, for want of memory, may be. */
static bool answer(Question *question, void (*ask)(void *argument)) {
  Status status = arena_protect(&question->alias->arena, ask, question);
  bool unknown = status != OK;
  status_free(status);
  return unknown || question->answer;
}

static void ask_share(void *argument) {
  Question *q = argument;
  q->answer = alias_may_contain_alias(q->alias->db, q->a, q->b);
}
int wick_alias_may_share(wick_alias *alias, const wick_ir_value *a, const wick_ir_value *b) {
  if (!alias || !a || !b) return 0;
  return answer(&(Question){.alias = alias, .a = value_of(a), .b = value_of(b)}, ask_share);
}

static void ask_writers(void *argument) {
  Question *q = argument;
  q->answer = alias_has_writers(q->alias->db, q->a);
}
int wick_alias_has_writers(wick_alias *alias, const wick_ir_value *value) {
  if (!alias || !value) return 0;
  return answer(&(Question){.alias = alias, .a = value_of(value)}, ask_writers);
}

typedef struct AliasPrint {
  AliasDb *db;
  bool as_dot;
  StrBuf text;
} AliasPrint;
static void print_aliases(void *argument) {
  AliasPrint *p = argument;
  if (p->as_dot)
    alias_print_dot(p->db, &p->text);
  else
    alias_print(p->db, &p->text);
}
wick_status wick_alias_print(wick_alias *alias, int as_dot, char **out_text, wick_error **error) {
  API_OUT(out_text);
  API_NEED(alias);
  AliasPrint p = {.db = alias->db, .as_dot = as_dot != 0};
  Status status = arena_protect(&alias->arena, print_aliases, &p);
  if (!status) return api_status(strbuf_take(&p.text, out_text), error);
  strbuf_dispose(&p.text);
  return api_status(status, error);
}

static void move_before(void *argument) {
  Question *q = argument;
  q->answer = alias_move_before(q->alias->db, q->node, q->point);
}
static void move_after(void *argument) {
  Question *q = argument;
  q->answer = alias_move_after(q->alias->db, q->node, q->point);
}
static Status move(wick_alias *alias, wick_node *node, wick_node *point, void (*ask)(void *argument), int *out_moved) {
  Question q = {.alias = alias, .node = node_of(node), .point = node_of(point)};
  TRY(ir_check_no_end(q.node));
  TRY(ir_check_no_end(q.point));
  if (q.node->owning_block != q.point->owning_block || q.node->graph != alias->graph)
    return status_new(ERROR_INVALID_ARGUMENT, "the nodes do not stand in one block of the graph");
  TRY(arena_protect(&alias->arena, ask, &q));
  *out_moved = q.answer;
  return OK;
}
wick_status wick_alias_move_before(wick_alias *alias, wick_node *node, wick_node *before, int *out_moved,
                                   wick_error **error) {
  API_OUT(out_moved);
  API_NEED(alias);
  API_NEED(node);
  API_NEED(before);
  return api_status(move(alias, node, before, move_before, out_moved), error);
}
wick_status wick_alias_move_after(wick_alias *alias, wick_node *node, wick_node *after, int *out_moved,
                                  wick_error **error) {
  API_OUT(out_moved);
  API_NEED(alias);
  API_NEED(node);
  API_NEED(after);
  return api_status(move(alias, node, after, move_after, out_moved), error);
}
