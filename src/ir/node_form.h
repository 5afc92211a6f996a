/* What a node must look like. Kinds that are no operators have a form: how many inputs, outputs and blocks, which
 * attributes of which form, how their types belong together. A kind that names operators must fit one of their schemas,
 * inputs and outputs. Of other kinds nothing is known, and nobody may assume anything of them but that an attribute
 * `Subgraph` is a graph. Lint asks this of every node; passes, Code and gradients rely on it. */
#pragma once

#include "ir/graph.h"

/* Whether nodes of the kind are the language's own: they have a form, and none whose result an operator computes. */
bool kind_is_of_language(Symbol kind);
/* *out: what is wrong with the node on its own, or NULL. */
Status node_check_form(const Node *node, const char **out) MUST_CHECK;

/* ---- for the table: what is wrong with a node's types, or NULL; counts and attributes are right ---- */
typedef const char *NodeCheck(const Node *node);
NodeCheck form_constant, form_if, form_loop, form_subgraph, form_group, form_grad_of;
NodeCheck form_call, form_call_method, form_attribute, form_create_object, form_enum;
NodeCheck form_is_instance, form_annotate, form_unwrap, form_pass_on, form_type_check;
NodeCheck form_list, form_list_unpack, form_dict, form_tuple, form_tuple_unpack, form_tuple_index, form_tuple_slice;
NodeCheck form_tensors, form_chunk, form_chunk_sizes;
