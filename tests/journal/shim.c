/* Writes down what a program asks of the disk, so that a test can work out what a power cut would have left.
 *
 * Preloaded into a journalling child. Every call that changes a file below SHIM_DIR, and every sync, is carried
 * out and then appended to SHIM_LOG, in the order in which the calls returned; one lock keeps that order true
 * among threads. With SHIM_SWALLOW=files (or directories) their syncs return at once and are not written down: a
 * disk that lies.
 *
 * A record: kind (1 byte), length of the path, of the second path and of the data, offset (4 x 8 bytes, host
 * order), then the three themselves. Paths are relative to SHIM_DIR.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static char root[PATH_MAX];
static size_t root_length;
static int swallow_files, swallow_directories;

__attribute__((constructor)) static void begin(void)
{
    const char *log = getenv("SHIM_LOG"), *dir = getenv("SHIM_DIR");
    if (!log || !dir || !realpath(dir, root))
        return;
    root_length = strlen(root);
    const char *which = getenv("SHIM_SWALLOW");
    swallow_files = which && !strcmp(which, "files");
    swallow_directories = which && !strcmp(which, "directories");
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

/* The path relative to the root, or NULL where it is not of interest. */
static const char *below(const char *path)
{
    if (strncmp(path, root, root_length) || (path[root_length] != '/' && path[root_length]))
        return NULL;
    return path[root_length] ? path + root_length + 1 : ".";
}

static const char *of_path(const char *path, char *buffer)
{
    char folder[PATH_MAX], *slash;
    if (log_fd < 0 || strlen(path) >= PATH_MAX)
        return NULL;
    strcpy(folder, path);
    slash = strrchr(folder, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    if (!realpath(*folder ? folder : "/", buffer) || strlen(buffer) + strlen(slash + 1) + 2 > PATH_MAX)
        return NULL;
    strcat(strcat(buffer, "/"), slash + 1);
    return below(buffer);
}

static const char *of_fd(int fd, char *buffer)
{
    char link[64];
    ssize_t length;
    if (log_fd < 0)
        return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, buffer, PATH_MAX - 1);
    if (length <= 0)
        return NULL;
    buffer[length] = 0;
    return below(buffer);
}

static void note(char kind, const char *path, const char *second, const void *data, size_t length, off_t offset)
{
    unsigned long long head[4] = {strlen(path), strlen(second), length, (unsigned long long)offset};
    struct iovec parts[] = {{&kind, 1}, {head, sizeof head}, {(void *)path, head[0]},
                            {(void *)second, head[1]}, {(void *)data, length}};
    size_t all = 1 + sizeof head + head[0] + head[1] + length;
    if (syscall(SYS_writev, log_fd, parts, 5) != (long)all)
        abort();
}

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset)
{
    char buffer[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = of_fd(fd, buffer);
    ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
    int error = errno;
    if (path && done > 0)
        note('w', path, "", data, (size_t)done, offset);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    return pwrite64(fd, data, length, offset);
}

ssize_t write(int fd, const void *data, size_t length)
{
    char buffer[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = of_fd(fd, buffer);
    off_t offset = path ? lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR) : 0;
    ssize_t done = syscall(SYS_write, fd, data, length);
    int error = errno;
    if (path && done > 0)
        note('w', path, "", data, (size_t)done, offset);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

/* Not here: who copies with it falls back to writes, which are noted. */
ssize_t sendfile64(int to, int from, off64_t *offset, size_t length)
{
    (void)to, (void)from, (void)offset, (void)length;
    errno = EINVAL;
    return -1;
}

int ftruncate64(int fd, off64_t length)
{
    char buffer[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = of_fd(fd, buffer);
    int done = (int)syscall(SYS_ftruncate, fd, length), error = errno;
    if (path && !done)
        note('t', path, "", "", 0, length);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

static int synced(int fd, long call)
{
    char buffer[PATH_MAX];
    struct stat found;
    pthread_mutex_lock(&lock);
    const char *path = of_fd(fd, buffer);
    int is_file = !fstat(fd, &found) && S_ISREG(found.st_mode);
    int lie = path && (is_file ? swallow_files : swallow_directories);
    int done = lie ? 0 : (int)syscall(call, fd), error = errno;
    if (path && !done && !lie)
        note('s', path, "", "", 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int fsync(int fd)
{
    return synced(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return synced(fd, SYS_fdatasync);
}

static int opened(int folder, const char *path, int flags, mode_t mode)
{
    char buffer[PATH_MAX];
    struct stat found;
    pthread_mutex_lock(&lock);
    const char *told = (flags & (O_CREAT | O_TRUNC)) ? of_path(path, buffer) : NULL;
    int was_there = told && !stat(path, &found);
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode), error = errno;
    if (told && fd >= 0 && !was_there)
        note('c', told, "", "", 0, 0);
    else if (told && fd >= 0 && (flags & O_TRUNC))
        note('t', told, "", "", 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define MODE_OF(flags, mode) \
    do { \
        va_list rest; \
        va_start(rest, flags); \
        mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
    } while (0)

int open64(const char *path, int flags, ...)
{
    mode_t mode;
    MODE_OF(flags, mode);
    return opened(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    mode_t mode;
    MODE_OF(flags, mode);
    return opened(AT_FDCWD, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode;
    MODE_OF(flags, mode);
    return opened(folder, path, flags, mode);
}

static int moved(const char *from, const char *to, int (*go)(const char *, const char *))
{
    char one[PATH_MAX], two[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *was = of_path(from, one), *is = of_path(to, two);
    int done = go(from, to), error = errno;
    if (was && is && !done)
        note('r', was, is, "", 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int rename(const char *from, const char *to)
{
    return moved(from, to, REAL(int, "rename", const char *, const char *));
}

static int removed(const char *path, int (*go)(const char *))
{
    char buffer[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *told = of_path(path, buffer);
    int done = go(path), error = errno;
    if (told && !done)
        note('u', told, "", "", 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int unlink(const char *path)
{
    return removed(path, REAL(int, "unlink", const char *));
}
