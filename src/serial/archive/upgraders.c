/* Operators that meant something else say so in their rows (OpRow.since, .upgrader). */
#include "serial/archive/upgraders.h"

#include "call/row_extras.h"

const char *upgrader_of(int64_t version, Str name) {
  const Operator *op = operator_find_changed(name);
  return op && version < op->row->since ? row_extras(op->row)->upgrader : NULL;
}

SugaredValue *operator_of_version(Compilation *c, int64_t version, Symbol symbol) {
  SugaredValue *today = sugared_builtin(c, symbol);
  const char *upgrader = upgrader_of(version, symbol_name(symbol));
  if (!upgrader) return today;
  Str base = symbol_base(symbol);
  const char *function = arena_printf(&c->scratch, STR_FMT "_%s", STR_ARG(base), upgrader);
  return sugared_prelude_or(c, STR("upgraders"), str_from(function), today);
}
