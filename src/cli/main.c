/* The `wick` command: finds the subcommand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const Command *const commands[] = {&command_run, &command_check, &command_info, &command_dump,
                                          &command_ops, &command_bench, &command_save, &command_compile};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void show_help(FILE *to) {
  fprintf(to, "wick %s: loads and runs TorchScript programs\n\nusage: wick COMMAND ...\n\n", wick_version());
  for (int i = 0; i < COMMAND_COUNT; i++)
    fprintf(to, "  %-7s %-28s %s\n", commands[i]->name, commands[i]->usage, commands[i]->summary);
  fprintf(to,
          "\nMODEL is a .pt archive or a .py TorchScript source. `wick COMMAND --help` shows a command's options.\n"
          "Exit status: 0 done; 1 the program or the comparison failed; 2 usage, or a file that can't be loaded.\n");
}

/* A library that embeds wick ignores what it does not know; who types a command wants to hear of it. */
static bool environment_is_known(void) {
  const char *executor = getenv("WICK_EXECUTOR"), *fuser = getenv("WICK_FUSER");
  uint32_t found;
  if (executor && wick_executor_named(executor, &found, NULL)) {
    complain(NULL, "WICK_EXECUTOR: there is no executor '%s' (simple, specializing, profiling)", executor);
    return false;
  }
  if (fuser && wick_fuser_named(fuser, &found, NULL)) {
    complain(NULL, "WICK_FUSER: there is no fuser '%s' (none, tile)", fuser);
    return false;
  }
  return true;
}

int main(int count, char **words) {
  if (count < 2) {
    show_help(stderr);
    return EXIT_USAGE;
  }
  if (!strcmp(words[1], "--help") || !strcmp(words[1], "-h") || !strcmp(words[1], "help")) {
    show_help(stdout);
    return EXIT_DONE;
  }
  if (!strcmp(words[1], "--version")) {
    printf("wick %s\n", wick_version());
    return EXIT_DONE;
  }
  if (!environment_is_known()) return EXIT_USAGE;
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(words[1], commands[i]->name)) return commands[i]->run(commands[i], count - 2, words + 2);
  fprintf(stderr, "wick: there is no command '%s'; `wick --help` lists them\n", words[1]);
  return EXIT_USAGE;
}
