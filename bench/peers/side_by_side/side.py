"""A side: a process that runs, compiles and writes as it is told (see serve.h)."""

import os
import subprocess


class SideError(Exception):
    pass


class Side:
    def __init__(self, command, threads, environment=None):
        cores = sorted(os.sched_getaffinity(0))[:threads]
        env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        for variable in ("HL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            env[variable] = str(threads)
        env.update(environment or {})
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        self.about = self.ask("about", 1)[0]

    def ask(self, command, lines):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answer says it
        answer = [self.process.stdout.readline().strip() for _ in range(lines)]
        if not all(answer):
            code = self.process.wait()
            raise SideError(f"{' '.join(self.command)}: stopped at '{command}' with exit code {code}")
        return answer

    def seconds(self, what, times):
        return [float(line) for line in self.ask(f"{what} {times}", times)]

    def write(self, path):
        self.ask(f"write {path}", 1)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
