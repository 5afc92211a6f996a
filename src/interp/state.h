/* What a plan's Code reads of its first argument, by attributes that nothing in it writes: read before it runs, not by
 * instructions of it, so that calls share what they read while nobody writes. */
#pragma once

#include "interp/interp.h"

uint32_t code_state_count(const Code *code);
uint64_t code_serial(const Code *code);
/* Marks what is read as relied on (ORDER snapshot). values[code_state_count] are None before and owned afterwards, also
 * on failure. */
Status code_read_state(const Code *code, IValue self, IValue *values) MUST_CHECK;
/* The object that values[i] were read of, borrowed. */
const Object *code_state_place(const Code *code, uint32_t i, IValue self, const IValue *values, uint32_t *out_slot);
