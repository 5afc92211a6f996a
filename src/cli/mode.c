/* Training and evaluation: the `training` attributes of a module and its submodules. */
#include <string.h>

#include "cli/cli.h"

bool mode_of(bool eval, bool train, Mode *out) {
  *out = eval ? MODE_EVAL : train ? MODE_TRAIN : MODE_AS_SAVED;
  if (!eval || !train) return true;
  complain(NULL, "--eval and --train exclude each other");
  return false;
}

typedef struct Modes {
  size_t training, evaluating;
  char first[200]; /* that is in training mode */
} Modes;
static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Modes *modes = user;
  (void)kind, (void)type;
  const char *dot = strrchr(name, '.');
  if (strcmp(dot ? dot + 1 : name, "training") != 0 || wick_value_kind(value) != WICK_BOOL) return 0;
  if (wick_value_to_bool(value) && !modes->training)
    snprintf(modes->first, sizeof modes->first, "%.*s", (int)(dot ? dot - name : 0), name);
  *(wick_value_to_bool(value) ? &modes->training : &modes->evaluating) += 1;
  return 0;
}
static Modes modes_of(const wick_module *module) {
  Modes modes = {0};
  wick_module_each(module, visit, &modes, NULL);
  return modes;
}

const char *mode_name(const wick_module *module) {
  Modes modes = modes_of(module);
  return modes.training && modes.evaluating ? "mixed"
         : modes.training                   ? "training"
         : modes.evaluating                 ? "evaluation"
                                            : "";
}

size_t mode_training(const wick_module *module, char *out_first, size_t size) {
  Modes modes = modes_of(module);
  snprintf(out_first, size, "%s", *modes.first ? modes.first : "the module itself");
  return modes.training;
}

/* ---- what behaves otherwise in training ---- */

/* The first of the node's arguments with one of the names; NULL: there is none. */
static const wick_ir_value *argument_of(const wick_node *node, const char *const *names) {
  const wick_ir_value *value = NULL;
  for (; *names && !value; names++) value = wick_node_named_input(node, *names);
  return value;
}
/* Whether the value is a constant: False, 0.0. */
static bool is_zero(const wick_ir_value *value) {
  wick_value *constant = NULL;
  if (!value || wick_ir_value_constant(value, &constant, NULL) || !constant) return false;
  uint32_t kind = wick_value_kind(constant);
  bool zero = (kind == WICK_BOOL && !wick_value_to_bool(constant)) ||
              (kind == WICK_DOUBLE && wick_value_to_double(constant) == 0);
  wick_value_release(constant);
  return zero;
}
/* The operator takes an argument for training, which is not always false, and does not drop nothing. */
static bool depends_on_mode(const wick_node *node) {
  static const char *const modes[] = {"training", "train", "use_input_stats", NULL}, *const rates[] = {"p", "dropout",
                                                                                                       NULL};
  const wick_ir_value *mode = argument_of(node, modes);
  return mode && !is_zero(mode) && !is_zero(argument_of(node, rates));
}
static bool is_training(const wick_module *module, const char *path) {
  char name[300];
  wick_value *value = NULL;
  snprintf(name, sizeof name, "%s%straining", path, *path ? "." : "");
  bool training =
      !wick_module_get(module, name, &value, NULL) && wick_value_kind(value) == WICK_BOOL && wick_value_to_bool(value);
  wick_value_release(value);
  return training;
}
typedef struct Affected {
  const wick_module *module;
  char name[200]; /* the first that was found: "layer1.drop (Dropout)", of self "dropout" */
} Affected;
static void note(Affected *affected, const wick_node *node) {
  wick_inlined_call call = {.size = sizeof call};
  const char *path = "", *kind = wick_node_kind(node);
  for (size_t i = 0; !*path && !wick_node_inlined_call(node, i, &call, NULL); i++) path = call.instance;
  if (!is_training(affected->module, path)) return;
  if (!*path) {
    const char *colon = strrchr(kind, ':');
    snprintf(affected->name, sizeof affected->name, "%s", colon ? colon + 1 : kind);
    return;
  }
  /* "__torch__.torch.nn.modules.dropout.Dropout.forward" */
  const char *end = strrchr(call.function, '.'), *begin = end;
  while (begin && begin > call.function && begin[-1] != '.') begin--;
  snprintf(affected->name, sizeof affected->name, "%s (%.*s)", path, begin ? (int)(end - begin) : 0,
           begin ? begin : "");
}
static void look_through(Affected *affected, const wick_block *block) {
  for (const wick_node *node = wick_block_first(block); node && !*affected->name; node = wick_node_next(node)) {
    if (depends_on_mode(node)) note(affected, node);
    for (size_t i = 0; i < wick_node_block_count(node); i++) look_through(affected, wick_node_block(node, i));
  }
}
static void warn_of_training(const char *path, const wick_module *module) {
  Affected affected = {.module = module};
  for (size_t i = 0; i < wick_module_method_count(module) && !*affected.name; i++) {
    wick_graph *graph;
    if (wick_graph_of_method(module, wick_module_method_name(module, i), 1, &graph, NULL)) continue;
    look_through(&affected, wick_graph_block(graph));
    wick_graph_release(graph);
  }
  if (*affected.name)
    complain(path, "warning: saved in training mode, in which %s computes something else (--eval, --train)",
             affected.name);
}

bool mode_set(const char *path, wick_module *module, Mode mode) {
  wick_error *error;
  if (!*wick_module_class_name(module)) {
    if (mode != MODE_AS_SAVED) complain(path, "functions have no mode: --eval and --train are for modules");
    return mode == MODE_AS_SAVED;
  }
  if (mode != MODE_AS_SAVED && wick_module_train(module, mode == MODE_TRAIN, &error)) {
    complain_error(path, error);
    return false;
  }
  if (mode == MODE_AS_SAVED && modes_of(module).training) warn_of_training(path, module);
  return true;
}
