/* Parameters as arguments: a method's graph in which every attribute that is read through `self` is an input. */
#pragma once

#include "ir/unit.h"

typedef struct LoweredGraph {
  Graph *graph;  /* in the arena, inlined; the first input, self, is gone */
  IValue *slots; /* borrowed from the objects: the values of the last `slot_count` inputs */
  uint32_t slot_count;
} LoweredGraph;

/* Throws to the arena's catch point; ERROR_UNSUPPORTED when the method sets attributes, gives the module away or reads
 * attributes of an object that is not known before it runs. Each attribute is one input, however often it is read, in
 * the order of the first read. */
void lower_graph(const Function *method, Object *self, Arena *arena, TypeStore *store, LoweredGraph *out);
