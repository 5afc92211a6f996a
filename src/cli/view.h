/* What the parts of `wick view` share. A page holds a program's data as one object of JSON, which view/ draws:
 *
 *   view.c         the command
 *   view_page.c    the page around the data
 *   view_model.c   the modules, what their tensors hold, the sources of their methods
 *   view_graph.c   graphs as tables, in which what is the same stands once
 *   view_run.c     the stages of the methods' graphs; calls, and what they took
 *   view_intern.c  things numbered in the order in which they first came
 *   view_serve.c   the page over HTTP, on this machine alone */
#pragma once

#include "cli/json.h"

typedef struct View {
  const char *path, *method; /* method NULL: forward, or a source's first function */
  int count;                 /* of the inputs; negative: nothing is run */
  char **words;
  long calls; /* before plans are shown */
  bool is_live;
  ModelOptions model;
} View;

/* ---- pages (view_page.c) ---- */
/* A page of the program as it is now. Freed with free(). NULL: it was complained about, and *out_exit is the command's
 * exit status. */
char *view_page(const View *view, size_t *out_length, int *out_exit);
/* A page that says what went wrong, from what was complained about. NULL: out of memory. */
char *view_failure_page(const View *view, size_t *out_length);

/* ---- numbering (view_intern.c) ---- */
typedef struct Interner {
  struct InternedItem *items; /* in the order of their numbers */
  size_t count, capacity;
  uint32_t *slots; /* number + 1; 0: free */
  size_t slot_count;
  bool failed; /* out of memory: numbers are of no use any more */
} Interner;
uint32_t intern(Interner *interner, const void *bytes, size_t length);
/* length: in bytes. */
const void *interned(const Interner *interner, size_t number, size_t *out_length);
void interner_dispose(Interner *interner);

/* ---- graphs (view_graph.c) ---- */
/* What many graphs have in common is stored once: a node that a pass left alone has the number it had before. */
typedef struct GraphTable {
  Interner texts, places, calls, chains, nodes, blocks;
} GraphTable;
uint32_t graph_table_text(GraphTable *table, const char *text); /* NULL: "" */
/* The number of the graph's block. */
uint32_t graph_table_add(GraphTable *table, const wick_graph *graph);
bool graph_table_failed(const GraphTable *table);
/* As members of the object that is being written; texts last, when nothing adds to them any more. */
void graph_table_put(const GraphTable *table, Json *json);
void graph_table_dispose(GraphTable *table);

/* ---- modules (view_model.c) ---- */
bool view_put_modules(const wick_module *module, const ModelOptions *model, Json *json);

/* ---- stages and calls (view_run.c) ---- */
/* Opens the program and puts what is known of its graphs and calls. *out_module is the caller's. false: it was
 * complained about. */
bool view_put_program(const View *view, GraphTable *table, Json *json, wick_module **out_module);

/* ---- over HTTP (view_serve.c) ---- */
int view_serve(const View *view, long port);
