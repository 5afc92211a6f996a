/* Training and evaluation: the `training` attributes of a module and its submodules. */
#include <stdlib.h>
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
  char *owner, *type; /* of the submodule that is being walked through */
  char affected[100]; /* the first submodule in training mode whose class behaves otherwise then */
} Modes;

/* Of torch.nn: Dropout2d, BatchNorm1d, LazyInstanceNorm3d, RReLU... */
static bool class_depends_on_mode(const char *type) {
  static const char *const parts[] = {"Dropout", "BatchNorm", "InstanceNorm", "RReLU"};
  const char *dot = strrchr(type, '.'), *name = dot ? dot + 1 : type;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(name, parts[i])) return true;
  return false;
}
static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Modes *modes = user;
  (void)kind;
  if (wick_value_kind(value) == WICK_OBJECT) {
    free(modes->owner);
    free(modes->type);
    modes->owner = strdup(name);
    modes->type = strdup(type);
    return !modes->owner || !modes->type;
  }
  const char *dot = strrchr(name, '.');
  if (strcmp(dot ? dot + 1 : name, "training") != 0 || wick_value_kind(value) != WICK_BOOL) return 0;
  bool is_training = wick_value_to_bool(value);
  *(is_training ? &modes->training : &modes->evaluating) += 1;
  size_t length = dot ? (size_t)(dot - name) : 0;
  bool is_owners = modes->owner && dot && strlen(modes->owner) == length && !strncmp(modes->owner, name, length);
  if (is_training && is_owners && !*modes->affected && class_depends_on_mode(modes->type))
    snprintf(modes->affected, sizeof modes->affected, "%s (%s)", modes->owner, strrchr(modes->type, '.') + 1);
  return 0;
}
static Modes modes_of(const wick_module *module) {
  Modes modes = {0};
  wick_module_each(module, visit, &modes, NULL);
  free(modes.owner);
  free(modes.type);
  return modes;
}

const char *mode_name(const wick_module *module) {
  Modes modes = modes_of(module);
  return modes.training && modes.evaluating ? "mixed"
         : modes.training                   ? "training"
         : modes.evaluating                 ? "evaluation"
                                            : "";
}

/* Called as functions, they leave no submodule behind. */
static int note_operator(void *user, const char *name, size_t calls, int is_known) {
  static const char *const names[] = {
      "aten::dropout",    "aten::feature_dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout",
      "aten::batch_norm", "aten::instance_norm",   "aten::rrelu"};
  (void)calls, (void)is_known;
  size_t length = strcspn(name, ".");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && !strncmp(name, names[i], length)) {
      snprintf(user, 100, "%s", name + 6);
      return 1;
    }
  return 0;
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
  if (mode != MODE_AS_SAVED) return true;
  Modes modes = modes_of(module);
  if (modes.training && !*modes.affected) wick_module_each_operator(module, note_operator, modes.affected, NULL);
  if (modes.training && *modes.affected)
    complain(path, "warning: saved in training mode, in which %s computes something else (--eval, --train)",
             modes.affected);
  return true;
}
