/* Chains of prim::GetAttr on self are followed through the objects as they are now; what is at their ends becomes an
 * input. */
#include "module/lower_graph.h"

#include <assert.h>

#include "pass/pass.h"

typedef struct Lowering {
  Graph *graph;
  PtrMap objects; /* value -> object */
  PtrMap inputs;  /* slot -> input */
  VEC(IValue) slots;
} Lowering;

static _Noreturn void refuse(const Lowering *l, const Node *node, const char *why) {
  catch_throw(l->graph->arena->catch_point,
              status_new(ERROR_UNSUPPORTED, STR_FMT " %s", STR_ARG(symbol_name(node->kind)), why));
}

static void lower_read(Lowering *l, Node *node) {
  assert(node->kind == SYM_prim_GetAttr);
  Object *object = ptrmap_get(&l->objects, node_input(node, 0));
  if (!object) {
    if (node_input(node, 0)->type->kind == TYPE_CLASS && node_input(node, 0)->type->class_type->is_module)
      refuse(l, node, "reads a module that is not known before the method runs");
    return; /* an object that the program makes */
  }
  ptrdiff_t at = class_type_find_attribute(object->class_type, node_string(node, SYM_attr_name));
  if (at < 0 || (uint32_t)at >= object->slot_count) refuse(l, node, "reads what the module does not have");
  IValue *slot = &object->slots[at];
  if (slot->tag == TAG_OBJECT && slot->object->class_type->is_module) {
    ptrmap_put(&l->objects, node_output(node, 0), slot->object);
    return;
  }
  Value *input = ptrmap_get(&l->inputs, slot);
  if (!input) {
    input = graph_add_input(l->graph, STR(""), node_output(node, 0)->type);
    ptrmap_put(&l->inputs, slot, input);
    vec_arena_push(l->graph->arena, &l->slots, *slot);
  }
  value_replace_all_uses_with(node_output(node, 0), input);
}

static void lower_in(Lowering *l, const Block *block) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_GetAttr) lower_read(l, node);
    if (node->kind == SYM_prim_SetAttr && ptrmap_has(&l->objects, node_input(node, 0)))
      refuse(l, node, "sets an attribute of the module");
    for (uint32_t i = 0; i < node->block_count; i++) lower_in(l, node->blocks[i]);
  }
}

/* Reads whose results have users no more, from the end. */
static void sweep(const Lowering *l, const Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) sweep(l, node->blocks[i]);
    if (node->kind == SYM_prim_GetAttr && !value_has_uses(node_output(node, 0))) node_destroy(node);
  }
}

void lower_graph(const Function *method, Object *self, Arena *arena, TypeStore *store, LoweredGraph *out) {
  Lowering l = {.graph = graph_copy(method->graph, arena, store)};
  out->graph = l.graph; /* the caller disposes of it also after an error */
  ptrmap_init(&l.objects, arena);
  ptrmap_init(&l.inputs, arena);
  inliner(l.graph);
  Value *own = graph_input(l.graph, 0);
  ptrmap_put(&l.objects, own, self);
  lower_in(&l, l.graph->block);
  sweep(&l, l.graph->block);
  if (value_has_uses(own)) refuse(&l, own->uses.data[0].user, "takes the module itself");
  block_erase_input(l.graph->block, 0);
  out->slots = l.slots.data;
  out->slot_count = (uint32_t)l.slots.length;
}
