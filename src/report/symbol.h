/* Symbol: an interned `namespace::name`, an integer that compares by value. Symbols name node kinds and node
 * attributes, nothing else, so the table grows with the registered operators and never with loaded programs. The known
 * ones are an enumeration, usable in switch. */
#pragma once

#include "base/str.h"
#include "report/known_symbols.h"

typedef uint32_t Symbol;

enum {
  SYMBOL_NONE = 0,
#define X(space, name) SYM_##space##_##name,
  KNOWN_SYMBOLS(X)
#undef X
      SYMBOL_KNOWN_COUNT
};

/* Interns "space::name"; thread-safe. SYMBOL_NONE when out of memory or without "::". */
Symbol symbol_intern(Str qualified);
Symbol symbol_find(Str qualified); /* SYMBOL_NONE: not interned */
Str symbol_name(Symbol symbol);    /* "aten::add"; lives as long as the process */
Str symbol_space(Symbol symbol);   /* "aten" */
Str symbol_base(Symbol symbol);    /* "add" */
