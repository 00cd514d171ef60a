# SPDX-License-Identifier: Apache-2.0
"""A job of mxc as a barrier stage of Spark: all its processes run at once.

    from mxc_spark import train
    train(spark.sparkContext,
          ["mxc", "train", "lenet.json", "--data", "mnist:/data",
           "--save", "/shared/lenet"], workers=4, servers=2)

    train(spark.sparkContext, ["mxc", "train", "iris.json", "--epochs", "9",
                               "--save", "/shared/iris"],
          workers=4, data=frame, label="species")

The cluster needs workers + servers free slots. When a process dies, all begin
again from the newest checkpoint, `restarts` times at most. Rows of `data`, a
data frame, go from where Spark has them to the workers, a part to each: the
columns in order, numbers or vectors of numbers, but the label.
"""

import os
import tempfile

import mxc_job


def _line(row, label):
    numbers = [row[label]]
    for name in row.__fields__:
        if name == label:
            continue
        value = row[name]
        numbers.extend(value if hasattr(value, "__iter__") else [value])
    return ",".join(repr(float(number)) for number in numbers)


def _parts(data, label, workers, servers):
    """The rows as lines: a part for each process, in the frame's order.

    Servers have one line, which says what the data look like.
    """
    example = _line(data.first(), label)

    def keyed(indexed):
        row, index = indexed
        return ((servers + index % workers, index), _line(row, label))

    count = servers + workers
    heads = data.rdd.context.parallelize(
        [((number, 0), example) for number in range(servers)], 1
    )
    return (
        data.rdd.zipWithIndex()
        .map(keyed)
        .union(heads)
        .repartitionAndSortWithinPartitions(count, lambda key: key[0])
        .values()
    )


def _attempt(parts, own_data, command, workers, servers, resume):
    secret = mxc_job.make_secret()

    def process(lines):
        from pyspark import BarrierTaskContext

        task = BarrierTaskContext.get()
        number = task.partitionId()
        host = task.getTaskInfos()[number].address.split(":")[0]
        own = mxc_job.free_address(host) if number < servers else ""
        with tempfile.TemporaryDirectory(prefix="mxc-data-") as folder:
            words = []
            if own_data:
                path = os.path.join(folder, "part.csv")
                with open(path, "w") as file:
                    file.writelines(line + "\n" for line in lines)
                words = ["--data", "csv:" + path]
                for option in ("label_column=0", "num_parts=1", "part_index=0"):
                    words += ["--data-opt", option]
            addresses = task.allGather(own)[:servers]
            status = mxc_job.run(
                command + words, secret, number, workers, addresses, resume
            )
        if status != 0:
            role, rank = mxc_job.role_of(number, servers)
            raise RuntimeError(f"{role} {rank} ended with status {status}")
        yield number

    return parts.barrier().mapPartitions(process).count()


def train(context, command, workers, servers=1, restarts=3, data=None,
          label=None):
    """Runs the command as every process of a job, until all have ended.

    How often they began again.
    """
    from py4j.protocol import Py4JJavaError

    if data is None:
        count = workers + servers
        parts = context.parallelize(range(count), count)
    else:
        parts = _parts(data, label, workers, servers)
    for attempt in range(restarts + 1):
        try:
            _attempt(parts, data is not None, command, workers, servers,
                     attempt > 0)
            return attempt
        except Py4JJavaError as error:
            if attempt == restarts:
                raise
            cause = str(error).splitlines()[0]
            print(f"mxc: {cause}; {restarts - attempt} restarts are left")
