"""An operator on the plain Python client: makes a config map of each widget, and says in its status what it has seen.

usage: widget_operator.py KUBECONFIG NAMESPACE LABEL_SELECTOR

Acts on events alone: nothing is looked at again by time. Ends when it has seen a widget named `finished`, and prints a JSON object: how
many events it acted on, how often its watch went on where it had been cut off, and how often it had to list.
"""

import json
import sys
import time

import urllib3
from kubernetes import client, config, watch

TYPE = {"group": "operators.example.com", "version": "v1", "plural": "widgets"}
AGAIN_SECONDS = 0.1
PATIENCE_SECONDS = 60
AWAY = (429, 500, 503, 504)


class Operator:
    def __init__(self, namespace, selector):
        self.core = client.CoreV1Api()
        self.custom = client.CustomObjectsApi()
        self.place = dict(TYPE, namespace=namespace)
        self.namespace = namespace
        self.selector = selector
        self.version = None
        self.known = {}
        self.report = {"acted": 0, "resumed": 0, "listed": 0}

    def run(self):
        while "finished" not in self.known:
            try:
                self.go_on()
            except client.ApiException as error:
                if error.status == 410:
                    self.version = None
                elif error.status not in AWAY:
                    raise
                time.sleep(AGAIN_SECONDS)
            except (urllib3.exceptions.HTTPError, OSError):
                time.sleep(AGAIN_SECONDS)  # The server is away.
        return self.report

    def go_on(self):
        selection = dict(self.place, label_selector=self.selector)
        if self.version is None:
            listed = self.custom.list_namespaced_custom_object(_request_timeout=PATIENCE_SECONDS, **selection)
            self.report["listed"] += 1
            for widget in listed["items"]:
                self.see(widget)
            self.version = listed["metadata"]["resourceVersion"]
        else:
            self.report["resumed"] += 1
        watching = watch.Watch()
        options = dict(selection, resource_version=self.version, allow_watch_bookmarks=True)
        for event in watching.stream(self.custom.list_namespaced_custom_object, **options):
            widget = event["raw_object"]
            if event["type"] in ("ADDED", "MODIFIED"):
                self.see(widget)
            self.version = widget["metadata"]["resourceVersion"]
            if "finished" in self.known:
                watching.stop()

    def see(self, widget):
        name, wish = widget["metadata"]["name"], widget["spec"]
        if self.known.get(name) == wish:
            return
        while not self.act(widget):
            time.sleep(AGAIN_SECONDS)
        self.known[name] = wish
        self.report["acted"] += 1

    def act(self, widget):
        """False: the server is away, and it is to be tried again."""
        name, wish = widget["metadata"]["name"], widget["spec"]
        owner = {"apiVersion": widget["apiVersion"], "kind": widget["kind"], "name": name, "uid": widget["metadata"]["uid"]}
        body = {
            "metadata": {"name": name, "ownerReferences": [owner]},
            "data": {key: str(value) for key, value in wish.items()},
        }
        status = {"status": {"observedSize": wish["size"]}}
        try:
            self.keep(name, body)
            self.custom.patch_namespaced_custom_object_status(
                name=name, body=status, _request_timeout=PATIENCE_SECONDS, **self.place
            )
        except client.ApiException as error:
            # 404: the widget is gone, and its config map goes with it.
            if error.status not in AWAY and error.status != 404:
                raise
            return error.status == 404
        except (urllib3.exceptions.HTTPError, OSError):
            return False
        return True

    def keep(self, name, body):
        try:
            self.core.create_namespaced_config_map(self.namespace, body, _request_timeout=PATIENCE_SECONDS)
        except client.ApiException as error:
            if error.status != 409:
                raise
            self.core.replace_namespaced_config_map(name, self.namespace, body, _request_timeout=PATIENCE_SECONDS)


def main(kubeconfig, namespace, selector):
    config.load_kube_config(kubeconfig)
    json.dump(Operator(namespace, selector).run(), sys.stdout)


main(*sys.argv[1:])
