"""Chromium without a screen, driven over WebDriver by the standard library alone."""
import base64, json, os, shutil, subprocess, tempfile, time, urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
        "Tab": "\ue004", "Home": "\ue011"}


def find():
    """The paths of Chromium and of its driver; None where one is missing."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


class Browser:
    def __init__(self, width=1440, height=900, dark=False):
        chromium, driver = find()
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.port = int(line.rstrip(".\n").split()[-1])
                break
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        if dark:
            arguments.append("--force-dark-mode")
        options = {"binary": chromium, "args": arguments}
        wanted = {"browserName": "chrome", "timeouts": {"script": 120000, "pageLoad": 120000}, "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def call(self, path, body=None, method="POST"):
        return self.ask(method, f"/session/{self.session}{path}", {} if body is None and method == "POST" else body)

    def open(self, address):
        self.call("/url", {"url": address})

    def run(self, script, *arguments):
        """The value that the script returns."""
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=60):
        """Until the script returns something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"this never held: {script}")

    def element(self, selector):
        return self.call("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.call(f"/element/{self.element(selector)}/click")

    def type(self, selector, text):
        self.call(f"/element/{self.element(selector)}/value", {"text": text})

    def press(self, *keys):
        """To what has the focus."""
        steps = [step for key in keys for step in ({"type": "keyDown", "value": KEYS.get(key, key)}, {"type": "keyUp", "value": KEYS.get(key, key)})]
        self.call("/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def mouse(self, selector, x, y, clicks=1):
        """Clicks at a place of the element, counted from its corner."""
        box = self.run("const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.left, b.top]", selector)
        steps = [{"type": "pointerMove", "x": round(box[0] + x), "y": round(box[1] + y), "duration": 0}]
        steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] * clicks
        self.call("/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]})

    def screenshot(self, path):
        """A .webp file: less than half of a .png of the same page."""
        taken = self.call("/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {"format": "webp", "quality": 85}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    def complaints(self):
        """What the page's console has of errors."""
        return [entry["message"] for entry in self.call("/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def close(self):
        try:
            self.call("", method="DELETE")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
