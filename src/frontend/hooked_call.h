/* Calling a module whose class has hooks: they run before its forward and after it, as Python calls modules. */
#pragma once

#include "frontend/emitter.h"

bool class_has_hooks(const ClassType *class_type);
/* `module(...)`. What a hook before forward answers takes the place of the positional arguments (a tuple: all of them),
 * what one after it answers that of the result; a hook of type None changes nothing. */
SugaredValue *hooked_call(Emitter *e, SourceRange range, Value *module, const CallArguments *arguments);
