"""Runs a program on a pseudo-terminal, to test its output there and its end after a signal."""
import os
import pty
import signal
import subprocess
import threading
import time


class OnTerminal:
    """The program's standard error is a terminal, its standard output a pipe."""

    def __init__(self, *command):
        self._terminal, theirs = pty.openpty()
        self._process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=theirs,
                                         text=True)
        os.close(theirs)
        self._pieces = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        try:
            while piece := os.read(self._terminal, 4096):
                self._pieces.append(piece)
        except OSError:  # the end of a terminal
            pass

    @property
    def written(self):
        return b"".join(self._pieces).decode()

    def wait_for(self, words):
        """Waits until the words are on the terminal."""
        while words not in self.written:
            if not self._reader.is_alive():
                self._process.kill()  # otherwise the reader would wait for the end of the program
                self._process.communicate()
                raise AssertionError(f"no {words!r} in {self.written!r}")
            time.sleep(0.02)

    def interrupt(self):
        """Sends SIGINT. Returns the exit status and standard output."""
        self._process.send_signal(signal.SIGINT)
        out, _ = self._process.communicate()
        self._reader.join()
        os.close(self._terminal)
        return self._process.returncode, out
