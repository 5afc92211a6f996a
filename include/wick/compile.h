/* wick/compile: from source text, or from trees, to a program. */
#ifndef WICK_COMPILE_H
#define WICK_COMPILE_H

#include "wick/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* TorchScript source text: its functions are called by name with wick_run. file_name (may be NULL) is for messages. */
WICK_API wick_status wick_compile(wick_runtime *runtime, const char *text, size_t length,
                                  const char *WICK_NULLABLE file_name, wick_module **out, wick_error **error);

/* ---- compiling with names from outside ----
 *
 *   static wick_status resolve(void *user, const char *name, wick_name *out) {
 *     if (strcmp(name, "scale") == 0) out->kind = WICK_NAME_VALUE, out->value = user;
 *     return WICK_OK;
 *   }
 *   wick_compile_options options = {.size = sizeof options, .resolve = resolve, .user = scale};
 *   wick_compile_with(NULL, text, strlen(text), &options, &module, &error);                                */
enum {
  WICK_NAME_UNKNOWN = 0,   /* not the resolver's: the language's own names are tried, then it is an error */
  WICK_NAME_VALUE = 1,     /* `value` becomes a constant of the program. An object (a module, too: wick_module_object)
                             has its attributes and methods */
  WICK_NAME_FUNCTION = 2,  /* the function `member` of a compiled text, or the method of a loaded module */
  WICK_NAME_CLASS = 3,     /* the class `member` of `module`'s program, as it names it: "__torch__.Net", "Net" */
  WICK_NAME_NAMESPACE = 4, /* what leads to names: for `config.size` the resolver is asked "config", "config.size" */
  WICK_NAME_ALIAS = 5      /* `member` is what it is called elsewhere: a name that the program defines, else one of the
                              language's own: "torch.nn.functional". The resolver is not asked for it */
};
typedef struct wick_name {
  uint32_t size; /* set by wick */
  uint32_t kind; /* WICK_NAME_...; UNKNOWN when the resolver is called */
  const wick_value *value;
  const wick_module *module;
  const char *member;
} wick_name;
/* What a name stands for that a program uses and does not define, as a value or as a type. `name` is borrowed for the
 * call; so is what the answer points to, until the compilation has returned: then the program holds it itself. An
 * answer other than WICK_OK makes the use of the name an error. It may call wick, but not with the module that is being
 * compiled into. Asked more than once, it must answer the same. */
typedef wick_status wick_resolve_callback(void *user, const char *name, wick_name *out);
typedef struct wick_compile_options {
  uint32_t size;
  uint32_t first_line;            /* the number of the text's first line in messages; 0: 1 */
  const char *file_name;          /* for messages; may be NULL */
  wick_resolve_callback *resolve; /* may be NULL */
  void *user;                     /* given to resolve */
  uint64_t deadline_ns;           /* from now; 0: none. WICK_DEADLINE, and nothing is compiled */
  uint64_t max_steps;             /* statements and expressions that may be compiled; 0: no limit. WICK_BUDGET */
  const char *device_map;         /* as in wick_load_options; of a new program only */
  uint32_t torch_version;         /* WICK_TORCH_..., whose operators a new program means; 0: the runtime's */
  uint32_t reserved;              /* must be 0 */
} wick_compile_options;
/* As wick_compile. WICK_SYNTAX and WICK_COMPILE: the message has an excerpt with the place for each mistake. */
WICK_API wick_status wick_compile_with(wick_runtime *runtime, const char *text, size_t length,
                                       const wick_compile_options *WICK_NULLABLE options, wick_module **out,
                                       wick_error **error);
/* Adds to what is there: to a loaded module the text's functions as methods of its class (their first parameter is
 * self), to a compiled text its functions and classes. All or, on failure, nothing; what has a name already is an
 * error. Not while the module, or one of the same program, runs or is asked elsewhere. */
WICK_API wick_status wick_module_define(wick_module *module, wick_runtime *runtime, const char *text, size_t length,
                                        const wick_compile_options *WICK_NULLABLE options, wick_error **error);

/* ---- trees: for front ends that have a syntax tree instead of a text ----
 *
 * A tree has a kind and children, or a text. Kinds go by their names, those of `wick dump --stage tree` in the form
 * "TK_DEF", "TK_APPLY", "TK_IF"; operators of one character are "+", ".", "~". What children each has:
 *
 *   TK_DEF            ident, TK_DECL, list of statements, [list of decorators]
 *   TK_DECL           list of TK_PARAM, option of the return type
 *   TK_PARAM          ident, option of type, option of default, TK_FALSE (TK_TRUE: keyword only)
 *   TK_CLASS_DEF      ident, list of bases, list of statements, list of decorators. Methods decorated _on_demand are
 *                     compiled where others call them, and not there where none does
 *   TK_ASSIGN         list of targets, option of value, option of type
 *   TK_AUG_ASSIGN     target, an empty tree of the operator, value
 *   TK_IF             condition, list, list
 *   TK_WHILE          condition, list
 *   TK_FOR            list of one target, list of one iterable, list
 *   TK_WITH           list of TK_WITH_ITEM, list
 *   TK_WITH_ITEM      expression, option of target
 *   TK_RETURN         expression (TK_NONE where nothing is written)
 *   TK_RAISE          the same
 *   TK_ASSERT         expression, option of message
 *   TK_DELETE         list of targets
 *   TK_EXPR_STMT      expression
 *   TK_IMPORT         option of ident, list of TK_ALIAS
 *   TK_ALIAS          ident, option of ident
 *   TK_VAR            ident
 *   .                 expression, ident
 *   TK_APPLY          callee, list of expressions, list of TK_ATTRIBUTE
 *   TK_ATTRIBUTE      ident, expression: a keyword argument
 *   TK_SUBSCRIPT      expression, list
 *   TK_SLICE_EXPR     options of start, stop and step
 *   TK_STARRED        expression
 *   TK_IF_EXPR        condition, then, else
 *   TK_LIST_LITERAL   list, and so TK_TUPLE_LITERAL
 *   TK_DICT_LITERAL   list of keys, list of values
 *   TK_LIST_COMP      element, target, iterable, [list of conditions]
 *   TK_DICT_COMP      key, value, target, iterable, [list of conditions]
 *   TK_LIST           any trees
 *   TK_OPTION         nothing, or one tree
 *
 * Two expressions: + - * / % @ & | ^ < > and TK_POW, TK_LSHIFT, TK_RSHIFT, TK_FLOOR_DIV, TK_EQ, TK_NE, TK_LE, TK_GE,
 * TK_AND, TK_OR, TK_IN, TK_IS, TK_ISNOT. One: ~ and TK_NOT, TK_UNARY_MINUS. None: TK_PASS, TK_BREAK, TK_CONTINUE,
 * TK_TRUE, TK_FALSE, TK_NONE, TK_DOTS. A text: TK_IDENT, TK_CONST (a number as it is written), TK_STRINGLITERAL
 * (decoded). */
typedef struct wick_trees wick_trees; /* counted; used by one thread at a time. Holds trees */
typedef struct wick_tree wick_tree;   /* borrowed from its wick_trees, immutable */
/* `text` is what ranges of trees refer to, for messages: copied; NULL: there is none. */
WICK_API wick_status wick_trees_new(const char *WICK_NULLABLE text, size_t length, const char *WICK_NULLABLE file_name,
                                    wick_trees **out, wick_error **error);
/* Adds a text, copied, to which ranges refer from now on; `first_line` is the number of its first line (0: 1).
 * For trees of several files, or of a part of one. Texts are numbered from 0, that of wick_trees_new among them. */
WICK_API wick_status wick_trees_add_text(wick_trees *trees, const char *text, size_t length,
                                         const char *WICK_NULLABLE file_name, uint32_t first_line, uint32_t *out_index,
                                         wick_error **error);
/* Ranges refer to that text from now on. */
WICK_API wick_status wick_trees_use_text(wick_trees *trees, uint32_t index, wick_error **error);
WICK_API void wick_trees_release(wick_trees *trees); /* NULL is allowed; programs compiled from them hold them too */
/* begin and end are offsets in the text; both 0 where there is none. Children are of the same wick_trees, and may stand
 * in several trees. WICK_INVALID_ARGUMENT: a kind that is not one, children that do not fit it, a text that is no
 * identifier or number. */
WICK_API wick_status wick_tree_new(wick_trees *trees, const char *kind, const wick_tree *const *children, size_t count,
                                   uint32_t begin, uint32_t end, const wick_tree **out, wick_error **error);
WICK_API wick_status wick_tree_new_text(wick_trees *trees, const char *kind, const char *text, size_t length,
                                        uint32_t begin, uint32_t end, const wick_tree **out, wick_error **error);
/* The TK_LIST of the statements of the text of the wick_trees. */
WICK_API wick_status wick_trees_parse(wick_trees *trees, const wick_tree **out, wick_error **error);
/* The same where the text is a file of an archive's code/. */
WICK_API wick_status wick_trees_parse_code(wick_trees *trees, const wick_tree **out, wick_error **error);
/* The tokens of the text, one a line. Freed with wick_text_free. */
WICK_API wick_status wick_trees_print_tokens(const wick_trees *trees, char **out_text, wick_error **error);
/* As `wick dump --stage tree` prints it. Freed with wick_text_free. */
WICK_API wick_status wick_tree_print(const wick_tree *tree, char **out_text, wick_error **error);
/* As wick_compile_with; `statements` is a TK_LIST of what a file has. Of the options file_name and first_line have no
 * meaning here. */
WICK_API wick_status wick_compile_tree(wick_runtime *runtime, const wick_tree *statements,
                                       const wick_compile_options *WICK_NULLABLE options, wick_module **out,
                                       wick_error **error);
WICK_API wick_status wick_module_define_tree(wick_module *module, wick_runtime *runtime, const wick_tree *statements,
                                             const wick_compile_options *WICK_NULLABLE options, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
