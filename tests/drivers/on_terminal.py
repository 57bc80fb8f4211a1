"""Runs a program on a pseudo-terminal, to test its output there and the delay of its end after a signal."""
import os
import pty
import signal
import subprocess
import threading
import time

# The limit is one second on an idle machine. If there are more processes than processors, it is longer.
DEADLINE = max(1, os.getloadavg()[0] / os.cpu_count()) * float(os.environ.get("TIMEOUT_MULTIPLIER", 1))


class OnTerminal:
    """The program's standard error is a terminal, its standard output a pipe."""

    def __init__(self, *command):
        self._terminal, theirs = pty.openpty()
        self._process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=theirs,
                                         text=True)
        os.close(theirs)
        self._begin = time.monotonic()
        self._pieces, self._first_at = [], None
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        try:
            while piece := os.read(self._terminal, 4096):
                self._first_at = self._first_at or time.monotonic()
                self._pieces.append(piece)
        except OSError:  # the end of a terminal
            pass

    @property
    def written(self):
        return b"".join(self._pieces).decode()

    def wait_for(self, words, seconds=60):
        """Waits until the words are on the terminal. Returns the time of the first character written there."""
        end = time.monotonic() + seconds
        while words not in self.written:
            if time.monotonic() > end or not self._reader.is_alive():
                self._process.kill()  # otherwise the reader would wait for the end of the program
                self._process.communicate()
                raise AssertionError(f"no {words!r} in {self.written!r}")
            time.sleep(0.02)
        return self._first_at - self._begin

    def interrupt(self):
        """Sends SIGINT. Returns the exit status, standard output, and the seconds until the end."""
        begin = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        out, _ = self._process.communicate(timeout=120)
        seconds = time.monotonic() - begin
        self._reader.join()
        os.close(self._terminal)
        return self._process.returncode, out, seconds
