/* Modules that hold modules (ModuleList, Sequential, ModuleDict) as programs see them: what they hold is known when the
 * program is compiled, so loops over it are unrolled. */
#pragma once

#include "frontend/emitter.h"

/* The kind that a base class of the name makes: "ModuleList", "Sequential", "ModuleDict". */
ContainerKind container_named(Str base);
/* By a base of the class or, in archives, by the class's name. */
ContainerKind container_of(const Type *type);
/* Submodules in order: their names, themselves, or pairs of both. */
SugaredValue **container_elements(Emitter *e, SourceRange range, Value *module, bool with_keys, bool with_values,
                                  uint32_t *out_count);
SugaredValue *container_tuple(Emitter *e, SourceRange range, Value *module, bool with_keys, bool with_values);
Value *container_len(Emitter *e, SourceRange range, Value *module);
/* Whether a ModuleDict has the name, which must be a constant. */
Value *container_contains(Emitter *e, SourceRange range, Value *module, Value *name);
/* keys, values and items of a ModuleDict; (named_)children, (named_)modules and named_buffers of any module; NULL: none
 * of them. */
SugaredValue *container_method(Emitter *e, Value *module, Str name);

/* sugared_value.c: an attribute, method, constant or property of an object; NULL: it has none of that name. */
SugaredValue *class_attr(Emitter *e, SourceRange range, Value *object, Str name);
