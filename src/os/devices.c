/* SPDX-License-Identifier: Apache-2.0 */
#include "os/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"

struct program {
    vec(struct bpf_insn) code;
};

/* ---- names ---- */

void device_print(const struct device_number *device, char ret[DEVICE_TEXT_SIZE]) {
    snprintf(ret, DEVICE_TEXT_SIZE, "%c %u:%u", device->is_block ? 'b' : 'c', device->major,
             device->minor);
}

bool device_parse(const char *text, struct device_number *ret) {
    char kind, rest;
    unsigned major, minor;

    if (sscanf(text, "%c %u:%u%c", &kind, &major, &minor, &rest) != 3 ||
        (kind != 'b' && kind != 'c'))
        return false;
    *ret = (struct device_number) {kind == 'b', major, minor};
    return true;
}

int device_find(const char *path, struct device_number *ret, struct error *err) {
    struct stat status;

    if (stat(path, &status) < 0)
        return errno == ENOENT ? error_set(err, ERR_NOT_FOUND, "there is no %s", path)
                               : error_errno(err, errno, "%s", path);
    if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))
        return error_set(err, ERR_INVALID, "%s is not a device", path);
    *ret = (struct device_number) {S_ISBLK(status.st_mode), major(status.st_rdev),
                                   minor(status.st_rdev)};
    return 0;
}

/* ---- the program ---- */

#define CTX BPF_REG_1 /* on entry: struct bpf_cgroup_dev_ctx * */
#define TYPE BPF_REG_2
#define MAJOR BPF_REG_3
#define MINOR BPF_REG_4
#define TYPE_MASK 0xffff /* the upper half of access_type is how it is to be opened */

static void emit(struct program *program, uint8_t code, uint8_t dst, uint8_t src, int16_t offset,
                 int32_t value) {
    struct bpf_insn insn = {
        .code = code, .dst_reg = dst & 0xf, .src_reg = src & 0xf, .off = offset, .imm = value};
    vec_push(&program->code, insn);
}

static void emit_load(struct program *program, uint8_t dst, size_t offset) {
    emit(program, BPF_LDX | BPF_MEM | BPF_W, dst, CTX, (int16_t) offset, 0);
}

/* Returns the verdict: 1 lets the access through, if all other programs do, too. */
static void emit_return(struct program *program, int32_t verdict) {
    emit(program, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, verdict);
    emit(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void emit_denial(struct program *program, const struct device_number *device) {
    int32_t type = device->is_block ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;

    /* another device: over the comparisons that follow and the return of two instructions */
    emit(program, BPF_JMP | BPF_JNE | BPF_K, MINOR, 0, 4, (int32_t) device->minor);
    emit(program, BPF_JMP | BPF_JNE | BPF_K, MAJOR, 0, 3, (int32_t) device->major);
    emit(program, BPF_JMP | BPF_JNE | BPF_K, TYPE, 0, 2, type);
    emit_return(program, 0);
}

static int bpf_call(int command, union bpf_attr *attr) {
    return (int) syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Returns the program's descriptor, or -1 with errno. */
static int program_load(const struct device_number *denied, size_t n) {
    struct program program = {0};
    union bpf_attr attr;

    emit_load(&program, TYPE, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    emit(&program, BPF_ALU64 | BPF_AND | BPF_K, TYPE, 0, 0, TYPE_MASK);
    emit_load(&program, MAJOR, offsetof(struct bpf_cgroup_dev_ctx, major));
    emit_load(&program, MINOR, offsetof(struct bpf_cgroup_dev_ctx, minor));
    for (size_t i = 0; i < n; i++)
        emit_denial(&program, &denied[i]);
    emit_return(&program, 1);
    memset(&attr, 0, sizeof(attr));
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insns = (uint64_t) (uintptr_t) program.code.items;
    attr.insn_cnt = (uint32_t) program.code.n;
    attr.license = (uint64_t) (uintptr_t) "Apache-2.0";
    int fd = bpf_call(BPF_PROG_LOAD, &attr);
    int errnum = errno;
    vec_done(&program.code);
    errno = errnum;
    return fd;
}

bool devices_can_be_denied(void) {
    cleanup_fd int fd = program_load(NULL, 0);

    return fd >= 0;
}

int devices_deny(const char *dir, const struct device_number *denied, size_t n, struct error *err) {
    cleanup_fd int group = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group < 0)
        return error_errno(err, errno, "cannot open control group %s", dir);
    cleanup_fd int program = program_load(denied, n);
    if (program < 0)
        return error_errno(err, errno, "the kernel takes no program that denies %zu devices to %s",
                           n, dir);
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.target_fd = (uint32_t) group;
    attr.attach_bpf_fd = (uint32_t) program;
    attr.attach_type = BPF_CGROUP_DEVICE;
    attr.attach_flags = BPF_F_ALLOW_MULTI; /* beside those that systemd or a container attach */
    if (bpf_call(BPF_PROG_ATTACH, &attr) < 0)
        return error_errno(err, errno, "cannot deny devices to control group %s", dir);
    return 0;
}
