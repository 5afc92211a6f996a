/* Views: the children of each kind of tree by name. `if_condition(tree)` asserts that tree is a TK_IF and gives its
 * first child. `option` children are read with option_get, `list` children by ->count and ->children. A walker that
 * recurses must bear TREE_MAX_HEIGHT levels, or ask stack_left (base/stack.h). */
#pragma once

#include <assert.h>

#include "syntax/tree.h"

/* view, kind, child, its index. Each block is one kind: its children in order. */
#define TREE_VIEWS(X)                                                                                                  \
  X(def, TK_DEF, name, 0)               /* ident */                                                                    \
  X(def, TK_DEF, decl, 1)               /* decl */                                                                     \
  X(def, TK_DEF, body, 2)               /* list of statements; decorators: see def_decorators */                       \
  X(decl, TK_DECL, params, 0)           /* list of param */                                                            \
  X(decl, TK_DECL, return_type, 1)      /* option of expression */                                                     \
  X(param, TK_PARAM, name, 0)           /* ident */                                                                    \
  X(param, TK_PARAM, type, 1)           /* option of expression */                                                     \
  X(param, TK_PARAM, default, 2)        /* option of expression */                                                     \
  X(param, TK_PARAM, marker, 3)         /* False; True: keyword-only; starred: `*name`; pow operator: `**name` */      \
  X(class, TK_CLASS_DEF, name, 0)       /* ident */                                                                    \
  X(class, TK_CLASS_DEF, bases, 1)      /* list of expressions (and attributes: metaclass=...) */                      \
  X(class, TK_CLASS_DEF, body, 2)       /* list of statements */                                                       \
  X(class, TK_CLASS_DEF, decorators, 3) /* list of expressions */                                                      \
  /* statements */                                                                                                     \
  X(if, TK_IF, condition, 0)                                                                                           \
  X(if, TK_IF, then, 1) /* list */                                                                                     \
  X(if, TK_IF, else, 2) /* list, empty where there is no else; an elif is a list of one if */                          \
  X(while, TK_WHILE, condition, 0)                                                                                     \
  X(while, TK_WHILE, body, 1)     /* list */                                                                           \
  X(for, TK_FOR, targets, 0)      /* list of one expression: variable or tuple-literal */                              \
  X(for, TK_FOR, iters, 1)        /* list of one expression */                                                         \
  X(for, TK_FOR, body, 2)         /* list */                                                                           \
  X(with, TK_WITH, items, 0)      /* list of withitem */                                                               \
  X(with, TK_WITH, body, 1)       /* list */                                                                           \
  X(with_item, TK_WITH_ITEM, target, 0) /* the context manager's expression */                                         \
  X(with_item, TK_WITH_ITEM, var, 1)    /* option of expression */                                                     \
  X(return, TK_RETURN, value, 0)        /* expression; None where nothing was written */                               \
  X(raise, TK_RAISE, value, 0)          /* expression; None for a bare `raise` */                                      \
  X(assert, TK_ASSERT, test, 0)                                                                                        \
  X(assert, TK_ASSERT, message, 1) /* option */                                                                        \
  X(delete, TK_DELETE, targets, 0) /* list */                                                                          \
  X(assign, TK_ASSIGN, targets, 0) /* list: several for `a = b = c`, in order; `a, b = c` is one tuple-literal */      \
  X(assign, TK_ASSIGN, value, 1)   /* option: absent in `x: int` */                                                    \
  X(assign, TK_ASSIGN, type, 2)    /* option: annotation or type comment */                                            \
  X(aug_assign, TK_AUG_ASSIGN, target, 0)                                                                              \
  X(aug_assign, TK_AUG_ASSIGN, operator, 1) /* an empty tree of the binary operator's kind */                          \
  X(aug_assign, TK_AUG_ASSIGN, value, 2)                                                                               \
  X(expr_stmt, TK_EXPR_STMT, value, 0) /* expression; a docstring is a string_literal here */                          \
  X(import, TK_IMPORT, module, 0) /* option of ident "a.b" (`from a.b import`; leading dots are part of the name) */   \
  X(import, TK_IMPORT, names, 1)  /* list of alias; `*` is an ident too */                                             \
  X(alias, TK_ALIAS, name, 0)     /* ident, dotted for `import a.b` */                                                 \
  X(alias, TK_ALIAS, as, 1)       /* option of ident */                                                                \
  /* expressions; binary operators are compounds of two: see binary_lhs */                                             \
  X(var, TK_VAR, name, 0) /* ident */                                                                                  \
  X(select, '.', value, 0)                                                                                             \
  X(select, '.', name, 1) /* ident */                                                                                  \
  X(apply, TK_APPLY, callee, 0)                                                                                        \
  X(apply, TK_APPLY, inputs, 1)       /* list of expressions, some starred */                                          \
  X(apply, TK_APPLY, attributes, 2)   /* list of attribute: the keyword arguments */                                   \
  X(attribute, TK_ATTRIBUTE, name, 0) /* ident */                                                                      \
  X(attribute, TK_ATTRIBUTE, value, 1)                                                                                 \
  X(subscript, TK_SUBSCRIPT, value, 0)                                                                                 \
  X(subscript, TK_SUBSCRIPT, indices, 1) /* list: expressions, slice expr, dots; `x[1, 2]` and `x[(1, 2)]` have two */ \
  X(slice, TK_SLICE_EXPR, start, 0)      /* option */                                                                  \
  X(slice, TK_SLICE_EXPR, stop, 1)       /* option */                                                                  \
  X(slice, TK_SLICE_EXPR, step, 2)       /* option */                                                                  \
  X(starred, TK_STARRED, value, 0)                                                                                     \
  X(ternary, TK_IF_EXPR, condition, 0)                                                                                 \
  X(ternary, TK_IF_EXPR, then, 1)                                                                                      \
  X(ternary, TK_IF_EXPR, else, 2)                                                                                      \
  X(list_literal, TK_LIST_LITERAL, items, 0)                                                                           \
  X(tuple_literal, TK_TUPLE_LITERAL, items, 0)                                                                         \
  X(dict_literal, TK_DICT_LITERAL, keys, 0)   /* list */                                                               \
  X(dict_literal, TK_DICT_LITERAL, values, 1) /* list */                                                               \
  X(list_comp, TK_LIST_COMP, element, 0)      /* a generator expression is one of these too; conditions: see below */  \
  X(list_comp, TK_LIST_COMP, target, 1)                                                                                \
  X(list_comp, TK_LIST_COMP, iter, 2)                                                                                  \
  X(dict_comp, TK_DICT_COMP, key, 0)                                                                                   \
  X(dict_comp, TK_DICT_COMP, value, 1)                                                                                 \
  X(dict_comp, TK_DICT_COMP, target, 2)                                                                                \
  X(dict_comp, TK_DICT_COMP, iter, 3)

#define X(view, kind_, child, index)                      \
  static inline Tree *view##_##child(const Tree *tree) {  \
    assert(tree->kind == (kind_) && tree->count > index); \
    return tree->children[index];                         \
  }
TREE_VIEWS(X)
#undef X

/* The child of an option, NULL when it has none. */
static inline Tree *option_get(const Tree *tree) {
  assert(tree->kind == TK_OPTION);
  return tree->count ? tree->children[0] : NULL;
}
/* Of (ident x); of (variable (ident x)) use var_text. */
static inline Str ident_text(const Tree *tree) {
  assert(tree->kind == TK_IDENT);
  return tree->text;
}
static inline Str var_text(const Tree *tree) {
  return ident_text(var_name(tree));
}
static inline Str string_text(const Tree *tree) {
  assert(tree->kind == TK_STRINGLITERAL);
  return tree->text;
}

/* List of expressions, or NULL: most functions have none. */
static inline Tree *def_decorators(const Tree *tree) {
  assert(tree->kind == TK_DEF);
  return tree->count > 3 ? tree->children[3] : NULL;
}
/* List of conditions (`if` clauses) of a list or dict comprehension, or NULL. */
static inline Tree *list_comp_conditions(const Tree *tree) {
  assert(tree->kind == TK_LIST_COMP);
  return tree->count > 3 ? tree->children[3] : NULL;
}
static inline Tree *dict_comp_conditions(const Tree *tree) {
  assert(tree->kind == TK_DICT_COMP);
  return tree->count > 4 ? tree->children[4] : NULL;
}

/* + - * / % @ & | ^ < > << >> ** // == != <= >= and or in is `is not`; `not in` is (not (in ..)). */
static inline Tree *binary_lhs(const Tree *tree) {
  assert(tree->count == 2);
  return tree->children[0];
}
static inline Tree *binary_rhs(const Tree *tree) {
  assert(tree->count == 2);
  return tree->children[1];
}
/* unary minus, `~`, not */
static inline Tree *unary_operand(const Tree *tree) {
  assert(tree->count == 1);
  return tree->children[0];
}

/* What Python has and TorchScript has not (lambda, try, yield, global, ...) parses to (unsupported what), so that
 * functions which are never compiled may use it. Compiling it throws "<what> is not supported in TorchScript". */
_Noreturn void unsupported_throw(Arena *arena, const Tree *tree);

/* The value of a number's text (of a const). A complex is its imaginary part. `negative`: a minus stood before it, and
 * is applied, so that the least int64 can be written. */
typedef enum NumberKind { NUMBER_INT, NUMBER_FLOAT, NUMBER_COMPLEX, NUMBER_OUT_OF_RANGE } NumberKind;
NumberKind number_parse(Str text, bool negative, int64_t *out_int, double *out_float);
