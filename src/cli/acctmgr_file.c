/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr dump and load: the book as a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assoc/file.h"
#include "base/alloc.h"
#include "cli/acctmgr.h"
#include "os/file.h"

#define FILE_BYTES_MAX (32u << 20)

struct words {
    const char *cluster, *file;
    bool clean;
};

/* Bare words are the file to load, or the cluster to dump. 0, or 1 after a complaint. */
static int read_words(struct words *words, bool load, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals != NULL ? (size_t) (equals - argv[i]) : strlen(argv[i]);
        if (equals == NULL && load && str_abbreviates(argv[i], length, "clean", 3)) {
            words->clean = true;
        } else if (equals == NULL) {
            const char **at = load ? &words->file : &words->cluster;
            if (*at != NULL) {
                fprintf(stderr, " Can only do one %s at a time. Already doing %s\n",
                        load ? "file" : "cluster", *at);
                return 1;
            }
            *at = argv[i];
        } else if (str_abbreviates(argv[i], length, "file", 1)) {
            words->file = equals + 1;
        } else if (str_abbreviates(argv[i], length, "cluster", 3)) {
            words->cluster = equals + 1;
        } else {
            fprintf(stderr, " Unknown option: %s\n", argv[i]);
            return 1;
        }
    }
    return 0;
}

/* ---- dump ---- */

/* The file is whole or is as it was. */
static int file_write(const char *path, const char *text) {
    cleanup_free char *fresh = xasprintf("%s.new", path);
    FILE *file = fopen(fresh, "we");
    bool ok =
        file != NULL && fputs(text, file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int errnum = errno;
    if (file != NULL && fclose(file) != 0)
        ok = false;
    if (ok && rename(fresh, path) == 0)
        return 0;
    fprintf(stderr, " Unable to write \"%s\": %s\n", path, strerror(ok ? errno : errnum));
    (void) unlink(fresh);
    return 1;
}

/* Each line that is no remark is shown, too. */
static void show_lines(const char *text) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy;
    for (char *line; (line = str_next_word(&cursor, "\n")) != NULL;) {
        if (line[0] != '#')
            fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
    }
}

int acctmgr_dump(struct list_session *session, const struct acctmgr_settings *settings, int argc,
                 char **argv) {
    struct words words = {.file = NULL};
    struct error err = ERROR_INIT;
    const struct assoc_file *reply;
    if (read_words(&words, false, argc, argv) != 0)
        return 1;
    if (words.cluster == NULL) {
        fprintf(stderr, " We need a cluster to dump.\n");
        return 1;
    }
    struct assoc_file request = {.cluster = (char *) (uintptr_t) words.cluster};
    if (list_ask_book(session, MSG_ASSOC_DUMP, &request, MSG_ASSOC_FILE, (const void **) &reply,
                      &err) < 0)
        return acctmgr_complain(&err);
    cleanup_free char *path =
        words.file != NULL ? xstrdup(words.file) : xasprintf("./%s.cfg", words.cluster);
    if (words.file == NULL)
        printf(" No filename given, using %s.\n", path);
    if (file_write(path, reply->text) != 0)
        return 1;
    if (!settings->quiet)
        show_lines(reply->text);
    return 0;
}

/* ---- load ---- */

#define FIELDS_ADDED                                                                               \
    "share,grptresmins,grptresrunmins,grptres,grpjobs,grpjobsaccrue,grpmemory,grpnodes,"           \
    "grpsubmitjobs,grpwall,maxtresmins,maxtres,maxtrespernode,maxjobs,maxsubmitjobs,maxnodes,"     \
    "maxwall,qos,defaultqos"

static void print_added_table(const char *title, const struct column_table *table,
                              const char *fields, const struct rows *rows, size_t line) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct column_env env;
    if (rows->n == 0 || format_parse_sacct(&format, table, fields, NULL, false, &err) < 0)
        return;
    list_env_init(&env, "");
    str_printf(&out, "%s\n", title);
    format_header(&format, &out);
    format_dashes(&format, &out);
    rows_print(rows, &format, &env, &out);
    str_append_fill(&out, '-', line);
    str_append(&out, "\n\n");
    list_output_all(&out);
}

static void row_add(struct rows *rows, struct arena *arena, const struct assoc_row *row) {
    struct assoc_row *copy = arena_alloc(arena, sizeof(*copy));
    *copy = *row;
    rows_push(rows, copy);
}

static void print_added(const struct assoc_list *added) {
    struct rows accounts = {NULL, 0, 0}, users = {NULL, 0, 0}, own = {NULL, 0, 0},
                theirs = {NULL, 0, 0};
    struct assoc_index index;
    struct arena arena;
    assoc_index_init(&index, added);
    arena_init(&arena, 0);
    for (uint32_t i = 0; i < added->qos.n; i++)
        printf("%s  %s\n", i == 0 ? " Adding QOS(s)\n" : "", added->qos.items[i].name);
    for (uint32_t i = 0; i < added->accounts.n; i++)
        row_add(&accounts, &arena,
                &(struct assoc_row) {.index = &index, .account = &added->accounts.items[i]});
    for (uint32_t i = 0; i < added->users.n; i++)
        row_add(&users, &arena,
                &(struct assoc_row) {.index = &index, .user = &added->users.items[i]});
    for (uint32_t i = 0; i < added->assocs.n; i++) {
        const struct assoc *assoc = &added->assocs.items[i];
        row_add(assoc->user == NULL ? &own : &theirs, &arena,
                &(struct assoc_row) {.index = &index, .assoc = assoc});
    }
    print_added_table("Accounts", &columns_account, "account,description,organization,qos",
                      &accounts, 51);
    print_added_table("Users", &columns_acct_user, "user,defaultaccount,adminlevel,coordinators",
                      &users, 51);
    print_added_table("Account Associations", &columns_assoc, "account,parentname," FIELDS_ADDED,
                      &own, 62);
    print_added_table("User Associations", &columns_assoc, "user,account," FIELDS_ADDED, &theirs,
                      62);
    rows_done(&accounts);
    rows_done(&users);
    rows_done(&own);
    rows_done(&theirs);
    assoc_index_done(&index);
    arena_done(&arena);
}

static int load_text(struct list_session *session, const struct acctmgr_settings *settings,
                     struct assoc_file *request) {
    struct error err = ERROR_INIT;
    struct str cluster cleanup_str = STR_INIT;
    const struct assoc_changed *reply;
    if (request->cluster != NULL || assoc_file_cluster(request->text, &cluster))
        printf("For cluster %s\n", request->cluster != NULL ? request->cluster : cluster.data);
    fflush(stdout);
    request->commit = settings->immediate;
    if (list_ask_book(session, MSG_ASSOC_LOAD, request, MSG_ASSOC_CHANGED, (const void **) &reply,
                      &err) < 0)
        return acctmgr_complain(&err);
    bool changes = reply->text != NULL && reply->text[0] != '\0';
    if (!changes && reply->added == NULL) {
        printf(" Nothing new added.\n");
        return 0;
    }
    if (changes)
        fputs(reply->text, stdout);
    fflush(stdout);
    if (reply->added != NULL)
        print_added(reply->added);
    for (uint32_t i = 0; i < reply->notes.n; i++)
        list_note(reply->notes.items[i]);
    if (settings->immediate || !acctmgr_user_agrees())
        return 0;
    request->commit = true;
    return list_ask_book(session, MSG_ASSOC_LOAD, request, MSG_ASSOC_CHANGED,
                         (const void **) &reply, &err) < 0
               ? acctmgr_complain(&err)
               : 0;
}

int acctmgr_load(struct list_session *session, const struct acctmgr_settings *settings, int argc,
                 char **argv) {
    struct words words = {.file = NULL};
    struct str text cleanup_str = STR_INIT;
    if (read_words(&words, true, argc, argv) != 0)
        return 1;
    if (settings->read_only) {
        fprintf(stderr, "Can't run this command in readonly mode.\n");
        return 1;
    }
    if (words.file == NULL) {
        fprintf(stderr, " No filename given, specify one with file=''\n");
        return 1;
    }
    int errnum = file_read(words.file, FILE_BYTES_MAX, &text);
    if (errnum == 0 && text.length >= FILE_BYTES_MAX)
        errnum = EFBIG;
    if (errnum != 0) {
        fprintf(stderr, " Unable to read \"%s\": %s\n", words.file, strerror(errnum));
        return 1;
    }
    struct assoc_file request = {.cluster = (char *) (uintptr_t) words.cluster,
                                 .text = (char *) (uintptr_t) str_cstr(&text),
                                 .clean = words.clean};
    return load_text(session, settings, &request);
}
