/* Rewrites of dicts that are made in the graph from constant keys and never written: their length, and the value of a
 * constant key. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "peephole_dict_idioms"

enum { MAX_ENTRIES = 256 }; /* keys are compared one by one */

static bool is_key(IValue key) {
  return key.tag == TAG_INT || key.tag == TAG_STRING || key.tag == TAG_BOOL || key.tag == TAG_FLOAT;
}

static bool keys_equal(IValue a, IValue b) {
  return a.tag == b.tag && ivalue_is_surely_equal(a, b);
}

/* All keys are constants of one kind, and each is there once. */
static bool has_plain_keys(const Node *made) {
  IValue keys[MAX_ENTRIES];
  uint32_t count = made->input_count / 2;
  if (count > MAX_ENTRIES) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!value_is_constant(node_input(made, 2 * i), &keys[i]) || !is_key(keys[i]) || keys[i].tag != keys[0].tag)
      return false;
    for (uint32_t k = 0; k < i; k++)
      if (keys_equal(keys[i], keys[k])) return false;
  }
  return true;
}

/* `asked` remembers the answer by dict, as 2 or 1. */
static const Node *construction(PtrMap *asked, const Value *dict) {
  const Node *made = dict->node;
  if (made->kind != SYM_prim_DictConstruct) return NULL;
  intptr_t answer = (intptr_t)ptrmap_get(asked, dict);
  if (!answer) {
    answer = value_is_never_written(dict) && has_plain_keys(made) ? 2 : 1;
    ptrmap_put(asked, dict, (void *)answer);
  }
  return answer == 2 ? made : NULL;
}

static Value *item_of(const Node *made, IValue key) {
  IValue own;
  for (uint32_t i = 0; i + 1 < made->input_count; i += 2)
    if (value_is_constant(node_input(made, i), &own) && keys_equal(own, key)) return node_input(made, i + 1);
  return NULL;
}

static bool rewrite_node(PtrMap *asked, Node *node) {
  IValue key;
  Value *with = NULL, *dict = node_input(node, 0);
  if (node->kind == SYM_aten_len) {
    const Node *made = construction(asked, dict);
    if (made) with = insert_constant_before(node, ivalue_int(made->input_count / 2), NULL);
  } else if (node->kind == SYM_aten___getitem__ && node->input_count == 2 &&
             value_is_constant(node_input(node, 1), &key)) {
    const Node *made = construction(asked, dict);
    if (made) with = item_of(made, key);
  }
  if (!with || !jit_opt_limit(FILE_NAME)) return false;
  NODE_LOG_UPDATE(FILE_NAME, "is known:", node);
  value_replace_all_uses_with(node_output(node, 0), with);
  return true;
}

static bool rewrite_block(PtrMap *asked, const Block *block) {
  bool changed = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) changed |= rewrite_block(asked, node->blocks[i]);
    if (node->output_count == 1 && node->input_count && node_input(node, 0)->type->kind == TYPE_DICT &&
        value_has_uses(node_output(node, 0)))
      changed |= rewrite_node(asked, node);
  }
  return changed;
}

typedef struct Run {
  Graph *graph;
  bool changed;
} Run;
static void run(Arena *scratch, void *argument) {
  Run *r = argument;
  PtrMap asked;
  ptrmap_init(&asked, scratch);
  r->changed = rewrite_block(&asked, r->graph->block);
}

bool peephole_dict_idioms(Graph *graph) {
  Run r = {graph, false};
  graph_with_scratch(graph, run, &r);
  return r.changed;
}

PASS(peephole_dict_idioms, GRADIENTS, peephole_dict_idioms(graph), "looks into dicts that are made here");
