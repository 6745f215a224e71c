"""mariadb_client.py - a client of MariaDB over its socket: one connection that asks and waits, and
a crowd of thousands that one thread serves, so that the load takes little of the machine.
"""

import selectors
import socket
import struct
import time

# PROTOCOL_41, CONNECT_WITH_DB, SECURE_CONNECTION and PLUGIN_AUTH, of the server's protocol.
ABILITIES = 0x200 | 0x8 | 0x8000 | 0x80000
QUIT, QUERY = b"\x01", b"\x03"
END, ERROR, OK = 0xfe, 0xff, 0x00


class Failed(Exception):
    """What a server answered or did not answer, in a line."""


def packet(payload, number=0):
    """A payload as it is sent."""
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def login(user, database):
    """The answer to a server's greeting, of a user without a password."""
    return packet(struct.pack("<IIB23x", ABILITIES, 1 << 24, 33) + user.encode() + b"\0\0" +
                  database.encode() + b"\0mysql_native_password\0", 1)


def said(payload):
    """The text of an error."""
    text = payload[3:].decode("utf-8", "replace")
    return text[6:] if text.startswith("#") else text


def length_at(row, at):
    """(A length of the protocol, or None for NULL; where its value begins)."""
    first = row[at]
    if first < 0xfb:
        return first, at + 1
    if first == 0xfb:
        return None, at + 1
    size = {0xfc: 2, 0xfd: 3, 0xfe: 8}[first]
    return int.from_bytes(row[at + 1:at + 1 + size], "little"), at + 1 + size


def fields_of(row):
    """The values of a row, as text or None."""
    fields, at = [], 0
    while at < len(row):
        length, at = length_at(row, at)
        fields.append(None if length is None else row[at:at + length].decode("utf-8", "replace"))
        at += length or 0
    return fields


class Stream:
    """The bytes of a server as answers: where one begins and ends. An answer is an OK, an error, or
    a table, whose columns and rows each have an END behind them."""

    def __init__(self):
        self.bytes = bytearray()
        self.ends, self.rows, self.count = 0, [], 0

    def packets(self, more):
        """The packets that are complete with these bytes."""
        self.bytes += more
        at = 0
        while at + 4 <= len(self.bytes):
            length = int.from_bytes(self.bytes[at:at + 3], "little")
            if at + 4 + length > len(self.bytes):
                break
            yield bytes(self.bytes[at + 4:at + 4 + length])
            at += 4 + length
        del self.bytes[:at]

    def is_answered(self, payload):
        """Is the answer to a query complete with this packet? Failed if it is an error."""
        if payload[0] == ERROR:
            raise Failed(said(payload))
        if self.count == 0 and payload[0] == OK:
            return True
        self.count += 1
        if payload[0] == END and len(payload) < 9:
            self.ends += 1
            return self.ends == 2
        if self.ends == 1:
            self.rows.append(payload)
        return False

    def next_answer(self):
        """The rows so far; from here on another answer is read."""
        rows, self.rows, self.ends, self.count = self.rows, [], 0, 0
        return rows


class Connection:
    """One that asks and waits."""

    def __init__(self, path, user="root", database="test", seconds=60):
        self.stream = Stream()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        try:
            self.socket.connect(path)
            self._read(lambda payload: True)
            self.socket.sendall(login(user, database))
            self._read(self.stream.is_answered)
        except BaseException:
            self.socket.close()
            raise
        self.stream.next_answer()

    def _read(self, is_over):
        over = False
        while not over:
            try:
                more = self.socket.recv(1 << 16)
            except OSError as error:
                raise Failed(f"the server does not answer: {error}") from None
            if not more:
                raise Failed("the server closed the connection")
            for payload in self.stream.packets(more):
                if payload[0] == ERROR:
                    self.stream.next_answer()
                    raise Failed(said(payload))
                over = is_over(payload)

    def rows(self, statement):
        """The rows of a statement's answer, each a list of texts."""
        self.socket.sendall(packet(QUERY + statement.encode()))
        self._read(self.stream.is_answered)
        return [fields_of(row) for row in self.stream.next_answer()]

    def value(self, statement):
        """The only value of a statement's answer."""
        return self.rows(statement)[0][0]

    def close(self):
        """Leave."""
        try:
            self.socket.sendall(packet(QUIT))
        except OSError:
            pass
        self.socket.close()


class Guest:
    """One connection of a crowd. state: greeted, admitted, busy or idle; answers: how many."""

    def __init__(self, path, user):
        self.user, self.state, self.answers, self.stream = user, "greeted", 0, Stream()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)  # waits where the server's queue is full
        self.socket.setblocking(False)

    def ask(self, statement):
        """Send a statement; the crowd reads the answer."""
        self.state = "busy"
        self.socket.sendall(packet(QUERY + statement))

    def read(self):
        """What has arrived; True if the guest is idle after it."""
        try:
            more = self.socket.recv(1 << 16)
        except BlockingIOError:
            return False
        if not more:
            raise Failed(f"the server closed connection of {self.user}")
        for payload in self.stream.packets(more):
            if payload[0] == ERROR:
                raise Failed(said(payload))
            if self.state == "greeted":
                self.state = "admitted"
                self.socket.sendall(login(self.user, "test"))
            elif self.stream.is_answered(payload):
                self.stream.next_answer()
                self.answers += self.state == "busy"
                self.state = "idle"
                return True
        return False


class Crowd:
    """Connections that one thread serves. when_idle(guest) is called for each that was admitted or
    has an answer: it may ask, or close the guest, or leave it as it is. user_of(number) names the
    user of a connection, the first is 0."""

    def __init__(self, path, when_idle, user_of=lambda number: f"user{number % 20}"):
        self.path, self.when_idle, self.user_of = path, when_idle, user_of
        self.selector = selectors.DefaultSelector()
        self.guests = []
        self.number = 0

    def open(self, count):
        """More connections, at once."""
        for _ in range(count):
            guest = Guest(self.path, self.user_of(self.number))
            self.number += 1
            self.guests.append(guest)
            self.selector.register(guest.socket, selectors.EVENT_READ, guest)

    def close(self, guest):
        """A connection ends."""
        self.selector.unregister(guest.socket)
        self.guests.remove(guest)
        try:
            guest.socket.sendall(packet(QUIT))
        except OSError:
            pass
        guest.socket.close()

    def close_all(self):
        """All connections end."""
        for guest in list(self.guests):
            self.close(guest)
        self.selector.close()

    def serve(self, seconds):
        """Read what arrives within some seconds; returns at the first answer or at their end."""
        for key, _ in self.selector.select(max(0, seconds)):
            if key.data.read():
                self.when_idle(key.data)

    def serve_until(self, is_over, seconds, what):
        """Serve until is_over(); Failed where that takes too long."""
        end = time.monotonic() + seconds
        while not is_over():
            if time.monotonic() > end:
                raise Failed(f"{what} took more than {seconds} s")
            self.serve(0.05)
