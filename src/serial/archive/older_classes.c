/* Until PyTorch 1.5 the packed weights of a quantized layer were declared `_packed_params : Tensor`, a tensor that hid
 * a C++ object; since 1.6 they are objects of native classes. The older programs do the same with them, so that the
 * declaration alone is changed. */
#include "serial/archive/older_classes.h"

#include "op/quantized/packed.h"
#include "syntax/view.h"

/* Classes below torch.nn and torch.ao.nn. */
static const struct {
  const char *name, *attribute, *type; /* NULL: PyTorch does not read them either */
} older_classes[] = {
    {"nn.quantized.modules.linear.Linear", "_packed_params", LINEAR_PARAMS},
    {"nn.quantized.modules.linear.LinearPackedParams", "_packed_params", LINEAR_PARAMS},
    {"nn.quantized.dynamic.modules.linear.Linear", "_packed_params", LINEAR_PARAMS},
    {"nn.intrinsic.quantized.modules.linear_relu.LinearReLU", "_packed_params", LINEAR_PARAMS},
    {"nn.quantized.modules.conv.Conv2d", "_packed_params", CONV2D_PARAMS},
    {"nn.quantized.modules.conv.Conv3d", "_packed_params", CONV3D_PARAMS},
    {"nn.intrinsic.quantized.modules.conv_relu.ConvReLU2d", "_packed_params", CONV2D_PARAMS},
    {"nn.intrinsic.quantized.modules.conv_relu.ConvReLU3d", "_packed_params", CONV3D_PARAMS},
    {"nn.quantized.dynamic.modules.rnn.PackedParameter", "param", NULL},
};
enum { OLDER_CLASSES = sizeof older_classes / sizeof *older_classes };

/* `__torch__.torch.nn.a.___torch_mangle_3.B` -> "nn.a.B"; empty: it is no class of torch.nn. */
static Str plain_name(Compilation *c, Str qualified) {
  static const char before[] = "__torch__.torch.", other[] = "ao.", mangle[] = "___torch_mangle_";
  if (!str_starts_with(qualified, before)) return STR("");
  Str rest = str_slice(qualified, sizeof before - 1, qualified.length);
  if (str_starts_with(rest, other)) rest = str_slice(rest, sizeof other - 1, rest.length);
  const char *text = arena_strndup(&c->scratch, rest.data, rest.length), *found = strstr(text, mangle);
  const char *end = found ? strchr(found, '.') : NULL;
  return str_from(end ? arena_printf(&c->scratch, "%.*s%s", (int)(found - text), text, end + 1) : text);
}

/* `attribute : Tensor` */
static bool declares_tensor(const Tree *statement, const char *attribute) {
  if (statement->kind != TK_ASSIGN || option_get(assign_value(statement))) return false;
  const Tree *target = assign_targets(statement)->children[0], *type = option_get(assign_type(statement));
  return target->kind == TK_VAR && str_is(var_text(target), attribute) && type && type->kind == TK_VAR &&
         str_is(var_text(type), "Tensor");
}

const Tree *older_class_definition(Compilation *c, const Tree *class_def, Str qualified) {
  Str name = plain_name(c, qualified);
  size_t row = 0;
  while (row < OLDER_CLASSES && !str_is(name, older_classes[row].name)) row++;
  if (row == OLDER_CLASSES) return class_def;
  const Tree *body = class_body(class_def);
  Tree **statements = ARENA_ARRAY(&c->scratch, Tree *, body->count + 1);
  for (uint32_t i = 0; i < body->count; i++) {
    Tree *s = statements[i] = body->children[i];
    if (!declares_tensor(s, older_classes[row].attribute)) continue;
    if (!older_classes[row].type)
      compilation_fail(
          c, s->range,
          "recurrent layers quantized by PyTorch 1.3 to 1.5, whose weights are packed into Tensors, are not "
          "supported, nor does PyTorch load them since 1.6: export the model again");
    statements[i] =
        TREE(&c->scratch, TK_ASSIGN, s->range, assign_targets(s), assign_value(s),
             tree_option(&c->scratch, s->range, tree_var(&c->scratch, s->range, str_from(older_classes[row].type))));
  }
  return TREE(&c->scratch, TK_CLASS_DEF, class_def->range, class_name(class_def), class_bases(class_def),
              tree_list(&c->scratch, body->range, body->count, statements), class_decorators(class_def));
}
