/* The table of changed operators, in order of their names. What stands in no row means today what it always meant. */
#include "serial/archive/upgraders.h"

static const struct {
  const char *name;
  int64_t last; /* version in which it had the older meaning */
  const char *upgrader;
} changes[] = {
    {"aten::div", 3, "div_0_3"},           {"aten::div_", 3, "div__0_3"},         {"aten::full", 4, "full_0_4"},
    {"aten::linspace", 7, "linspace_0_7"}, {"aten::logspace", 8, "logspace_0_8"},
};

SugaredValue *operator_of_version(Compilation *c, int64_t version, Symbol symbol) {
  SugaredValue *today = sugared_builtin(c, symbol);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (version <= changes[i].last && str_is(symbol_name(symbol), changes[i].name))
      return sugared_prelude_or(c, STR("upgraders"), str_from(changes[i].upgrader), today);
  return today;
}

bool operator_has_changed(int64_t version, Str name) {
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (version <= changes[i].last && str_is(name, changes[i].name)) return true;
  return false;
}
