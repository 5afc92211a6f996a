/* Which attributes of which classes a graph may write, in what it calls too. */
#pragma once

#include "ir/graph.h"
#include "type/class_type.h"

typedef struct AttributeWrites {
  PtrMap attributes; /* ClassAttribute: written somewhere */
  PtrMap seen;       /* graphs that were looked at */
  bool unknown;      /* calls of who knows what: any may be written */
} AttributeWrites;

void attribute_writes_init(AttributeWrites *w, Arena *arena);
void attribute_writes_collect(AttributeWrites *w, const Graph *graph);
bool attribute_is_written(const AttributeWrites *w, const ClassAttribute *attribute);
/* Of a GetAttr or SetAttr; NULL: of an interface or unknown. */
const ClassAttribute *attribute_of_node(const Node *node, const ClassType **out_class, uint32_t *out_slot);
