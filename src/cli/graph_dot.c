/* Graphs for Graphviz: a box for each node, an arrow for each use of a value, a frame for each nested block. */
#include <stdlib.h>
#include <string.h>

#include "cli/steps.h"

typedef struct Dot {
  FILE *to;
  size_t blocks, ends; /* counted, for names of their own */
  size_t graph;        /* that of a group has values of its own, whose names may be the others' too */
  size_t graphs;
} Dot;

static void put_quoted(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', to);
    if (*text == '\n')
      fputs("\\n", to);
    else
      fputc(*text, to);
  }
}
/* A value's own name: of a node's outputs the first stands for the node. */
static void put_source(Dot *dot, const wick_ir_value *value) {
  const wick_node *node = wick_ir_value_node(value);
  char *name = NULL;
  wick_ir_value_name(node ? wick_node_output(node, 0) : value, &name, NULL);
  fprintf(dot->to, "\"%zu%%", dot->graph);
  put_quoted(dot->to, name ? name : "?");
  fputc('"', dot->to);
  wick_text_free(name);
}
static void put_value_label(Dot *dot, const wick_ir_value *value) {
  char *name = NULL, *type = NULL;
  wick_ir_value_name(value, &name, NULL);
  wick_ir_value_type(value, &type, NULL);
  fputc('%', dot->to);
  put_quoted(dot->to, name ? name : "?");
  fputs(" : ", dot->to);
  put_quoted(dot->to, type ? type : "?");
  wick_text_free(name);
  wick_text_free(type);
}
static void put_constant(Dot *dot, const wick_node *node) {
  enum { MOST = 40 };
  wick_value *value = NULL;
  char *text = NULL;
  if (!wick_ir_value_constant(wick_node_output(node, 0), &value, NULL) && value)
    wick_value_print_short(value, &text, NULL);
  if (text) {
    if (strlen(text) > MOST) strcpy(text + MOST - 3, "...");
    fputs("\\n", dot->to);
    put_quoted(dot->to, text);
  }
  wick_text_free(text);
  wick_value_release(value);
}
static void put_block(Dot *dot, const wick_block *block, const char *name);

/* Its box and the arrows to it; a node without outputs has a name of its own. */
static void put_node(Dot *dot, const wick_node *node) {
  char own[40];
  snprintf(own, sizeof own, "end%zu", dot->ends);
  bool has_outputs = wick_node_output_count(node) > 0;
  if (!has_outputs) dot->ends++;
  fputs("  ", dot->to);
  if (has_outputs)
    put_source(dot, wick_node_output(node, 0));
  else
    fputs(own, dot->to);
  fprintf(dot->to, " [label=\"%s", wick_node_kind(node));
  if (!strcmp(wick_node_kind(node), "prim::Constant") && has_outputs) put_constant(dot, node);
  for (size_t i = 0; i < wick_node_output_count(node); i++) {
    fputs("\\n", dot->to);
    put_value_label(dot, wick_node_output(node, i));
  }
  fputs("\"];\n", dot->to);
  for (size_t i = 0; i < wick_node_input_count(node); i++) {
    fputs("  ", dot->to);
    put_source(dot, wick_node_input(node, i));
    fputs(" -> ", dot->to);
    if (has_outputs)
      put_source(dot, wick_node_output(node, 0));
    else
      fputs(own, dot->to);
    fputs(";\n", dot->to);
  }
  for (size_t i = 0; i < wick_node_block_count(node); i++)
    put_block(dot, wick_node_block(node, i), wick_node_kind(node));
  const wick_block *subgraph = wick_node_subgraph(node);
  size_t outer = dot->graph;
  dot->graph = ++dot->graphs;
  if (subgraph) put_block(dot, subgraph, wick_node_kind(node));
  dot->graph = outer;
}
static void put_block(Dot *dot, const wick_block *block, const char *name) {
  fprintf(dot->to, "  subgraph cluster%zu {\n  label=\"%s\";\n", dot->blocks++, name);
  for (size_t i = 0; i < wick_block_input_count(block); i++) {
    fputs("  ", dot->to);
    put_source(dot, wick_block_input(block, i));
    fputs(" [shape=ellipse, label=\"", dot->to);
    put_value_label(dot, wick_block_input(block, i));
    fputs("\"];\n", dot->to);
  }
  for (const wick_node *node = wick_block_first(block); node; node = wick_node_next(node)) put_node(dot, node);
  size_t end = dot->ends++;
  fprintf(dot->to, "  end%zu [shape=ellipse, label=\"return\"];\n", end);
  for (size_t i = 0; i < wick_block_output_count(block); i++) {
    fputs("  ", dot->to);
    put_source(dot, wick_block_output(block, i));
    fprintf(dot->to, " -> end%zu;\n", end);
  }
  fputs("  }\n", dot->to);
}

void graph_dot(const wick_graph *graph, const char *name, FILE *to) {
  Dot dot = {.to = to};
  fputs("digraph \"", to);
  put_quoted(to, name);
  fputs("\" {\n  node [shape=box, fontname=\"sans-serif\"];\n", to);
  put_block(&dot, wick_graph_block((wick_graph *)graph), name);
  fputs("}\n", to);
}
