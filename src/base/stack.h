/* How much native stack is left: what recurses over input asks this, for depth alone says nothing on a small stack. */
#pragma once

#include <stddef.h>

/* The answer on a stack that is not the thread's own (a coroutine's). */
#define STACK_UNKNOWN ((size_t)1 << 20)
/* Bytes between here and the end of this thread's stack. */
size_t stack_left(void);
/* Below this a recursion gives up with an error; the rest is for the leaves and the error itself. */
enum { STACK_RESERVE = 48 << 10 };
/* Of a thread that runs kernels or tasks: musl's default is 128 KB. */
enum { STACK_OF_THREADS = 8 << 20 };
#define STACK_IS_LOW() (stack_left() < STACK_RESERVE)
