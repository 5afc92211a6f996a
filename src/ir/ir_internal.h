/* What the files of ir share and nobody else needs. */
#pragma once

#include <assert.h>

#include "ir/unit.h"

Block *block_new(Graph *graph, Node *owning_node);
Node *node_new(Graph *graph, Symbol kind); /* without inputs, outputs; range is the graph's */
Value *value_new(Node *node, uint32_t offset, const Type *type);
void value_forget_name(Value *value);         /* before it is destroyed */
void use_remove(Node *user, uint32_t offset); /* takes the use of input `offset` out of its value's list */
void use_add(Node *user, uint32_t offset, Value *value);

/* Copies nodes from one graph to another: values and the chains of inlined calls. */
typedef struct NodeCopier {
  Graph *into;
  PtrMap values;                               /* old -> new */
  Value **by_unique;                           /* the same where a whole graph is copied; else NULL */
  Value *(*map)(Value *value, void *argument); /* of values the copier did not make */
  void *argument;
  const InlinedCall *last_from, *last_to; /* memo: neighbours share their chain */
  const struct InlinedCall *outer;        /* put below every chain; NULL: none */
  Arena *scratch;                         /* of a copy that is to be small, which is not changed; else NULL */
  PtrMap calls;                           /* of such a copy: InlinedCall -> its copy */
  Map call_texts;                         /* likewise: what a call says -> its copy */
  bool keeps_numbers;                     /* likewise: values have the numbers of those they are copied from */
} NodeCopier;
void copier_init(NodeCopier *copier, Graph *into, Value *(*map)(Value *value, void *argument), void *argument);
Value *copier_value(NodeCopier *copier, Value *value);
Node *copier_node(NodeCopier *copier, const Node *node);
void copier_block(NodeCopier *copier, Block *to, const Block *from);

/* node_copy_attributes; the graphs among them are copied as compactly. */
void node_copy_attributes_by(const NodeCopier *copier, Node *to, const Node *from);

/* Whether the schema accepts the node's inputs, without conversions; binds its type variables, which allocates. */
bool schema_takes_inputs(const Node *node, const FunctionSchema *schema, Map *bindings);

/* ---- native_methods.c ---- */
Status native_methods_publish(void) MUST_CHECK; /* the classes of native_classes have their methods afterwards */
Status unit_new_plain(CompilationUnit **out) MUST_CHECK; /* unit_new without that */
