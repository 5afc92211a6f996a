/* What the next word of a command can be, for shells. */
#pragma once

#include "cli/cli.h"

/* The last of the words is the one that is completed, maybe empty. */
int complete(const Command *const *commands, size_t command_count, int count, char **words);
/* A command's options are then not parsed, but offered: by complete_options, whose words come before the one asked. */
bool completion_asked(void);
void complete_options(const Option *options, size_t count, int word_count, char **words);
