/* wick view: a program as a page for a browser, in one file, or served on this machine. */
#include "cli/view.h"

#include <stdlib.h>
#include <string.h>

#include "wick/archive.h"

static int write_page(const View *view, const char *path) {
  size_t length;
  int result;
  char *page = view_page(view, &length, &result);
  if (!page) return result;
  wick_error *error;
  wick_status status = wick_file_write(path, page, length, &error);
  free(page);
  if (status) {
    complain_error(path, error);
    return EXIT_FAILED;
  }
  show("%s: %.1f MB; open it in a browser\n", path, (double)length / 1e6);
  return EXIT_DONE;
}

static int run(const Command *command, int count, char **words) {
  View view = {.calls = 4};
  const char *path = NULL;
  FlagInt serve = {.number = 8000};
  const Option options[] = {
      {"-o", OPTION_TEXT, &path, "FILE", "where the page is written (MODEL's name with .html)"},
      {"--serve", OPTION_FLAG_INT, &serve, "[PORT]", "serve it on 127.0.0.1 instead (8000; 0: any free port)"},
      {"--method", OPTION_TEXT, &view.method, "METHOD", "call it, not forward or a source's first function"},
      {"--calls", OPTION_INT, &view.calls, "N", "calls before plans are timed (4)"},
      {.kind = OPTION_MODEL, .to = &view.model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, ANY_WORDS, &result)) return result;
  view.path = words[0];
  view.count = count > 1 ? count - 1 : -1;
  view.words = words + 1;
  view.is_live = serve.is_set;
  if (serve.number > 65535) {
    complain(NULL, "--serve takes a port up to 65535");
    return EXIT_USAGE;
  }
  if (serve.is_set && path) {
    complain(NULL, "-o writes a file, --serve writes none");
    return EXIT_USAGE;
  }
  if (serve.is_set) return view_serve(&view, serve.number);
  if (path) return write_page(&view, path);
  const char *name = strrchr(words[0], '/');
  name = name ? name + 1 : words[0];
  char made[300];
  snprintf(made, sizeof made, "%.*s.html", (int)strcspn(name, "."), name);
  return write_page(&view, made);
}

const Command command_view = {"view", "MODEL [INPUT...] [-o FILE.html]",
                              "Shows a program in a browser: modules, graphs, what calls took.", run};
