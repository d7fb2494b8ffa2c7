/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a new throwaway cluster: directories, key, ports, configuration, GPU stand-ins. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/main.h"
#include "cmd/sluice.h"

#define PORT_LOW 20000
#define PORT_HIGH 32000 /* below the kernel's own choice for outgoing connections */
#define LOOP_MAJOR 7    /* block devices that open and can be told apart by a device cgroup */
#define KEY_SIZE 1024

/* ---- directories ---- */

static int make_directory(const struct cluster *cluster, const char *name, mode_t mode) {
    cleanup_free char *path = *name ? cluster_path(cluster, "%s", name) : xstrdup(cluster->dir);
    struct stat st;
    if (mkdir(path, mode) == 0)
        return chmod(path, mode) == 0
                   ? CLI_GO_ON
                   : cli_failed(cluster->cli, "chmod %s: %s", path, strerror(errno));
    if (errno != EEXIST)
        return cli_failed(cluster->cli, "cannot make %s: %s", path, strerror(errno));
    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return cli_failed(cluster->cli,
                          "%s exists and is no directory of yours; choose another "
                          "--dir",
                          path);
    return CLI_GO_ON;
}

/* `down` removes the directory with all that is in it, so nothing may be there before. */
static int check_empty(const struct cluster *cluster) {
    DIR *dir = opendir(cluster->dir);
    if (!dir)
        return errno == ENOENT
                   ? CLI_GO_ON
                   : cli_failed(cluster->cli, "cannot use %s: %s", cluster->dir, strerror(errno));
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL &&
           (str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..")))
        ;
    closedir(dir);
    return entry ? cli_failed(cluster->cli,
                              "%s is not empty and holds no cluster; choose another "
                              "--dir",
                              cluster->dir)
                 : CLI_GO_ON;
}

static int make_directories(const struct cluster *cluster) {
    static const struct {
        const char *name;
        mode_t mode;
    } rows[] = {{"", 0755},    {"etc", 0755},   {"munge", 0755}, {"run", 0755},
                {"log", 0755}, {"state", 0700}, {"spool", 0755}, {"dev", 0755}};
    int status = CLI_GO_ON;
    for (size_t i = 0; i < countof(rows) && status == CLI_GO_ON; i++)
        status = make_directory(cluster, rows[i].name, rows[i].mode);
    return status;
}

static int write_file(const struct cluster *cluster, const char *name, mode_t mode,
                      const void *data, size_t size) {
    cleanup_free char *path = cluster_path(cluster, "%s", name);
    cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0 || write(fd, data, size) != (ssize_t) size)
        return cli_failed(cluster->cli, "cannot write %s: %s", path, strerror(errno));
    return CLI_GO_ON;
}

static int make_key(const struct cluster *cluster) {
    uint8_t key[KEY_SIZE];
    for (size_t at = 0; at < sizeof(key); at += 256)
        if (getrandom(key + at, 256, 0) != 256)
            return cli_failed(cluster->cli, "no random numbers: %s", strerror(errno));
    return write_file(cluster, "munge/key", 0600, key, sizeof(key));
}

/* ---- ports ---- */

static bool port_is_free(unsigned port) {
    cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t) port)};
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    int on = 1;
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0;
}

/* A run of free ports: slurmctld's, one for each node, slurmdbd's. */
static int choose_ports(struct cluster *cluster) {
    uint32_t random = 0, needed = cluster->nodes + 1 + cluster->dbd;
    if (getrandom(&random, sizeof(random), 0) < 0)
        random = (uint32_t) getpid();
    for (unsigned try = 0; try < 200; try++, random = random * 1103515245u + 12345u) {
        unsigned base = PORT_LOW + (random >> 8) % (PORT_HIGH - PORT_LOW - needed);
        unsigned n = 0;
        while (n < needed && port_is_free(base + n))
            n++;
        if (n == needed) {
            cluster->port = (uint16_t) base;
            return CLI_GO_ON;
        }
    }
    return cli_failed(cluster->cli, "there are no %u free ports in a row between %d and %d", needed,
                      PORT_LOW, PORT_HIGH);
}

/* ---- GPUs ---- */

static int make_gpus(const struct cluster *cluster) {
    int status = CLI_GO_ON;
    for (uint32_t i = 0; i < cluster->gpus && status == CLI_GO_ON; i++) {
        cleanup_free char *name = xasprintf("dev/gpu%u", i);
        cleanup_free char *path = cluster_path(cluster, "%s", name);
        /* Only root may make devices, and not everywhere; a plain file is counted just as well. */
        if (mknod(path, S_IFBLK | 0666, makedev(LOOP_MAJOR, i)) == 0 || errno == EEXIST)
            (void) !chmod(path, 0666);
        else
            status = write_file(cluster, name, 0666, "", 0);
    }
    return status;
}

static int write_gres(const struct cluster *cluster) {
    cleanup_str struct str text = STR_INIT;
    if (!cluster->gpus)
        return CLI_GO_ON;
    str_append(&text, "Name=gpu");
    if (cluster->gpu_type)
        str_printf(&text, " Type=%s", cluster->gpu_type);
    if (cluster->gpus > 1)
        str_printf(&text, " File=%s/dev/gpu[0-%u]\n", cluster->dir, cluster->gpus - 1);
    else
        str_printf(&text, " File=%s/dev/gpu0\n", cluster->dir);
    return write_file(cluster, "etc/gres.conf", 0644, text.data, text.length);
}

/* ---- slurm.conf ---- */

static void print_host(struct str *out) {
    char name[256] = "localhost";
    if (gethostname(name, sizeof(name)) < 0)
        snprintf(name, sizeof(name), "localhost");
    name[sizeof(name) - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
    str_append(out, name);
}

static unsigned dbd_port(const struct cluster *cluster) {
    return cluster->port + cluster->nodes + 1;
}

static void print_daemons(const struct cluster *cluster, struct str *out) {
    const char *dir = cluster->dir;
    str_append(out, "ClusterName=sluice\nSlurmctldHost=");
    print_host(out);
    str_printf(out, "(127.0.0.1)\nSlurmctldPort=%u\n", cluster->port);
    str_printf(out, "SlurmUser=%u\nSlurmdUser=%u\n", geteuid(), geteuid());
    str_printf(out, "AuthType=auth/munge\nAuthInfo=socket=%s/munge/socket\n", dir);
    str_printf(out, "StateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool/%%n\n", dir, dir);
    str_printf(out, "SlurmctldPidFile=%s/run/slurmctld.pid\n", dir);
    str_printf(out, "SlurmdPidFile=%s/run/slurmd-%%n.pid\n", dir);
    str_printf(out, "SlurmctldLogFile=%s/log/slurmctld.log\n", dir);
    str_printf(out, "SlurmdLogFile=%s/log/slurmd-%%n.log\n", dir);
    /* Nodes are as large as we say, whatever the machine is. */
    str_append(out, "SlurmdParameters=config_overrides\n");
    str_append(out, "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\n");
    str_append(out, "DefMemPerCPU=100\nReturnToService=2\nMailProg=/bin/true\n");
    if (geteuid() != 0)
        str_append(out, "ProctrackType=proctrack/linuxproc\n");
    if (cluster->dbd)
        str_printf(out,
                   "AccountingStorageType=accounting_storage/slurmdbd\n"
                   "AccountingStorageHost=127.0.0.1\nAccountingStoragePort=%u\n",
                   dbd_port(cluster));
}

static int write_dbd_conf(const struct cluster *cluster) {
    const char *dir = cluster->dir;
    cleanup_str struct str text = STR_INIT;
    if (!cluster->dbd)
        return CLI_GO_ON;
    str_printf(&text, "DbdHost=localhost\nDbdPort=%u\nSlurmUser=%u\n", dbd_port(cluster),
               geteuid());
    str_printf(&text, "AuthType=auth/munge\nAuthInfo=socket=%s/munge/socket\n", dir);
    str_printf(&text, "LogFile=%s/log/slurmdbd.log\nPidFile=%s/run/slurmdbd.pid\n", dir, dir);
    str_printf(&text,
               "StorageType=accounting_storage/sqlite\nStorageLoc=%s/state/slurmdbd.sqlite\n", dir);
    return write_file(cluster, "etc/slurmdbd.conf", 0600, text.data, text.length);
}

static void print_nodes(const struct cluster *cluster, struct str *out) {
    bool several = cluster->nodes > 1;
    str_printf(out, several ? "NodeName=n[1-%u]" : "NodeName=n%u", cluster->nodes);
    str_append(out, " NodeHostname=");
    print_host(out);
    str_append(out, " NodeAddr=127.0.0.1");
    if (several)
        str_printf(out, " Port=[%u-%u]", cluster->port + 1, cluster->port + cluster->nodes);
    else
        str_printf(out, " Port=%u", cluster->port + 1);
    str_printf(out, " CPUs=%u RealMemory=%llu", cluster->cpus, (unsigned long long) cluster->mem);
    if (cluster->gpus && cluster->gpu_type)
        str_printf(out, " Gres=gpu:%s:%u", cluster->gpu_type, cluster->gpus);
    else if (cluster->gpus)
        str_printf(out, " Gres=gpu:%u", cluster->gpus);
    str_append(out, " State=UNKNOWN\n");
}

/* The lines of --conf come after ours and so have the last word; a partition of theirs stands in
 * for the one we would make. */
static int write_conf(const struct cluster *cluster) {
    cleanup_str struct str text = STR_INIT;
    const char *extra = cluster->extra ? cluster->extra : "";
    print_daemons(cluster, &text);
    if (cluster->gpus && !strcasestr(extra, "GresTypes"))
        str_append(&text, "GresTypes=gpu\n");
    bool own_nodes = strcasestr(extra, "NodeName=") != NULL;
    if (!own_nodes)
        print_nodes(cluster, &text);
    str_append(&text, extra);
    if (!strcasestr(extra, "PartitionName="))
        str_append(&text, "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n");
    return write_file(cluster, "etc/slurm.conf", 0644, text.data, text.length);
}

int cluster_write(struct cluster *cluster) {
    int status = check_empty(cluster);
    if (status == CLI_GO_ON)
        status = make_directories(cluster);
    if (status == CLI_GO_ON)
        status = choose_ports(cluster);
    if (status == CLI_GO_ON)
        status = cluster_save(cluster); /* from here on `down` knows the directory */
    if (status == CLI_GO_ON)
        status = make_key(cluster);
    if (status == CLI_GO_ON)
        status = make_gpus(cluster);
    if (status == CLI_GO_ON)
        status = write_gres(cluster);
    if (status == CLI_GO_ON)
        status = write_conf(cluster);
    if (status == CLI_GO_ON)
        status = write_dbd_conf(cluster);
    return status;
}
