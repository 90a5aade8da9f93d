"""A real browser without a window, driven by Chromium's own protocol over a pair of pipes."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

import pytest

REPLY_S = 30


class Browser:
    """One page. What it asks for, says and breaks is kept."""

    def __init__(self, folder):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            pytest.skip("chromium is not installed")
        folder = pathlib.Path(folder)
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()
        # The protocol's pipes are descriptors 3 and 4 of the browser.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_child} 4>&{from_child}', "bash", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={folder / 'profile'}", "about:blank"],
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(folder / "browser.log", "wb"), env={**os.environ, "HOME": str(folder)})
        os.close(to_child)
        os.close(from_child)
        self.held = b""
        self.number = 0
        self.session = None
        self.urls = []
        self.troubles = []
        pages = [target for target in self.ask("Target.getTargets")["targetInfos"] if target["type"] == "page"]
        self.session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self, seconds):
        """The next message; None when none comes in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self.held:
            ready, _, _ = select.select([self.read_end], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            part = os.read(self.read_end, 1 << 16)
            assert part, "the browser has ended"
            self.held += part
        message, _, self.held = self.held.partition(b"\0")
        return json.loads(message)

    def note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.urls.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.troubles.append(what["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.troubles.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))

    def ask(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + REPLY_S
        while True:
            message = self.receive(end - time.monotonic())
            assert message is not None, f"no answer to {method}"
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.note(message)

    def run(self, script):
        """The value of an expression, a promise's too."""
        told = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, condition, seconds=REPLY_S):
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never: {condition}\n{self.run('document.body.innerText')}"
            time.sleep(0.05)

    def open(self, url):
        self.ask("Page.navigate", url=url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")

    def click(self, selector):
        """As a mouse does, in the middle of what is there."""
        self.wait(f"document.querySelector({json.dumps(selector)})")
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
                        "e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); "
                        "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def press(self, key, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, code=key, **extra)

    def enter(self):
        self.press("Enter", 13, "\r")

    def size(self, width, height, dark=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def tree(self):
        """(role, name) of what a screen reader is told of."""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
