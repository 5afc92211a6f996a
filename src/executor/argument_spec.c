/* One walk over inputs and attributes, by their static types, gives the words; a second one over the same words puts
 * into a graph what they say. ORDER spec: both visit in the same order. */
#include "executor/argument_spec.h"

#include "ivalue/lock.h"
#include "pass/motion/inliner.h"
#include "pass/pass.h"
#include "type/tensor_type.h"

enum { WORD_NONE = 1, WORD_VALUE = 2, WORD_UNUSUAL = 3, WORD_UNDEFINED = 4, WORD_TENSOR = 5 };
enum { NOT_DESCRIBED = TENSOR_SPARSE | TENSOR_OPAQUE | TENSOR_WRAPPED_NUMBER };

/* ---- words ---- */

static void put(ArgumentSpec *spec, uint64_t word) {
  assert(spec->count <= spec->capacity);
  if (spec->count == spec->capacity) {
    size_t bytes = (size_t)spec->capacity * 2 * sizeof(uint64_t);
    uint64_t *words = mem_alloc(bytes);
    if (!words) {
      spec->failed = true;
      return;
    }
    memcpy(words, spec->words, bytes / 2);
    if (spec->words != spec->few) mem_free(spec->words);
    spec->words = words;
    spec->capacity *= 2;
  }
  spec->words[spec->count++] = word;
}

void argument_spec_dispose(ArgumentSpec *spec) {
  if (spec->words != spec->few) mem_free(spec->words);
}

/* kind in bits 0-7, dtype 8-15, rank 16-23, requires_grad 24, device type 32-47 and index 48-63 */
static uint64_t tensor_word(const Tensor *t, bool grad_enabled) {
  if (t->flags & TENSOR_UNDEFINED) return WORD_UNDEFINED;
  if (t->flags & NOT_DESCRIBED) return WORD_UNUSUAL;
  Device device = tensor_device(t);
  return WORD_TENSOR | (uint64_t)t->dtype << 8 | (uint64_t)t->ndim << 16 |
         (uint64_t)(grad_enabled && tensor_records(t)) << 24 | (uint64_t)(uint16_t)device.type << 32 |
         (uint64_t)(uint16_t)device.index << 48;
}

static const Type *refined_type(TypeStore *store, uint64_t word) {
  TensorInfo info;
  tensor_info_init(&info);
  uint32_t kind = word & 0xff;
  if (kind == WORD_UNDEFINED) {
    info.undefined = 1;
  } else if (kind == WORD_TENSOR) {
    info.undefined = 0;
    info.dtype = word >> 8 & 0xff;
    info.ndim = word >> 16 & 0xff;
    info.requires_grad = word >> 24 & 1;
    info.device_type = (int16_t)(word >> 32);
    info.device_index = (int16_t)(word >> 48);
  } else {
    return TYPE(TENSOR);
  }
  return type_tensor_refined(store, &info);
}

/* Strings by what they say: a seeded hash and the length stand for the text. */
static void put_value(ArgumentSpec *spec, const Type *type, IValue v) {
  static const uint8_t tags[] = {
      [TYPE_INT] = TAG_INT, [TYPE_FLOAT] = TAG_FLOAT, [TYPE_BOOL] = TAG_BOOL, [TYPE_STRING] = TAG_STRING};
  if (type->kind == TYPE_OPTIONAL && v.tag != TAG_NONE) type = type->elements[0];
  if (type->kind != TYPE_NONE && type->kind != TYPE_OPTIONAL && v.tag != tags[type->kind]) {
    spec->failed = true; /* not set yet */
    return;
  }
  put(spec, v.tag == TAG_NONE ? WORD_NONE : (uint64_t)v.tag << 8 | WORD_VALUE);
  switch (v.tag) {
    case TAG_NONE:
      return;
    case TAG_BOOL:
      put(spec, v.b);
      return;
    case TAG_STRING:
      put(spec, str_hash(ivalue_str(v)));
      put(spec, v.string->length);
      return;
    case TAG_INT:
    case TAG_FLOAT:
      put(spec, (uint64_t)v.i);
      return;
    default:
      spec->failed = true;
  }
}

static void put_input(ArgumentSpec *spec, const Type *type, IValue v) {
  switch (type->kind) {
    case TYPE_TENSOR:
      if (spec->tensors) put(spec, v.tag == TAG_TENSOR ? tensor_word(v.tensor, spec->grad_enabled) : WORD_UNUSUAL);
      return;
    case TYPE_OPTIONAL:
      put(spec, v.tag == TAG_NONE ? WORD_NONE : WORD_VALUE);
      if (v.tag != TAG_NONE) put_input(spec, type->elements[0], v);
      return;
    case TYPE_TUPLE:
      if (v.tag != TAG_TUPLE || v.tuple->length != type->count) {
        spec->failed = true;
        return;
      }
      for (uint32_t i = 0; i < type->count; i++) put_input(spec, type->elements[i], v.tuple->values[i]);
      return;
    default:
      return;
  }
}

/* ---- attributes ---- */

/* Objects on the paths. Those that other threads may reach are held while they are looked at. */
typedef struct Walk {
  const Object **objects;
  bool *held;
  uint32_t count;
  const Object *few[64];
  bool few_held[64];
} Walk;

static IValue read_slot(const Object *o, uint32_t slot, bool *out_held) {
  *out_held = object_is_shared(o);
  return *out_held ? object_get(o, slot) : o->slots[slot];
}

static void walk_end(Walk *w) {
  for (uint32_t i = 1; i < w->count; i++)
    if (w->held[i]) ivalue_release(ivalue_object((Object *)(uintptr_t)w->objects[i]));
  if (w->objects != w->few) {
    mem_free(w->objects);
    mem_free(w->held);
  }
}

static bool walk_begin(Walk *w, const AttributePaths *paths, IValue self) {
  uint32_t n = (uint32_t)paths->objects.length;
  w->objects = w->few;
  w->held = w->few_held;
  w->count = 0;
  if (n > sizeof w->few / sizeof *w->few) {
    w->objects = mem_alloc(n * sizeof *w->objects);
    w->held = mem_alloc(n * sizeof *w->held);
    if (!w->objects || !w->held) return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    const AttributeObject *path = &paths->objects.data[i];
    bool held = false;
    IValue v = self;
    if (i) {
      const Object *parent = w->objects[path->parent];
      if (path->slot >= parent->slot_count) return false;
      v = read_slot(parent, path->slot, &held);
    }
    if (v.tag != TAG_OBJECT || v.object->class_type != path->class_type) {
      if (held) ivalue_release(v);
      return false;
    }
    w->objects[i] = v.object;
    w->held[i] = held;
    w->count++;
  }
  return true;
}

static bool is_tensor_like(const Type *type) {
  return type->kind == TYPE_TENSOR || (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_TENSOR);
}

static void put_leaf(ArgumentSpec *spec, const Type *type, IValue v) {
  if (is_tensor_like(type))
    put_input(spec, type, v);
  else
    put_value(spec, type, v);
}

static void put_attributes(ArgumentSpec *spec, const AttributePaths *paths, IValue self) {
  Walk w;
  bool fits = walk_begin(&w, paths, self);
  const Object *locked = NULL; /* leaves of one object come one after another: it is locked once */
  for (size_t i = 0; fits && i < paths->leaves.length && !spec->failed; i++) {
    const AttributeLeaf *leaf = &paths->leaves.data[i];
    const Object *o = w.objects[leaf->object];
    if (leaf->type->kind == TYPE_TENSOR && !spec->tensors) continue;
    if (o != locked) {
      if (locked) container_unlock(locked);
      locked = object_is_shared(o) ? o : NULL;
      if (locked) container_lock(locked);
    }
    fits = leaf->slot < o->slot_count;
    if (fits) put_leaf(spec, leaf->type, o->slots[leaf->slot]);
  }
  if (locked) container_unlock(locked);
  walk_end(&w);
  if (!fits) spec->failed = true;
}

void argument_spec_inputs(ArgumentSpec *spec, const Exec *exec, bool tensors, const Graph *graph,
                          const IValue *arguments, uint32_t count) {
  spec->count = 0;
  spec->capacity = SPEC_FEW_WORDS;
  spec->words = spec->few;
  spec->failed = count != graph_input_count(graph);
  spec->grad_enabled = exec->grad_enabled;
  spec->precision = exec->work.precision;
  spec->tensors = tensors;
  if (spec->failed) return;
  put(spec, argument_spec_terms(spec));
  for (uint32_t i = 0; i < count; i++) put_input(spec, graph_input(graph, i)->type, arguments[i]);
}

void argument_spec_attributes(ArgumentSpec *spec, const AttributePaths *paths, const IValue *arguments) {
  if (!spec->failed && paths->objects.length) put_attributes(spec, paths, arguments[0]);
}

bool argument_spec_begins_with(const ArgumentSpec *spec, const ArgumentSpec *beginning) {
  return spec->count >= beginning->count &&
         !memcmp(spec->words, beginning->words, beginning->count * sizeof *beginning->words);
}

/* ---- applying ---- */

typedef struct Reader {
  const ArgumentSpec *spec;
  uint32_t at;
  Graph *graph;
} Reader;

static uint64_t next(Reader *r) {
  assert(r->at <= r->spec->count);
  return r->at < r->spec->count ? r->spec->words[r->at++] : 0;
}

/* The type that the words say for a value of this static type. */
static const Type *next_type(Reader *r, const Type *type) {
  TypeStore *store = r->graph->store;
  switch (type->kind) {
    case TYPE_TENSOR:
      return r->spec->tensors ? refined_type(store, next(r)) : type;
    case TYPE_OPTIONAL:
      return next(r) == WORD_NONE ? TYPE(NONE) : next_type(r, type->elements[0]);
    case TYPE_TUPLE: {
      const Type **elements = ARENA_ARRAY(r->graph->arena, const Type *, type->count + 1);
      bool same = true;
      for (uint32_t i = 0; i < type->count; i++) {
        elements[i] = next_type(r, type->elements[i]);
        same &= elements[i] == type->elements[i];
      }
      if (same) return type;
      return type->field_names ? type_named_tuple(store, type->name, type->count, elements, type->field_names)
                               : type_tuple(store, type->count, elements);
    }
    default:
      return type;
  }
}

static void replace_by_constant(Graph *graph, Value *value, IValue constant, const Type *type) {
  if (!value_has_uses(value)) return;
  graph_set_insert_point(graph, graph->block->param->next);
  value_replace_all_uses_with(value, graph_insert_constant(graph, constant, type));
}

bool argument_spec_values(const ArgumentSpec *spec, const AttributePaths *paths, IValue self, IValue *values) {
  size_t n = paths->leaves.length;
  for (size_t i = 0; i < n; i++) values[i] = IVALUE_NONE;
  if (!n) return true;
  ArgumentSpec now = {.capacity = SPEC_FEW_WORDS, .grad_enabled = spec->grad_enabled, .tensors = spec->tensors};
  now.words = now.few;
  Walk w;
  bool same = walk_begin(&w, paths, self);
  for (size_t i = 0; same && i < n; i++) {
    const AttributeLeaf *leaf = &paths->leaves.data[i];
    if (is_tensor_like(leaf->type)) continue;
    bool held;
    IValue v = read_slot(w.objects[leaf->object], leaf->slot, &held);
    values[i] = held ? v : ivalue_retain(v);
  }
  walk_end(&w);
  if (same) put_attributes(&now, paths, self);
  same = same && !now.failed && now.count <= spec->count &&
         !memcmp(now.words, spec->words + (spec->count - now.count), now.count * sizeof *now.words);
  argument_spec_dispose(&now);
  return same;
}

/* What the words say of the leaves, from `r`'s place on. */
static const Type **leaf_types(Reader *r, const AttributePaths *paths) {
  uint32_t leaves = paths ? (uint32_t)paths->leaves.length : 0;
  const Type **types = ARENA_ARRAY(r->graph->arena, const Type *, leaves + 1);
  for (uint32_t i = 0; i < leaves; i++) {
    const Type *type = paths->leaves.data[i].type;
    types[i] = type;
    if (is_tensor_like(type)) {
      if (type->kind == TYPE_OPTIONAL || r->spec->tensors) types[i] = next_type(r, type);
      continue;
    }
    uint64_t word = next(r);
    if (word != WORD_NONE) next(r);
    if (word >> 8 == TAG_STRING) next(r);
    if (word == WORD_NONE) types[i] = TYPE(NONE);
  }
  return types;
}

typedef struct Application {
  const SpecWriter *writer;
  LeafFinder finder;
  const Type **types; /* of leaves, refined */
  Graph *graph;
} Application;

static void apply_node(Application *a, Node *node) {
  uint32_t leaf = leaf_finder_visit(&a->finder, node);
  if (leaf == NO_LEAF) return;
  Value *output = node_output(node, 0);
  if (a->types[leaf]->kind == TYPE_NONE)
    replace_by_constant(a->graph, output, IVALUE_NONE, TYPE(NONE));
  else if (is_tensor_like(a->types[leaf]))
    output->type = a->types[leaf];
  else
    replace_by_constant(a->graph, output, a->writer->values[leaf], NULL);
}

static void apply_block(Application *a, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) apply_block(a, node->blocks[i]);
    apply_node(a, node);
  }
}

static void apply(Arena *scratch, void *argument) {
  Application *a = argument;
  Reader r = {a->writer->spec, 1, a->graph};
  for (uint32_t i = 0; i < graph_input_count(a->graph); i++) {
    Value *input = graph_input(a->graph, i);
    const Type *type = next_type(&r, input->type);
    if (type->kind == TYPE_NONE && input->type->kind == TYPE_OPTIONAL)
      replace_by_constant(a->graph, input, IVALUE_NONE, TYPE(NONE));
    else
      input->type = type;
  }
  a->types = leaf_types(&r, a->writer->paths);
  leaf_finder_init(&a->finder, a->writer->paths, a->graph, scratch);
  apply_block(a, a->graph->block);
}

void argument_spec_apply(const SpecWriter *writer, Graph *graph) {
  Application a = {.writer = writer, .graph = graph};
  graph_with_scratch(graph, apply, &a);
}

static Node *visit(void *argument, Node *node) {
  Application *a = argument;
  if (node->kind != SYM_prim_GetAttr) return propagate_constants_at(a->graph, a->writer->exec, node);
  apply_node(a, node);
  return node;
}

static void inline_decided(Arena *scratch, void *argument) {
  Application *a = argument;
  Reader r = {a->writer->spec, 1, a->graph};
  for (uint32_t i = 0; i < graph_input_count(a->graph); i++) next_type(&r, graph_input(a->graph, i)->type);
  a->types = leaf_types(&r, a->writer->paths);
  leaf_finder_init(&a->finder, a->writer->paths, a->graph, scratch);
  inline_calls_with(a->graph, &(InlineVisitor){visit, a});
}

void argument_spec_inline(const SpecWriter *writer, Graph *graph) {
  Application a = {.writer = writer, .graph = graph};
  graph_with_scratch(graph, inline_decided, &a);
}
