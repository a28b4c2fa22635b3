"""Drives the page of Examples/SettingsPage in headless Chromium: drive.py PROGRAM [SCREENSHOT.png]

Speaks WebDriver with chromedriver, and needs nothing but Python. Ends with status 1 and the reason at the first check that
fails, and leaves no process and no file behind.
"""

import base64, json, os, re, shutil, signal, subprocess, sys, tempfile, time, urllib.error, urllib.request

SECRET = "SENTINEL-5f3a"
TAB, ENTER, SPACE, UP, DOWN, RIGHT, CONTROL = "\ue004", "\ue007", " ", "\ue013", "\ue015", "\ue014", "\ue009"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def until(read, wanted, what, seconds=120):
    """Waits until `read()` is `wanted`, or satisfies it."""
    end = time.monotonic() + seconds
    while True:
        value = read()
        if wanted(value) if callable(wanted) else value == wanted:
            return value
        check(time.monotonic() < end, f"{what}: is {value!r}" + ("" if callable(wanted) else f", not {wanted!r}"))
        time.sleep(0.03)


class Browser:
    def __init__(self, port, folder):
        self.base = f"http://127.0.0.1:{port}/session"
        arguments = ["--headless=new", "--window-size=860,1000", "--lang=en", f"--user-data-dir={folder}/profile"]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")  # Chromium has none for root
        options = {"args": arguments, "perfLoggingPrefs": {"enableNetwork": True}}
        session = self.call("POST", "", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.base += "/" + session["sessionId"]

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise AssertionError(f"{method} {path}: {value['error']}: {value['message'].splitlines()[0]}") from None

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def element(self, id):
        return self.call("POST", "/element", {"using": "css selector", "value": "#" + id})[ELEMENT]

    def text(self, id):
        return self.run("return document.getElementById(arguments[0]).textContent", id)

    def value(self, id):
        return self.run("return document.getElementById(arguments[0]).value", id)

    def attribute(self, id, name):
        return self.run("return document.getElementById(arguments[0]).getAttribute(arguments[1])", id, name)

    def click(self, id, x=0):
        """Presses the mouse `x` pixels right of the middle of an element."""
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "origin": {ELEMENT: self.element(id)}, "x": x, "y": 0},
            {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}]})

    def press(self, keys, holding=""):
        """Types on the keyboard, wherever the focus is."""
        down, up = ([{"type": kind, "value": key} for key in holding] for kind in ("keyDown", "keyUp"))
        typed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": down + typed + up}]})

    def focused(self):
        return self.run("return document.activeElement.id")

    def reach(self, id):
        """Presses Tab until an element has the focus."""
        for _ in range(60):
            if self.focused() == id:
                return
            self.press(TAB)
        raise AssertionError(f"the keyboard does not reach {id}")

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def developer(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def emulate(self, **features):
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.developer("Emulation.setEmulatedMedia", features=features)


class Store:
    """The file of the settings, as any other program sees it."""

    def __init__(self, path):
        self.path = path

    def read(self, key):
        with open(self.path) as file:
            value = json.load(file)
        if key in value:
            return value[key]
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def write(self, key, value):
        with open(self.path) as file:
            values = json.load(file)
        place, parts = values, key.split(".")
        if key not in values and isinstance(values.get(parts[0]), dict):
            place = values[parts[0]]
            key = parts[1]
        place[key] = value
        with open(self.path + ".new", "w") as file:
            json.dump(values, file)
        os.replace(self.path + ".new", self.path)


SWITCH, STEPPER, SLIDER, CHOICE, TEXT, PASSWORD = (f"s{number}-field" for number in range(6))


def check_mouse(browser, store):
    browser.click(SWITCH)
    until(lambda: store.read("shop.open"), False, "the switch, clicked")
    until(lambda: browser.attribute(SWITCH, "aria-checked"), "false", "the state of the switch")
    browser.click("s1-increase")
    until(lambda: store.read("shop.timeout"), 35, "the stepper, + clicked")
    until(lambda: browser.text("s1-value"), "35 s", "the words beside the stepper")
    browser.click("s1-decrease")
    until(lambda: store.read("shop.timeout"), 30, "the stepper, − clicked")
    browser.click(SLIDER, x=50)
    moved = until(lambda: store.read("shop.discount"), lambda value: value and 25 < value < 50, "the slider, clicked")
    until(lambda: browser.attribute(SLIDER, "aria-valuetext"), f"{moved} %", "the words of the slider")
    option = browser.call("POST", "/element", {"using": "css selector", "value": f"#{CHOICE} [value=dark]"})[ELEMENT]
    browser.call("POST", f"/element/{option}/click")
    until(lambda: store.read("shop.theme"), "dark", "the choice, clicked")
    browser.click(TEXT)
    browser.press("a", holding=CONTROL)
    browser.press("desk@example.com")
    browser.click(PASSWORD)  # leaving the field stores it
    until(lambda: store.read("mail.sender"), "desk@example.com", "the text, left")
    browser.press(SECRET)
    browser.click("s5-set")
    until(lambda: browser.text("s5-value"), "set", "the password, saved")
    until(lambda: browser.value(PASSWORD), "", "the box of a saved password")
    browser.click("s5-reset")
    check(browser.text("s5-value") == "set", "the first press of Remove asks")
    browser.click("s5-reset")
    until(lambda: browser.text("s5-value"), "not set", "the password, removed")


def check_keyboard(browser, store):
    browser.run("document.activeElement.blur()")
    browser.reach(SWITCH)
    browser.press(SPACE)
    until(lambda: store.read("shop.open"), True, "the switch, by Space")
    browser.reach("s1-decrease")
    browser.press(ENTER)
    until(lambda: store.read("shop.timeout"), 25, "the stepper, − by Enter")
    browser.reach(STEPPER)
    browser.press(UP)
    until(lambda: store.read("shop.timeout"), 30, "the stepper, by the arrow up")
    browser.press(DOWN)
    until(lambda: store.read("shop.timeout"), 25, "the stepper, by the arrow down")
    until(lambda: browser.value(STEPPER), "25", "the field of the stepper")
    browser.press("a", holding=CONTROL)
    browser.press("58" + UP)
    until(lambda: store.read("shop.timeout"), 60, "the stepper, typed and stepped to its bound")
    until(lambda: browser.attribute("s1-increase", "aria-disabled"), "true", "+ at the bound")
    browser.reach(SLIDER)
    before = store.read("shop.discount")
    browser.press(RIGHT)
    until(lambda: store.read("shop.discount"), before + 1, "the slider, by the arrow right")
    browser.reach(CHOICE)
    browser.press(UP)
    until(lambda: store.read("shop.theme"), "light", "the choice, by the arrow up")
    browser.reach(TEXT)
    browser.press("a", holding=CONTROL)
    browser.press("ada@example.com" + ENTER)
    until(lambda: store.read("mail.sender"), "ada@example.com", "the text, by Enter")
    browser.reach("s4-reset")
    browser.press(ENTER)
    browser.press(ENTER)
    until(lambda: store.read("mail.sender"), None, "the text, reset by Enter")
    until(lambda: browser.value(TEXT), "shop@example.com", "the default after the reset")
    browser.reach(PASSWORD)
    browser.press(SECRET + ENTER)
    until(lambda: browser.text("s5-value"), "set", "the password, by Enter")


def check_messages(browser, store):
    browser.reach(STEPPER)
    browser.press("a", holding=CONTROL)
    browser.press("61" + ENTER)
    until(lambda: browser.text("s1-problem"), "Timeout must be between 1 and 60.", "the message")
    check(browser.attribute(STEPPER, "aria-invalid") == "true", "the field is not marked as invalid")
    check("s1-problem" in browser.attribute(STEPPER, "aria-describedby").split(), "the message does not describe the field")
    check(browser.attribute("s1-problem", "aria-live") == "polite", "the message is not announced")
    check(browser.value(STEPPER) == "61", "what was typed is lost")
    check(store.read("shop.timeout") == 60, "the store has a value that breaks a rule")
    browser.press("a", holding=CONTROL)
    browser.press("20" + ENTER)
    until(lambda: browser.text("s1-problem"), "", "the message after it was corrected")
    check(browser.attribute(STEPPER, "aria-invalid") == "false", "the corrected field is marked as invalid")
    browser.click("s5-set")
    until(lambda: browser.text("s5-problem"), lambda text: "nothing was typed" in text, "an empty password")
    check(browser.text("s5-value") == "set", "an empty box has replaced the password")


def check_outside_changes(browser, store):
    store.write("shop.open", False)
    until(lambda: browser.attribute(SWITCH, "aria-checked"), "false", "a switch that was changed elsewhere")
    store.write("shop.timeout", 45)
    until(lambda: (browser.value(STEPPER), browser.text("s1-value")), ("45", "45 s"), "a stepper that was changed elsewhere")
    store.write("shop.discount", 5)
    until(lambda: browser.value(SLIDER), "5", "a slider that was changed elsewhere")
    store.write("shop.theme", "system")
    until(lambda: browser.value(CHOICE), "system", "a choice that was changed elsewhere")
    browser.reach(STEPPER)
    browser.press("a", holding=CONTROL)
    browser.press("12")
    store.write("shop.timeout", 50)
    until(lambda: browser.text("s1-value"), "50 s", "the words beside a field in which somebody types")
    check(browser.value(STEPPER) == "12", "a change elsewhere has replaced what somebody types")
    browser.press(ENTER)
    until(lambda: store.read("shop.timeout"), 12, "what was typed during a change elsewhere")


# Text that is seen, with its contrast; and the edges of controls.
CONTRASTS = """
const parse = color => { const n = color.match(/[\\d.]+/g).map(Number); return n.length > 3 ? n : [...n, 1]; };
const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const ground = element => {
  for (let e = element; e; e = e.parentElement) {
    const color = parse(getComputedStyle(e).backgroundColor);
    if (color[3] === 1) return color;
    if (color[3] > 0) throw new Error("a translucent background");
  }
  return [255, 255, 255];
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const style = getComputedStyle(element);
  if (!element.getClientRects().length || style.visibility === "hidden") continue;
  const hasText = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || element.matches("input, select");
  const name = element.id || element.tagName;
  if (style.opacity !== "1") throw new Error("translucent: " + name);
  if (hasText) found.push(["text of " + name, ratio(parse(style.color), ground(element)), 4.5]);
  if (element.matches("input:not([type=range]), select, [role=switch], button[aria-disabled]"))
    found.push(["edge of " + name, ratio(parse(style.borderTopColor), ground(element.parentElement)), 3]);
}
return found;
"""

FOCUSABLE = """return [...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")]
  .filter(e => e.getClientRects().length && e.tabIndex >= 0).map(e => e.id)"""


def check_accessibility(browser):
    check(browser.run("return document.documentElement.lang") == "en", "the page has no language")
    check(browser.call("GET", "/title") == "Settings of the shop", "the page has no title")
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    check(len(ids) == len(set(ids)), "ids occur twice")
    references = browser.run("""return [...document.querySelectorAll("[aria-labelledby], [aria-describedby], [for]")].flatMap(
      e => ["aria-labelledby", "aria-describedby", "for"].flatMap(n => (e.getAttribute(n) ?? "").split(" ")))""")
    check(set(references) - {""} <= set(ids), "a reference names no element")
    levels = browser.run("return [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))")
    check(levels[0] == 1 and levels.count(1) == 1 and set(levels) <= {1, 2}, "the headings have no order")
    check(browser.run("return document.querySelectorAll('main').length") == 1, "there is no main part")

    roles = {SWITCH: "switch", STEPPER: "spinbutton", SLIDER: "slider", CHOICE: "combobox", TEXT: "textbox", PASSWORD: "textbox"}
    names = {SWITCH: "Open", STEPPER: "Timeout", SLIDER: "Discount", CHOICE: "Theme", TEXT: "Sender", PASSWORD: "Password",
        "s1-increase": "Increase Timeout", "s1-decrease": "Decrease Timeout", "s5-set": "Save Password",
        "s5-reset": "Remove Password", "s0-reset": "Reset Open"}
    focusable = browser.run(FOCUSABLE)
    check(len(focusable) == 15 and "" not in focusable, f"these take the focus: {focusable}")
    for id in focusable:
        element = browser.element(id)
        name, role = (browser.call("GET", f"/element/{element}/computed{kind}") for kind in ("label", "role"))
        check(name == names.get(id, name) != "", f"{id} has the name {name!r}")
        wanted = roles.get(id, "button")
        # Of a password box, Chromium says no role.
        check(role == wanted or id == PASSWORD, f"{id} has the role {role!r}, not {wanted!r}")

    browser.run("document.activeElement.blur(); window.scrollTo(0, 0)")
    browser.reach(focusable[0])
    for id in focusable:
        check(browser.focused() == id, f"Tab goes to {browser.focused()}, not to {id}")
        outline = browser.run("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]")
        check(outline[0] == "solid" and outline[1] >= 2, f"the focus on {id} is not seen: {outline}")
        browser.press(TAB)

    grounds = set()
    for scheme in ("dark", "light"):
        browser.emulate(prefers_color_scheme=scheme)
        found = browser.run(CONTRASTS)
        check(len(found) > 30, "the contrast was not measured")
        for name, ratio, least in found:
            check(ratio >= least, f"in the {scheme} appearance, the contrast of the {name} is {ratio:.2f}")
        grounds.add(browser.run("return getComputedStyle(document.body).backgroundColor"))
    check(len(grounds) == 2, "the dark appearance is the light one")
    motion = "return getComputedStyle(document.getElementById(arguments[0]), '::before').transitionDuration"
    browser.emulate(prefers_reduced_motion="reduce")
    check(browser.run(motion, SWITCH) == "0s", "something moves in spite of reduced motion")
    browser.emulate()
    check(browser.run(motion, SWITCH) != "0s", "reduced motion was not measured")


def check_secrecy(browser, log):
    page = browser.call("GET", "/source") + browser.run(
        "return [...document.querySelectorAll('input')].map(e => e.value).join() + document.documentElement.outerHTML")
    check(SECRET not in page, "the page has the secret")
    check("token=" not in browser.call("GET", "/url"), "the address keeps the token")
    check(browser.run("return document.cookie") == "", "scripts can read the cookie")
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    events = [m for m in messages if m["method"] == "Network.eventSourceMessageReceived"]
    check(len(events) >= 6, "the events were not seen")
    # The requests have it: they set it.
    others = [m for m in messages if not m["method"].startswith("Network.requestWillBeSent")]
    check(SECRET not in json.dumps(others), "an event or a response has the secret")
    with open(log) as file:
        check(SECRET not in file.read(), "the log of the program has the secret")


def take_picture(browser, path):
    browser.emulate(prefers_color_scheme="light")
    browser.call("POST", "/refresh")
    browser.click(SWITCH)
    until(lambda: browser.attribute(SWITCH, "aria-checked"), "true", "the switch in the picture")
    browser.reach(STEPPER)
    browser.press("a", holding=CONTROL)
    browser.press("61" + ENTER)
    until(lambda: browser.text("s1-problem"), lambda text: text != "", "the message in the picture")
    size = browser.run("return [innerWidth, document.querySelector('main').getBoundingClientRect().bottom]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
    picture = browser.developer("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    with open(path, "wb") as file:
        file.write(base64.b64decode(picture["data"]))


def line(path, pattern, program):
    """Waits for a line of a program's output."""
    def search():
        check(program.poll() is None, f"{program.args[0]} has ended")
        with open(path) as file:
            return re.search(pattern, file.read(), re.MULTILINE)
    return until(search, lambda match: match, f"the first line of {program.args[0]}", seconds=30)


def drive(program, picture, folder, started):
    def start(*arguments):
        log = f"{folder}/{os.path.basename(arguments[0])}.log"
        with open(log, "w") as file:
            started.append(subprocess.Popen(arguments, stdout=file, stderr=file, stdin=subprocess.DEVNULL, start_new_session=True))
        return started[-1], log

    store = Store(f"{folder}/settings.json")
    with open(store.path, "w") as file:
        json.dump({"shop": {"timeout": 30}}, file)
    server, server_log = start(program, store.path)
    url = line(server_log, r"^http://127\.0\.0\.1:\S+", server).group()
    driver, driver_log = start("chromedriver", "--port=0")
    browser = Browser(line(driver_log, r"successfully on port (\d+)", driver).group(1), folder)
    try:
        browser.call("POST", "/url", {"url": url})
        until(lambda: browser.call("GET", "/title"), "Settings of the shop", "the title")
        checks = [
            ("mouse", lambda: check_mouse(browser, store)), ("keyboard", lambda: check_keyboard(browser, store)),
            ("messages", lambda: check_messages(browser, store)),
            ("changes elsewhere", lambda: check_outside_changes(browser, store)),
            ("accessibility", lambda: check_accessibility(browser)),
            ("secrecy", lambda: check_secrecy(browser, server_log)),
        ]
        for name, body in checks:
            try:
                body()
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None
        if picture:
            take_picture(browser, picture)
        # A refused change is a response that Chromium reports, as it should be.
        complaints = [e["message"] for e in browser.log("browser")
            if e["level"] in ("WARNING", "SEVERE") and "status of 422" not in e["message"]]
        check(not complaints, f"the console has {complaints}")

        server.send_signal(signal.SIGTERM)
        until(lambda: browser.text("connection"), lambda text: text.startswith("Not connected"), "the page without a server")
        browser.click(SWITCH)
        until(lambda: browser.text("s0-problem"), lambda text: text.startswith("Not stored"), "a change without a server")
    finally:
        browser.call("DELETE", "")


def end_browser(folder):
    """Ends what chromedriver has left running: the processes that name the folder of this run."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline") as file:
                if f"{folder}/profile" in file.read():
                    os.kill(int(process), signal.SIGKILL)
        except OSError:
            pass  # it has ended


def main():
    def stop(number, frame):
        raise AssertionError("it takes too long" if number == signal.SIGALRM else "it was interrupted")

    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    signal.alarm(300)
    began, started, status = time.monotonic(), [], 1
    folder = tempfile.mkdtemp(prefix="settings-page-")
    try:
        drive(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, folder, started)
        print(f"settings-page: the page passes in {time.monotonic() - began:.0f} s", file=sys.stderr)
        status = 0
    except Exception as error:
        print(f"settings-page: {error}", file=sys.stderr)
    finally:
        signal.alarm(0)
        for program in started:
            try:
                os.killpg(program.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            program.wait()
        end_browser(folder)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(status)


main()
