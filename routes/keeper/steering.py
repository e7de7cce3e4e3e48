"""Chooses which of several sockets on one port gets the next connection, by a program that the kernel runs.

Sockets that are bound to one port with `SO_REUSEPORT` form a group, and the kernel spreads new connections over all of
them, even those on which no process accepts at this moment. A classic BPF program (`socket(7)`,
`SO_ATTACH_REUSEPORT_CBPF`; needs no privilege) replaces that choice by a random one among the sockets that are served.
A connection stays with its socket: those that wait at a socket that is not served any more stay there.
"""

import ctypes
import socket
from collections.abc import Sequence

_SO_ATTACH_REUSEPORT_CBPF = 51
"""`asm-generic/socket.h`; Python has no name for it."""

_LOAD_ANCILLARY = 0x20  # BPF_LD | BPF_W | BPF_ABS
_RANDOM = 0xFFFFF000 + 56  # SKF_AD_OFF + SKF_AD_RANDOM
_MODULO = 0x94  # BPF_ALU | BPF_MOD | BPF_K
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def steer(group: Sequence[socket.socket], served: Sequence[int]) -> None:
    """Let new connections go to some sockets of a group alone, spread evenly over them.

    Args:
        group: all sockets that are bound to the port, in the order in which they began to listen.
        served: the places in `group` of the sockets that are served, 1 to 64 of them.

    Raises:
        OSError: the kernel does not take the program, and goes on choosing as before.
    """
    instructions = [_Instruction(_LOAD_ANCILLARY, 0, 0, _RANDOM), _Instruction(_MODULO, 0, 0, len(served))]
    for number, place in enumerate(served):
        instructions += [_Instruction(_JUMP_EQUAL, 0, 1, number), _Instruction(_RETURN, 0, 0, place)]
    instructions.append(_Instruction(_RETURN, 0, 0, served[0]))
    program = _Program(len(instructions), (_Instruction * len(instructions))(*instructions))
    group[0].setsockopt(socket.SOL_SOCKET, _SO_ATTACH_REUSEPORT_CBPF, bytes(program))
