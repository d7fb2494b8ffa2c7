/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics of the commands. */
#include "cli/messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_init(struct cli *cli, const char *name) {
    *cli = (struct cli) {.name = name, .error_status = 1};
    const char *status = getenv("SLURM_EXIT_ERROR");
    int64_t number;
    if (status && str_to_i64(status, &number) && number != 0)
        cli->error_status = (int) (number & 0xff);
}

static bool write_all(int fd, const char *text, size_t size) {
    while (size) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        size -= (size_t) n;
    }
    return true;
}

static void say(const struct cli *cli, const char *kind, const char *fmt, va_list args)
    printf_like(3, 0);
static void say(const struct cli *cli, const char *kind, const char *fmt, va_list args) {
    cleanup_str struct str text = STR_INIT, out = STR_INIT;
    str_vprintf(&text, fmt, args);
    if (text.length && text.data[text.length - 1] == '\n')
        text.data[--text.length] = '\0';
    const char *line = str_cstr(&text);
    while (line) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t) (end - line) : strlen(line);
        str_printf(&out, "%s: %s", cli->name, kind);
        str_append_bytes(&out, line, length);
        str_append(&out, cli->is_raw ? "\r\n" : "\n");
        line = end ? end + 1 : NULL;
    }
    (void) !write_all(STDERR_FILENO, out.data, out.length);
}

#define SAY(kind)                                                                                  \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, fmt);                                                                       \
        say(cli, kind, fmt, args);                                                                 \
        va_end(args);                                                                              \
    } while (0)

void cli_error(const struct cli *cli, const char *fmt, ...) {
    SAY("error: ");
}

int cli_failed(const struct cli *cli, const char *fmt, ...) {
    SAY("error: ");
    return 1;
}

void cli_fatal(const struct cli *cli, const char *fmt, ...) {
    SAY("fatal: ");
}

void cli_warning(const struct cli *cli, const char *fmt, ...) {
    if (!cli->quiet)
        SAY("warning: ");
}

void cli_without_effect(const struct cli *cli, const struct str *names) {
    if (names->length)
        cli_warning(cli, "accepted, but without effect in this release: %s", names->data);
}

void cli_info(const struct cli *cli, const char *fmt, ...) {
    if (!cli->quiet)
        SAY("");
}

void cli_verbose(const struct cli *cli, const char *fmt, ...) {
    if (cli->verbose > 0)
        SAY("");
}

void cli_raw(const char *text) {
    (void) !write_all(STDERR_FILENO, text, strlen(text));
}

int cli_print_text(const struct cli *cli, const struct str *text) {
    if (text->length == 0 || write_all(STDOUT_FILENO, text->data, text->length))
        return 0;
    cli_error(cli, "cannot write to standard output: %s", strerror(errno));
    return 1;
}

int cli_print(const struct cli *cli, const char *fmt, ...) {
    cleanup_str struct str text = STR_INIT;
    va_list args;
    va_start(args, fmt);
    str_vprintf(&text, fmt, args);
    va_end(args);
    return cli_print_text(cli, &text);
}

int cli_print_version(const struct cli *cli) {
    return cli_print(cli, "slurm %s\n", SLUICE_COMPAT_VERSION);
}

void cli_try_help(const struct cli *cli) {
    cleanup_str struct str text = STR_INIT;
    str_printf(&text, "Try \"%s --help\" for more information\n", cli->name);
    cli_raw(text.data);
}
