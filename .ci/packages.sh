# SPDX-License-Identifier: Apache-2.0
# Sourced by ./check and ./quickstart: which Debian packages the work needs, and how missing ones are installed.

BUILD_PACKAGES="gcc libc6-dev pkg-config meson ninja-build python3
    libsodium-dev libmunge-dev munge libsqlite3-dev libmariadb-dev libpq-dev libhwloc-dev zlib1g-dev
    liblzma-dev liblua5.4-dev libcmocka-dev"
TEST_PACKAGES="clang clang-format libclang-rt-dev llvm python3-pytest procps util-linux
    libprotobuf-c-dev protobuf-c-compiler scdoc
    libpam0g-dev
    mariadb-server postgresql
    mpich libmpich-dev openmpi-bin libopenmpi-dev libpmix-dev"
# For tests/vm; the kernel is fetched and unpacked, not installed.
VM_PACKAGES="qemu-system-x86 seabios busybox-static cpio"

# as_root COMMAND...: directly, or through sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need_packages NAME...: installs those that are missing. No daemon of a package is started: policy-rc.d forbids it
# while apt runs, unless the machine has a policy of its own.
need_packages() {
    local missing="" name policy=/usr/sbin/policy-rc.d made=no status=0
    for name in "$@"; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q "ok installed" || missing="$missing $name"
    done
    [ -z "$missing" ] && return 0
    echo "installing:$missing"
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null && as_root chmod 755 $policy && made=yes
    fi
    { as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends $missing; } >"${TMPDIR:-/tmp}/sluice-apt.$$" 2>&1 || status=$?
    [ $made = yes ] && as_root rm -f $policy
    [ $status = 0 ] || tail -n 20 "${TMPDIR:-/tmp}/sluice-apt.$$" >&2
    rm -f "${TMPDIR:-/tmp}/sluice-apt.$$"
    return $status
}
