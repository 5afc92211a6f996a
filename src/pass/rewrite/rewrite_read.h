/* Rules as the walk uses them: with their texts read, and found by the kind of node at the end of the pattern. */
#pragma once

#include "pass/rewrite/rewrite_rule.h"

typedef struct ReadRule {
  const RewriteRule *rule;
  Pattern pattern, replacement; /* the second where the rule has a text for it */
  const Graph *graph;           /* in place of that text; NULL: none */
} ReadRule;
typedef struct RuleEnd {
  Symbol kind; /* SYMBOL_NONE: any */
  uint32_t rule;
} RuleEnd;
typedef struct ReadRules {
  ReadRule *rules;
  RuleEnd *ends; /* by kind, then in the table's order */
  uint32_t count, end_count, end_room;
} ReadRules;

/* Appends what is read to `to` and `room`, which have room for it. false: no memory. The texts themselves are wick's
 * own, and right (test_rewrite_rules). */
bool rules_read(ReadRules *to, PatternRoom *room, const RewriteRule *rules, uint32_t count) MUST_CHECK;
/* Read when it is first used, and kept. NULL: no memory. */
const ReadRules *rules_of_table(const RewriteTable *table);
/* The first end of the kind, or the place where it would be. */
uint32_t rules_first_end(const ReadRules *rules, Symbol kind);
