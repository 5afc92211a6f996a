/* Tasks and their stacks of frames. */
#include "interp/task.h"

#include <assert.h>

typedef struct TaskChunk {
  struct TaskChunk *next, *previous;
  size_t used, size;
  _Alignas(16) char data[];
} TaskChunk;

enum { FIRST_CHUNK = 2048, CHUNK = 64 << 10 };

static TaskChunk *chunk_new(size_t size) {
  TaskChunk *chunk = mem_alloc(sizeof *chunk + size);
  if (!chunk) return NULL;
  *chunk = (TaskChunk){.size = size};
  return chunk;
}

Task *task_acquire(Runtime *runtime) {
  for (int i = 0; i < RUNTIME_STACKS; i++) {
    if (!atomic_load_explicit(&runtime->stacks[i], memory_order_relaxed)) continue;
    Task *task = atomic_exchange_explicit(&runtime->stacks[i], NULL, memory_order_acquire);
    if (task) return task;
  }
  HEAP_SCOPE(runtime->heap); /* not of a plan that is being made */
  Task *task = mem_calloc(1, sizeof *task);
  if (!task) return NULL;
  task->runtime = runtime;
  task->first_chunk = task->chunk = chunk_new(FIRST_CHUNK);
  if (!task->chunk) {
    mem_free(task);
    return NULL;
  }
  return task;
}

static void task_free(Task *task) {
  for (TaskChunk *chunk = task->first_chunk, *next; chunk; chunk = next) {
    next = chunk->next;
    mem_free(chunk);
  }
  mem_free(task);
}

/* A cached task keeps at most two chunks, which bounds what the cache holds. */
void task_release(Task *task) {
  assert(!task->top);
  TaskChunk *first = task->first_chunk;
  bool is_usual = first->next && first->next->size == CHUNK; /* not larger, for one frame */
  for (TaskChunk *chunk = is_usual ? first->next->next : first->next, *next; chunk; chunk = next) {
    next = chunk->next;
    mem_free(chunk);
  }
  if (is_usual)
    first->next->next = NULL;
  else
    first->next = NULL;
  Runtime *runtime = task->runtime;
  *task = (Task){.runtime = runtime, .first_chunk = first, .chunk = first};
  for (int i = 0; i < RUNTIME_STACKS; i++) {
    Task *expected = NULL;
    if (atomic_compare_exchange_strong_explicit(&runtime->stacks[i], &expected, task, memory_order_release,
                                                memory_order_relaxed))
      return;
  }
  task_free(task);
}

static size_t task_bytes(const Task *task) {
  size_t bytes = sizeof *task;
  for (const TaskChunk *chunk = task->first_chunk; chunk; chunk = chunk->next) bytes += sizeof *chunk + chunk->size;
  return bytes;
}

size_t interp_trim(Runtime *runtime) {
  size_t bytes = 0;
  for (int i = 0; i < RUNTIME_STACKS; i++) {
    Task *task = atomic_exchange(&runtime->stacks[i], NULL);
    if (!task) continue;
    bytes += task_bytes(task);
    task_free(task);
  }
  return bytes;
}

/* Each is taken out while it is looked at; a call that begins meanwhile makes one. */
size_t interp_stack_bytes(Runtime *runtime) {
  size_t bytes = 0;
  for (int i = 0; i < RUNTIME_STACKS; i++) {
    Task *task = atomic_exchange(&runtime->stacks[i], NULL), *expected = NULL;
    if (!task) continue;
    bytes += task_bytes(task);
    if (!atomic_compare_exchange_strong(&runtime->stacks[i], &expected, task)) task_free(task);
  }
  return bytes;
}

Status task_push(Task *task, const Code *code, Frame **out) {
  assert(code->parameter_count + code->borrowed_count <= code->register_count);
  if (task->depth >= MAX_FRAMES)
    return status_exception("RecursionError", "maximum recursion depth of %d calls exceeded", MAX_FRAMES);
  size_t values = (size_t)code->register_count + code->window + code->enter_depth;
  size_t bytes = sizeof(Frame) + values * sizeof(IValue);
  TaskChunk *chunk = task->chunk;
  while (chunk->size - chunk->used < bytes) {
    if (!chunk->next) {
      HEAP_SCOPE(task->runtime->heap);
      TaskChunk *larger = chunk_new(bytes > CHUNK ? bytes : CHUNK);
      if (!larger) return status_out_of_memory();
      larger->previous = chunk;
      chunk->next = larger;
    }
    chunk = chunk->next;
    chunk->used = 0;
  }
  Frame *frame = (Frame *)(chunk->data + chunk->used);
  IValue *registers = (IValue *)(frame + 1);
  *frame = (Frame){.caller = task->top,
                   .code = code,
                   .pc = code->instructions,
                   .registers = registers,
                   .window = registers + code->register_count,
                   .entered = registers + code->register_count + code->window,
                   .output = NO_REGISTER,
                   .chunk = task->chunk,
                   .chunk_used = task->chunk->used};
  chunk->used += bytes;
  task->chunk = chunk;
  uint32_t p = code->parameter_count, k = code->constant_count; /* who runs it fills in its state */
  memset(registers, 0, p * sizeof(IValue));
  memcpy(registers + p, code->constants, k * sizeof(IValue));
  memset(registers + p + k, 0, (code->register_count - p - k) * sizeof(IValue));
  task->top = frame;
  task->depth++;
  *out = frame;
  return OK;
}

void task_pop(Task *task) {
  assert(task->depth > 0 && task->top);
  Frame *frame = task->top;
  const Code *code = frame->code;
  uint32_t p = code->parameter_count, k = code->borrowed_count;
  for (uint32_t i = 0; i < p; i++) ivalue_release(frame->registers[i]);
  for (uint32_t i = p + k; i < code->register_count; i++) ivalue_release(frame->registers[i]);
  while (frame->entered_count) ivalue_release(frame->entered[--frame->entered_count]);
  task->chunk = frame->chunk;
  task->chunk->used = frame->chunk_used;
  task->top = frame->caller;
  task->depth--;
}
