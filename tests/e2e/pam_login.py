# SPDX-License-Identifier: Apache-2.0
"""A login service for tests: pam_login.py DIRECTORY SERVICE USER COMMAND. Asks the account part of the stack in
DIRECTORY/SERVICE, then runs the command as the user; exit status 111 where PAM says no. What PAM tells the user goes to
standard error."""

import ctypes
import os
import pwd
import sys

libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


CONVERSE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)),
                            ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("converse", CONVERSE), ("data", ctypes.c_void_p)]


@CONVERSE
def converse(count, messages, responses, _data):
    for i in range(count):
        print(messages[i].contents.text.decode(), file=sys.stderr)
    responses[0] = libc.calloc(count, 16)  # PAM frees it
    return 0


def main():
    directory, service, user, command = sys.argv[1:5]
    pam = ctypes.CDLL("libpam.so.0")
    handle = ctypes.c_void_p()
    conversation = Conversation(converse, None)
    if pam.pam_start_confdir(service.encode(), user.encode(), ctypes.byref(conversation), directory.encode(),
                             ctypes.byref(handle)) != 0:
        sys.exit("pam_start_confdir failed")
    answer = pam.pam_acct_mgmt(handle, 0)
    pam.pam_end(handle, answer)
    if answer != 0:
        sys.exit(111)
    account = pwd.getpwnam(user)
    os.initgroups(user, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.execv("/bin/sh", ["sh", "-c", command])


main()
