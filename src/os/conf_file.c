/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading configuration files. */
#include "os/conf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define FILE_MAX ((size_t) 64 << 20) /* as CONF_FILE_MAX of model/conf.h, which is above us */

void conf_file_path(const char *option, struct str *ret) {
    const char *environment = secure_getenv("SLURM_CONF");
    const char *built_in = SLUICE_SYSCONFDIR "/slurm/slurm.conf";
    if (option != NULL && option[0] != '\0')
        str_append(ret, option);
    else if (environment != NULL && environment[0] != '\0')
        str_append(ret, environment);
    else if (access(built_in, F_OK) == 0)
        str_append(ret, built_in);
    else
        str_append(ret, CONF_FILE_FALLBACK);
}

static int open_failed(const char *path, struct error *err) {
    if (errno == ENOENT || errno == ENOTDIR)
        return error_set(err, ERR_NOT_FOUND, "there is no file %s", path);
    return error_errno(err, errno, "cannot open %s", path);
}

int conf_file_read(void *context, const char *path, struct str *ret, struct error *err) {
    /* O_NONBLOCK: a FIFO in the place of a file must not hang a command. */
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return open_failed(path, err);
    struct stat status;
    if (fstat(fd, &status) != 0)
        return error_errno(err, errno, "cannot look at %s", path);
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERR_INVALID, "%s is no plain file", path);
    size_t size = (size_t) status.st_size;
    for (;;) {
        if (ret->length > FILE_MAX)
            return error_set(err, ERR_LIMIT, "%s is larger than 64 MiB", path);
        str_reserve(ret, size + 1 > ret->length ? size + 1 - ret->length : 4096);
        ssize_t n = read(fd, ret->data + ret->length, ret->capacity - ret->length - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, errno, "cannot read %s", path);
        if (n == 0)
            break;
        ret->length += (size_t) n;
    }
    if (ret->data != NULL)
        ret->data[ret->length] = '\0';
    return 0;
}
