/* fuzz_seeds FOLDER FILE...: seeds for the fuzz targets, from archives and sources: FOLDER/source, FOLDER/ir,
 * FOLDER/pickle, FOLDER/bytecode, FOLDER/pt2, FOLDER/state and FOLDER/library (empty: their inputs are kept beside the
 * targets), and FOLDER/words, libFuzzer's dictionary of what texts are made of. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/handles.h"
#include "serial/archive/archive.h"
#include "syntax/token.h"

enum { MAX_SEED = 4096, MAX_PROGRAM = 24 << 10 }; /* the latter: of exported programs */

static const char *folder;
static unsigned written;

static FILE *open_in(const char *kind, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%s%s", folder, kind, name ? "/" : "", name ? name : "");
  FILE *file = fopen(path, "wb");
  if (file) return file;
  perror(path);
  exit(1);
}

static void write_seed(const char *kind, const void *head, size_t head_length, Str text) {
  char name[32];
  if (head_length + text.length > (strcmp(kind, "pt2") ? MAX_SEED : MAX_PROGRAM)) return;
  snprintf(name, sizeof name, "%05u", written++);
  FILE *file = open_in(kind, name);
  if (head_length) fwrite(head, 1, head_length, file);
  fwrite(text.data, 1, text.length, file);
  fclose(file);
}

static char *read_record(Archive *archive, const char *suffix, size_t *out_length) {
  for (size_t i = 0; i < archive->records.length; i++) {
    char *text;
    if (!str_ends_with(archive->records.data[i].name, suffix)) continue;
    Status status = archive_read(archive, &archive->records.data[i], &text, out_length);
    if (!status) return text;
    status_free(status);
  }
  *out_length = 0;
  return NULL;
}

/* The length of a text, the text, another one. */
static void write_pair(const char *kind, Str first, Str second) {
  char head[2 + MAX_SEED] = {(char)(first.length & 255), (char)(first.length >> 8)};
  if (first.length >= MAX_SEED) return;
  if (first.length) memcpy(head + 2, first.data, first.length);
  write_seed(kind, head, 2 + first.length, second);
}

static void add_exported(Archive *archive) {
  size_t length, weights_length;
  char *program = read_record(archive, "models/model.json", &length),
       *weights = read_record(archive, "model_weights_config.json", &weights_length);
  if (program && weights) write_pair("pt2", (Str){weights, weights_length}, (Str){program, length});
  mem_free(program);
  mem_free(weights);
}

static void add_archive(const char *path) {
  ByteSource *source;
  Archive *archive;
  Status status = byte_source_open(path, false, &source);
  if (!status) {
    if (!(status = archive_open(source, false, 0, &archive))) {
      size_t code_length, pickle_length, bytecode_length;
      char *code = read_record(archive, "code/__torch__.py", &code_length),
           *pickle = read_record(archive, "data.pkl", &pickle_length),
           *bytecode = read_record(archive, "bytecode.pkl", &bytecode_length);
      add_exported(archive);
      if (pickle) write_pair("pickle", (Str){code, code_length}, (Str){pickle, pickle_length});
      if (pickle && bytecode) write_pair("bytecode", (Str){pickle, pickle_length}, (Str){bytecode, bytecode_length});
      mem_free(bytecode);
      if (code) write_seed("source", NULL, 0, (Str){code, code_length});
      mem_free(code);
      mem_free(pickle);
      archive_free(archive);
    }
    byte_source_release(source);
  }
  status_free(status);
}

static void add_graphs(const char *path) {
  wick_module *module;
  if (wick_load(NULL, path, NULL, &module, NULL)) return;
  for (size_t i = 0; i < module->unit->all_functions.length; i++) {
    StrBuf text = {0};
    const Graph *graph = module->unit->all_functions.data[i]->graph;
    if (graph) graph_print(graph, false, &text);
    if (text.data) write_seed("ir", NULL, 0, strbuf_view(&text));
    strbuf_dispose(&text);
  }
  wick_module_release(module);
}

static void add_source(const char *path) {
  char text[MAX_SEED + 1];
  FILE *file = fopen(path, "rb");
  if (!file) return;
  size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  write_seed("source", NULL, 0, (Str){text, length});
}

static void write_words(void) {
  static const char *const words[] = {
#define X(kind, name, spelling) spelling,
      TOKEN_KINDS(X)
#undef X
          "torch.",
      "torch.jit.",
      "math.",
      "Tensor",
      "Optional[",
      "List[",
      "Dict[",
      "Tuple[",
      "Union[",
      "Future[",
      "NamedTuple",
      "Enum",
      "@torch.jit.interface",
      "@torch.jit._overload",
      "self",
      "range(",
      "len(",
      "isinstance(",
      "enumerate(",
      "zip(",
      "print(",
      "prim::Loop",
      "prim::If",
      "prim::Constant[value=",
      "graph(",
      "block0(",
      "return (",
      "aten::add",
      "aten::append",
      "prim::TupleConstruct",
      "prim::ListConstruct",
      "int[]",
      "int?",
      "torch.no_grad()",
      "__torch__.",
      "torch.jit._pickle",
      "restore_type_tag",
      "torch._utils",
      "_rebuild_tensor_v2",
      "collections",
      "OrderedDict",
      "__init__",
      "NoneType",
      "f\\\"{",
      "forward"};
  FILE *file = open_in("words", NULL);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i][0]) fprintf(file, "\"%s\"\n", words[i]);
  fclose(file);
}

int main(int count, char **words) {
  static const char *const kinds[] = {"", "/source", "/ir", "/pickle", "/bytecode", "/pt2", "/state", "/library"};
  if (count < 2) return 2;
  folder = words[1];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", folder, kinds[i]);
    if (mkdir(path, 0777) && errno != EEXIST) {
      perror(path);
      return 1;
    }
  }
  write_words();
  for (int i = 2; i < count; i++) {
    Str path = str_from(words[i]);
    if (str_ends_with(path, ".py")) {
      add_source(words[i]);
    } else {
      add_archive(words[i]);
      if (!str_ends_with(path, ".io.pt")) add_graphs(words[i]);
    }
  }
  printf("%u seeds\n", written);
  return written ? 0 : 1;
}
