/* See output_file.h. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

enum { MAX_LINKS = 40, MAX_TRIES = 100 };

static Status io_error(const OutputFile *file, const char *what) {
  return status_new(ERROR_IO, "%s: %s: %s", file->shown, what, strerror(errno));
}

/* ---- where the path leads ---- */

/* The part of the path that is its folder, with the slash. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* What a link at `path` says, as seen from here; owned. */
static Status read_link(const OutputFile *file, const char *path, char **out) {
  char target[4096];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0 || length == sizeof target - 1) return io_error(file, "can't follow the link");
  target[length] = 0;
  size_t folder = target[0] == '/' ? 0 : folder_length(path);
  *out = mem_alloc(folder + (size_t)length + 1);
  if (!*out) return status_out_of_memory();
  memcpy(*out, path, folder);
  memcpy(*out + folder, target, (size_t)length + 1);
  return OK;
}

/* Of the last name of the path only, which may also lead nowhere yet: the rest is the system's. */
static Status follow_links(OutputFile *file) {
  struct stat info;
  for (int links = 0; !lstat(file->path, &info) && S_ISLNK(info.st_mode); links++) {
    char *next;
    if (links == MAX_LINKS) return errno = ELOOP, io_error(file, "can't open");
    TRY(read_link(file, file->path, &next));
    mem_free(file->path);
    file->path = next;
  }
  return OK;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- files beside it ---- */

static Status temporary_name(OutputFile *file, int number) {
  StrBuf name = {0};
  strbuf_printf(&name, "%s.tmp-%ld-%d", file->path, (long)getpid(), number);
  mem_free(file->temporary);
  file->temporary = name.failed ? NULL : mem_strdup(name.data);
  strbuf_dispose(&name);
  return file->temporary ? OK : status_out_of_memory();
}
static void forget_temporary(OutputFile *file) {
  mem_free(file->temporary);
  file->temporary = NULL;
}

/* -1: there are none here. */
static int open_nameless(const OutputFile *file) {
#ifdef O_TMPFILE
  char folder[4096] = ".";
  size_t length = folder_length(file->path);
  if (length >= sizeof folder || access("/proc/self/fd", X_OK)) return -1;
  if (length) {
    memcpy(folder, file->path, length);
    folder[length] = 0;
  }
  return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#else
  (void)file;
  return -1;
#endif
}

static Status open_named(OutputFile *file, int *out) {
  for (int i = 0; i < MAX_TRIES; i++) {
    TRY(temporary_name(file, i));
    *out = open(file->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (*out >= 0) return OK;
    if (errno != EEXIST) break;
  }
  Status status = io_error(file, "can't make a file beside it");
  forget_temporary(file);
  return status;
}

/* Whoever may not give files away becomes the owner; a group that is not the older one gets no rights by it. */
static bool keep_rights(int descriptor, const struct stat *older) {
  mode_t mode = older->st_mode & 07777;
  if (fchown(descriptor, older->st_uid, older->st_gid) && fchown(descriptor, (uid_t)-1, older->st_gid)) mode &= ~070u;
  return !fchmod(descriptor, mode);
}

static Status open_replacement(OutputFile *file, const struct stat *older) {
  file->is_replacement = true;
  int descriptor = open_nameless(file);
  if (descriptor < 0) TRY(open_named(file, &descriptor));
  file->stream = (!older || keep_rights(descriptor, older)) ? fdopen(descriptor, "wb") : NULL;
  if (file->stream) return OK;
  Status status = io_error(file, "can't open");
  close(descriptor);
  return status;
}

/* ---- what is no regular file ---- */

static sigset_t pipe_signal(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  return signals;
}
static void hold_signal(OutputFile *file) {
  sigset_t signals = pipe_signal(), before, pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE) || pthread_sigmask(SIG_BLOCK, &signals, &before)) return;
  file->holds_signal = !sigismember(&before, SIGPIPE);
}
/* The one that writing made goes. */
static void release_signal(OutputFile *file) {
  sigset_t signals = pipe_signal();
  if (!file->holds_signal) return;
  while (sigtimedwait(&signals, NULL, &(struct timespec){0}) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static Status open_as_it_stands(OutputFile *file, int flags) {
  int descriptor = open(file->shown, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
  file->stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (file->stream) return hold_signal(file), OK;
  Status status = io_error(file, "can't open");
  if (descriptor >= 0) close(descriptor);
  return status;
}

Status output_file_open(OutputFile *file, const char *path) {
  struct stat info, resolved;
  *file = (OutputFile){.shown = path, .path = mem_strdup(path)};
  if (!file->path) return status_out_of_memory();
  bool is_there = !stat(path, &info);
  if (!is_there && errno != ENOENT) return io_error(file, "can't open");
  if (is_there && !S_ISREG(info.st_mode)) return open_as_it_stands(file, 0);
  TRY(follow_links(file));
  if (!is_there) return open_replacement(file, NULL);
  /* A file without a name, behind a link of /proc: there is nothing to put in its place. */
  if (lstat(file->path, &resolved) || !is_same_file(&info, &resolved)) return open_as_it_stands(file, O_TRUNC);
  return open_replacement(file, &info);
}

/* ---- contents ---- */

Status output_file_write(OutputFile *file, const void *data, size_t size) {
  return !size || fwrite(data, 1, size, file->stream) == size ? OK : io_error(file, "can't write");
}

/* ---- taking its place ---- */

/* Gives the open file the name. */
static bool link_open_file(int descriptor, const char *name) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return !linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* To a name of its own first, where the path is taken: only a rename replaces it at once. */
static Status give_name(OutputFile *file) {
  int descriptor = fileno(file->stream);
  if (file->temporary || link_open_file(descriptor, file->path)) return OK;
  for (int i = 0; errno == EEXIST && i < MAX_TRIES; i++) {
    TRY(temporary_name(file, i));
    if (link_open_file(descriptor, file->temporary)) return OK;
  }
  Status status = io_error(file, "can't be named");
  forget_temporary(file);
  return status;
}

/* That the name is there is on disk when its folder is. */
static Status sync_folder(const OutputFile *file) {
  char folder[4096] = ".";
  size_t length = folder_length(file->path);
  if (length >= sizeof folder) return OK;
  if (length) {
    memcpy(folder, file->path, length);
    folder[length] = 0;
  }
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return OK; /* one may write to it and not read it */
  bool failed = fsync(descriptor) && errno != EINVAL;
  Status status = failed ? io_error(file, "can't be synchronized") : OK;
  close(descriptor);
  return status;
}

static Status close_stream(OutputFile *file) {
  FILE *stream = file->stream;
  file->stream = NULL;
  return fclose(stream) ? io_error(file, "can't write") : OK;
}

Status output_file_finish(OutputFile *file) {
  if (fflush(file->stream)) return io_error(file, "can't write");
  if (!file->is_replacement) return close_stream(file);
  if (fsync(fileno(file->stream))) return io_error(file, "can't write");
  TRY(give_name(file));
  TRY(close_stream(file));
  if (file->temporary && rename(file->temporary, file->path)) return io_error(file, "can't be replaced");
  forget_temporary(file);
  return sync_folder(file);
}

void output_file_close(OutputFile *file) {
  if (file->stream) fclose(file->stream);
  release_signal(file);
  if (file->temporary) unlink(file->temporary);
  mem_free(file->temporary);
  mem_free(file->path);
  *file = (OutputFile){0};
}

Status output_file_save(const char *path, Str contents) {
  OutputFile file;
  Status status = output_file_open(&file, path);
  if (!status) status = output_file_write(&file, contents.data, contents.length);
  if (!status) status = output_file_finish(&file);
  output_file_close(&file);
  return status;
}
