/* AliasDb: what a graph's values may point to, who writes there, and which nodes may change places.
 *
 * A snapshot: it is made at the first question, for the graph as it stands then, and kept right by the functions below
 * that change the graph. Passes make one in a scratch arena of their own, use it and drop it. Nodes that a pass
 * destroys may stay in it (answers only get more careful); nodes that a pass makes must be added (alias_add_node) or
 * their outputs declared (alias_replace_value) before questions about them are asked.
 *
 * Every answer errs on the side of "may". Immutable values (numbers, strings, tuples of such) alias nothing. Building
 * is near-linear in the graph; questions about two values take bounded time. All functions may throw to the catch point
 * of the arena they were given. */
#pragma once

#include "ir/graph.h"

typedef struct AliasDb AliasDb;

AliasDb *alias_db_new(Graph *graph, Arena *arena);
/* May hold what can be written: tensors, lists, dicts, objects, and whatever contains one. */
static inline bool alias_type_is_mutable(const Type *type) {
  return type_may_be_mutable(type);
}

/* ---- values ---- */
bool alias_may_alias(AliasDb *db, const Value *a, const Value *b); /* for tests: passes ask for more at once */
/* Whether something reachable from a is reachable from b: elements of containers count. */
bool alias_may_contain_alias(AliasDb *db, const Value *a, const Value *b);
/* Whether the value may be seen from outside of the graph, or through any container: it is in a wildcard set. */
bool alias_is_wildcard(AliasDb *db, const Value *value);
/* The value is memory that its node made, and nothing else. */
bool alias_is_fresh(AliasDb *db, const Value *value);
/* a may be put where b was: nothing that is written or leaves the graph would be shared that was not, or the reverse.
 */
bool alias_safe_to_change(AliasDb *db, const Value *a, const Value *b);

/* ---- writes ---- */
/* Anybody writes to memory that the value may point to or contain. */
bool alias_has_writers(AliasDb *db, const Value *value);
bool alias_node_has_writers(AliasDb *db, const Node *node);        /* of any input or output */
bool alias_node_has_input_writers(AliasDb *db, const Node *node);  /* of any input */
bool alias_node_has_output_writers(AliasDb *db, const Node *node); /* of any output */
/* The node, or one in its blocks, writes to memory that the value may point to or contain. */
bool alias_node_writes(AliasDb *db, const Node *node); /* to anything */
/* The memory that the nodes, with their blocks, may write to; whether the value may point to or contain some of it. */
const struct MemorySet *alias_written_by(AliasDb *db, size_t count, const Node *const *nodes);
bool alias_may_reach(AliasDb *db, const Value *value, const struct MemorySet *memory);

/* Memory that is needed, for dead code elimination: everything outside of the graph from the start. */
typedef struct AliasMarks AliasMarks;
AliasMarks *alias_marks_new(AliasDb *db);
bool alias_mark(AliasMarks *marks, const Value *value); /* what it may point to or contain; false: was marked already */
bool alias_node_writes_marked(const AliasMarks *marks, const Node *node);

/* ---- moves, within a block ---- */
/* The order of writes to one memory stays, no read moves across a write to what it reads, effects stay in order, and
 * nothing but what has no effect moves across a prim::BailOut. What may fail and what can be noticed outside, though
 * the call fails, stay in order. What lies between and depends on `node` moves along. */
bool alias_could_move_before(AliasDb *db, Node *node, Node *point);
bool alias_could_move_after(AliasDb *db, Node *node, Node *point); /* no pass asks: for tests of the order */
bool alias_move_before(AliasDb *db, Node *node, Node *point);      /* false: not possible, nothing changed */
bool alias_move_after(AliasDb *db, Node *node, Node *point);       /* likewise for tests */

/* The first node of the graph's own block with an effect that can be noticed outside, random numbers that it draws
 * included. NULL: none. What is found on the way is in the arena. */
const Node *alias_first_effect(const Graph *graph, Arena *arena);

/* ---- changes ---- */
/* `to` points where `from` did; for a value that a pass puts in its place. */
void alias_replace_value(AliasDb *db, const Value *from, const Value *to);
/* Analyses a node that was made since, with its blocks; its inputs are known. */
void alias_add_node(AliasDb *db, Node *node);

/* ---- text ---- */
void alias_print(AliasDb *db, StrBuf *out); /* "%c points to: ..." line by line, then the writes */
void alias_print_dot(AliasDb *db, StrBuf *out);
