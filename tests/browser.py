# SPDX-License-Identifier: BSD-2-Clause
"""A real browser, Chromium, over the WebDriver protocol: plain HTTP with JSON."""

import base64
import contextlib
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.request

# A container has no sandbox for root; nothing is asked of the network.
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
LIMIT = 120  # seconds for an answer
TAB = "\ue004"
ENTER = "\ue007"


class Browser:
    """One window. Scripts get their arguments in `arguments`, and answer by `return`."""

    def __init__(self, address, folder):
        self.address = address
        options = {"args": [*OPTIONS, f"--user-data-dir={folder}"], "binary": "/usr/bin/chromium"}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options}
        answer = self.post("", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/{answer['sessionId']}"

    def request(self, method, path, body=None):
        body = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, body, headers, method=method)
        # Of this machine, whatever proxy the environment names.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=LIMIT) as answer:
            return json.load(answer)["value"]

    def post(self, path, body):
        return self.request("POST", path, body)

    def devtools(self, command, **parameters):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def show(self, path, width, scheme="light"):
        """Opens a file on a window of that width, in that colour scheme."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", media="screen", features=[feature])
        self.post("/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        return self.post("/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, key):
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": keys}]})

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.request("GET", "/screenshot")))


@contextlib.contextmanager
def browser():
    """Started, and ended with its driver."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            port = next(
                filter(None, (re.search(r"success.* on port (\d+)", x) for x in driver.stdout))
            )[1]
            started = Browser(f"http://127.0.0.1:{port}/session", folder)
            try:
                yield started
            finally:
                started.request("DELETE", "")
        finally:
            driver.terminate()
            driver.wait()
