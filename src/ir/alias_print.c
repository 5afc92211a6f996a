/* The DAG of an AliasDb as text and for graphviz. */
#include "ir/alias_internal.h"

static void print_element(AliasDb *db, ElementId id, StrBuf *out) {
  const Element *e = &db->dag.elements.data[id];
  const Value *value = e->value;
  if (!value) {
    strbuf_puts(out, "WILDCARD for type ");
    type_print(e->type, out);
  } else if (value->name.length) {
    strbuf_printf(out, "%%" STR_FMT, STR_ARG(value->name));
  } else {
    strbuf_printf(out, "%%%u", value->unique);
  }
}

static bool print_pointer(AliasDb *db, ElementId from, ElementId to, bool first, StrBuf *out) {
  if (first) {
    print_element(db, from, out);
    strbuf_puts(out, " points to: ");
  } else {
    strbuf_puts(out, ", ");
  }
  print_element(db, to, out);
  return false;
}

static void print_pointers(AliasDb *db, ElementId id, StrBuf *out) {
  const Element *e = &db->dag.elements.data[id];
  bool first = true;
  for (uint32_t edge = e->points_to; edge; edge = db->dag.edges.data[edge - 1].next)
    first = print_pointer(db, id, db->dag.edges.data[edge - 1].to, first, out);
  ElementId joined = memory_dag_find(&db->dag, id);
  if (joined != id) first = print_pointer(db, id, joined, first, out);
  if (!first) strbuf_char(out, '\n');
  first = true;
  for (uint32_t edge = e->value ? e->contains : 0; edge; edge = db->dag.edges.data[edge - 1].next) {
    if (first) print_element(db, id, out);
    strbuf_puts(out, first ? " contains: " : ", ");
    print_element(db, db->dag.edges.data[edge - 1].to, out);
    first = false;
  }
  if (!first) strbuf_char(out, '\n');
}

void alias_print(AliasDb *db, StrBuf *out) {
  alias_require(db);
  strbuf_puts(out, "===1. ALIAS DB===\n");
  for (ElementId id = 0; id < db->dag.elements.length; id++) print_pointers(db, id, out);
  strbuf_puts(out, "===2. WRITES===\n");
  for (size_t i = 0; i < db->writes.length; i++) {
    const AliasWrite *w = &db->writes.data[i];
    if ((uintptr_t)ptrmap_get(&db->writers, w->node) != i + 1 || w->node->destroyed) continue;
    node_print(w->node, out);
    if (out->length && out->data[out->length - 1] != '\n') strbuf_char(out, '\n');
    const MemorySet *set = alias_effects(db, w->node)->writes;
    strbuf_puts(out, "  writes to: ");
    for (uint32_t k = 0; k < set->count; k++) {
      if (k) strbuf_puts(out, ", ");
      print_element(db, set->ids[k], out);
    }
    strbuf_char(out, '\n');
  }
}

static void print_quoted(AliasDb *db, ElementId id, StrBuf *out) {
  strbuf_char(out, '"');
  print_element(db, id, out);
  strbuf_char(out, '"');
}

static void print_arrow(AliasDb *db, ElementId from, ElementId to, const char *style, StrBuf *out) {
  strbuf_puts(out, "  ");
  print_quoted(db, from, out);
  strbuf_puts(out, " -> ");
  print_quoted(db, to, out);
  strbuf_printf(out, "%s;\n", style);
}

void alias_print_dot(AliasDb *db, StrBuf *out) {
  alias_require(db);
  strbuf_puts(out, "digraph alias_db {\n  rankdir=LR\n  node [shape=rect];\n");
  for (ElementId id = 0; id < db->dag.elements.length; id++) {
    const Element *e = &db->dag.elements.data[id];
    if (e->value) {
      strbuf_puts(out, "  ");
      print_quoted(db, id, out);
      strbuf_puts(out, ";\n");
    }
    for (uint32_t edge = e->points_to; edge; edge = db->dag.edges.data[edge - 1].next)
      print_arrow(db, id, db->dag.edges.data[edge - 1].to, "", out);
    ElementId joined = memory_dag_find(&db->dag, id);
    if (joined != id) print_arrow(db, id, joined, "", out);
    for (uint32_t edge = e->value ? e->contains : 0; edge; edge = db->dag.edges.data[edge - 1].next)
      print_arrow(db, id, db->dag.edges.data[edge - 1].to, " [style=dashed]", out);
  }
  strbuf_puts(out, "}\n");
}
