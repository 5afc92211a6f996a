/* torch.optim._functional of the prelude against steps taken by PyTorch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

static const char program[] =
    "def vector(a: float, b: float, c: float):\n"
    "    return torch.stack([torch.full([], x, dtype=torch.float64) for x in [a, b, c]])\n"
    "\n"
    "def check(params: List[Tensor], expected: Tensor):\n"
    "    assert torch.allclose(params[0], expected, rtol=0., atol=1e-12), str(params[0])\n"
    "\n"
    "def sgd():\n"
    "    grads = [vector(.1, -.2, .3), vector(.3, .2, -.1)]\n"
    "    params = [vector(1., 2., 3.)]\n"
    "    buffers: List[Optional[Tensor]] = [None]\n"
    "    for k in range(2):\n"
    "        torch.optim._functional.sgd(params, [grads[k]], buffers, weight_decay=0.01, momentum=0.9, lr=0.1,\n"
    "                                    dampening=0.1, nesterov=False, maximize=False)\n"
    "    check(params, vector(0.9512098999999999, 2.0143837999999996, 2.9436297000000002))\n"
    "    params = [vector(1., 2., 3.)]\n"
    "    buffers[0] = None\n"
    "    for k in range(2):\n"
    "        torch.optim._functional.sgd(params, [grads[k]], buffers, weight_decay=0., momentum=0.9, lr=0.1,\n"
    "                                    dampening=0., nesterov=True, maximize=True)\n"
    "    check(params, vector(1.0840999999999998, 1.9838, 3.0623))\n"
    "\n"
    "def adam(amsgrad: bool):\n"
    "    grads = [vector(.1, -.2, .3), vector(.3, .2, -.1)]\n"
    "    params, means, squares, largest = [vector(1., 2., 3.)], [vector(0., 0., 0.)], [vector(0., 0., 0.)], "
    "[vector(0., 0., 0.)]\n"
    "    steps = [torch.tensor(0.)]\n"
    "    for k in range(2):\n"
    "        torch.optim._functional.adam(params, [grads[k]], means, squares, largest, steps, amsgrad=amsgrad,\n"
    "                                     beta1=.9, beta2=.99, lr=.1, weight_decay=.01, eps=1e-8, maximize=False)\n"
    "    check(params, vector(0.8075919893720984, 2.0846005504542098, 2.8500510110532096))\n"
    "\n"
    "def both():\n"
    "    sgd()\n"
    "    adam(False)\n"
    "    adam(True)\n";

static void test_steps(void **state) {
  (void)state;
  wick_module *module;
  wick_error *error = NULL;
  wick_value *result = NULL;
  if (wick_compile(NULL, program, strlen(program), "optim.py", &module, &error))
    fail_msg("%s", wick_error_message(error));
  if (wick_run(module, "both", NULL, 0, NULL, 0, NULL, &result, &error)) fail_msg("%s", wick_error_message(error));
  wick_value_release(result);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
