/* Anchors of one input (queries, keys and values of attention, gates), each with the functions of its result, become
 * one region with a result for each. Part of fuse_regions. */
#pragma once

#include "ir/alias_db.h"

void join_anchors(Graph *graph, AliasDb *db, Block *block);
