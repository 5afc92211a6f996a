/* zlib's format (RFC 1950, 1951) written, for pictures. What it holds is read by wick_inflate. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* false: there is no memory. *out is malloc'd. */
bool deflate_pack(const unsigned char *bytes, size_t length, unsigned char **out, size_t *out_length);
/* Adler-32, with which zlib's format ends. */
uint32_t deflate_sum(const unsigned char *bytes, size_t length);
