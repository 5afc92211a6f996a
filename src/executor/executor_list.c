/* A list under a lock. */
#include "executor/executor_list.h"

#include <assert.h>
#include <stddef.h>

#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ExecutorLink *first;

void executor_list_add(ExecutorLink *link) {
  lock_take(&lock);
  link->previous = NULL;
  link->next = first;
  if (first) first->previous = link;
  first = link;
  lock_drop(&lock);
}

void executor_list_remove(ExecutorLink *link) {
  lock_take(&lock);
  assert(link->previous || first == link);
  *(link->previous ? &link->previous->next : &first) = link->next;
  if (link->next) link->next->previous = link->previous;
  lock_drop(&lock);
}

void executor_list_each(void (*visit)(ExecutorLink *link, void *argument), void *argument) {
  lock_take(&lock);
  executor_list_each_alone(visit, argument);
  lock_drop(&lock);
}

void executor_list_each_alone(void (*visit)(ExecutorLink *link, void *argument), void *argument) {
  for (ExecutorLink *link = first; link; link = link->next) visit(link, argument);
}
