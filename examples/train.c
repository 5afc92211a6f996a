/* Trains the classifier of handwritten digits from random weights, with Adam.
 *
 *   train [DIGITS.npz] [CLASSIFIER.pt] [EPOCHS] [WANTED_ACCURACY] [SAVE_AS.pt]
 *
 * DIGITS.npz has images (n, 8, 8) of 0 to 16 and labels; of five in a row, the fifth is kept for the test. The
 * classifier is a TorchScript module that takes (n, 1, 8, 8) and gives (n, 10) scores; its weights are thrown away
 * first. Exits with 0 when the accuracy on the test images is at least the wanted one (0.97).
 *
 * Compile: cc train.c $(pkg-config --cflags --libs wick) -o train */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wick/wick.h>

enum { MAX_PARAMETERS = 64, BATCH = 64 };

/* What is easier said in TorchScript than in C. */
static const char helpers[] =
    "def split(images: Tensor, labels: Tensor):\n"
    "    x = images.to(torch.float32).div(16).unsqueeze(1)\n"
    "    test = torch.arange(x.size(0)) % 5 == 4\n"
    "    return x[~test], labels[~test], x[test], labels[test]\n"
    "\n"
    "def shuffled(count: int):\n"
    "    return torch.randperm(count)\n"
    "\n"
    "def batch(images: Tensor, labels: Tensor, order: Tensor, begin: int, size: int):\n"
    "    chosen = order[begin:begin + size]\n"
    "    return images[chosen], labels[chosen]\n"
    "\n"
    "def loss(scores: Tensor, labels: Tensor):\n"
    "    return torch.nn.functional.cross_entropy(scores, labels, label_smoothing=0.05)\n"
    "\n"
    "def correct(scores: Tensor, labels: Tensor) -> int:\n"
    "    return int((scores.argmax(1) == labels).sum())\n"
    "\n"
    "def reset(weight: Tensor, is_scale: bool):\n"
    "    if weight.dim() > 1:\n"
    "        bound = (weight.size(0) / weight.numel()) ** 0.5\n"
    "        weight.uniform_(-bound, bound)\n"
    "    elif is_scale:\n"
    "        weight.fill_(1)\n"
    "    else:\n"
    "        weight.zero_()\n"
    "\n"
    "def step(weights: List[Tensor], grads: List[Tensor], means: List[Tensor], squares: List[Tensor],\n"
    "         counts: List[Tensor], rate: float):\n"
    "    none: List[Tensor] = []\n"
    "    torch.optim._functional.adam(weights, grads, means, squares, none, counts, amsgrad=False, beta1=0.9,\n"
    "        beta2=0.999, lr=rate, weight_decay=1e-4, eps=1e-8, maximize=False)\n";

static wick_module *program;

static void fail(wick_error *error) {
  fprintf(stderr, "train: %s\n%s", wick_error_message(error), wick_error_trace(error));
  wick_error_free(error);
  exit(1);
}

/* Calls a helper, or the classifier when `module` is given. Releases the arguments where `keep` has no bit for them. */
static wick_value *call(wick_module *module, const char *name, int grad, unsigned keep, size_t count,
                        wick_value *const *arguments) {
  wick_run_options options = {.size = sizeof options, .grad = grad ? WICK_GRAD_ON : WICK_GRAD_OFF};
  wick_error *error = NULL;
  wick_value *result = NULL;
  if (wick_run(module ? module : program, name, (const wick_value *const *)arguments, count, NULL, 0, &options, &result,
               &error))
    fail(error);
  for (size_t i = 0; i < count; i++)
    if (!(keep >> i & 1)) wick_value_release(arguments[i]);
  return result;
}
#define CALL(module, name, grad, keep, ...)                                                  \
  call(module, name, grad, keep, sizeof(wick_value *[]){__VA_ARGS__} / sizeof(wick_value *), \
       (wick_value *[]){__VA_ARGS__})
enum { KEEP_ALL = ~0u };

/* ---- the classifier's weights ---- */

typedef struct Weights {
  size_t count;
  wick_value *values[MAX_PARAMETERS];
} Weights;

static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Weights *weights = user;
  wick_error *error = NULL;
  (void)type;
  if (kind == WICK_ATTRIBUTE || wick_value_kind(value) != WICK_TENSOR) return 0;
  wick_value *tensor = wick_value_retain((wick_value *)value);
  int scale = strstr(name, "running_var") || (strstr(name, "bn") && strstr(name, "weight"));
  wick_value_release(CALL(NULL, "reset", 0, 1, tensor, wick_value_bool(scale)));
  if (kind == WICK_BUFFER || weights->count == MAX_PARAMETERS) {
    wick_value_release(tensor);
    return 0;
  }
  if (wick_tensor_set_requires_grad(tensor, 1, &error)) fail(error);
  weights->values[weights->count++] = tensor;
  return 0;
}

/* A list with zeros like each weight, or with a zero for each. */
static wick_value *zeros(const Weights *weights, int like) {
  wick_value *items[MAX_PARAMETERS], *list = NULL;
  wick_error *error = NULL;
  for (size_t i = 0; i < weights->count; i++) {
    wick_status failed =
        like ? wick_op_call(NULL, "aten::zeros_like", NULL, (const wick_value *const[]){weights->values[i]}, 1, NULL, 0,
                            &items[i], &error)
             : wick_tensor_new(WICK_FLOAT32, 0, NULL, &items[i], &error);
    if (failed) fail(error);
    if (!like) {
      wick_tensor_view view = {.size = sizeof view};
      if (wick_tensor_view_of(items[i], &view, &error)) fail(error);
      *(float *)view.data = 0;
    }
  }
  if (wick_value_list((const wick_value *const *)items, weights->count, &list, &error)) fail(error);
  for (size_t i = 0; i < weights->count; i++) wick_value_release(items[i]);
  return list;
}

static wick_value *list_of(const Weights *weights, int gradients) {
  wick_value *items[MAX_PARAMETERS], *list = NULL;
  wick_error *error = NULL;
  for (size_t i = 0; i < weights->count; i++) {
    items[i] = wick_value_retain(weights->values[i]);
    if (!gradients) continue;
    wick_value_release(items[i]);
    if (wick_tensor_grad(weights->values[i], &items[i], &error)) fail(error);
    if (wick_tensor_clear_grad(weights->values[i], &error)) fail(error);
  }
  if (wick_value_list((const wick_value *const *)items, weights->count, &list, &error)) fail(error);
  for (size_t i = 0; i < weights->count; i++) wick_value_release(items[i]);
  return list;
}

/* ---- training ---- */

typedef struct Training {
  wick_module *classifier;
  Weights weights;
  wick_value *weight_list, *means, *squares, *counts;
  wick_value *images, *labels, *test_images, *test_labels;
} Training;

static void set_training(Training *t, int training) {
  wick_error *error = NULL;
  if (wick_module_train(t->classifier, training, &error)) fail(error);
}

static size_t rows(const wick_value *tensor) {
  wick_tensor_view view = {.size = sizeof view};
  wick_error *error = NULL;
  if (wick_tensor_view_of(tensor, &view, &error)) fail(error);
  return (size_t)view.sizes[0];
}

static double accuracy(Training *t) {
  set_training(t, 0);
  wick_value *scores = CALL(t->classifier, "forward", 0, KEEP_ALL, t->test_images);
  wick_value *right = CALL(NULL, "correct", 0, 2, scores, t->test_labels);
  double share = (double)wick_value_to_int(right) / (double)rows(t->test_labels);
  wick_value_release(right);
  return share;
}

static double train_batch(Training *t, wick_value *order, size_t begin, double rate) {
  wick_error *error = NULL;
  wick_value *pair =
      CALL(NULL, "batch", 0, 7, t->images, t->labels, order, wick_value_int((int64_t)begin), wick_value_int(BATCH));
  wick_value *images = wick_value_item(pair, 0), *labels = wick_value_item(pair, 1);
  wick_value_release(pair);
  wick_value *scores = CALL(t->classifier, "forward", 1, 0, images);
  wick_value *loss = CALL(NULL, "loss", 1, 0, scores, labels);
  if (wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, &error)) fail(error);
  wick_value_release(CALL(NULL, "step", 0, 29, t->weight_list, list_of(&t->weights, 1), t->means, t->squares, t->counts,
                          wick_value_double(rate)));
  wick_tensor_view view = {.size = sizeof view};
  if (wick_tensor_view_of(loss, &view, &error)) fail(error);
  double value = *(float *)view.data;
  wick_value_release(loss);
  return value;
}

static double train_epoch(Training *t, double rate) {
  size_t count = rows(t->images), batches = 0;
  wick_value *order = CALL(NULL, "shuffled", 0, 0, wick_value_int((int64_t)count));
  double sum = 0;
  set_training(t, 1);
  for (size_t begin = 0; begin < count; begin += BATCH, batches++) sum += train_batch(t, order, begin, rate);
  wick_value_release(order);
  return sum / (double)batches;
}

static void load(Training *t, const char *digits, const char *classifier) {
  wick_error *error = NULL;
  wick_value *data = NULL;
  if (wick_compile(NULL, helpers, strlen(helpers), "train.py", &program, &error)) fail(error);
  if (wick_load_value(NULL, digits, NULL, &data, &error)) fail(error);
  if (wick_load(NULL, classifier, NULL, &t->classifier, &error)) fail(error);
  wick_value *images = wick_value_get_text(data, "images"), *labels = wick_value_get_text(data, "labels");
  wick_value_release(data);
  if (!images || !labels) {
    fprintf(stderr, "train: %s has no images and labels\n", digits);
    exit(1);
  }
  wick_value *parts = CALL(NULL, "split", 0, 0, images, labels);
  t->images = wick_value_item(parts, 0);
  t->labels = wick_value_item(parts, 1);
  t->test_images = wick_value_item(parts, 2);
  t->test_labels = wick_value_item(parts, 3);
  wick_value_release(parts);
  if (wick_module_each(t->classifier, visit, &t->weights, &error)) fail(error);
  t->weight_list = list_of(&t->weights, 0);
  t->means = zeros(&t->weights, 1);
  t->squares = zeros(&t->weights, 1);
  t->counts = zeros(&t->weights, 0);
}

static void release(Training *t) {
  wick_value *values[] = {t->weight_list, t->means,  t->squares,     t->counts,
                          t->images,      t->labels, t->test_images, t->test_labels};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) wick_value_release(values[i]);
  for (size_t i = 0; i < t->weights.count; i++) wick_value_release(t->weights.values[i]);
  wick_module_release(t->classifier);
  wick_module_release(program);
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **words) {
  const char *digits = count > 1 ? words[1] : "examples/digits/digits.npz";
  const char *classifier = count > 2 ? words[2] : "tests/model/digits_cnn.pt";
  int epochs = count > 3 ? atoi(words[3]) : 15;
  double wanted = count > 4 ? atof(words[4]) : 0.97, rate = 4e-3;
  wick_value *seed = wick_value_int(7);
  wick_error *error = NULL;
  wick_value *nothing = NULL;
  Training t = {0};
  if (wick_op_call(NULL, "aten::manual_seed", NULL, (const wick_value *const[]){seed}, 1, NULL, 0, &nothing, &error))
    fail(error);
  wick_value_release(nothing);
  wick_value_release(seed);
  load(&t, digits, classifier);
  printf("%zu images to learn from, %zu to be tested with, %zu weight tensors; untrained accuracy %.1f%%\n",
         rows(t.images), rows(t.test_images), t.weights.count, 100 * accuracy(&t));

  double start = seconds(), reached = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    double loss = train_epoch(&t, epoch > epochs - epochs / 3 ? rate / 5 : rate);
    reached = accuracy(&t);
    printf("epoch %2d of %d: loss %.4f, accuracy on test images %.2f%%\n", epoch, epochs, loss, 100 * reached);
    fflush(stdout);
  }
  double time = seconds() - start;
  printf("%s: %.2f%% of %zu test images, %d epochs in %.1f s, %.0f images a second\n",
         reached >= wanted ? "learnt" : "NOT learnt", 100 * reached, rows(t.test_images), epochs, time,
         (double)rows(t.images) * epochs / time);
  if (count > 5 && wick_module_save(t.classifier, NULL, words[5], NULL, &error)) fail(error);
  release(&t);
  return reached >= wanted ? 0 : 1;
}
