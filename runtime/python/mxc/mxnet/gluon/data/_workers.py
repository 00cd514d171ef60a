# SPDX-License-Identifier: Apache-2.0
"""Worker processes and threads that make batches.

Each process has a pipe of its own and no lock is shared: a worker can be ended
whatever it is doing, and one that died is noticed."""
import collections
import concurrent.futures
import multiprocessing
import pickle
import traceback
import weakref


class Processes:
    """Calls `make(samples)` in forked processes, one after the other in turn."""

    def __init__(self, count, make):
        context = multiprocessing.get_context("fork")
        self._workers, pipes = [], []
        for _ in range(count):
            here, there = context.Pipe()
            pipes.append(here)
            process = context.Process(target=_serve, args=(there, make, list(pipes)),
                                      daemon=True)
            process.start()
            there.close()
            self._workers.append(_Worker(process, here))
        self._next = 0
        self.stop = weakref.finalize(self, _stop, self._workers)

    def submit(self, samples):
        """A work to `get` the batch of."""
        worker = self._workers[self._next % len(self._workers)]
        self._next += 1
        return _Work(worker, samples)


class _Worker:
    """A process, its pipe, and the works whose answers it will send, in that order."""

    def __init__(self, process, pipe):
        self.process = process
        self.pipe = pipe
        self.works = collections.deque()  # weak: nobody may want an answer any more


class _Work:
    def __init__(self, worker, samples):
        self._worker = worker
        self._answer = None
        try:
            worker.pipe.send(samples)
        except OSError:
            self._answer = (None, _death(worker))
        else:
            worker.works.append(weakref.ref(self))

    def get(self, timeout):
        """The batch; a TimeoutError after `timeout` seconds, or what went wrong."""
        while self._answer is None:
            self._receive(timeout)
        batch, error = self._answer
        if error is not None:
            raise error
        return batch

    def _receive(self, timeout):
        worker = self._worker
        if not worker.pipe.poll(timeout):
            raise TimeoutError
        try:
            answer = worker.pipe.recv()
        except (EOFError, OSError):
            answer = None, _death(worker)
        work = worker.works.popleft()()
        if work is not None:
            work._answer = answer


def _death(worker):
    worker.process.join(1)
    return RuntimeError(f"A worker process ended with the status {worker.process.exitcode}: it "
                        "was killed, or a library in it failed; num_workers=0 shows errors in "
                        "place.")


def _serve(pipe, make, others):
    """Answers until the other end is closed."""
    for each in others:  # Else this process would keep them open.
        each.close()
    while True:
        try:
            samples = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        try:
            pipe.send((make(samples), None))
        except (BrokenPipeError, KeyboardInterrupt):
            return
        except Exception as error:  # Whatever it is, whoever waits is told.
            pipe.send((None, _sendable(error)))


def _sendable(error):
    """`error`, or what it says where it cannot be sent."""
    text = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"A worker process failed:\n{text}")
    return error


def _stop(workers):
    for worker in workers:
        worker.process.kill()
    for worker in workers:
        worker.process.join(5)
        worker.pipe.close()


class Threads:
    """Calls `make(samples)` in threads."""

    def __init__(self, count, make):
        self._make = make
        self._pool = concurrent.futures.ThreadPoolExecutor(count)
        self.stop = weakref.finalize(self, self._pool.shutdown, wait=False)

    def submit(self, samples):
        """A work to `get` the batch of."""
        return _Future(self._pool.submit(self._make, samples))


class _Future:
    def __init__(self, future):
        self._future = future

    def get(self, timeout):
        """The batch; a TimeoutError after `timeout` seconds, or what went wrong."""
        try:
            return self._future.result(timeout)
        except concurrent.futures.TimeoutError:
            if self._future.done():
                raise
            raise TimeoutError from None
