#!/usr/bin/env python3
"""Complains of Deployments whose images have no fixed tag.

    hark run deployments -A --stream -- python3 image_tags.py

One program stays running and is asked one request a line. A Deployment that is
wrong is parked until it changes; what is written to stderr is passed on.
"""
import json
import sys


def floating(image):
    """Tells whether an image can be another one tomorrow."""
    if "@" in image:
        return False
    tag = image.rsplit("/", 1)[-1].partition(":")[2]
    return tag in ("", "latest")


def answer(request):
    if request["object"] is None:
        return {}
    containers = request["object"]["spec"]["template"]["spec"]["containers"]
    wrong = [c["name"] for c in containers if floating(c.get("image", ""))]
    if wrong:
        return {"park": "no fixed tag: " + ", ".join(wrong)}
    print(len(containers), "images checked", file=sys.stderr)
    return {}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
