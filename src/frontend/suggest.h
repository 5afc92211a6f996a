/* What an error may propose: a name like the one that was written, the annotation that is missing. */
#pragma once

#include "frontend/emitter.h"

/* The nearest of the names offered, within a distance that grows with the name. */
typedef struct Suggestion {
  Str wanted, best;
  size_t limit, common; /* the distance allowed, later the best's; how much of the beginning the best has in common */
} Suggestion;

void suggestion_start(Suggestion *s, Str wanted);
void suggestion_offer(Suggestion *s, Str name);
/* " Did you mean 'x'?", or nothing. */
const char *suggestion_text(const Suggestion *s, Compilation *c);

/* What sugared_value.c knows of attributes and methods that are operators. */
void sugared_offer_properties(Suggestion *s, const Type *type);
bool sugared_takes_receiver(Emitter *e, const FunctionSchema *schema, Value *value);

/* For an attribute or method that a value does not have. */
const char *suggest_attribute(Emitter *e, Value *value, Str name);
/* For a Tensor that is one only because its parameter has no annotation; nothing for other values. */
const char *suggest_annotation(Emitter *e, const Value *value);
