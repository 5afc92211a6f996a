/* Upgraders: operators whose meaning has changed, by the version of the archive that names them. Their older meanings
 * are functions of prelude/upgraders.py. */
#pragma once

#include "frontend/sugared_value.h"

/* `torch.NAME` in an archive of that version. */
SugaredValue *operator_of_version(Compilation *c, int64_t version, Symbol symbol);
/* Whether an operator meant something else in an archive of that version. */
bool operator_has_changed(int64_t version, Str name);
