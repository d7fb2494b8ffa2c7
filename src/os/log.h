/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a daemon: one line per event to standard error, a file, and the journal or syslog,
 * each with its own level. A process has one log; these functions may be called from any thread.
 * Only programs log: libraries return a struct error.
 */
#ifndef SLUICE_OS_LOG_H
#define SLUICE_OS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Numbers are those of SlurmctldDebug=0…9. X(NAME, name in slurm.conf, prefix of the line) */
#define LOG_LEVEL_TABLE(X)                                                                         \
    X(QUIET, "quiet", "")                                                                          \
    X(FATAL, "fatal", "fatal: ")                                                                   \
    X(ERROR, "error", "error: ")                                                                   \
    X(INFO, "info", "")                                                                            \
    X(VERBOSE, "verbose", "")                                                                      \
    X(DEBUG, "debug", "debug:  ")                                                                  \
    X(DEBUG2, "debug2", "debug2: ")                                                                \
    X(DEBUG3, "debug3", "debug3: ")                                                                \
    X(DEBUG4, "debug4", "debug4: ")                                                                \
    X(DEBUG5, "debug5", "debug5: ")

enum log_level {
#define X(name, text, prefix) LOG_LEVEL_##name,
    LOG_LEVEL_TABLE(X)
#undef X
};

enum log_time_format {
    LOG_TIME_ISO8601_MS, /* 2026-11-30T12:15:53.446, the default */
    LOG_TIME_ISO8601,
    LOG_TIME_RFC5424, /* with the offset from UTC */
    LOG_TIME_RFC5424_MS,
    LOG_TIME_RFC3339,   /* in UTC, with Z */
    LOG_TIME_CLOCK,     /* processor time in microseconds */
    LOG_TIME_SHORT,     /* Nov 30 12:15:53 */
    LOG_TIME_THREAD_ID, /* as ctime(), then the thread's name and number */
};

struct log_config {
    const char *ident; /* "slurmctld": begins lines on standard error, names us in syslog */
    enum log_level stderr_level, file_level, syslog_level; /* LOG_LEVEL_QUIET = not there */
    const char *file;                                      /* NULL = none */
    enum log_time_format time_format;
    bool stderr_has_time; /* LogTimeFormat=format_stderr */
};

/* (Re)configures; until then errors go to standard error. The strings are copied. On failure (the
 * file cannot be opened) the former configuration stays. */
must_check int log_open(const struct log_config *config, struct error *err);
/* Opens the file anew by its name, after it was rotated (SIGUSR2). */
must_check int log_reopen(struct error *err);
void log_set_level(enum log_level level); /* of the file, syslog and, where used, standard error */
void log_close(void);

bool log_is_on(enum log_level level);
/* One line; line breaks and other control characters in it are escaped, so that nobody can forge
 * lines. errno is kept. */
void log_write(enum log_level level, const char *fmt, ...) printf_like(2, 3);

#define log_at(level, ...)                                                                         \
    do {                                                                                           \
        if (log_is_on(level))                                                                      \
            log_write(level, __VA_ARGS__);                                                         \
    } while (0)
#define log_fatal(...) log_write(LOG_LEVEL_FATAL, __VA_ARGS__) /* the caller exits */
#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_info(...) log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_verbose(...) log_at(LOG_LEVEL_VERBOSE, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_debug2(...) log_at(LOG_LEVEL_DEBUG2, __VA_ARGS__)
#define log_debug3(...) log_at(LOG_LEVEL_DEBUG3, __VA_ARGS__)

/* For lines that an outsider can repeat at will: `static struct log_limit limit = {.per_minute =
 * 10}; if (log_limit_pass(&limit, now, &suppressed)) …`. now is monotonic. *ret_suppressed is how
 * many were left out since the last one that passed. Not thread-safe. */
struct log_limit {
    unsigned per_minute;
    uint64_t minute_started_usec;
    unsigned n, n_suppressed;
};
bool log_limit_pass(struct log_limit *limit, uint64_t now_usec, unsigned *ret_suppressed);

/* "debug2" or "6", any case. */
must_check int log_level_parse(const char *text, enum log_level *ret, struct error *err);
/* The value of LogTimeFormat: names separated by commas. */
must_check int log_time_format_parse(const char *text, enum log_time_format *ret,
                                     bool *ret_stderr_has_time, struct error *err);

#endif
