/* Several inputs, one by name, a list and a dict; results in a tuple; calls from eight threads at once, one that comes
 * later by itself, and one that runs out of time. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <wick/wick.h>

static const char program[] =
    "def join(parts: List[Tensor], weights: Dict[str, float], scale: float = 1.0):\n"
    "    total = torch.zeros(2)\n"
    "    for part in parts:\n"
    "        total = total + part * weights['a']\n"
    "    return total * scale, len(parts)\n"
    "def forever():\n"
    "    n = 0\n"
    "    while n >= 0:\n"
    "        n += 1\n"
    "    return n\n";
static wick_module *module;
static wick_value *list, *dict, *scale;

static double call(void) {
  const wick_value *arguments[] = {list, dict, scale};
  const char *names[] = {"scale"}; /* of the last */
  wick_value *result;
  float numbers[2];
  if (wick_run(module, "join", arguments, 3, names, 1, NULL, &result, NULL)) return -1;
  wick_value *tensor = wick_value_item(result, 0), *count = wick_value_item(result, 1);
  wick_tensor_copy_to(tensor, numbers, sizeof numbers, NULL);
  double sum = numbers[0] + numbers[1] + (double)wick_value_to_int(count);
  wick_value_release(tensor), wick_value_release(count), wick_value_release(result);
  return sum;
}
static void *many(void *failures) {
  for (int i = 0; i < 1000; i++)
    if (call() != 20) ++*(int *)failures;
  return NULL;
}

int main(void) {
  wick_error *error = NULL;
  if (wick_compile(NULL, program, strlen(program), "join.py", &module, &error)) {
    puts(wick_error_message(error));
    return 1;
  }
  const float data[] = {1, 2};
  const int64_t sizes[] = {2};
  wick_value *tensor, *key = wick_value_string("a", 1), *weight = wick_value_double(2);
  wick_tensor_new(WICK_FLOAT32, 1, sizes, &tensor, NULL);
  wick_tensor_copy_from(tensor, data, sizeof data, NULL);
  const wick_value *parts[] = {tensor, tensor}, *keys[] = {key}, *values[] = {weight};
  wick_value_list(parts, 2, &list, NULL);
  wick_value_dict(keys, values, 1, &dict, NULL);
  scale = wick_value_double(1.5);

  pthread_t threads[8];
  int failures[8] = {0}, failed = 0;
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, many, &failures[i]);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL), failed += failures[i];
  printf("8000 calls, %d wrong\n", failed);

  wick_future *future;
  wick_value *later;
  const wick_value *arguments[] = {list, dict};
  if (!wick_run_async(module, "join", arguments, 2, NULL, 0, NULL, &future, &error) &&
      !wick_future_wait(future, 0, &later, &error))
    puts("one later"), wick_value_release(later), wick_future_release(future);

  wick_run_options hurry = {.size = sizeof hurry, .deadline_ns = 10000000};
  wick_status status = wick_run(module, "forever", NULL, 0, NULL, 0, &hurry, &later, &error);
  printf("%s\n", status == WICK_DEADLINE ? "out of time" : "not stopped");
  wick_error_free(error);
  wick_value_release(tensor), wick_value_release(key), wick_value_release(weight), wick_value_release(scale);
  wick_value_release(list), wick_value_release(dict), wick_module_release(module);
  return failed != 0;
}
