/* A list under a lock. */
#include "executor/executor_list.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ExecutorLink *first;

void executor_list_add(ExecutorLink *link) {
  pthread_mutex_lock(&lock);
  link->previous = NULL;
  link->next = first;
  if (first) first->previous = link;
  first = link;
  pthread_mutex_unlock(&lock);
}

void executor_list_remove(ExecutorLink *link) {
  pthread_mutex_lock(&lock);
  *(link->previous ? &link->previous->next : &first) = link->next;
  if (link->next) link->next->previous = link->previous;
  pthread_mutex_unlock(&lock);
}

void executor_list_each(void (*visit)(ExecutorLink *link, void *argument), void *argument) {
  pthread_mutex_lock(&lock);
  for (ExecutorLink *link = first; link; link = link->next) visit(link, argument);
  pthread_mutex_unlock(&lock);
}

static void take(void) {
  pthread_mutex_lock(&lock);
}
static void give_back(void) {
  pthread_mutex_unlock(&lock);
}
void executor_list_watch_forks(void) {
  pthread_atfork(take, give_back, give_back);
}
