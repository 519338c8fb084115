"""Our side of a comparison on a GPU: figures by the program that bench/gpu/run finds or builds, as records."""

import json
import os
import subprocess

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")


def names():
    """Of all figures."""
    listed = subprocess.run([RUN, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def figure(name, *options):
    """The record of a figure that is measured now. RuntimeError says why there is none."""
    done = subprocess.run([RUN, "--exact", name, *options], stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    record = json.loads(lines[-1]) if lines else {"error": f"bench/gpu/run --exact {name}: exit code {done.returncode}"}
    if "error" in record:
        raise RuntimeError(record["error"])
    return record


def append(path, record):
    """One more line of a file, if there is to be one."""
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(record) + "\n")
