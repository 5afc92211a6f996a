/* The page of view/ in three pieces, embedded at build time (cmake/view.cmake): the title goes between the first two,
 * the data between the others. */
#pragma once

#include <stddef.h>

extern const char view_page_begin[], view_page_middle[], view_page_end[];
extern const char view_page_policy[]; /* its Content-Security-Policy, for a server to say as well */
extern const size_t view_page_begin_length, view_page_middle_length, view_page_end_length, view_page_policy_length;
