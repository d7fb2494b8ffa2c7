/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_container.conf on this node: where the private directories of jobs are. They are made and
 * entered by slurmstepds (slurmstepd/places.h); here they are ordered, and removed at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/conf_others.h"
#include "os/conf_file.h"
#include "os/log.h"
#include "os/program.h"
#include "slurmd/slurmd.h"
#include "text/hostlist.h"

struct places {
    struct conf_containers *conf;
    const struct conf_container *line; /* of this node */
    char *base;
    vec(char *) dirs;
};

static void places_free(struct places *places) {
    if (!places)
        return;
    vec_each (&places->dirs, dir)
        free(*dir);
    vec_done(&places->dirs);
    conf_containers_free(places->conf);
    free(places->base);
    free(places);
}

static bool names_node(const char *list, const char *node) {
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT;

    if (!list || hostlist_parse(&names, list, NULL) < 0)
        return false;
    for (size_t i = 0; i < names.n; i++) {
        if (str_equal(names.names[i], node))
            return true;
    }
    return false;
}

static int load(const struct slurmd *slurmd, struct places *places, struct error *err) {
    static const struct conf_source source = {conf_file_read, NULL};
    cleanup_free char *path = conf_program_path(slurmd->conf_path, "job_container.conf");
    struct conf_report report = CONF_REPORT_INIT;
    int r = conf_containers_load(&source, path, &places->conf, &report, err);

    for (size_t i = 0; i < report.n; i++) {
        cleanup_str struct str line = STR_INIT;
        conf_finding_print(&report.items[i], &line);
        log_info("%s", line.data);
    }
    conf_report_done(&report);
    if (r < 0)
        return error_prefix(err, "NamespaceType asks for private directories of jobs: ");
    places->line = &places->conf->everywhere;
    for (size_t i = 0; i < places->conf->n_lines; i++) {
        if (names_node(places->conf->lines[i].node_names, slurmd->node_name))
            places->line = &places->conf->lines[i];
    }
    return 0;
}

static bool is_below(const char *path, const char *dir) {
    size_t length = strlen(dir);

    return str_starts(path, dir) && (path[length] == '/' || path[length] == '\0');
}

/* What would make every job fail, said once and where it is looked for. */
static int check(const struct slurmd *slurmd, const struct places *places, struct error *err) {
    struct stat stat_;

    if (geteuid() != 0)
        return error_set(err, ERR_CONFIG,
                         "Private directories of jobs (NamespaceType) need a slurmd that is root.");
    vec_each (&places->dirs, dir) {
        if (**dir != '/')
            return error_set(err, ERR_CONFIG, "job_container.conf: \"%s\" in Dirs is no path",
                             *dir);
        if (is_below(slurmd->conf->slurmd_spool_dir, *dir))
            return error_set(err, ERR_CONFIG,
                             "job_container.conf: with a private %s (Dirs) jobs cannot see their "
                             "scripts in SlurmdSpoolDir=%s: put that elsewhere",
                             *dir, slurmd->conf->slurmd_spool_dir);
    }
    if (places->line->auto_base_path && mkdir(places->base, 0755) < 0 && errno != EEXIST)
        return error_errno(err, errno, "job_container.conf: BasePath=%s cannot be made",
                           places->base);
    if (stat(places->base, &stat_) < 0 || !S_ISDIR(stat_.st_mode))
        return error_set(err, ERR_CONFIG,
                         "job_container.conf: BasePath=%s is no directory: make it, or set "
                         "AutoBasePath=true",
                         places->base);
    return 0;
}

int places_configure(struct slurmd *slurmd, struct error *err) {
    struct places *places;
    struct str base = STR_INIT;

    if (slurmd->conf->namespace_type != CONF_NAMESPACE_TMPFS) {
        places_free(take(slurmd->places));
        return 0;
    }
    places = zalloc(struct places);
    int r = load(slurmd, places, err);
    if (r == 0 && !places->line->base_path) /* not on this node */
        goto out;
    if (r == 0) {
        conf_path_expand(places->line->base_path, slurmd->machine.hostname, slurmd->node_name,
                         &base);
        places->base = str_take(&base);
        words_each (places->line->dirs, ",", dir)
            vec_push(&places->dirs, xstrdup(dir));
        r = check(slurmd, places, err);
    }
    if (r < 0) {
        places_free(places);
        return r;
    }
out:
    places_free(slurmd->places);
    slurmd->places = places;
    return 0;
}

void places_order(const struct slurmd *slurmd, struct arena *arena, struct step_order *order) {
    const struct places *places = slurmd->places;
    cleanup_str struct str path = STR_INIT;

    if (!places || !places->base)
        return;
    str_printf(&path, "%s/%u", places->base, order->job_id);
    order->places = arena_strndup(arena, path.data, path.length);
    order->place_dirs.items = places->dirs.items;
    order->place_dirs.n = (uint32_t) places->dirs.n;
    order->places_shared = places->line->shared;
    order->places_init = (char *) (uintptr_t) places->line->init_script;
    order->places_script = (char *) (uintptr_t) places->line->clone_ns_script;
}

/* ---- removing ---- */

struct removal {
    uint32_t job_id;
    void (*fn)(void *context);
    void *context;
};

static void on_line(const char *text, void *context) {
    const struct removal *removal = context;

    log_error("job %u: %s", removal->job_id, text);
}

static void on_removed(int status, bool timed_out, void *context) {
    struct removal *removal = context;

    removal->fn(removal->context);
    free(removal);
}

void places_remove(struct slurmd *slurmd, uint32_t job_id, void (*fn)(void *context),
                   void *context) {
    const struct places *places = slurmd->places;
    struct error err = ERROR_INIT;

    if (!places || !places->base) {
        fn(context);
        return;
    }
    cleanup_free char *path = xasprintf("%s/%u", places->base, job_id);
    cleanup_free char *job = xasprintf("SLURM_JOB_ID=%u", job_id);
    cleanup_free char *conf = xasprintf("SLURM_CONF=%s", slurmd->conf_path);
    char mode[] = "remove-places";
    char *argv[] = {slurmd->stepd_path, mode, path,
                    (char *) (uintptr_t) places->line->clone_ns_epilog, NULL};
    char *envp[] = {job, conf, NULL};
    struct removal *removal = zalloc(struct removal);
    *removal = (struct removal) {job_id, fn, context};
    struct program program = {.argv = argv,
                              .envp = envp,
                              .directory = "/",
                              .line = on_line,
                              .ended = on_removed,
                              .context = removal};
    if (program_start(slurmd->loop, &program, &err) < 0) {
        log_error("job %u: its private directories stay: %s", job_id, err.text);
        free(removal);
        fn(context);
    }
}
