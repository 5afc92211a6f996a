/* What the files of this folder share: hash-consing into a store, and the hash that static types compute at compile
 * time. */
#pragma once

#include "type/type.h"

#define TYPE_HASH_OF_KIND(kind) ((uint32_t)(kind)*0x9E3779B1u + 0x7F4A7C15u)
#define TYPE_HASH_JOIN(hash, element) (((uint32_t)(hash)*31u + (uint32_t)(element)) * 0x85EBCA6Bu)

/* The type of the store (or of the process) that equals `key`, made when there is none; `key` and what it points to may
 * be on the stack. Fills in hash, depth and flags. Types that mention another store's types go there when `store` is
 * the process's, so that the process never points into a unit. */
const Type *type_intern(TypeStore *store, Type *key);
/* The table of static types: NULL when key isn't among them. */
const Type *type_find_static(const Type *key);
/* Equality of everything but kinds and hash, which are equal already. */
bool type_equal_parts(const Type *a, const Type *b);
