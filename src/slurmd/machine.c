/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine is: processors by hwloc, memory, disk, system, boot. */
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "slurmd/slurmd.h"

#define MIB (1024u * 1024u)

static uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
    int n = hwloc_get_nbobjs_by_type(topology, type);

    return n > 0 ? (uint32_t) n : 0;
}

/* Hardware threads in the order of the topology, with the core and NUMA node of each. */
static void list_threads(hwloc_topology_t topology, struct machine *machine) {
    machine->pu_numbers = xcalloc(machine->cpus, sizeof(uint32_t));
    machine->pu_cores = xcalloc(machine->cpus, sizeof(uint32_t));
    machine->pu_numa = xcalloc(machine->cpus, sizeof(uint32_t));
    for (uint32_t i = 0; i < machine->cpus; i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, i);
        hwloc_obj_t core = pu ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu) : NULL;
        int numa = pu ? hwloc_bitmap_first(pu->nodeset) : -1;
        machine->pu_numbers[i] = pu ? pu->os_index : i;
        machine->pu_cores[i] = core ? core->logical_index : i;
        machine->pu_numa[i] = numa >= 0 ? (uint32_t) numa : 0;
    }
}

static int look_at_processors(struct machine *machine, struct error *err) {
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) < 0)
        return error_set(err, ERR_SYSTEM, "hwloc could not be initialised");
    /* Only processors: looking for PCI devices costs a second on large machines. */
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    if (hwloc_topology_load(topology) < 0) {
        hwloc_topology_destroy(topology);
        return error_set(err, ERR_SYSTEM, "hwloc could not read the topology of this machine");
    }
    uint32_t pus = count_of(topology, HWLOC_OBJ_PU);
    uint32_t cores = count_of(topology, HWLOC_OBJ_CORE);
    uint32_t sockets = count_of(topology, HWLOC_OBJ_PACKAGE);
    machine->cpus = max_of(pus, 1u);
    list_threads(topology, machine);
    hwloc_topology_destroy(topology);
    machine->boards = 1;
    machine->sockets = max_of(sockets, 1u);
    cores = max_of(cores, 1u);
    machine->cores = max_of(cores / machine->sockets, 1u);
    machine->threads = max_of(machine->cpus / (machine->sockets * machine->cores), 1u);
    return 0;
}

static char *first_line(const char *path) {
    char line[256];
    FILE *file = fopen(path, "re");
    char *text = NULL;

    if (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        text = xstrdup(line);
    }
    if (file)
        fclose(file);
    return text;
}

static int64_t boot_time(void) {
    char line[256];
    long long value = 0;
    FILE *file = fopen("/proc/stat", "re");

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "btime %lld", &value) == 1)
            break;
    }
    if (file)
        fclose(file);
    return value;
}

int machine_look(struct machine *machine, const char *tmp_fs, struct error *err) {
    struct sysinfo info;
    struct statvfs disk;
    struct utsname uname_;
    int r = look_at_processors(machine, err);

    if (r < 0)
        return r;
    if (sysinfo(&info) < 0)
        return error_errno(err, errno, "sysinfo()");
    machine->memory = (uint64_t) info.totalram * info.mem_unit / MIB;
    if (statvfs(tmp_fs, &disk) == 0)
        machine->tmp_disk = (uint64_t) disk.f_blocks * disk.f_frsize / MIB;
    if (uname(&uname_) < 0)
        return error_errno(err, errno, "uname()");
    machine->os = xasprintf("%s %s %s", uname_.sysname, uname_.release, uname_.version);
    machine->arch = xstrdup(uname_.machine);
    machine->hostname = xstrndup(uname_.nodename, strcspn(uname_.nodename, "."));
    machine->boot_id = first_line("/proc/sys/kernel/random/boot_id");
    machine->boot_time = boot_time();
    return 0;
}

void machine_boot_anew(struct machine *machine) {
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    free(machine->boot_id);
    machine->boot_id = xasprintf("%lld.%09ld", (long long) now.tv_sec, now.tv_nsec);
    machine->boot_time = now.tv_sec;
}

void machine_done(struct machine *machine) {
    free(machine->hostname);
    free(machine->os);
    free(machine->arch);
    free(machine->boot_id);
    free(machine->pu_numbers);
    free(machine->pu_cores);
    free(machine->pu_numa);
    *machine = (struct machine) {0};
}

void machine_map(const struct machine *machine, const struct conf_node *node, struct cpu_map *ret) {
    struct cpu_hardware hardware = {machine->cpus, machine->pu_numbers, machine->pu_cores,
                                    machine->pu_numa};

    record_done(&record_cpu_map, ret);
    cpu_map_make(&hardware, node->sockets, node->cores_per_socket, node->cpus, ret);
}

uint32_t machine_load(void) {
    double load;

    return getloadavg(&load, 1) == 1 ? (uint32_t) (load * 100 + 0.5) : UNSET32;
}

uint64_t machine_free_mem(void) {
    struct sysinfo info;

    return sysinfo(&info) == 0 ? (uint64_t) info.freeram * info.mem_unit / MIB : UNSET64;
}

/* " Gres=gpu:nvidia_a100-sxm4-80gb:8" of what AutoDetect=nvml would find; nothing without it. */
static void print_gpus(struct str *out) {
    struct gpu_library *library = NULL;
    size_t n;

    if (gpu_open(NULL, &library, NULL) < 0)
        return;
    const struct gpu_card *cards = gpu_cards(library, &n);
    for (size_t i = 0, count; i < n; i++) {
        size_t first = 0;
        while (!str_equal(cards[first].type, cards[i].type))
            first++;
        if (first < i)
            continue;
        count = 0;
        for (size_t k = i; k < n; k++)
            count += str_equal(cards[k].type, cards[i].type);
        str_printf(out, "%sgpu:%s:%zu", i == 0 ? " Gres=" : ",", cards[i].type, count);
    }
    gpu_close(library);
}

void machine_print(const struct machine *machine, struct str *out) {
    struct sysinfo info = {0};

    (void) sysinfo(&info);
    long up = info.uptime;
    str_printf(out,
               "NodeName=%s CPUs=%u Boards=%u SocketsPerBoard=%u CoresPerSocket=%u "
               "ThreadsPerCore=%u RealMemory=%llu",
               machine->hostname, machine->cpus, machine->boards,
               machine->sockets / machine->boards, machine->cores, machine->threads,
               (unsigned long long) machine->memory);
    print_gpus(out);
    str_append_char(out, '\n');
    str_printf(out, "UpTime=%ld-%02ld:%02ld:%02ld\n", up / 86400, up / 3600 % 24, up / 60 % 60,
               up % 60);
}
