/* Passes that ask the alias analysis: it is made in a scratch arena and gone when the pass is done. */
#pragma once

#include "ir/alias_db.h"

/* What body throws goes on to the graph's catch point. */
void with_aliases(Graph *graph, void (*body)(Graph *graph, AliasDb *db, void *argument), void *argument);
