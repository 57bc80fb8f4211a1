"""A program on a terminal of its own: what it writes there, and how soon it ends after a signal."""
import os
import pty
import signal
import subprocess
import threading
import time

# A second, on a machine that does nothing else. With more processes than processors, each gets its share.
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
        """Wait until the words are on the terminal. The result is the time of the first character written there."""
        end = time.monotonic() + seconds
        while words not in self.written:
            if time.monotonic() > end or not self._reader.is_alive():
                self._process.kill()  # otherwise the reader would wait for its end
                self._process.communicate()
                raise AssertionError(f"no {words!r} in {self.written!r}")
            time.sleep(0.02)
        return self._first_at - self._begin

    def interrupt(self):
        """Send SIGINT. The result is the exit status, standard output, and the seconds until the end."""
        begin = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        out, _ = self._process.communicate(timeout=120)
        seconds = time.monotonic() - begin
        self._reader.join()
        os.close(self._terminal)
        return self._process.returncode, out, seconds
