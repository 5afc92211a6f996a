/* Trees from outside. */
#pragma once

#include "syntax/tree.h"
#include "wick/compile.h"

Tree *tree_of(const wick_tree *tree);
/* A source that keeps the trees: names in a program may point into them. */
Status trees_keeper(const wick_tree *tree, Source **out) MUST_CHECK;
