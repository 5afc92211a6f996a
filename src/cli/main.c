/* The `wick` command: finds the subcommand. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/json.h"

static const Command *const commands[] = {&command_run,     &command_check, &command_info,    &command_dump,
                                          &command_ops,     &command_bench, &command_profile, &command_save,
                                          &command_compile, &command_view};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void show_overview(FILE *to) {
  fprintf(to, "wick %s: loads and runs TorchScript programs\n\nusage: wick COMMAND ...\n\n", wick_version());
  for (int i = 0; i < COMMAND_COUNT; i++)
    fprintf(to, "  %-8s %.*s\n", commands[i]->name, (int)strcspn(commands[i]->summary, "."), commands[i]->summary);
  fprintf(to,
          "\n`wick COMMAND --help` shows a command's options, `wick help inputs` what inputs\n"
          "can be, `wick help models` what programs can be. Exit status: 0 done; 1 the\n"
          "program or the comparison failed; 2 usage, or a file that can't be loaded.\n");
}
static void show_inputs(void) {
  show(
      "An INPUT of run, bench and dump is\n\n"
      "  3 1.5 2j \"text\" True None [1, 2] (1, 2) {\"a\": 1}    literals of Python\n"
      "  x.npy x.npz x.pt x.safetensors    a tensor, or what else is in it\n"
      "  cat.png cat.jpg cat.ppm           uint8 [channels, height, width]\n"
      "  a.wav a.flac a.ogg                float32 [channels, frames], -1 to 1\n"
      "  t.csv                             float32 [lines, columns]\n"
      "  v.json                            numbers, texts, lists, dicts\n"
      "  -                                 raw float32 from standard input: [numbers]\n"
      "  randn(1,3,224,224) rand(2) zeros(2,dtype=int64) ones(2) full([2],0.5) eye(3)\n"
      "  arange(4) linspace(0,1,5) randint(0,10,[2,3])\n"
      "  tensor([[1,2],[3,4]]) tensor(v.json, dtype=f32)\n"
      "  image(cat.jpg, size=224, imagenet)   float32 [1, 3, 224, 224], normalized, the\n"
      "                                    middle; without imagenet 0 to 1; crop=N\n"
      "  audio(a.wav, 16000)               float32 [1, frames], at that rate\n"
      "  NAME=INPUT                        passed by name\n"
      "  **x.npz                           each of the file's values by its name\n"
      "  samples                           all that a .pt2 was exported with\n\n"
      "A tuple in a .pt file is all arguments. Words that begin with - go after --.\n");
}

static const char *command_name(const void *user, size_t index) {
  (void)user;
  return index < COMMAND_COUNT ? commands[index]->name : index == COMMAND_COUNT ? "help" : NULL;
}
static const Command *command_named(const char *name) {
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(name, commands[i]->name)) return commands[i];
  const char *meant = suggest(name, command_name, NULL);
  if (meant)
    complain(NULL, "there is no command '%s'. Did you mean '%s'?", name, meant);
  else
    complain(NULL, "there is no command '%s'; `wick --help` lists them", name);
  return NULL;
}

static int help(int count, char **words) {
  if (!count) {
    show_overview(stdout);
  } else if (!strcmp(words[0], "inputs")) {
    show_inputs();
  } else if (!strcmp(words[0], "models")) {
    options_show_models();
  } else {
    const Command *command = command_named(words[0]);
    return command ? command->run(command, 1, (char *[]){"--help"}) : EXIT_USAGE;
  }
  return EXIT_DONE;
}

/* A library that embeds wick ignores what it does not know; who types a command wants to hear of it. */
static bool environment_is_known(void) {
  const char *executor = getenv("WICK_EXECUTOR"), *backend = getenv("WICK_BACKEND"),
             *torch = getenv("WICK_TORCH_VERSION");
  uint32_t found;
  if (executor && wick_executor_named(executor, &found, NULL)) {
    complain(NULL, "WICK_EXECUTOR: there is no executor '%s' (simple, specializing, profiling)", executor);
    return false;
  }
  if (backend && wick_backend_named(backend, &found, NULL)) {
    complain(NULL, "WICK_BACKEND: there is no back end '%s' (none, tile, native)", backend);
    return false;
  }
  if (torch && wick_torch_version_named(torch, &found, NULL)) {
    complain(NULL, "WICK_TORCH_VERSION: there is no version '%s' of PyTorch here (1.13, 2.14)", torch);
    return false;
  }
  return true;
}

static int run(int count, char **words) {
  if (count < 2) {
    show_overview(stderr);
    return EXIT_USAGE;
  }
  if (!strcmp(words[1], "--help") || !strcmp(words[1], "-h") || !strcmp(words[1], "help"))
    return help(count - 2, words + 2);
  if (!strcmp(words[1], "--version")) {
    show("wick %s\n", wick_version());
    return EXIT_DONE;
  }
  if (!strcmp(words[1], "complete")) return complete(commands, COMMAND_COUNT, count - 2, words + 2);
  const Command *command = command_named(words[1]);
  int result = EXIT_USAGE;
  if (command && environment_is_known()) result = command->run(command, count - 2, words + 2);
  json_out_finish();
  return result;
}

int main(int count, char **words) {
  int result = run(count, words);
  bool is_shown = show_finish();
  return is_shown || result != EXIT_DONE ? result : EXIT_FAILED;
}
