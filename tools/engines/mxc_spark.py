# SPDX-License-Identifier: Apache-2.0
"""A job of mxc as a barrier stage of Spark: all its processes run at once.

    from mxc_spark import train
    train(spark.sparkContext,
          ["mxc", "train", "lenet.json", "--data", "mnist:/data",
           "--save", "/shared/lenet"], workers=4, servers=2)

The cluster needs workers + servers free slots. When a process fails, Spark
begins the stage again, and the job goes on from its newest checkpoint
(spark.stage.maxConsecutiveAttempts).
"""

import mxc_job


def train(context, command, workers, servers=1):
    """Runs the command as every process of a job, until all have ended."""
    secret = mxc_job.make_secret()

    def process(_):
        from pyspark import BarrierTaskContext

        task = BarrierTaskContext.get()
        number = task.partitionId()
        host = task.getTaskInfos()[number].address.split(":")[0]
        own = mxc_job.free_address(host) if number < servers else ""
        addresses = task.allGather(own)[:servers]
        resume = task.stageAttemptNumber() > 0
        status = mxc_job.run(
            command, secret, number, workers, addresses, resume
        )
        if status != 0:
            role, rank = mxc_job.role_of(number, servers)
            raise RuntimeError(f"{role} {rank} ended with status {status}")
        yield number

    count = workers + servers
    stage = context.parallelize(range(count), count).barrier()
    return stage.mapPartitions(process).count()
