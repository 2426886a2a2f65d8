"""What each attack begins with. An attack says "got: ..." for what it should not have had."""

import ctypes
import os
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)


def got(what):
    print("got:", what, flush=True)


def call(number, *arguments):
    """A system call by its number on x86_64; its result, or none where it is refused."""
    result = libc.syscall(ctypes.c_long(number), *arguments)
    return None if result == -1 else result


def reads(path):
    with open(path, "rb") as file:
        if file.read(1):
            got(f"a byte of {path}")


def writes(path, text="0\n"):
    """Leaves the file as it is: to have it open to be written to is enough."""
    with open(path, "a"):
        got(f"a way to write to {path}")


def connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as caller:
        caller.settimeout(3)
        caller.connect(address)
        got(f"a connection to {address}")


def attempt(attack):
    """Refusals of any kind are what is hoped for."""
    try:
        exec(attack, globals())
    except Exception as refused:
        print("refused:", refused)
    # Which shows that it was tried to its end.
    print("tried", flush=True)
