"""gdb.py - the stacks of virtual threads, for gdb: one runs, the others are parked.

usage: gdb -x sim/gdb.py --args build/sim/sim/pfs-sim replay FILE
       (gdb) break pfs_machine_fail
       (gdb) run
       (gdb) pfs-threads       what each thread will do next
       (gdb) pfs-bt 1          the stack of thread 1
       (gdb) pfs-bt all

A parked thread's registers lie on its stack as pfs_fiber_swap (fiber.c) left them; x86-64 only.
"""
import gdb

SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")  # from the stack pointer upwards


def machine():
    """The machine of the stopped OS thread."""
    found = gdb.parse_and_eval("pfs_machine_current()")
    if int(found) == 0:
        raise gdb.GdbError("pfs: no machine on this thread; stop at pfs_machine_fail first")
    return found


def threads():
    """(virtual threads, the one that runs or None)"""
    self = machine()
    found = [self["threads"][i].dereference() for i in range(int(self["thread_count"]))]
    running = int(self["running"]["id"]) if int(self["running"]) != 0 else None
    return found, running


def describe(thread, running):
    """One line."""
    number = int(thread["id"])
    place = thread["pending"]["place"]
    if str(thread["state"]) == "PFS_VTHREAD_FINISHED":
        return f"thread {number}: finished"
    what = "no step yet"
    if int(place) != 0:
        name = place["file"].string().split("/")[-1]
        what = f"{place['text'].string()} in {place['function'].string()} ({name}:{place['line']})"
    verb = "runs, at or after" if number == running else "parked before"
    return f"thread {number}: {verb} {what}"


def backtrace(thread, running):
    """Print the stack of a thread."""
    print(describe(thread, running))
    if str(thread["state"]) == "PFS_VTHREAD_FINISHED":
        return
    if int(thread["id"]) == running:
        gdb.execute("backtrace")
        return
    word = gdb.lookup_type("unsigned long").pointer()
    stack = thread["fiber"]["stack_pointer"].cast(word)
    gdb.execute("frame 0", to_string=True)
    names = SAVED + ("rsp",)
    before = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in names}
    values = {name: int(stack[i]) for i, name in enumerate(SAVED)}
    values["rsp"] = int(stack) + 8 * len(SAVED)
    try:
        for name in names:
            gdb.execute(f"set ${name} = {values[name]}", to_string=True)
        gdb.execute("backtrace")
    finally:
        for name in names:
            gdb.execute(f"set ${name} = {before[name]}", to_string=True)


class Threads(gdb.Command):
    """pfs-threads: what each virtual thread will do next."""

    def __init__(self):
        super().__init__("pfs-threads", gdb.COMMAND_STACK)

    def invoke(self, _argument, _from_tty):
        found, running = threads()
        for thread in found:
            print(describe(thread, running))


class Backtrace(gdb.Command):
    """pfs-bt N|all: the stack of virtual thread N."""

    def __init__(self):
        super().__init__("pfs-bt", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        found, running = threads()
        wanted = range(len(found)) if argument in ("", "all") else [argument]
        for number in wanted:
            if not str(number).isdigit() or int(number) >= len(found):
                raise gdb.GdbError(f"pfs-bt {number}: must be all, or 0 to {len(found) - 1}")
            backtrace(found[int(number)], running)


Threads()
Backtrace()
