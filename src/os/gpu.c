/* SPDX-License-Identifier: Apache-2.0 */
/* NVML by dlopen(): its functions in a table, what they tell in our own structures. */
#include "os/gpu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#define MIB ((uint64_t) 1024 * 1024)
#define NVLINKS_MAX 18
#define CPU_WORDS 64 /* CPUs up to 4096 */
#define WORD_BITS (8 * sizeof(unsigned long))
#define XID_EVENT 0x8ull /* nvmlEventTypeXidCriticalError */
#define XID_EVENTS_MAX 256
#define ERROR_LOST 15 /* NVML_ERROR_GPU_IS_LOST */

/* ---- nvml.h ---- */

struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_use {
    unsigned gpu, memory;
};
struct nvml_process { /* of _v2 and _v3 */
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
struct nvml_event {
    void *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

/* X(member, name, is_needed, parameters) */
#define NVML_FUNCTIONS(X)                                                                          \
    X(init, "nvmlInit_v2", true, (void) )                                                          \
    X(shutdown, "nvmlShutdown", true, (void) )                                                     \
    X(count, "nvmlDeviceGetCount_v2", true, (unsigned *) )                                         \
    X(handle, "nvmlDeviceGetHandleByIndex_v2", true, (unsigned, void **) )                         \
    X(name, "nvmlDeviceGetName", true, (void *, char *, unsigned) )                                \
    X(minor, "nvmlDeviceGetMinorNumber", true, (void *, unsigned *) )                              \
    X(uuid, "nvmlDeviceGetUUID", false, (void *, char *, unsigned) )                               \
    X(pci, "nvmlDeviceGetPciInfo_v3", false, (void *, struct nvml_pci *) )                         \
    X(cpus, "nvmlDeviceGetCpuAffinity", false, (void *, unsigned, unsigned long *) )               \
    X(memory, "nvmlDeviceGetMemoryInfo", false, (void *, struct nvml_memory *) )                   \
    X(use, "nvmlDeviceGetUtilizationRates", false, (void *, struct nvml_use *) )                   \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", false,                                 \
      (void *, unsigned *, struct nvml_process *) )                                                \
    X(processes_v2, "nvmlDeviceGetComputeRunningProcesses_v2", false,                              \
      (void *, unsigned *, struct nvml_process *) )                                                \
    X(link_state, "nvmlDeviceGetNvLinkState", false, (void *, unsigned, unsigned *) )              \
    X(link_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2", false,                                   \
      (void *, unsigned, struct nvml_pci *) )                                                      \
    X(ecc, "nvmlDeviceGetTotalEccErrors", false, (void *, int, int, unsigned long long *) )        \
    X(event_set, "nvmlEventSetCreate", false, (void **) )                                          \
    X(event_register, "nvmlDeviceRegisterEvents", false, (void *, unsigned long long, void *) )    \
    X(event_wait, "nvmlEventSetWait_v2", false, (void *, struct nvml_event *, unsigned) )          \
    X(event_free, "nvmlEventSetFree", false, (void *) )

struct gpu_library {
    void *dl;
    bool is_initialised;
#define X(member, name, is_needed, parameters) int(*member) parameters;
    NVML_FUNCTIONS(X)
#undef X
    const char *(*error_text)(int code);
    void *events; /* critical errors of all cards, or NULL */
    size_t n;
    struct gpu_card cards[GPU_CARDS_MAX];
    void *handles[GPU_CARDS_MAX];
    uint64_t xids[GPU_CARDS_MAX];
};

/* ---- opening ---- */

static int load_functions(struct gpu_library *library, const char *path, struct error *err) {
    const struct {
        void *to;
        const char *name;
        bool is_needed;
    } functions[] = {
#define X(member, name, is_needed, parameters) {&library->member, name, is_needed},
        NVML_FUNCTIONS(X)
#undef X
            {&library->error_text, "nvmlErrorString", false},
    };

    library->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library->dl)
        return error_set(err, ERR_NOT_FOUND, "the GPU library cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < countof(functions); i++) {
        void *address = dlsym(library->dl, functions[i].name);
        if (!address && functions[i].is_needed)
            return error_set(err, ERR_SYSTEM, "the GPU library %s has no function %s", path,
                             functions[i].name);
        memcpy(functions[i].to, &address, sizeof(address));
    }
    if (!library->processes)
        library->processes = library->processes_v2;
    return 0;
}

static int failed(const struct gpu_library *library, const char *what, int code,
                  struct error *err) {
    const char *text = library->error_text ? library->error_text(code) : NULL;

    return error_set(err, ERR_SYSTEM, "%s: %s (NVML error %d)%s", what, text ? text : "failed",
                     code, code == ERROR_LOST ? "; the card has fallen off the bus" : "");
}

/* "NVIDIA A100-SXM4-80GB" → "nvidia_a100-sxm4-80gb" */
static char *type_of_name(const char *name) {
    char *type = xstrdup(name);

    for (char *c = type; *c; c++)
        *c = *c == ' ' ? '_' : (char) tolower((unsigned char) *c);
    return type;
}

/* "0-3,8" of a bit mask. */
static char *cpus_text(const unsigned long *words) {
    struct str text = STR_INIT;

    for (unsigned i = 0; i < CPU_WORDS * WORD_BITS; i++) {
        unsigned last = i;
        while (last < CPU_WORDS * WORD_BITS && (words[last / WORD_BITS] >> last % WORD_BITS & 1))
            last++;
        if (last == i)
            continue;
        str_printf(&text, text.length > 0 ? ",%u" : "%u", i);
        if (last - 1 > i)
            str_printf(&text, "-%u", last - 1);
        i = last;
    }
    if (text.length == 0) {
        str_done(&text);
        return NULL;
    }
    return str_take(&text);
}

static int look_at_card(struct gpu_library *library, unsigned index, struct error *err) {
    struct gpu_card *card = &library->cards[index];
    const char *prefix = getenv("SLUICE_NVML_DEVICES");
    char text[128] = "";
    unsigned minor = 0;
    unsigned long cpus[CPU_WORDS] = {0};
    struct nvml_memory memory = {0};
    struct nvml_pci pci = {0};
    int r = library->handle(index, &library->handles[index]);
    void *handle = library->handles[index];

    if (r == 0)
        r = library->name(handle, text, sizeof(text) - 1);
    if (r == 0)
        r = library->minor(handle, &minor);
    if (r != 0) {
        cleanup_free char *what = xasprintf("GPU %u", index);
        return failed(library, what, r, err);
    }
    card->type = type_of_name(text);
    card->file = xasprintf("%s%u", prefix ? prefix : "/dev/nvidia", minor);
    if (library->uuid && library->uuid(handle, text, sizeof(text) - 1) == 0)
        card->uuid = xstrdup(text);
    if (library->pci && library->pci(handle, &pci) == 0)
        card->pci = xstrndup(pci.bus_id, sizeof(pci.bus_id));
    if (library->cpus && library->cpus(handle, CPU_WORDS, cpus) == 0)
        card->cpus = cpus_text(cpus);
    if (library->memory && library->memory(handle, &memory) == 0)
        card->memory = memory.total / MIB;
    return 0;
}

/* How many NVLinks go from one card straight to each other one. */
static char *look_at_links(const struct gpu_library *library, size_t index) {
    unsigned counts[GPU_CARDS_MAX] = {0};
    bool any = false;

    if (!library->link_state || !library->link_remote)
        return NULL;
    for (unsigned link = 0; link < NVLINKS_MAX; link++) {
        struct nvml_pci remote = {0};
        unsigned is_active = 0;
        if (library->link_state(library->handles[index], link, &is_active) != 0 || !is_active ||
            library->link_remote(library->handles[index], link, &remote) != 0)
            continue;
        for (size_t i = 0; i < library->n; i++) {
            if (i == index || !str_equal_nocase(library->cards[i].pci, remote.bus_id))
                continue;
            counts[i]++;
            any = true;
        }
    }
    if (!any)
        return NULL;
    struct str text = STR_INIT;
    for (size_t i = 0; i < library->n; i++)
        str_printf(&text, "%s%d", i > 0 ? "," : "", i == index ? -1 : (int) counts[i]);
    return str_take(&text);
}

/* Without them nothing is lost but the notice of critical errors. */
static void watch_events(struct gpu_library *library) {
    if (!library->event_set || !library->event_register || !library->event_wait ||
        library->event_set(&library->events) != 0) {
        library->events = NULL;
        return;
    }
    for (size_t i = 0; i < library->n; i++)
        (void) library->event_register(library->handles[i], XID_EVENT, library->events);
}

static int look_at_cards(struct gpu_library *library, struct error *err) {
    unsigned n = 0;
    int r = library->init();

    if (r != 0)
        return failed(library, "the GPU library does not start", r, err);
    library->is_initialised = true;
    r = library->count(&n);
    if (r != 0)
        return failed(library, "the number of GPUs", r, err);
    for (unsigned i = 0; i < n && i < GPU_CARDS_MAX; i++) {
        r = look_at_card(library, i, err);
        if (r < 0)
            return r;
        library->n++;
    }
    for (size_t i = 0; i < library->n; i++)
        library->cards[i].links = look_at_links(library, i);
    watch_events(library);
    return 0;
}

int gpu_open(const char *path, struct gpu_library **ret, struct error *err) {
    struct gpu_library *library = zalloc(struct gpu_library);

    if (!path)
        path = getenv("SLUICE_NVML_LIBRARY");
    if (!path)
        path = "libnvidia-ml.so.1";
    int r = load_functions(library, path, err);
    if (r == 0)
        r = look_at_cards(library, err);
    if (r < 0) {
        gpu_close(library);
        return r;
    }
    *ret = library;
    return 0;
}

void gpu_close(struct gpu_library *library) {
    if (!library)
        return;
    for (size_t i = 0; i < countof(library->cards); i++) { /* also one looked at in part */
        struct gpu_card *card = &library->cards[i];
        free(card->type);
        free(card->uuid);
        free(card->pci);
        free(card->file);
        free(card->links);
        free(card->cpus);
    }
    if (library->events && library->event_free)
        (void) library->event_free(library->events);
    if (library->is_initialised)
        (void) library->shutdown();
    if (library->dl)
        dlclose(library->dl);
    free(library);
}

const struct gpu_card *gpu_cards(const struct gpu_library *library, size_t *ret_n) {
    *ret_n = library->n;
    return library->cards;
}

/* ---- sampling ---- */

/* Whatever has happened to any card since the last time, without waiting. */
static void read_events(struct gpu_library *library) {
    struct nvml_event event;

    for (unsigned i = 0; i < XID_EVENTS_MAX && library->events; i++) {
        memset(&event, 0, sizeof(event));
        if (library->event_wait(library->events, &event, 0) != 0)
            return;
        for (size_t k = 0; k < library->n; k++) {
            if (library->handles[k] == event.device && (event.type & XID_EVENT))
                library->xids[k] = event.data;
        }
    }
}

static void sample_processes(struct gpu_library *library, void *handle, struct gpu_sample *ret) {
    struct nvml_process processes[GPU_PROCESSES_MAX];
    unsigned n = GPU_PROCESSES_MAX;

    if (!library->processes || library->processes(handle, &n, processes) != 0)
        return;
    for (unsigned i = 0; i < n && i < GPU_PROCESSES_MAX; i++) {
        bool known = processes[i].memory != ~0ull;
        ret->processes[ret->n_processes++] =
            (struct gpu_process) {.pid = (pid_t) processes[i].pid,
                                  .memory = known ? processes[i].memory / MIB : UINT64_MAX};
    }
}

int gpu_sample(struct gpu_library *library, size_t index, struct gpu_sample *ret,
               struct error *err) {
    void *handle = library->handles[index];
    struct nvml_use use = {0};
    struct nvml_memory memory = {0};
    unsigned long long ecc = 0;

    memset(ret, 0, sizeof(*ret));
    ret->use = UINT32_MAX;
    ret->memory_used = UINT64_MAX;
    int r = library->use ? library->use(handle, &use) : 0;
    if (r == ERROR_LOST) {
        cleanup_free char *what = xasprintf("GPU %s", library->cards[index].file);
        return failed(library, what, r, err);
    }
    if (library->use && r == 0)
        ret->use = use.gpu;
    if (library->memory && library->memory(handle, &memory) == 0)
        ret->memory_used = memory.used / MIB;
    if (library->ecc && library->ecc(handle, 1, 0, &ecc) == 0) /* uncorrected, volatile */
        ret->ecc_errors = ecc;
    sample_processes(library, handle, ret);
    read_events(library);
    ret->xid = library->xids[index];
    library->xids[index] = 0;
    return 0;
}
