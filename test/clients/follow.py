"""Keeps what a controller would: caches of pods and of config maps, listed once and followed by watches from then on.

usage: follow.py KUBECONFIG NAMESPACE

Ends when each has seen an object named `finished`. Prints a JSON object: the caches, how often a watch went on where it had
been cut off, how often it was too late for that and listed again, and what was against the rules of a watch.
"""

import faulthandler
import json
import sys
import threading
import time

import urllib3
from kubernetes import client, config, watch

AGAIN_SECONDS = 0.1
PATIENCE_SECONDS = 15


class Follower(threading.Thread):
    """One cache. `selection` is what its lists and watches are asked for."""

    def __init__(self, name, method, **selection):
        super().__init__(name=name, daemon=True)
        self.method = method
        self.selection = selection
        self.cache = {}
        self.version = None
        self.resumed = 0
        self.expired = 0
        self.problems = []

    def run(self):
        try:
            while not self.is_finished():
                self.go_on()
        except Exception as error:
            self.problems.append(f"{self.name}: {error!r}")

    def is_finished(self):
        return any(key.endswith("/finished") for key in self.cache)

    def go_on(self):
        try:
            if self.version is None:
                self.list()
                if self.is_finished():
                    return  # No event will tell of it.
            else:
                self.resumed += 1
            self.watch()
        except client.ApiException as error:
            if error.status == 410:
                self.expired += 1
                self.version = None
            elif error.status not in (429, 503, 504):
                raise
        except (urllib3.exceptions.HTTPError, OSError):
            time.sleep(AGAIN_SECONDS)  # The server is away.

    def list(self):
        listed = self.method(_request_timeout=PATIENCE_SECONDS, **self.selection)
        self.cache = {key_of(item.metadata): item.metadata.resource_version for item in listed.items}
        self.version = listed.metadata.resource_version

    def watch(self):
        watching = watch.Watch()
        options = dict(self.selection, resource_version=self.version, allow_watch_bookmarks=True)
        for event in watching.stream(self.method, **options):
            metadata = event["raw_object"]["metadata"]
            self.apply(event["type"], metadata)
            if metadata.get("name") == "finished":
                watching.stop()

    def apply(self, kind, metadata):
        version = metadata["resourceVersion"]
        if int(version) < int(self.version) or (kind != "BOOKMARK" and version == self.version):
            self.problems.append(f"{self.name}: {kind} at {version} after {self.version}")
        self.version = version
        if kind == "BOOKMARK":
            return
        key = f"{metadata['namespace']}/{metadata['name']}"
        if (kind == "ADDED") == (key in self.cache):
            self.problems.append(f"{self.name}: {kind} of {key} at {version}, held at {self.cache.get(key)}")
        if kind == "DELETED":
            self.cache.pop(key, None)
        else:
            self.cache[key] = version


def key_of(metadata):
    return f"{metadata.namespace}/{metadata.name}"


def main(kubeconfig, namespace):
    faulthandler.enable()  # Where every thread stands, should it have to be aborted.
    config.load_kube_config(kubeconfig)
    core = client.CoreV1Api()
    followers = [
        Follower("pods", core.list_pod_for_all_namespaces),
        Follower("configmaps", core.list_namespaced_config_map, namespace=namespace, label_selector="tier=a"),
    ]
    for follower in followers:
        follower.start()
    for follower in followers:
        follower.join()
    report = {
        "caches": {follower.name: follower.cache for follower in followers},
        "resumed": sum(follower.resumed for follower in followers),
        "expired": sum(follower.expired for follower in followers),
        "problems": [problem for follower in followers for problem in follower.problems],
    }
    json.dump(report, sys.stdout)


main(*sys.argv[1:])
