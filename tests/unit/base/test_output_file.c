/* Files that are written at once: where they go, what they replace, and what is left when writing ends early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/output_file.h"

static char folder[] = "/tmp/wick_output_XXXXXX";

static int enter_folder(void **state) {
  (void)state;
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  umask(022);
  return !mkdtemp(folder) || chdir(folder);
}
static size_t entries(void) {
  size_t count = 0;
  DIR *dir = opendir(".");
  while (readdir(dir)) count++;
  closedir(dir);
  return count - 2;
}
static int leave_folder(void **state) {
  (void)state;
  DIR *dir = opendir(".");
  for (struct dirent *e; (e = readdir(dir));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) (void)!remove(e->d_name);
  closedir(dir);
  return chdir("/") || rmdir(folder);
}

static Status write_text(const char *path, const char *text) {
  OutputFile file;
  Status status = output_file_open(&file, path);
  if (!status) status = output_file_write(&file, text, strlen(text));
  if (!status) status = output_file_finish(&file);
  output_file_close(&file);
  return status;
}
static void expect_written(const char *path, const char *text) {
  Status status = write_text(path, text);
  if (status) fail_msg("%s", status->message);
}
static void expect_refused(const char *path, int error) {
  Status status = write_text(path, "x");
  if (!status) fail_msg("%s is written", path);
  if (!strstr(status->message, strerror(error)) || strncmp(status->message, path, strlen(path)))
    fail_msg("%s", status->message);
  status_free(status);
}
static void expect_contents(const char *path, const char *text) {
  char found[100] = "";
  int descriptor = open(path, O_RDONLY);
  assert_true(descriptor >= 0);
  assert_true(read(descriptor, found, sizeof found - 1) >= 0);
  close(descriptor);
  assert_string_equal(found, text);
}
static void make(const char *path, const char *text, mode_t mode) {
  int descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
  assert_int_equal(fchmod(descriptor, mode), 0);
  close(descriptor);
}
static struct stat look(const char *path) {
  struct stat info;
  assert_int_equal(lstat(path, &info), 0);
  return info;
}

static void test_a_new_file(void **state) {
  (void)state;
  expect_written("new", "text");
  expect_contents("new", "text");
  assert_int_equal(look("new").st_mode & 07777, 0644);
  umask(077);
  expect_written("private", "text");
  assert_int_equal(look("private").st_mode & 07777, 0600);
  assert_int_equal(entries(), 2);
  expect_refused("none/new", ENOENT);
  expect_refused("new/new", ENOTDIR);
  expect_refused(".", EISDIR);
}

static void test_rights_stay(void **state) {
  (void)state;
  static const mode_t modes[] = {0600, 0640, 0444, 0666, 0755, 0400};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    make("old", "older", modes[i]);
    expect_written("old", "newer");
    expect_contents("old", "newer");
    assert_int_equal(look("old").st_mode & 07777, modes[i]);
    unlink("old");
  }
  if (geteuid() != 0) return;
  make("old", "older", 0640);
  assert_int_equal(chown("old", 12345, 54321), 0);
  expect_written("old", "newer");
  assert_int_equal(look("old").st_uid, 12345);
  assert_int_equal(look("old").st_gid, 54321);
  assert_int_equal(look("old").st_mode & 07777, 0640);
}

static void test_links_are_followed(void **state) {
  (void)state;
  char whole[100];
  snprintf(whole, sizeof whole, "%s/target", folder);
  make("target", "older", 0600);
  assert_int_equal(mkdir("inner", 0755), 0);
  assert_int_equal(symlink("../target", "inner/relative") | symlink(whole, "absolute") |
                       symlink("inner/relative", "chain") | symlink("not_yet", "dangling") | symlink("b", "a") |
                       symlink("a", "b"),
                   0);
  const char *const links[] = {"inner/relative", "absolute", "chain"};
  for (size_t i = 0; i < 3; i++) {
    expect_written(links[i], links[i]);
    expect_contents("target", links[i]);
    assert_true(S_ISLNK(look(links[i]).st_mode));
    assert_true(S_ISREG(look("target").st_mode));
    assert_int_equal(look("target").st_mode & 07777, 0600);
  }
  expect_written("dangling", "text");
  assert_true(S_ISLNK(look("dangling").st_mode));
  expect_contents("not_yet", "text");
  expect_refused("a", ELOOP);
  unlink("inner/relative");
}

/* ---- what is no regular file ---- */

typedef struct Reader {
  const char *path;
  int descriptor; /* or this */
  size_t most;
  char found[100];
} Reader;
static void *read_all(void *argument) {
  Reader *reader = argument;
  int descriptor = reader->path ? open(reader->path, O_RDONLY) : reader->descriptor;
  for (size_t length = 0; length < reader->most;) {
    ssize_t got = read(descriptor, reader->found + length, reader->most - length);
    if (got <= 0) break;
    length += (size_t)got;
  }
  close(descriptor);
  return NULL;
}

static void test_a_fifo_stays_one(void **state) {
  (void)state;
  Reader reader = {.path = "fifo", .most = sizeof reader.found - 1};
  pthread_t thread;
  assert_int_equal(mkfifo("fifo", 0600), 0);
  assert_int_equal(symlink("fifo", "link"), 0);
  pthread_create(&thread, NULL, read_all, &reader);
  expect_written("link", "through the fifo");
  pthread_join(thread, NULL);
  assert_string_equal(reader.found, "through the fifo");
  assert_true(S_ISFIFO(look("fifo").st_mode));
  assert_int_equal(entries(), 2);
}

/* The signal that this makes would end the process. */
static void test_a_reader_that_goes_is_an_error(void **state) {
  (void)state;
  enum { MUCH = 1 << 20 };
  Reader reader = {.path = "fifo", .most = 10};
  pthread_t thread;
  OutputFile file;
  char *data = calloc(1, MUCH);
  assert_int_equal(mkfifo("fifo", 0600), 0);
  pthread_create(&thread, NULL, read_all, &reader);
  assert_null(output_file_open(&file, "fifo"));
  Status status = output_file_write(&file, data, MUCH);
  if (!status) status = output_file_finish(&file);
  output_file_close(&file);
  assert_non_null(status);
  if (!strstr(status->message, strerror(EPIPE))) fail_msg("%s", status->message);
  status_free(status);
  sigset_t pending, blocked;
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  assert_false(sigismember(&pending, SIGPIPE) || sigismember(&blocked, SIGPIPE));
  pthread_join(thread, NULL);
  free(data);
}

static void test_descriptors_of_proc(void **state) {
  (void)state;
  int ends[2];
  char path[60];
  pthread_t thread;
  if (access("/proc/self/fd", X_OK)) skip();
  assert_int_equal(pipe(ends), 0);
  Reader reader = {.descriptor = ends[0], .most = 7};
  pthread_create(&thread, NULL, read_all, &reader);
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
  expect_written(path, "a pipe!");
  pthread_join(thread, NULL);
  close(ends[1]);
  assert_string_equal(reader.found, "a pipe!");
  make("file", "older", 0600);
  int descriptor = open("file", O_RDWR);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  expect_written(path, "newer");
  expect_contents("file", "newer");
  close(descriptor);
  descriptor = open("file", O_RDWR);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  unlink("file");
  expect_written(path, "gone");
  expect_contents(path, "gone");
  close(descriptor);
  assert_int_equal(entries(), 0);
}

/* A node of our own, of the device that takes everything. */
static void test_a_device_stays_one(void **state) {
  (void)state;
  if (mknod("sink", S_IFCHR | 0666, makedev(1, 3))) skip();
  int descriptor = open("sink", O_WRONLY);
  close(descriptor);
  if (descriptor < 0) skip(); /* mounted without devices */
  expect_written("sink", "text");
  assert_true(S_ISCHR(look("sink").st_mode));
  assert_int_equal(entries(), 1);
}

/* ---- writing that ends early ---- */

static bool has_nameless_files(void) {
#ifdef O_TMPFILE
  int descriptor = open(".", O_TMPFILE | O_WRONLY, 0600);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0 && !access("/proc/self/fd", X_OK);
#else
  return false;
#endif
}

static void test_a_file_that_is_given_up(void **state) {
  (void)state;
  OutputFile file;
  make("old", "older", 0600);
  assert_null(output_file_open(&file, "old"));
  assert_null(output_file_write(&file, "newer", 5));
  output_file_close(&file);
  expect_contents("old", "older");
  assert_int_equal(entries(), 1);
}

static void test_a_killed_process_leaves_nothing(void **state) {
  (void)state;
  make("old", "older", 0600);
  pid_t child = fork();
  if (!child) {
    OutputFile file;
    char data[100000] = {0};
    Status status = output_file_open(&file, "old");
    if (!status) status = output_file_write(&file, data, sizeof data);
    kill(getpid(), status ? SIGTERM : SIGKILL);
  }
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
  expect_contents("old", "older");
  assert_int_equal(entries(), has_nameless_files() ? 1 : 2);
}

static void test_who_has_mapped_the_older_file_keeps_it(void **state) {
  (void)state;
  make("old", "older", 0600);
  int descriptor = open("old", O_RDONLY);
  char *data = mmap(NULL, 5, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  assert_true(data != MAP_FAILED);
  expect_written("old", "newer");
  assert_memory_equal(data, "older", 5);
  munmap(data, 5);
  expect_contents("old", "newer");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_a_new_file),
      TEST(test_rights_stay),
      TEST(test_links_are_followed),
      TEST(test_a_fifo_stays_one),
      TEST(test_a_reader_that_goes_is_an_error),
      TEST(test_descriptors_of_proc),
      TEST(test_a_device_stays_one),
      TEST(test_a_file_that_is_given_up),
      TEST(test_a_killed_process_leaves_nothing),
      TEST(test_who_has_mapped_the_older_file_keeps_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
