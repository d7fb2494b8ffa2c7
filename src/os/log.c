/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log; see log.h. The one mutable state is the process's configuration, behind a lock. A line
 * is built in memory and leaves in one write(), so that lines of several threads and processes that
 * share a file do not mix.
 */
#include "os/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/loop.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define MINUTE_USEC 60000000u

static struct {
    pthread_mutex_t lock;
    _Atomic int highest; /* read without the lock: a stale value costs one line */
    enum log_level stderr_level, file_level, syslog_level;
    enum log_time_format time_format;
    bool stderr_has_time;
    char *ident, *file;
    int file_fd;
    int journal_fd; /* -1: syslog */
    bool syslog_is_open;
} the_log = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .highest = LOG_LEVEL_ERROR,
    .stderr_level = LOG_LEVEL_ERROR,
    .file_fd = -1,
    .journal_fd = -1,
};

static const struct {
    const char *name, *prefix;
} levels[] = {
#define X(name, text, prefix) {text, prefix},
    LOG_LEVEL_TABLE(X)
#undef X
};

int log_level_parse(const char *text, enum log_level *ret, struct error *err) {
    uint64_t number;
    if (str_to_u64(text, &number) && number < countof(levels)) {
        *ret = (enum log_level) number;
        return 0;
    }
    for (size_t i = 0; i < countof(levels); i++)
        if (str_equal_nocase(text, levels[i].name)) {
            *ret = (enum log_level) i;
            return 0;
        }
    return error_set(err, ERR_INVALID,
                     "log level %s does not exist; use quiet, fatal, error, info, verbose, debug, "
                     "debug2, debug3, debug4 or debug5",
                     text);
}

static const struct {
    const char *name;
    enum log_time_format format;
} time_formats[] = {
    {"iso8601_ms", LOG_TIME_ISO8601_MS}, {"iso8601", LOG_TIME_ISO8601},
    {"rfc5424_ms", LOG_TIME_RFC5424_MS}, {"rfc5424", LOG_TIME_RFC5424},
    {"rfc3339", LOG_TIME_RFC3339},       {"clock", LOG_TIME_CLOCK},
    {"short", LOG_TIME_SHORT},           {"thread_id", LOG_TIME_THREAD_ID},
};

int log_time_format_parse(const char *text, enum log_time_format *ret, bool *ret_stderr_has_time,
                          struct error *err) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *word;
    enum log_time_format format = LOG_TIME_ISO8601_MS;
    bool stderr_has_time = false;
    while ((word = str_next_word(&cursor, ", "))) {
        size_t i = 0;
        while (i < countof(time_formats) && !str_equal_nocase(word, time_formats[i].name))
            i++;
        if (i < countof(time_formats))
            format = time_formats[i].format;
        else if (str_equal_nocase(word, "format_stderr"))
            stderr_has_time = true;
        else
            return error_set(err, ERR_INVALID,
                             "LogTimeFormat=%s does not exist; use iso8601, iso8601_ms, rfc5424, "
                             "rfc5424_ms, rfc3339, clock, short, thread_id, and format_stderr",
                             word);
    }
    *ret = format;
    *ret_stderr_has_time = stderr_has_time;
    return 0;
}

/* ---- opening ---- */

static int file_open(const char *path, int *ret_fd, struct error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
    if (fd < 0)
        return error_errno(err, errno, "cannot open log file %s", path);
    *ret_fd = fd;
    return 0;
}

static int journal_open(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
    cleanup_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0)
        return -1;
    return take_fd(&fd);
}

static void highest_update(void) {
    the_log.highest = (int) max_of(
        the_log.stderr_level,
        max_of(the_log.file_fd >= 0 ? the_log.file_level : LOG_LEVEL_QUIET, the_log.syslog_level));
}

static void log_release(void) {
    fd_cleanup(&the_log.file_fd);
    fd_cleanup(&the_log.journal_fd);
    the_log.file_fd = the_log.journal_fd = -1;
    if (the_log.syslog_is_open)
        closelog();
    the_log.syslog_is_open = false;
    free(take(the_log.ident));
    free(take(the_log.file));
}

int log_open(const struct log_config *config, struct error *err) {
    assert(config && config->ident);
    int fd = -1;
    if (config->file) {
        int r = file_open(config->file, &fd, err);
        if (r < 0)
            return r;
    }
    pthread_mutex_lock(&the_log.lock);
    log_release();
    the_log.stderr_level = config->stderr_level;
    the_log.file_level = config->file_level;
    the_log.syslog_level = config->syslog_level;
    the_log.time_format = config->time_format;
    the_log.stderr_has_time = config->stderr_has_time;
    the_log.ident = xstrdup(config->ident);
    the_log.file = xstrdup_null(config->file);
    the_log.file_fd = fd;
    if (config->syslog_level != LOG_LEVEL_QUIET) {
        the_log.journal_fd = journal_open();
        if (the_log.journal_fd < 0) {
            openlog(the_log.ident, LOG_PID | LOG_NDELAY, LOG_DAEMON);
            the_log.syslog_is_open = true;
        }
    }
    highest_update();
    pthread_mutex_unlock(&the_log.lock);
    return 0;
}

int log_reopen(struct error *err) {
    pthread_mutex_lock(&the_log.lock);
    int r = 0, fd = -1;
    if (the_log.file)
        r = file_open(the_log.file, &fd, err);
    if (r == 0 && the_log.file) {
        close(the_log.file_fd);
        the_log.file_fd = fd;
    }
    pthread_mutex_unlock(&the_log.lock);
    return r;
}

void log_set_level(enum log_level level) {
    pthread_mutex_lock(&the_log.lock);
    the_log.file_level = level;
    if (the_log.stderr_level != LOG_LEVEL_QUIET)
        the_log.stderr_level = level;
    if (the_log.syslog_level != LOG_LEVEL_QUIET)
        the_log.syslog_level = level;
    highest_update();
    pthread_mutex_unlock(&the_log.lock);
}

void log_close(void) {
    pthread_mutex_lock(&the_log.lock);
    log_release();
    the_log.stderr_level = LOG_LEVEL_ERROR;
    the_log.syslog_level = LOG_LEVEL_QUIET;
    highest_update();
    pthread_mutex_unlock(&the_log.lock);
}

/* ---- writing ---- */

bool log_is_on(enum log_level level) {
    return (int) level <= the_log.highest;
}

static void append_offset(struct str *line, const struct tm *parts) {
    long minutes = parts->tm_gmtoff / 60;
    long size = minutes < 0 ? -minutes : minutes;
    str_printf(line, "%c%02ld:%02ld", minutes < 0 ? '-' : '+', size / 60, size % 60);
}

static void append_time(struct str *line, enum log_time_format format) {
    uint64_t now = loop_realtime_usec();
    time_t seconds = (time_t) (now / 1000000);
    unsigned msec = (unsigned) (now / 1000 % 1000);
    struct tm parts;
    if (format == LOG_TIME_RFC3339)
        gmtime_r(&seconds, &parts);
    else
        localtime_r(&seconds, &parts);
    char text[64];
    const char *pattern = "%Y-%m-%dT%H:%M:%S";
    if (format == LOG_TIME_SHORT)
        pattern = "%b %d %H:%M:%S";
    else if (format == LOG_TIME_THREAD_ID)
        pattern = "%a %b %e %H:%M:%S %Y";
    strftime(text, sizeof(text), pattern, &parts);
    switch (format) {
    case LOG_TIME_CLOCK:
        str_printf(line, "%ld", (long) ((double) clock() * 1e6 / CLOCKS_PER_SEC));
        return;
    case LOG_TIME_ISO8601_MS:
        str_printf(line, "%s.%03u", text, msec);
        return;
    case LOG_TIME_RFC5424_MS:
        str_printf(line, "%s.%03u", text, msec);
        append_offset(line, &parts);
        return;
    case LOG_TIME_RFC5424:
        str_append(line, text);
        append_offset(line, &parts);
        return;
    case LOG_TIME_RFC3339:
        str_printf(line, "%sZ", text);
        return;
    case LOG_TIME_THREAD_ID: {
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof(name));
        str_printf(line, "%s %s %ld", text, name, syscall(SYS_gettid));
        return;
    }
    case LOG_TIME_ISO8601:
    case LOG_TIME_SHORT:
        str_append(line, text);
        return;
    }
}

static void append_escaped(struct str *line, const char *message) {
    for (const char *at = message; *at; at++) {
        unsigned char c = (unsigned char) *at;
        if (c == '\n')
            str_append(line, "\\n");
        else if ((c < 0x20 && c != '\t') || c == 0x7f)
            str_printf(line, "\\%03o", c);
        else
            str_append_char(line, *at);
    }
}

static void write_line(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* a full disk must not stop the daemon, and there is nowhere to report it */
        data += n;
        size -= (size_t) n;
    }
}

static void write_stderr(const char *message) {
    cleanup_str struct str line = STR_INIT;
    if (the_log.stderr_has_time) {
        str_append_char(&line, '[');
        append_time(&line, the_log.time_format);
        str_append(&line, "] ");
    } else if (the_log.ident) {
        str_printf(&line, "%s: ", the_log.ident);
    }
    str_append(&line, message);
    str_append_char(&line, '\n');
    write_line(STDERR_FILENO, line.data, line.length);
}

static void write_file(const char *message) {
    cleanup_str struct str line = STR_INIT;
    str_append_char(&line, '[');
    append_time(&line, the_log.time_format);
    str_printf(&line, "] %s\n", message);
    write_line(the_log.file_fd, line.data, line.length);
}

static void write_system(enum log_level level, const char *message) {
    static const int priorities[] = {
        [LOG_LEVEL_FATAL] = LOG_CRIT,
        [LOG_LEVEL_ERROR] = LOG_ERR,
        [LOG_LEVEL_INFO] = LOG_INFO,
        [LOG_LEVEL_VERBOSE] = LOG_INFO,
    };
    int priority = (size_t) level < countof(priorities) ? priorities[level] : LOG_DEBUG;
    if (the_log.journal_fd < 0) {
        syslog(priority, "%s", message);
        return;
    }
    cleanup_str struct str entry = STR_INIT;
    str_printf(&entry, "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nMESSAGE=%s\n", priority, the_log.ident,
               message);
    ssize_t n = send(the_log.journal_fd, entry.data, entry.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void) n; /* a journal that does not keep up must not stop the daemon */
}

void log_write(enum log_level level, const char *fmt, ...) {
    if (!log_is_on(level) || level == LOG_LEVEL_QUIET)
        return;
    int saved_errno = errno;
    cleanup_str struct str raw = STR_INIT, message = STR_INIT;
    va_list args;
    va_start(args, fmt);
    str_vprintf(&raw, fmt, args);
    va_end(args);
    str_append(&message, levels[level].prefix);
    append_escaped(&message, str_cstr(&raw));
    pthread_mutex_lock(&the_log.lock);
    if (level <= the_log.stderr_level)
        write_stderr(message.data);
    if (the_log.file_fd >= 0 && level <= the_log.file_level)
        write_file(message.data);
    if (level <= the_log.syslog_level)
        write_system(level, message.data);
    pthread_mutex_unlock(&the_log.lock);
    errno = saved_errno;
}

bool log_limit_pass(struct log_limit *limit, uint64_t now_usec, unsigned *ret_suppressed) {
    if (now_usec - limit->minute_started_usec >= MINUTE_USEC) {
        limit->minute_started_usec = now_usec;
        limit->n = 0;
    }
    if (limit->n >= limit->per_minute) {
        limit->n_suppressed++;
        return false;
    }
    limit->n++;
    *ret_suppressed = limit->n_suppressed;
    limit->n_suppressed = 0;
    return true;
}
