"""Runs a command with a terminal of 200 columns as its stderr; what is written there comes out of stdout.

    terminal.py COMMAND [ARGUMENT...]

Standard input is the command's own, what it prints is thrown away, and its exit code is ours.
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
sys.stdin.close()
while True:
    try:
        shown = os.read(ours, 65536)
    except OSError:  # on Linux this is how a terminal ends
        break
    if not shown:
        break
    sys.stdout.buffer.write(shown)
    sys.stdout.buffer.flush()
sys.exit(child.wait())
