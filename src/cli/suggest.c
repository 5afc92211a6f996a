/* The known name that was probably meant. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MAX_WORD = 63 };

/* How many letters are to be put in, left out, replaced, or swapped with their neighbour (optimal string alignment). */
static size_t distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), rows[3][MAX_WORD + 1];
  if (n > MAX_WORD || m > MAX_WORD) return MAX_WORD;
  assert(n <= MAX_WORD && m <= MAX_WORD);
  for (size_t j = 0; j <= m; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t least = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < least) least = above[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && two_above[j - 2] + 1 < least) least = two_above[j - 2] + 1;
      row[j] = least;
    }
  }
  return rows[n % 3][m];
}

const char *suggest(const char *word, NameAt *name_at, const void *user) {
  const char *best = NULL, *name;
  size_t least = strlen(word) < 3 ? 2 : strlen(word) / 3 + 2; /* as many letters and more are another word */
  for (size_t i = 0; (name = name_at(user, i)); i++) {
    size_t d = distance(word, name);
    if (d < least) least = d, best = name;
  }
  return best;
}

/* ---- files ---- */

bool complain_missing_file(const char *path) {
  if (!access(path, F_OK) || errno != ENOENT) return false;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char folder[4096];
  if (slash && (size_t)(slash - path) + 1 >= sizeof folder) return false;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
  DIR *entries = opendir(folder);
  char meant[MAX_WORD + 1] = "";
  if (entries) {
    size_t least = strlen(name) / 3 + 2;
    for (const struct dirent *entry; (entry = readdir(entries));) {
      size_t d = distance(name, entry->d_name);
      if (d >= least || d == MAX_WORD) continue;
      least = d;
      snprintf(meant, sizeof meant, "%.*s", MAX_WORD, entry->d_name);
    }
    closedir(entries);
  }
  if (*meant)
    complain(path, "No such file or directory. Did you mean '%s%s'?", slash ? folder : "", meant);
  else
    complain(path, "No such file or directory");
  return true;
}
