"""gdb.py - the stacks of virtual threads, for gdb: one runs, the others are parked.

usage: gdb -x check/gdb.py --args build/sim/sim/pfs-sim replay FILE
       (gdb) break pfs_machine_failed
       (gdb) run
       (gdb) pfs-threads       what each thread will do next
       (gdb) pfs-bt 1          the stack of thread 1
       (gdb) pfs-bt all

A parked thread's registers lie on its stack as pfs_fiber_swap (fiber.c) left them; x86-64 only.
Nothing is written and nothing called in the program: some versions of gdb cannot set registers
on processors with large vector state, and a core dump has none to set.
"""
import gdb
import gdb.unwinder

SAVED = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")  # from the stack pointer upwards


def machine():
    """The machine of the stopped OS thread."""
    found = gdb.parse_and_eval("pfs_current")
    if int(found) == 0:
        raise gdb.GdbError("pfs: no machine on this thread; stop at pfs_machine_failed first")
    return found


class Parked(gdb.unwinder.Unwinder):
    """While it runs something, the caller of the newest frame is a parked thread."""

    def __init__(self):
        super().__init__("pfs-parked")
        self.values, self.newest = None, None

    def run(self, values, command):
        """command(), with the stack of a parked thread behind the newest frame."""
        self.newest = int(gdb.newest_frame().read_register("rsp"))
        self.values = values
        gdb.invalidate_cached_frames()
        try:
            return command()
        finally:
            self.values = None
            gdb.invalidate_cached_frames()

    def __call__(self, pending_frame):
        if self.values is None or int(pending_frame.read_register("rsp")) != self.newest:
            return None
        # Its place in the order of frames is on the parked stack, wherever that was mapped: gdb
        # stops at a caller whose frame lies below.
        stack = pending_frame.read_register("rsp")
        unwind = pending_frame.create_unwind_info(Frame(
            gdb.Value(self.values["rsp"] - 8).cast(stack.type),
            pending_frame.read_register("rip")))
        for name, value in self.values.items():
            like = pending_frame.read_register(name).type
            unwind.add_saved_register(name, gdb.Value(value).cast(like))
        return unwind


class Frame:
    """What tells one frame from another, as gdb wants it."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


PARKED = Parked()
gdb.unwinder.register_unwinder(None, PARKED, replace=True)


def threads():
    """(virtual threads, the one that runs or None)"""
    self = machine()
    found = [self["threads"][i].dereference() for i in range(int(self["thread_count"]))]
    runs = self["run"]["running"]
    running = int(runs["id"]) if int(runs) != 0 else None
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
    values = {name: int(stack[i]) for i, name in enumerate(SAVED)}
    values["rsp"] = int(stack) + 8 * len(SAVED)
    # The newest frame stands for pfs_fiber_swap: behind it the parked thread goes on.
    lines = PARKED.run(values, lambda: gdb.execute("backtrace", to_string=True)).splitlines()
    print("\n".join(line for line in lines if not line.startswith("#0 ")))


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
