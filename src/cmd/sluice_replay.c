/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of sluice sim and sluice whatif that are the same. */
#include "cmd/sluice_replay.h"

#include <time.h>
#include <unistd.h>

#include "cli/main.h"
#include "sim/conf_edit.h"

#define PROGRESS_MSEC 200 /* between two pictures of the bar; shorter runs show none */
#define PROGRESS_WIDTH 40 /* characters */

/* ---- the configuration ---- */

int replay_conf_read(const struct cli *cli, const char *path, bool foreign, struct conf **ret) {
    struct conf_report report cleanup_conf_report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    int r = sim_conf_read(path, foreign, ret, &report, &err);
    for (size_t i = 0; i < report.n; i++) {
        cleanup_str struct str line = STR_INIT;
        conf_finding_print(&report.items[i], &line);
        if (report.items[i].severity == CONF_SEVERITY_ERROR)
            cli_error(cli, "%s", line.data);
        else if (r == 0 && foreign)
            cli_info(cli, "%s", line.data);
    }
    if (r < 0 && report.n_errors == 0) /* else it says what the report has said */
        cli_error(cli, "%s", err.text);
    return r < 0 ? 1 : CLI_GO_ON;
}

/* ---- the bar ---- */

static int64_t now_msec(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void draw(void *context, uint64_t done, uint64_t all) {
    struct replay_bar *bar = context;
    int64_t now = now_msec();
    cleanup_str struct str text = STR_INIT;
    if (now - max_of(bar->drawn_msec, bar->begun_msec) < PROGRESS_MSEC)
        return;
    size_t filled = (size_t) (done * PROGRESS_WIDTH / all);
    bar->drawn_msec = now;
    str_printf(&text, "\r%s[", bar->what);
    str_append_fill(&text, '#', filled);
    str_append_fill(&text, '.', PROGRESS_WIDTH - filled);
    str_printf(&text, "] %3u%% of %llu jobs", (unsigned) (done * 100 / all),
               (unsigned long long) all);
    cli_raw(text.data);
}

const struct sim_watch *replay_bar_init(struct replay_bar *bar, const struct cli *cli,
                                        const char *what) {
    *bar = (struct replay_bar) {
        .what = what, .begun_msec = now_msec(), .watch = {.context = bar, .progress = draw}};
    return isatty(STDERR_FILENO) && !cli->quiet ? &bar->watch : NULL;
}

void replay_bar_clear(const struct replay_bar *bar) {
    if (bar->drawn_msec)
        cli_raw("\r\033[K");
}
