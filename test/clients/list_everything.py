"""Calls every list method of every API of the Python client, and prints for each what came back.

usage: list_everything.py KUBECONFIG NAMESPACE
"""

import inspect
import json
import sys

from kubernetes import client, config

# Their methods want to be told a group and a type.
CUSTOM = ("CustomObjectsApi",)


def is_asked(name):
    return name.startswith("list_") and not name.endswith("_with_http_info")


def asked(api, name, namespace):
    """A row: the list's version and kind and how many it holds, or why there is none."""
    row = {"method": f"{type(api).__name__}.{name}"}
    try:
        method = getattr(api, name)
        listed = method(namespace) if name.startswith("list_namespaced_") else method()
        row.update(apiVersion=listed.api_version, kind=listed.kind, items=len(listed.items))
    except client.ApiException as error:
        row.update(status=error.status, message=str(error.body))
    except Exception as error:  # What the client makes of an answer that it does not like.
        row.update(message=repr(error))
    return row


def main(kubeconfig, namespace):
    config.load_kube_config(kubeconfig)
    rows = []
    for api_name, api_class in inspect.getmembers(client, inspect.isclass):
        if not api_name.endswith("Api") or api_name in CUSTOM:
            continue
        api = api_class()
        rows += [asked(api, name, namespace) for name in dir(api) if is_asked(name)]
    json.dump(rows, sys.stdout)


main(*sys.argv[1:])
