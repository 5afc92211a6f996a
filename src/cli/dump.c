/* wick dump: the program as tokens, tree, graph, Python or instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/find.h"
#include "cli/cli.h"
#include "interp/interp.h"
#include "serial/archive.h"
#include "serial/python_print.h"
#include "syntax/syntax.h"

typedef struct Dump {
  const char *path, *stage, *method;
  bool with_source;
} Dump;

static int print_and_dispose(const char *path, StrBuf *text) {
  bool failed = text->failed;
  if (failed) {
    complain(path, "out of memory");
  } else if (text->length) {
    fwrite(text->data, 1, text->length, stdout);
    if (text->data[text->length - 1] != '\n') putchar('\n');
  }
  strbuf_dispose(text);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

/* ---- before compiling: the text itself ---- */

typedef struct Parse {
  Arena arena;
  const Source *source;
  int flags;
  bool tokens;
  StrBuf text;
} Parse;
static void parse_body(void *argument) {
  Parse *parse = argument;
  if (parse->tokens) {
    Lexer lexer;
    lexer_init(&lexer, &parse->arena, parse->source);
    lexer_print(&lexer, &parse->text);
  } else {
    tree_print(parse_file(&parse->arena, parse->source, parse->flags), &parse->text);
  }
}
static int dump_text(const Dump *dump, const char *name, Str text, int flags) {
  Source *source;
  Parse parse = {.flags = flags, .tokens = !strcmp(dump->stage, "tokens")};
  Status status = source_new(text, name, 1, &source);
  if (!status) {
    parse.source = source;
    arena_init(&parse.arena, NULL);
    status = arena_protect(&parse.arena, parse_body, &parse);
    arena_dispose(&parse.arena);
    source_release(source);
  }
  if (!status) return print_and_dispose(name, &parse.text);
  strbuf_dispose(&parse.text);
  complain_error(dump->path, (wick_error *)status);
  return EXIT_USAGE;
}

static int dump_archive_texts(const Dump *dump) {
  ByteSource *source = NULL;
  Archive *archive = NULL;
  int result = EXIT_DONE;
  Status status = byte_source_open(dump->path, true, &source);
  if (!status) status = archive_open(source, true, 0, &archive);
  for (size_t i = 0; !status && result == EXIT_DONE && i < archive->records.length; i++) {
    const ArchiveRecord *record = &archive->records.data[i];
    char *text;
    size_t length;
    if (!str_starts_with(record->name, "code/") || !str_ends_with(record->name, ".py")) continue;
    status = archive_read(archive, record, &text, &length);
    if (status) break;
    char *name = mem_alloc(record->name.length + 1);
    if (name) {
      memcpy(name, record->name.data, record->name.length);
      name[record->name.length] = 0;
    }
    printf("# %s\n", name ? name : "");
    result = dump_text(dump, name, (Str){text, length}, PARSE_ARCHIVE);
    mem_free(name);
    mem_free(text);
  }
  archive_free(archive);
  byte_source_release(source);
  if (!status) return result;
  complain_error(dump->path, (wick_error *)status);
  return EXIT_USAGE;
}

static int dump_texts(const Dump *dump) {
  if (!is_source_file(dump->path)) return dump_archive_texts(dump);
  size_t length;
  char *text = file_read(dump->path, &length);
  if (!text) return EXIT_USAGE;
  int result = dump_text(dump, dump->path, (Str){text, length}, PARSE_PYTHON);
  free(text);
  return result;
}

/* ---- compiled ---- */

static int dump_function(const Dump *dump, Function *function) {
  StrBuf text = {0};
  Status status = OK;
  if (!strcmp(dump->stage, "ir")) {
    if (function->graph) graph_print(function->graph, dump->with_source, &text);
  } else if (!strcmp(dump->stage, "code")) {
    PythonPrinter printer;
    python_printer_init(&printer);
    status = python_print_function(&printer, function, 0, (Str){0}, &text);
    python_printer_dispose(&printer);
  } else {
    const Code *code;
    status = function_code(function, &code);
    if (!status) code_print(code, &text);
  }
  if (!status) return print_and_dispose(dump->path, &text);
  strbuf_dispose(&text);
  complain_error(dump->path, (wick_error *)status);
  return EXIT_FAILED;
}

static int dump_module(const Dump *dump, const wick_module *module) {
  size_t count = wick_module_method_count(module);
  if (dump->method) {
    Function *function;
    Status status = module_find(module, dump->method, &function);
    if (!status) return dump_function(dump, function);
    complain_error(dump->path, (wick_error *)status);
    return EXIT_USAGE;
  }
  int result = EXIT_DONE;
  for (size_t i = 0; i < count && result == EXIT_DONE; i++) {
    Function *function;
    Status status = module_find(module, wick_module_method_name(module, i), &function);
    status_free(status);
    if (status) continue;
    if (count > 1) printf("# %s\n", wick_module_method_name(module, i));
    result = dump_function(dump, function);
  }
  return result;
}

static int run(const Command *command, int count, char **words) {
  Dump dump = {.stage = "ir"};
  ModelOptions model = {0};
  const Option options[] = {
      {"--stage", OPTION_TEXT, &dump.stage, "STAGE  tokens, tree, ir (the default), code or bytecode"},
      {"--method", OPTION_TEXT, &dump.method, "NAME  only this method or function"},
      {"--source", OPTION_FLAG, &dump.with_source, "  with source positions in graphs"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
  dump.path = words[0];
  if (!strcmp(dump.stage, "tokens") || !strcmp(dump.stage, "tree")) return dump_texts(&dump);
  if (strcmp(dump.stage, "ir") != 0 && strcmp(dump.stage, "code") != 0 && strcmp(dump.stage, "bytecode") != 0) {
    complain(NULL, "there is no stage '%s' (tokens, tree, ir, code, bytecode)", dump.stage);
    return EXIT_USAGE;
  }
  wick_error *error;
  wick_module *module = model_open(dump.path, &model, &error);
  if (!module) {
    if (error) complain_error(dump.path, error);
    return EXIT_USAGE;
  }
  result = dump_module(&dump, module);
  wick_module_release(module);
  return result;
}

const Command command_dump = {"dump", "MODEL", "print the program at a stage", run};
