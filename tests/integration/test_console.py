"""``ctxmt`` among other commands of a shell."""

import os
import subprocess

from tests.integration.commands import ENVIRONMENT, command


def test_output_that_nobody_reads_on_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output:
        done = subprocess.run(
            command("ctxmt", "user-dir"), stdout=output, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
        )
    assert (done.returncode, done.stderr) == (1, "")
