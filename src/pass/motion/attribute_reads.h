/* Reads of attributes that give the same wherever they stand in the graph: chains of prim::GetAttr from the graph's
 * inputs, of attributes that neither the graph nor what it calls writes. */
#pragma once

#include "ir/graph.h"

typedef struct AttributeReads {
  Value **inputs; /* by number of the value: the input that its chain begins at; NULL: no such read */
  uint32_t count; /* later values are none */
} AttributeReads;

/* A prim::Guard of such a read counts as the read. */
void attribute_reads_find(AttributeReads *reads, const Graph *graph, Arena *scratch);
static inline Value *attribute_read_input(const AttributeReads *reads, const Value *value) {
  return value->unique < reads->count ? reads->inputs[value->unique] : NULL;
}
