/* Rules for dicts that are made in the graph from constant keys and never written: their length, and the value of a
 * constant key. */
#include "pass/pass.h"
#include "pass/rewrite/rewrite_rule.h"
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

static bool is_plain(const RewriteMatch *m) {
  const Value *dict = bound(m, 'd');
  enum { NO = 1, YES = 2 };
  intptr_t answer = (intptr_t)ptrmap_get(&m->run->asked, dict);
  if (!answer) {
    answer = value_is_never_written(dict) && has_plain_keys(dict->node) ? YES : NO;
    ptrmap_put(&m->run->asked, dict, (void *)answer);
  }
  return answer == YES;
}

static Value *entry_count(const RewriteMatch *m) {
  return insert_constant_before(m->node, ivalue_int(bound(m, 'd')->node->input_count / 2), NULL);
}

static Value *entry(const RewriteMatch *m) {
  const Node *made = bound(m, 'd')->node;
  IValue key, own;
  if (!value_is_constant(bound(m, 'k'), &key)) return NULL;
  for (uint32_t i = 0; i + 1 < made->input_count; i += 2)
    if (value_is_constant(node_input(made, i), &own) && keys_equal(own, key)) return node_input(made, i + 1);
  return NULL;
}

/* clang-format off */
static const RewriteRule rules[] = {
  {"len_of_entries", "aten::len(%d=prim::DictConstruct(...))",             MAKES(entry_count), WHEN(is_plain)},
  {"known_entry",    "aten::__getitem__(%d=prim::DictConstruct(...), %k)", MAKES(entry),       WHEN(is_plain)},
};
/* clang-format on */
const RewriteTable rewrite_dicts = {REWRITE_DICTS, FILE_NAME, rules, sizeof rules / sizeof *rules};

bool peephole_dict_idioms(Graph *graph) {
  return rewrite_graph(&rewrite_dicts, graph, true, NULL);
}

PASS(peephole_dict_idioms, GRADIENTS, peephole_dict_idioms(graph), "looks into dicts that are made here");
