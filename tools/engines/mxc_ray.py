# SPDX-License-Identifier: Apache-2.0
"""A job of mxc on Ray: one actor a process.

    import ray
    from mxc_ray import train
    ray.init(address="auto")
    train(["mxc", "train", "lenet.json", "--data", "mnist:/data",
           "--save", "/shared/lenet"], workers=4, servers=2)

When a process dies, all begin again from the newest checkpoint, `restarts`
times at most.
"""

import ray

import mxc_job


@ray.remote(max_restarts=0)
class _Process:
    def __init__(self, number):
        self.number = number

    def address(self):
        return mxc_job.free_address(ray.util.get_node_ip_address())

    def run(self, command, secret, workers, addresses, resume):
        return mxc_job.run(
            command, secret, self.number, workers, addresses, resume
        )


def _attempt(command, workers, servers, cpus, resume):
    processes = [
        _Process.options(num_cpus=cpus).remote(number)
        for number in range(servers + workers)
    ]
    try:
        addresses = ray.get([p.address.remote() for p in processes[:servers]])
        secret = mxc_job.make_secret()
        left = [
            p.run.remote(command, secret, workers, addresses, resume)
            for p in processes
        ]
        while left:
            ended, left = ray.wait(left)
            for status in ray.get(ended):
                if status != 0:
                    return f"a process ended with status {status}"
        return None
    except ray.exceptions.RayActorError as error:
        return f"an actor died: {error}"
    finally:
        for process in processes:
            ray.kill(process)


def train(command, workers, servers=1, cpus=1, restarts=3):
    """Runs the command as every process of a job, until all have ended."""
    for attempt in range(restarts + 1):
        cause = _attempt(command, workers, servers, cpus, attempt > 0)
        if cause is None:
            return attempt
        print(f"mxc: {cause}; {restarts - attempt} restarts are left")
    raise RuntimeError(cause)
