/* The first format of archives (2019): model.json with the modules, tensors/, code/, attributes.pkl. */
#pragma once

#include "serial/archive/import.h"

/* Whether the archive is of that format. */
bool model_json_is_there(const Archive *archive);
/* The main module as an object, its methods compiled. */
Status model_json_read(Import *import, IValue *out) MUST_CHECK;
