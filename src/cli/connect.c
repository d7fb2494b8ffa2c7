/* SPDX-License-Identifier: Apache-2.0 */
/* The way to the controller. */
#include "cli/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

#define PATIENCE_USEC 2000000u   /* of a `patient` command, in all */
#define RETRY_USEC 50000u        /* first pause between tries; it doubles */
#define DIAL_USEC 10000000u      /* one dial with its handshake */
#define ARENA_LIMIT (1ull << 30) /* bytes that the replies to one command may take */

/* ---- configuration ---- */

const char *cli_conf_path(void) {
    const char *path = getenv("SLURM_CONF");
    if (path && *path)
        return path;
    static const char built_in[] = SLUICE_SYSCONFDIR "/slurm/slurm.conf";
    return access(built_in, F_OK) == 0 ? built_in : "/etc/slurm/slurm.conf";
}

static int read_file(void *context, const char *path, struct str *ret, struct error *err) {
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
    if (fd < 0)
        return error_errno(err, errno, "cannot open %s", path);
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size > 0)
        str_reserve(ret, (size_t) st.st_size + 1);
    char piece[16384];
    ssize_t n;
    while ((n = read(fd, piece, sizeof(piece))) > 0) {
        if (ret->length + (size_t) n > CONF_FILE_MAX)
            return error_set(err, ERR_LIMIT, "%s is larger than %u bytes", path, CONF_FILE_MAX);
        str_append_bytes(ret, piece, (size_t) n);
    }
    return n < 0 ? error_errno(err, errno, "cannot read %s", path) : 0;
}

static void print_findings(const struct cli *cli, const struct conf_report *report) {
    for (size_t i = 0; i < report->n; i++) {
        if (report->items[i].severity != CONF_SEVERITY_ERROR)
            continue;
        cleanup_str struct str text = STR_INIT;
        conf_finding_print(&report->items[i], &text);
        cli_error(cli, "%s", text.data);
    }
}

static struct conf *loaded; /* the one configuration of this process */

const struct conf *cli_conf(const struct cli *cli) {
    if (loaded)
        return loaded;
    const char *path = cli_conf_path();
    struct conf_source source = {.read = read_file};
    struct conf_report report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    if (conf_load(&source, path, CONF_CLIENT, &loaded, &report, &err) < 0) {
        print_findings(cli, &report);
        if (access(path, F_OK) < 0 && errno == ENOENT) {
            cli_error(cli,
                      "there is no configuration: %s does not exist (set SLURM_CONF, or start "
                      "a cluster with `sluice up`)",
                      path);
            cli_fatal(cli, "Could not establish a configuration source");
        } else {
            if (!report.n_errors)
                cli_error(cli, "%s", err.text);
            cli_fatal(cli, "Unable to process configuration file");
        }
        loaded = NULL;
    }
    conf_report_done(&report);
    return loaded;
}

/* ---- dialling ---- */

static uint64_t monotonic_usec(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000u + (uint64_t) now.tv_nsec / 1000;
}

bool cli_uid_is_plain(const char *name, uid_t *ret) {
    uint64_t number = 0;
    if (!str_equal(name, "root") && (!str_to_u64(name, &number) || number >= UINT32_MAX))
        return false;
    *ret = (uid_t) number;
    return true;
}

static int slurm_user(const char *name, uid_t *ret, struct error *err) {
    if (cli_uid_is_plain(name, ret))
        return 0;
    const struct passwd *user = getpwnam(name);
    if (!user)
        return error_set(err, ERR_CONFIG, "SlurmUser=%s: this user does not exist here", name);
    *ret = user->pw_uid;
    return 0;
}

/* Every controller at every port, in order. */
static int dial_once(const struct conf *conf, uid_t server, struct rpc_client **ret,
                     struct error *err) {
    struct rpc_auth auth = {.munge_socket = conf->auth.socket};
    int rc = 0;
    if (conf->n_control_hosts == 0)
        return error_set(err, ERR_CONFIG, "%s names no controller (SlurmctldHost)", conf->path);
    for (size_t i = 0; i < conf->n_control_hosts; i++) {
        rc = rpc_client_open(&auth, conf->control_hosts[i].address, conf->slurmctld_port.first,
                             server, DIAL_USEC, ret, err);
        if (rc == 0 || -rc == ERR_AUTH)
            return rc;
    }
    return rc;
}

static void pause_usec(uint64_t usec) {
    struct timespec time = {(time_t) (usec / 1000000), (long) (usec % 1000000) * 1000};
    while (nanosleep(&time, &time) < 0 && errno == EINTR)
        ;
}

int cli_link_open(const struct cli *cli, bool patient, struct cli_link *link, struct error *err) {
    *link = (struct cli_link) {.cli = cli, .conf = cli_conf(cli)};
    if (!link->conf)
        return error_set(err, ERR_CONFIG, "%s", "");
    uid_t server = 0;
    int rc = slurm_user(link->conf->slurm_user, &server, err);
    if (rc < 0)
        return rc;
    uint64_t deadline = monotonic_usec() + (patient ? PATIENCE_USEC : 0);
    for (uint64_t pause = RETRY_USEC;; pause *= 2) {
        rc = dial_once(link->conf, server, &link->client, err);
        if (-rc != ERR_CONNECT || monotonic_usec() + pause > deadline)
            break;
        pause_usec(pause);
    }
    if (rc == 0)
        arena_init(&link->arena, ARENA_LIMIT);
    return rc;
}

bool cli_has_dbd(const struct conf *conf) {
    return conf->accounting_storage_type == CONF_STORAGE_SLURMDBD;
}

int cli_link_open_dbd(const struct cli *cli, struct cli_link *link, struct error *err) {
    *link = (struct cli_link) {.cli = cli, .conf = cli_conf(cli)};
    if (!link->conf)
        return error_set(err, ERR_CONFIG, "%s", "");
    const struct conf *conf = link->conf;
    struct rpc_auth auth = {.munge_socket = conf->auth.socket};
    if (!cli_has_dbd(conf))
        return error_set(err, ERR_ACCOUNTING_DISABLED,
                         "%s has no AccountingStorageType=accounting_storage/slurmdbd", conf->path);
    uid_t server = 0;
    int rc = slurm_user(conf->slurm_user, &server, err);
    const char *hosts[] = {conf->accounting_storage_host, conf->accounting_storage_backup_host};
    for (size_t i = 0; rc == 0 && i < countof(hosts) && hosts[i] != NULL && !link->client; i++) {
        int tried = rpc_client_open(&auth, hosts[i], (uint16_t) conf->accounting_storage_port,
                                    server, DIAL_USEC, &link->client, err);
        if (tried < 0 && (i + 1 == countof(hosts) || hosts[i + 1] == NULL))
            rc = tried;
    }
    if (rc == 0)
        arena_init(&link->arena, ARENA_LIMIT);
    else if (-rc == ERR_CONNECT)
        error_prefix(err, "slurmdbd: ");
    return rc;
}

void cli_link_close(struct cli_link *link) {
    if (!link->client)
        return;
    rpc_client_close(take(link->client));
    arena_done(&link->arena);
}

/* ---- messages ---- */

int cli_send(struct cli_link *link, uint16_t type, const void *body, struct error *err) {
    cleanup_str struct str text = STR_INIT;
    wire_encode(message_record(type), body, NULL, &text);
    return rpc_client_send(link->client, type, str_bytes(&text), err);
}

/* Lines that come with an error go out before its reason. */
static int take_error(const struct cli_link *link, const struct reply_error *reply,
                      struct error *err) {
    for (uint32_t i = 0; i < reply->infos.n; i++)
        cli_info(link->cli, "%s", reply->infos.items[i]);
    for (uint32_t i = 0; i < reply->before.n; i++)
        cli_error(link->cli, "%s", reply->before.items[i]);
    uint32_t code = reply->code ? reply->code : ERR_GENERIC;
    return error_set(err, code, "%s", reply->detail ? reply->detail : "");
}

int cli_receive(struct cli_link *link, uint64_t timeout_usec, struct cli_reply *ret,
                struct error *err) {
    struct rpc_message message;
    int rc = rpc_client_receive(link->client, timeout_usec, &message, err);
    if (rc < 0)
        return rc;
    const struct record *record = message_record(message.type);
    if (!record)
        return error_set(err, ERR_PROTOCOL, "the controller sent a message of unknown type %u",
                         message.type);
    void *body = arena_alloc(&link->arena, record->size);
    if (!body)
        return error_set(err, ERR_LIMIT, "the controller's answer is too large");
    rc = wire_decode(record, message.body, &link->arena, body, err);
    if (rc < 0)
        return error_prefix(err, "cannot read the controller's %s: ", message_name(message.type));
    if (message.type == MSG_ERROR)
        return take_error(link, body, err);
    *ret = (struct cli_reply) {message.type, message.flags & RPC_LAST, body};
    return 0;
}

int cli_request(struct cli_link *link, uint16_t type, const void *body, struct cli_reply *ret,
                struct error *err) {
    int rc = cli_send(link, type, body, err);
    if (rc < 0)
        return rc;
    uint64_t patience = (uint64_t) max_of(link->conf->message_timeout, 1u) * 1000000u;
    return cli_receive(link, patience, ret, err);
}

int cli_ask(const struct cli *cli, uint16_t type, const void *body, struct cli_link *link,
            struct cli_reply *ret, struct error *err) {
    int rc = cli_link_open(cli, false, link, err);
    if (rc < 0)
        return rc;
    rc = cli_request(link, type, body, ret, err);
    if (rc < 0)
        cli_link_close(link);
    return rc;
}

int cli_failure(const struct cli *cli, const char *prefix, const struct error *err) {
    const char *reason = error_text(err->code);
    bool has_note = err->text[0] && !str_equal(err->text, reason);
    if (-err->code == ERR_CONFIG && !err->text[0])
        return cli->error_status; /* cli_conf() has said it all */
    bool after = -err->code == ERR_CONNECT;
    if (has_note && !after)
        cli_info(cli, "note: %s", err->text);
    cli_error(cli, "%s%s%s", prefix, *prefix ? ": " : "", reason);
    if (has_note && after)
        cli_info(cli, "note: %s", err->text);
    return cli->error_status;
}
