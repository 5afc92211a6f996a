/* A build for tests, WICK_HOSTILE: caches hold one entry, memory that was released is overwritten, and every
 * argument that an operator may write over dies (call/call.c), so that what relies on luck fails. Elsewhere this is
 * nothing. */
#pragma once

#include <stddef.h>
#include <string.h>

#ifdef WICK_HOSTILE

enum { RELEASED_BYTE = 0xff }; /* NaN, -1, and no bool */
#define CACHE_ENTRIES(usual) 1
#define OVERWRITE_RELEASED(data, bytes) ((data) ? (void)memset((data), RELEASED_BYTE, (bytes)) : (void)0)
#else
#define CACHE_ENTRIES(usual) (usual)
#define OVERWRITE_RELEASED(data, bytes) ((void)0)
#endif
