/* Upgraders: operators whose meaning has changed, by the version of the archive that names them. Their older meanings
 * are functions of prelude/upgraders.py. */
#pragma once

#include "frontend/sugared_value.h"

/* `torch.NAME` in an archive of that version. */
SugaredValue *operator_of_version(Compilation *c, int64_t version, Symbol symbol);
/* The ending of the function that is what an operator meant in an archive of that version: "0_3"; NULL: what it means
 * today. */
const char *upgrader_of(int64_t version, Str name);
