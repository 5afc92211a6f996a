/* All GraphExecutors of the process, for what concerns each of them. */
#pragma once

#include <stdbool.h>

typedef struct ExecutorLink {
  struct ExecutorLink *previous, *next;
} ExecutorLink;

void executor_list_add(ExecutorLink *link);
void executor_list_remove(ExecutorLink *link); /* afterwards nobody visits it */
/* None is added or removed meanwhile: `visit` must not make or free one. */
void executor_list_each(void (*visit)(ExecutorLink *link, void *argument), void *argument);
/* The same without the lock: for the one thread that a forked child begins with. */
void executor_list_each_alone(void (*visit)(ExecutorLink *link, void *argument), void *argument);
