/* Runs a fuzz target over files, and over every file of the folders that are named: for builds without libFuzzer. */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

static size_t done;

static void run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s can't be read\n", path);
    exit(1);
  }
  char *data = NULL;
  size_t length = 0, read;
  do {
    data = realloc(data, length + 65536);
    if (!data) abort();
    length += read = fread(data + length, 1, 65536, file);
  } while (read);
  fclose(file);
  char *exact = malloc(length ? length : 1); /* so that a read beyond the end is seen */
  if (!exact) abort();
  memcpy(exact, data, length);
  free(data);
  LLVMFuzzerTestOneInput((const uint8_t *)exact, length);
  free(exact);
  done++;
}

static void run(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) {
    run_file(path);
    return;
  }
  for (struct dirent *entry; (entry = readdir(folder));) {
    char inner[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
    run_file(inner);
  }
  closedir(folder);
}

int main(int count, char **words) {
  for (int i = 1; i < count; i++) run(words[i]);
  printf("%zu inputs\n", done);
  return done ? 0 : 1;
}
