/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for NVIDIA's management library: its cards are lines of the text file that the
 * environment's SLUICE_NVML_STATE names, read anew at every call, so that a test can change them
 * while a daemon runs.
 *
 *   CARD KEY VALUE      as "0 name NVIDIA A100-SXM4-80GB"
 *
 * Keys: name, minor, uuid, pci, cpus (mask, hexadecimal), total and used (MiB), use (percent), ecc,
 * process ("PID MIB", may be repeated), link (bus id of the card at its other end, may be
 * repeated), xid (told once), lost (any value: the card is off the bus). "fail init 9" makes
 * nvmlInit return 9.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARDS 64

struct pci {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct memory {
    unsigned long long total, free, used;
};
struct use {
    unsigned gpu, memory;
};
struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
struct event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

static char handles[CARDS];
static unsigned long long told_xid[CARDS];

/* The value of the nth line "CARD KEY VALUE"; NULL = there is none. */
static const char *find(const char *card, const char *key, unsigned nth) {
    static char value[256];
    char line[512], of[64], name[64];
    const char *path = getenv("SLUICE_NVML_STATE");
    FILE *file = path ? fopen(path, "re") : NULL;
    int found = 0;

    while (file && !found && fgets(line, sizeof(line), file)) {
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%63s %63s %n", of, name, &at) == 2 && strcmp(of, card) == 0 &&
            strcmp(name, key) == 0 && nth-- == 0) {
            snprintf(value, sizeof(value), "%s", line + at);
            found = 1;
        }
    }
    if (file)
        fclose(file);
    return found ? value : NULL;
}

static unsigned index_of(const void *device) {
    return (unsigned) ((const char *) device - handles);
}

static const char *of_card(const void *device, const char *key, unsigned nth) {
    char card[16];

    snprintf(card, sizeof(card), "%u", index_of(device));
    return find(card, key, nth);
}

static int text_of(const void *device, const char *key, char *text, unsigned size) {
    const char *value = of_card(device, key, 0);

    if (!value)
        return 3; /* NVML_ERROR_NOT_SUPPORTED */
    snprintf(text, size, "%s", value);
    return 0;
}

static int number_of(const void *device, const char *key, int base, unsigned long long *ret) {
    const char *value = of_card(device, key, 0);

    if (!value)
        return 3;
    *ret = strtoull(value, NULL, base);
    return 0;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void) {
    const char *value = find("fail", "init", 0);
    return value ? atoi(value) : 0;
}

int nvmlShutdown(void);
int nvmlShutdown(void) {
    return 0;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code) {
    return code == 9 ? "Driver Not Loaded" : code == 15 ? "GPU is lost" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *ret);
int nvmlDeviceGetCount_v2(unsigned *ret) {
    char card[16] = "0";

    for (*ret = 0; *ret < CARDS && find(card, "name", 0); snprintf(card, sizeof(card), "%u", *ret))
        (*ret)++;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret) {
    *ret = &handles[index];
    return 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetName(void *device, char *name, unsigned size) {
    return text_of(device, "name", name, size);
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size) {
    return text_of(device, "uuid", uuid, size);
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *ret);
int nvmlDeviceGetMinorNumber(void *device, unsigned *ret) {
    unsigned long long value = index_of(device);

    (void) number_of(device, "minor", 10, &value);
    *ret = (unsigned) value;
    return 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *ret);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci *ret) {
    return text_of(device, "pci", ret->bus_id, sizeof(ret->bus_id));
}

int nvmlDeviceGetCpuAffinity(void *device, unsigned size, unsigned long *set);
int nvmlDeviceGetCpuAffinity(void *device, unsigned size, unsigned long *set) {
    unsigned long long mask;

    if (size == 0 || number_of(device, "cpus", 16, &mask) != 0)
        return 3;
    set[0] = (unsigned long) mask;
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret) {
    if (number_of(device, "total", 10, &ret->total) != 0)
        return 3;
    ret->used = 0;
    (void) number_of(device, "used", 10, &ret->used);
    ret->total <<= 20;
    ret->used <<= 20;
    ret->free = ret->total - ret->used;
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, struct use *ret);
int nvmlDeviceGetUtilizationRates(void *device, struct use *ret) {
    unsigned long long value;

    if (of_card(device, "lost", 0))
        return 15;
    if (number_of(device, "use", 10, &value) != 0)
        return 3;
    ret->gpu = (unsigned) value;
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *processes);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *processes) {
    unsigned most = *n;
    const char *value;

    for (*n = 0; *n < most && (value = of_card(device, "process", *n)) != NULL; (*n)++) {
        char *end;
        processes[*n] = (struct process) {.pid = (unsigned) strtoul(value, &end, 10)};
        processes[*n].memory = strtoull(end, NULL, 10) << 20;
    }
    return 0;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_active);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *is_active) {
    *is_active = of_card(device, "link", link) != NULL;
    return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *ret);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *ret) {
    const char *value = of_card(device, "link", link);

    if (!value)
        return 3;
    snprintf(ret->bus_id, sizeof(ret->bus_id), "%s", value);
    return 0;
}

int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *ret);
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *ret) {
    (void) kind;
    (void) counter;
    return number_of(device, "ecc", 10, ret);
}

int nvmlEventSetCreate(void **ret);
int nvmlEventSetCreate(void **ret) {
    *ret = handles;
    return 0;
}

int nvmlEventSetFree(void *set);
int nvmlEventSetFree(void *set) {
    (void) set;
    return 0;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set) {
    (void) device;
    (void) types;
    (void) set;
    return 0;
}

int nvmlEventSetWait_v2(void *set, struct event *ret, unsigned timeout);
int nvmlEventSetWait_v2(void *set, struct event *ret, unsigned timeout) {
    (void) set;
    (void) timeout;
    for (unsigned i = 0; i < CARDS; i++) {
        unsigned long long xid = 0;
        if (number_of(&handles[i], "xid", 10, &xid) != 0 || xid == told_xid[i])
            continue;
        told_xid[i] = xid;
        *ret = (struct event) {.device = &handles[i], .type = 8, .data = xid};
        return 0;
    }
    return 10; /* NVML_ERROR_TIMEOUT */
}
