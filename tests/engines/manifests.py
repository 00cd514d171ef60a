#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: manifests.py BIN MODEL FOLDER

What mxc launch --on kubernetes prints is what Kubernetes' own client for Python
reads, every field of it; and processes that are started here as the manifests
say train. No cluster is involved.
"""

import atexit
import os
import subprocess
import sys
import time
import urllib.request

try:
    import yaml
    from kubernetes.client import ApiClient
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def manifests(binaries, *options):
    text = subprocess.run(
        [binaries + "/mxc", "launch", "--on", "kubernetes", *options],
        check=True,
        capture_output=True,
    ).stdout
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


# A field that the client does not know would be missing; one of a wrong type or
# a required one that is missing is an error.
def check(objects):
    client = ApiClient()
    for kind, manifest in objects.items():
        model = client._ApiClient__deserialize(manifest, "V1" + kind)
        assert client.sanitize_for_serialization(model) == manifest, kind


def check_links(objects):
    servers, workers = objects["StatefulSet"], objects["Job"]
    for selected in (
        objects["Service"]["spec"]["selector"],
        servers["spec"]["selector"]["matchLabels"],
        objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ):
        assert selected == servers["spec"]["template"]["metadata"]["labels"]
    rule, anybody = objects["NetworkPolicy"]["spec"]["ingress"]
    (peer,) = rule["from"]
    labels = workers["spec"]["template"]["metadata"]["labels"]
    assert peer["podSelector"]["matchLabels"] == labels
    template = servers["spec"]["template"]
    assert template["metadata"]["annotations"]["prometheus.io/port"] == "9400"
    assert {"name": "metrics", "containerPort": 9400} in (
        template["spec"]["containers"][0]["ports"])
    assert anybody == {"ports": [{"port": 9400}]}
    assert workers["spec"]["completionMode"] == "Indexed"
    for each in (servers, workers):
        pod = each["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert "mxc-kvstore-key" not in str(pod)


# What the kubelet would do for one pod.
def start(objects, kind, rank, ports, folder):
    (container,) = objects[kind]["spec"]["template"]["spec"]["containers"]
    environment = dict(os.environ, RANK=str(rank))
    for variable in container["env"]:
        environment.setdefault(variable["name"], variable.get("value", ""))
    key = container["volumeMounts"][0]["subPathExpr"]
    key = key.replace("$(RANK)", str(rank))
    path = os.path.join(folder, key)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(objects["Secret"]["stringData"][key])
    addresses = [f"127.0.0.1:{port}" for port in ports]
    assert environment["MXC_SERVERS"].count(",") == len(ports) - 1
    environment.update(MXC_SERVERS=",".join(addresses), MXC_KEY=path)
    if kind == "StatefulSet":
        environment["MXC_LISTEN"] = addresses[rank]
        assert environment["MXC_METRICS_LISTEN"] == "0.0.0.0:9400"
        environment["MXC_METRICS_LISTEN"] = str(ports[rank] + len(ports))
        environment["MXC_JOURNAL"] = os.path.join(folder, f"journal-{rank}")
    return subprocess.Popen(container["command"], env=environment)


# They are new each second.
def await_metric(port, sample):
    for _ in range(100):
        place = f"http://127.0.0.1:{port}/metrics"
        with urllib.request.urlopen(place, timeout=10) as answer:
            if sample in answer.read().decode().splitlines():
                return
        time.sleep(0.1)
    sys.exit(f"no {sample}")


def main():
    binaries, model, folder = sys.argv[1:]
    saved = os.path.join(folder, "saved")
    train = [binaries + "/mxc", "train", model, "--data", "digits"]
    train += ["--data-opt", "size=1600", "--data-opt", "flat=1", "--quiet"]
    train += ["--epochs", "2", "--lr", "0.05", "--seed", "3", "--save", saved]
    options = ["--image", "example.org/mxc:1", "--volume", "data"]
    options += ["--workers", "3", "--servers", "2", "--on-death", "wait"]
    options += ["--metrics-listen", "9400"]
    objects = manifests(binaries, *options, "--", *train)
    check(objects)
    check_links(objects)
    ports = [17300, 17301]
    running = []
    atexit.register(lambda: [process.kill() for process in running])
    running += [start(objects, "StatefulSet", r, ports, folder) for r in (0, 1)]
    running += [start(objects, "Job", r, ports, folder) for r in (0, 1)]
    time.sleep(1)  # a pod that comes later
    for rank, port in enumerate(ports):
        await_metric(port + len(ports),
                     f'mxc_worker_state{{server="{rank}",worker="1",'
                     'state="there"} 1')
    running.append(start(objects, "Job", 2, ports, folder))
    assert [process.wait(120) for process in running] == [0] * 5
    assert os.path.getsize(saved + "-0002.params") > 0
    for wrong in (["--name", "No_Name"], ["--metrics", "job.prom"],
                  ["--metrics-listen", "7400"], ["--metrics-listen", "0"]):
        refused = subprocess.run(
            [binaries + "/mxc", "launch", "--on", "kubernetes", "--image", "a",
             *wrong, "--", "true"], capture_output=True, text=True)
        assert refused.returncode == 1 and wrong[0] in refused.stderr
    print("passed")


main()
