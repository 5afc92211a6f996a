/* Parameters, buffers and constants of a program as attributes of modules within each other, by their dotted names:
 * "layer1.0.weight" is the attribute weight of the module 0 of the module layer1. */
#pragma once

#include "serial/pt2/builder.h"
#include "serial/pt2/weights.h"

typedef struct Pt2Module Pt2Module;
typedef struct Pt2Attributes {
  CompilationUnit *unit;
  Pt2Weights *weights;
  Pt2Module *root;
  Str prefix; /* of the names of the program that is being read: "programs.decode.", or empty */
  uint32_t modules;
} Pt2Attributes;

/* These throw. The first begins a program's, whose tensors are the root's, or those of the module of that name in
 * `programs`; the next adds what the signature names, then whatever else the state has: parameters that are others' by
 * another name. The last ends all programs'. */
void pt2_attributes_begin(Pt2Builder *b, Pt2Attributes *attributes, CompilationUnit *unit, Pt2Weights *weights,
                          Str name);
void pt2_attributes_end(Pt2Builder *b, Pt2Attributes *attributes);
void pt2_attributes_add_all(Pt2Builder *b, Pt2Attributes *attributes, const Json *input_specs);
ClassType *pt2_attributes_class(const Pt2Attributes *attributes);
/* The attribute in the graph: read from `self`, modules on the way once. */
Value *pt2_attribute_value(Pt2Builder *b, Pt2Attributes *attributes, Value *self, Str name);
/* The root as an object; the caller's. */
Status pt2_attributes_object(const Pt2Attributes *attributes, Object **out) MUST_CHECK;
void pt2_attributes_dispose(Pt2Attributes *attributes);

/* A kind of the signature's inputs that stands for an attribute: its row, NULL for others. */
typedef struct Pt2InputKind {
  const char *kind, *name; /* "parameter", and the member that has its dotted name */
  AttributeKind attribute;
  bool is_constant; /* among the file's constants */
} Pt2InputKind;
const Pt2InputKind *pt2_input_kind(const Json *spec);
