/* Graphs as tables of numbers. Each kind of record is interned, so that what two graphs share is there once:
 *
 *   place  file, line, column, excerpt
 *   call   function, instance, place
 *   chain  calls, the innermost first
 *   node   kind, place + 1, chain, schema, attributes, count of inputs, names; count of outputs, names and types in
 *          turn; blocks, of which the last is the subgraph's where the flag before them says so
 *   block  count of inputs, names and types in turn; count of outputs, names; nodes
 *
 * Names are texts' numbers; those of a subgraph are its own. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/view.h"

/* A record that is being put together. */
typedef struct Record {
  uint32_t *words;
  size_t count, capacity;
} Record;
static void push(GraphTable *table, Record *record, uint32_t word) {
  assert(record->count <= record->capacity);
  if (record->count == record->capacity) {
    size_t capacity = record->capacity ? 2 * record->capacity : 64;
    uint32_t *more = realloc(record->words, capacity * sizeof *more);
    if (!more) {
      table->nodes.failed = true;
      return;
    }
    record->words = more;
    record->capacity = capacity;
  }
  record->words[record->count++] = word;
}
static uint32_t finish(Interner *interner, Record *record) {
  uint32_t number =
      intern(interner, record->count ? record->words : (const void *)"", record->count * sizeof(uint32_t));
  free(record->words);
  *record = (Record){0};
  return number;
}

uint32_t graph_table_text(GraphTable *table, const char *text) {
  return intern(&table->texts, text ? text : "", text ? strlen(text) : 0);
}
/* Takes the text over. */
static uint32_t own_text(GraphTable *table, char *text) {
  uint32_t number = graph_table_text(table, text);
  wick_text_free(text);
  return number;
}

/* ---- where nodes come from ---- */

/* number + 1; 0: not known. */
static uint32_t place_of(GraphTable *table, const wick_node *node) {
  wick_source_place place = {.size = sizeof place};
  char *excerpt = NULL;
  if (wick_node_place(node, &place, NULL) || !place.line) return 0;
  wick_node_excerpt(node, &excerpt, NULL);
  uint32_t words[] = {graph_table_text(table, place.file), place.line, place.column, own_text(table, excerpt)};
  return intern(&table->places, words, sizeof words) + 1;
}
/* number + 1; 0: it was written there. */
static uint32_t chain_of(GraphTable *table, const wick_node *node) {
  Record chain = {0};
  wick_inlined_call call = {.size = sizeof call};
  for (size_t i = 0; !wick_node_inlined_call(node, i, &call, NULL); i++) {
    uint32_t place[] = {graph_table_text(table, call.file), call.line, call.column, graph_table_text(table, "")};
    uint32_t words[] = {graph_table_text(table, call.function), graph_table_text(table, call.instance),
                        intern(&table->places, place, sizeof place)};
    push(table, &chain, intern(&table->calls, words, sizeof words));
  }
  return chain.count ? finish(&table->chains, &chain) + 1 : 0;
}

/* ---- nodes ---- */

static uint32_t name_of(GraphTable *table, const wick_ir_value *value) {
  char *name = NULL;
  wick_ir_value_name(value, &name, NULL);
  return own_text(table, name);
}
static uint32_t type_of(GraphTable *table, const wick_ir_value *value) {
  char *type = NULL;
  wick_ir_value_type(value, &type, NULL);
  return own_text(table, type);
}
static void put_short(FILE *to, const wick_value *value) {
  enum { MOST = 300 };
  char *text = NULL;
  wick_value_print_short(value, &text, NULL);
  size_t length = text ? strlen(text) : 0;
  fprintf(to, "%.*s%s", (int)(length > MOST ? MOST : length), text ? text : "?", length > MOST ? "..." : "");
  wick_text_free(text);
}
/* "value=3", "name=weight"; what is a graph or a type is left out. */
static uint32_t attributes_of(GraphTable *table, const wick_node *node) {
  char *text = NULL;
  size_t length = 0, count = wick_node_attribute_count(node);
  FILE *to = count ? open_memstream(&text, &length) : NULL;
  if (!to) return graph_table_text(table, "");
  for (size_t i = 0; i < count; i++) {
    const char *name = wick_node_attribute_name(node, i);
    wick_value *value = NULL;
    if (wick_node_attribute(node, name, &value, NULL) || !value) continue;
    fprintf(to, "%s%s=", ftell(to) ? ", " : "", name);
    put_short(to, value);
    wick_value_release(value);
  }
  fclose(to);
  uint32_t number = graph_table_text(table, text);
  free(text);
  return number;
}

static uint32_t add_block(GraphTable *table, const wick_block *block);

static uint32_t add_node(GraphTable *table, const wick_node *node) {
  Record record = {0};
  char *schema = NULL;
  wick_node_schema(node, &schema, NULL);
  push(table, &record, graph_table_text(table, wick_node_kind(node)));
  push(table, &record, place_of(table, node));
  push(table, &record, chain_of(table, node));
  push(table, &record, own_text(table, schema));
  push(table, &record, attributes_of(table, node));
  push(table, &record, (uint32_t)wick_node_input_count(node));
  for (size_t i = 0; i < wick_node_input_count(node); i++)
    push(table, &record, name_of(table, wick_node_input(node, i)));
  push(table, &record, (uint32_t)wick_node_output_count(node));
  for (size_t i = 0; i < wick_node_output_count(node); i++) {
    push(table, &record, name_of(table, wick_node_output(node, i)));
    push(table, &record, type_of(table, wick_node_output(node, i)));
  }
  const wick_block *subgraph = wick_node_subgraph(node);
  push(table, &record, subgraph != NULL);
  for (size_t i = 0; i < wick_node_block_count(node); i++)
    push(table, &record, add_block(table, wick_node_block(node, i)));
  if (subgraph) push(table, &record, add_block(table, subgraph));
  return finish(&table->nodes, &record);
}
static uint32_t add_block(GraphTable *table, const wick_block *block) {
  Record record = {0};
  push(table, &record, (uint32_t)wick_block_input_count(block));
  for (size_t i = 0; i < wick_block_input_count(block); i++) {
    push(table, &record, name_of(table, wick_block_input(block, i)));
    push(table, &record, type_of(table, wick_block_input(block, i)));
  }
  push(table, &record, (uint32_t)wick_block_output_count(block));
  for (size_t i = 0; i < wick_block_output_count(block); i++)
    push(table, &record, name_of(table, wick_block_output(block, i)));
  for (const wick_node *node = wick_block_first(block); node; node = wick_node_next(node))
    push(table, &record, add_node(table, node));
  return finish(&table->blocks, &record);
}
uint32_t graph_table_add(GraphTable *table, const wick_graph *graph) {
  return add_block(table, wick_graph_block(graph));
}

/* ---- as JSON ---- */

/* All words in one list, each record after its length. Words that rise by one, as the nodes of a block that came
 * together do, are shorter as runs: in place of n of them their first and then -n. */
static void put_records(const Interner *interner, const char *name, bool in_runs, Json *json) {
  json_put_key(json, name);
  json_put_begin(json, '[');
  for (size_t i = 0; i < interner->count; i++) {
    size_t bytes;
    const uint32_t *words = interned(interner, i, &bytes);
    size_t count = bytes / sizeof *words;
    json_put_int(json, (long long)count);
    for (size_t k = 0, n; k < count; k += n) {
      for (n = 1; in_runs && k + n < count && words[k + n] == words[k] + n;) n++;
      if (n < 3) n = 1;
      json_put_int(json, words[k]);
      if (n > 1) json_put_int(json, -(long long)n);
    }
  }
  json_put_end(json, ']');
}
void graph_table_put(const GraphTable *table, Json *json) {
  put_records(&table->places, "places", false, json);
  put_records(&table->calls, "calls", false, json);
  put_records(&table->chains, "chains", false, json);
  put_records(&table->nodes, "nodes", false, json);
  put_records(&table->blocks, "blocks", true, json);
  json_put_key(json, "texts");
  json_put_begin(json, '[');
  for (size_t i = 0; i < table->texts.count; i++) {
    size_t length;
    json_put_text(json, interned(&table->texts, i, &length));
  }
  json_put_end(json, ']');
}

bool graph_table_failed(const GraphTable *table) {
  return table->texts.failed || table->places.failed || table->calls.failed || table->chains.failed ||
         table->nodes.failed || table->blocks.failed;
}
void graph_table_dispose(GraphTable *table) {
  interner_dispose(&table->texts);
  interner_dispose(&table->places);
  interner_dispose(&table->calls);
  interner_dispose(&table->chains);
  interner_dispose(&table->nodes);
  interner_dispose(&table->blocks);
}
