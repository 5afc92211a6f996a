/* syntax: text -> Tree. Nothing here knows what a name means. In reading order: */
#pragma once

#include "syntax/token.h"   /* the kinds of tokens and trees, one table */
#include "syntax/lexer.h"   /* text -> tokens, with indent, dedent and newline among them */
#include "syntax/tree.h"    /* the tree: s-expressions with source ranges */
#include "syntax/view.h"    /* names for the children of each kind */
#include "syntax/parser.h"  /* tokens -> Tree; its files share parser_state.h */
#include "syntax/grammar.h" /* what trees from outside must look like */
