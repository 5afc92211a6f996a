/* report: names, sources and reasons: what wick says of programs and of itself. In reading order: */
#pragma once

#include "report/symbol.h"        /* interned names of node kinds and attributes */
#include "report/known_symbols.h" /* those that are known when wick is built */
#include "report/source.h"        /* source text and ranges of it */
#include "report/reason.h"        /* why something was not optimized, counters */
#include "report/jit_log.h"       /* what the optimizer tells, how many rewrites it may do */
