/* A walk over a graph and what it calls. */
#include "pass/motion/attribute_writes.h"

#include "base/stack.h"
#include "ir/unit.h"

static void collect_writes(AttributeWrites *w, const Graph *graph, const Block *block);

static void collect_call(AttributeWrites *w, const Function *callee) {
  if (!callee || !callee->graph) {
    w->unknown = true;
  } else if (!ptrmap_get(&w->seen, callee->graph)) {
    ptrmap_put(&w->seen, callee->graph, callee->graph);
    collect_writes(w, callee->graph, callee->graph->block);
  }
}

const ClassAttribute *attribute_of_node(const Node *node, const ClassType **out_class, uint32_t *out_slot) {
  const Type *type = node_input(node, 0)->type;
  if (type->kind != TYPE_CLASS) return NULL;
  ptrdiff_t slot = class_type_find_attribute(type->class_type, node_string(node, SYM_attr_name));
  if (slot < 0) return NULL;
  *out_class = type->class_type;
  *out_slot = (uint32_t)slot;
  return &type->class_type->attributes.data[slot];
}

static const Function *method_of(const Node *node, Str name) {
  const Type *type = node_input(node, 0)->type;
  return type->kind == TYPE_CLASS ? class_type_find_method(type->class_type, name) : NULL;
}

static void collect_writes(AttributeWrites *w, const Graph *graph, const Block *block) {
  BLOCK_EACH(node, block) {
    if (STACK_IS_LOW()) w->unknown = true;
    if (w->unknown) return;
    const ClassType *class_type;
    uint32_t slot;
    switch (node->kind) {
      case SYM_prim_SetAttr: {
        const ClassAttribute *attribute = attribute_of_node(node, &class_type, &slot);
        if (!attribute)
          w->unknown = true;
        else
          ptrmap_put(&w->attributes, attribute, (void *)(uintptr_t)attribute);
        break;
      }
      case SYM_prim_CallMethod:
        collect_call(w, method_of(node, node_string(node, SYM_attr_name)));
        break;
      case SYM_prim_CallFunction:
        collect_call(w, node_input(node, 0)->type->kind == TYPE_FUNCTION ? node_input(node, 0)->type->function : NULL);
        break;
      case SYM_prim_Enter:
        collect_call(w, method_of(node, STR("__enter__")));
        break;
      case SYM_prim_Exit:
        collect_call(w, method_of(node, STR("__exit__")));
        break;
      default:
        break;
    }
    for (uint32_t i = 0; i < node->attribute_count; i++)
      if (node->attributes[i].tag == ATTR_GRAPH) collect_writes(w, graph, node->attributes[i].g->block);
    for (uint32_t i = 0; i < node->block_count; i++) collect_writes(w, graph, node->blocks[i]);
  }
}

void attribute_writes_init(AttributeWrites *w, Arena *arena) {
  *w = (AttributeWrites){0};
  ptrmap_init(&w->attributes, arena);
  ptrmap_init(&w->seen, arena);
}

void attribute_writes_collect(AttributeWrites *w, const Graph *graph) {
  collect_writes(w, graph, graph->block);
}

bool attribute_is_written(const AttributeWrites *w, const ClassAttribute *attribute) {
  return w->unknown || ptrmap_get(&w->attributes, attribute) != NULL;
}
