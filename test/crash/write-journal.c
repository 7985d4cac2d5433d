/*
 * A library to be preloaded (LD_PRELOAD) into a process whose disk is to lose power: keeps a journal of everything the
 * process does to the files below one folder, in order, each operation before it is done. unsynced-disk.ts reads the journal
 * when the process has been killed and works out what a disk would hold that kept only what was synced, and parts of the rest.
 *
 * WRITE_JOURNAL_ROOT   the folder, absolute, without a closing slash
 * WRITE_JOURNAL_FILE   the journal, outside the folder; appended to
 * WRITE_JOURNAL_SYNC_US how long a sync takes, in microseconds, in place of the real one: the longer, the more is unsynced
 *
 * A record: u32 length of its body, u8 kind, body; little-endian. Records are numbered from 0. Files have numbers of their
 * own, by inode, a new one for each creation. Calls that fail after their record was written are taken back (CANCEL).
 * LevelDB writes by way of stdio, so streams that write below the folder are made here. Not seen: writes by way of mmap, and
 * paths that are not absolute, but for what is removed by its name in an open folder.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  BIND = 1,        /* u32 file, path: an existing file is opened for the first time */
  CREATE,          /* u32 file, path */
  WRITE,           /* u32 file, u64 offset, bytes */
  TRUNCATE,        /* u32 file, u64 size */
  SYNC,            /* u32 file, u32 records: those before this number are durable as far as they are the file's */
  RENAME,          /* path, NUL, path */
  UNLINK,          /* path */
  MAKE_DIRECTORY,  /* path */
  REMOVE_DIRECTORY,/* path */
  SYNC_DIRECTORY,  /* u32 records, path */
  CANCEL,          /* u32 record */
  LINK             /* path, NUL, path: the same file under a second name */
};

#define FILES_MAX 65536
#define PARTS_MAX 1028
#define NO_FILE UINT32_MAX

struct known { dev_t device; ino_t inode; };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *root;
static size_t root_length;
static int journal = -1;
static useconds_t sync_us;
static uint32_t records;
static struct known files[FILES_MAX];
static uint32_t file_count;

static int (*real_open)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);
static int (*real_link)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_rmdir)(const char *);
static int (*real_remove)(const char *);
static int (*real_unlinkat)(int, const char *, int);

static void give_up(const char *why) {
  char line[200];
  int length = snprintf(line, sizeof line, "write journal: %s\n", why);
  real_write(2, line, (size_t)length);
  abort();
}

static void load(void) {
  real_open = dlsym(RTLD_NEXT, "open");
  real_write = dlsym(RTLD_NEXT, "write");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_link = dlsym(RTLD_NEXT, "link");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_mkdir = dlsym(RTLD_NEXT, "mkdir");
  real_rmdir = dlsym(RTLD_NEXT, "rmdir");
  real_remove = dlsym(RTLD_NEXT, "remove");
  real_unlinkat = dlsym(RTLD_NEXT, "unlinkat");
  const char *path = getenv("WRITE_JOURNAL_FILE");
  const char *us = getenv("WRITE_JOURNAL_SYNC_US");
  root = getenv("WRITE_JOURNAL_ROOT");
  if (root == NULL || path == NULL) {
    root = NULL;
    return;
  }
  root_length = strlen(root);
  sync_us = us == NULL ? 0 : (useconds_t)atoi(us);
  journal = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (journal < 0) give_up("the journal cannot be opened");
}

static int is_inside(const char *path) {
  pthread_once(&once, load);
  return root != NULL && path != NULL && strncmp(path, root, root_length) == 0 && path[root_length] == '/';
}

/* Returns the record's number. Called with the turn held. */
static uint32_t note(enum kind kind, const void *head, size_t head_length, const struct iovec *rest, int count) {
  struct iovec parts[PARTS_MAX];
  unsigned char start[5];
  size_t length = head_length;
  if (count + 2 > PARTS_MAX) give_up("a write has too many parts");
  for (int i = 0; i < count; i++) length += rest[i].iov_len;
  uint32_t length32 = (uint32_t)length;
  memcpy(start, &length32, 4);
  start[4] = (unsigned char)kind;
  parts[0] = (struct iovec){start, sizeof start};
  parts[1] = (struct iovec){(void *)head, head_length};
  if (count > 0) memcpy(parts + 2, rest, (size_t)count * sizeof *rest);
  if (real_writev(journal, parts, count + 2) != (ssize_t)(length + sizeof start)) give_up("the journal is cut short");
  return records++;
}

static uint32_t note_path(enum kind kind, uint32_t number, int has_number, const char *path, const char *other) {
  struct iovec parts[2] = {{(void *)path, strlen(path) + (other != NULL)}, {(void *)other, other ? strlen(other) : 0}};
  return note(kind, &number, has_number ? 4 : 0, parts, other != NULL ? 2 : 1);
}

static void cancel(uint32_t record) {
  int error = errno;
  note(CANCEL, &record, 4, NULL, 0);
  errno = error;
}

/* The number of the file behind a descriptor; NO_FILE when it is none of ours. Called with the turn held. */
static uint32_t file_of(const struct stat *status) {
  for (uint32_t file = file_count; file-- > 0;) {
    if (files[file].inode == status->st_ino && files[file].device == status->st_dev) return file;
  }
  return NO_FILE;
}

static void name_file(uint32_t file, const struct stat *status) {
  files[file] = (struct known){status->st_dev, status->st_ino};
}

static int open_inside(const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&turn);
  struct stat before, status;
  int existed = stat(path, &before) == 0;
  uint32_t record = 0, truncated = 0;
  uint32_t file = existed ? file_of(&before) : NO_FILE;
  int is_new = !existed && (flags & O_CREAT);
  int is_unknown = existed && S_ISREG(before.st_mode) && file == NO_FILE;
  int cuts = existed && (flags & O_TRUNC) && S_ISREG(before.st_mode) && before.st_size > 0;
  if (is_new || is_unknown) {
    if (file_count == FILES_MAX) give_up("too many files");
    file = file_count++;
    files[file] = (struct known){0, 0};
    if (is_unknown) name_file(file, &before);
    record = note_path(is_new ? CREATE : BIND, file, 1, path, NULL);
  }
  if (cuts) {
    unsigned char head[12] = {0};
    memcpy(head, &file, 4);
    truncated = note(TRUNCATE, head, sizeof head, NULL, 0);
  }
  int fd = real_open(path, flags, mode);
  if (fd < 0) {
    if (cuts) cancel(truncated);
    if (is_new) cancel(record);
  } else if (is_new && fstat(fd, &status) == 0) {
    name_file(file, &status);
  }
  pthread_mutex_unlock(&turn);
  return fd;
}

/* Streams: what LevelDB writes its log and tables with. */

struct stream {
  FILE *handle;
  int fd;
  struct stream *next;
};
static struct stream *streams;
static pthread_mutex_t streams_turn = PTHREAD_MUTEX_INITIALIZER;

static ssize_t stream_write(void *cookie, const char *bytes, size_t count) {
  ssize_t done = write(((struct stream *)cookie)->fd, bytes, count);
  return done < 0 ? 0 : done;
}

static int stream_close(void *cookie) {
  struct stream *stream = cookie;
  pthread_mutex_lock(&streams_turn);
  struct stream **at = &streams;
  while (*at != stream) at = &(*at)->next;
  *at = stream->next;
  pthread_mutex_unlock(&streams_turn);
  int result = close(stream->fd);
  free(stream);
  return result;
}

static FILE *fopen_inside(const char *path, const char *mode) {
  int fd = open_inside(path, O_WRONLY | O_CREAT | O_CLOEXEC | (mode[0] == 'a' ? O_APPEND : O_TRUNC), 0644);
  if (fd < 0) return NULL;
  struct stream *stream = malloc(sizeof *stream);
  stream->fd = fd;
  stream->handle = fopencookie(stream, "w", (cookie_io_functions_t){.write = stream_write, .close = stream_close});
  pthread_mutex_lock(&streams_turn);
  stream->next = streams;
  streams = stream;
  pthread_mutex_unlock(&streams_turn);
  return stream->handle;
}

#define STREAM_OPEN(name)                                                                             \
  FILE *name(const char *path, const char *mode) {                                                    \
    static FILE *(*real)(const char *, const char *);                                                 \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);                                                 \
    if ((mode[0] == 'w' || mode[0] == 'a') && is_inside(path)) return fopen_inside(path, mode);       \
    return real(path, mode);                                                                          \
  }
STREAM_OPEN(fopen)
STREAM_OPEN(fopen64)

#define STREAM_FD(name)                                                                \
  int name(FILE *handle) {                                                             \
    static int (*real)(FILE *);                                                        \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);                                  \
    pthread_mutex_lock(&streams_turn);                                                 \
    struct stream *stream = streams;                                                   \
    while (stream != NULL && stream->handle != handle) stream = stream->next;          \
    int fd = stream == NULL ? -1 : stream->fd;                                         \
    pthread_mutex_unlock(&streams_turn);                                               \
    return fd >= 0 ? fd : real(handle);                                                \
  }
STREAM_FD(fileno)
STREAM_FD(fileno_unlocked)

static int open_any(const char *path, int flags, mode_t mode) {
  return is_inside(path) ? open_inside(path, flags, mode) : real_open(path, flags, mode);
}

#define OPEN(name)                                      \
  int name(const char *path, int flags, ...) {          \
    va_list rest;                                       \
    va_start(rest, flags);                              \
    mode_t mode = (mode_t)va_arg(rest, int);            \
    va_end(rest);                                       \
    return open_any(path, flags, mode);                 \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                             \
  int name(int directory, const char *path, int flags, ...) {                     \
    static int (*real)(int, const char *, int, ...);                              \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);                             \
    va_list rest;                                                                 \
    va_start(rest, flags);                                                        \
    mode_t mode = (mode_t)va_arg(rest, int);                                      \
    va_end(rest);                                                                 \
    return is_inside(path) ? open_inside(path, flags, mode) : real(directory, path, flags, mode); \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

int __open_2(const char *path, int flags) { return open_any(path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_any(path, flags, 0); }
int creat(const char *path, mode_t mode) { return open_any(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_any(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* Whether a descriptor is a regular file, with its status: sockets and pipes are let through without a lock. */
static int is_regular(int fd, struct stat *status) {
  pthread_once(&once, load);
  return root != NULL && fd != journal && fstat(fd, status) == 0 && S_ISREG(status->st_mode);
}

/* `at` -1: at the descriptor's own position, or the end where it appends. */
static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t at) {
  struct stat status;
  if (!is_regular(fd, &status)) {
    return at < 0 ? real_writev(fd, parts, count) : real_pwritev(fd, parts, count, at);
  }
  pthread_mutex_lock(&turn);
  uint32_t file = file_of(&status), record = 0;
  if (file != NO_FILE) {
    unsigned char head[12];
    int appends = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
    fstat(fd, &status); /* The size may have grown before this thread had its turn. */
    uint64_t offset = (uint64_t)(appends ? status.st_size : at < 0 ? lseek(fd, 0, SEEK_CUR) : at);
    memcpy(head, &file, 4);
    memcpy(head + 4, &offset, 8);
    record = note(WRITE, head, sizeof head, parts, count);
  }
  size_t wanted = 0;
  for (int i = 0; i < count; i++) wanted += parts[i].iov_len;
  ssize_t done = at < 0 ? real_writev(fd, parts, count) : real_pwritev(fd, parts, count, at);
  if (file != NO_FILE && done < 0) cancel(record);
  else if (file != NO_FILE && (size_t)done != wanted) give_up("a write was done in part");
  pthread_mutex_unlock(&turn);
  return done;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  struct stat status;
  if (!is_regular(fd, &status)) return real_write(fd, bytes, count);
  struct iovec part = {(void *)bytes, count};
  return write_parts(fd, &part, 1, -1);
}

ssize_t writev(int fd, const struct iovec *parts, int count) { return write_parts(fd, parts, count, -1); }

static ssize_t write_at(int fd, const void *bytes, size_t count, off_t at) {
  struct iovec part = {(void *)bytes, count};
  return write_parts(fd, &part, 1, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return write_at(fd, bytes, count, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return write_at(fd, bytes, count, at); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return write_parts(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return write_parts(fd, parts, count, at); }

static int truncate_to(int fd, off_t size) {
  struct stat status;
  if (!is_regular(fd, &status)) return real_ftruncate(fd, size);
  pthread_mutex_lock(&turn);
  uint32_t file = file_of(&status), record = 0;
  if (file != NO_FILE) {
    unsigned char head[12];
    uint64_t size64 = (uint64_t)size;
    memcpy(head, &file, 4);
    memcpy(head + 4, &size64, 8);
    record = note(TRUNCATE, head, sizeof head, NULL, 0);
  }
  int result = real_ftruncate(fd, size);
  if (file != NO_FILE && result != 0) cancel(record);
  pthread_mutex_unlock(&turn);
  return result;
}
int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_to(fd, size); }

/* What is durable is what was written before the sync began. */
static int sync_fd(int fd, int (*real)(int)) {
  struct stat status;
  if (root == NULL || fstat(fd, &status) != 0) return real(fd);
  char link[64], path[4096];
  pthread_mutex_lock(&turn);
  uint32_t file = S_ISREG(status.st_mode) ? file_of(&status) : NO_FILE;
  uint32_t body[2] = {file, records};
  pthread_mutex_unlock(&turn);
  if (file == NO_FILE && !S_ISDIR(status.st_mode)) return real(fd);
  usleep(sync_us);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return -1;
  path[length] = 0;
  pthread_mutex_lock(&turn);
  if (file != NO_FILE) note(SYNC, body, sizeof body, NULL, 0);
  else if (is_inside(path) || strcmp(path, root) == 0) note_path(SYNC_DIRECTORY, body[1], 1, path, NULL);
  pthread_mutex_unlock(&turn);
  return 0;
}

int fsync(int fd) {
  pthread_once(&once, load);
  return sync_fd(fd, real_fsync);
}

int fdatasync(int fd) {
  pthread_once(&once, load);
  return sync_fd(fd, real_fdatasync);
}

#define PATH_CALL(name, kind, declaration, call)  \
  int name declaration {                          \
    if (!is_inside(path)) return call;            \
    pthread_mutex_lock(&turn);                    \
    uint32_t record = note_path(kind, 0, 0, path, NULL); \
    int result = call;                            \
    if (result != 0) cancel(record);              \
    pthread_mutex_unlock(&turn);                  \
    return result;                                \
  }
PATH_CALL(unlink, UNLINK, (const char *path), real_unlink(path))
PATH_CALL(mkdir, MAKE_DIRECTORY, (const char *path, mode_t mode), real_mkdir(path, mode))
PATH_CALL(rmdir, REMOVE_DIRECTORY, (const char *path), real_rmdir(path))

/* By these two C++ removes files, and Node from 24 on: neither calls unlink or rmdir where it would be seen. */
int remove(const char *path) {
  struct stat status;
  if (!is_inside(path)) return real_remove(path);
  if (lstat(path, &status) != 0) return -1;
  return S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

int unlinkat(int folder, const char *name, int flags) {
  pthread_once(&once, load);
  char link[64], path[8192];
  if (root == NULL || folder == AT_FDCWD || name[0] == '/') {
    if (!is_inside(name)) return real_unlinkat(folder, name, flags);
    return flags & AT_REMOVEDIR ? rmdir(name) : unlink(name);
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, path, 4095);
  if (length < 0) return -1;
  snprintf(path + length, sizeof path - (size_t)length, "/%s", name);
  if (!is_inside(path)) return real_unlinkat(folder, name, flags);
  return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
}

#define TWO_PATHS_CALL(name, kind)                                        \
  int name(const char *from, const char *to) {                            \
    if (!is_inside(from) || !is_inside(to)) return real_##name(from, to); \
    pthread_mutex_lock(&turn);                                            \
    uint32_t record = note_path(kind, 0, 0, from, to);                    \
    int result = real_##name(from, to);                                   \
    if (result != 0) cancel(record);                                      \
    pthread_mutex_unlock(&turn);                                          \
    return result;                                                        \
  }
TWO_PATHS_CALL(rename, RENAME)
TWO_PATHS_CALL(link, LINK)
