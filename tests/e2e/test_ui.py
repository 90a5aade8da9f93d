"""The web page, in a real browser. Skips the browser's part where Chromium is not installed."""
import json
import os

import pytest
from browser import Browser
from server import Server

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


@pytest.fixture(scope="module")
def server(adit, tiny_gguf, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    (folder / "template.jinja").write_text(TEMPLATE)
    with Server(adit, tiny_gguf, folder, "--alias", "tiny", "--chat-template", folder / "template.jinja") as started:
        yield started.wait_ready()


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def page(opened, server):
    opened.size(1200, 800)
    opened.urls.clear()
    opened.troubles.clear()
    opened.open(server.url + "/")
    opened.run("localStorage.clear(); sessionStorage.clear()")
    opened.open(server.url + "/ui")
    opened.wait("document.querySelector('#model').value === 'tiny'")
    yield opened
    assert opened.troubles == []
    assert all(url.startswith((server.url, "data:")) for url in opened.urls), opened.urls


def say(page, text, settings={}):
    for name, value in settings.items():
        page.run(f"(() => {{ const f = document.querySelector('#field-{name}'); f.value = {json.dumps(value)}; "
                 "f.dispatchEvent(new Event('change')); })()")
    page.run("document.querySelector('#prompt').focus()")
    page.type(text)
    page.enter()


def texts(page):
    return page.run("[...document.querySelectorAll('#messages > li .text')].map((t) => t.innerText)")


def done(page, count):
    page.wait(f"document.querySelectorAll('#messages > li.assistant .rates').length === {count}")


def test_the_files_come_with_a_strict_policy(server):
    status, headers, body = server.ask("GET", "/")
    assert status == 200 and body.startswith(b"<!doctype html>")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert server.ask("GET", "/ui/app.js")[1]["Content-Type"].startswith("text/javascript")
    assert server.ask("GET", "/ui/")[0] == 308
    assert server.ask("GET", "/ui/nothing.js")[0] == 404
    # Neither scripts nor styles stand in the page itself.
    assert b"style=" not in body and b"onclick" not in body and b"<script>" not in body


def test_the_page_can_be_left_out(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path, "--no-ui") as server:
        server.wait_ready()
        for path in ("/", "/ui", "/ui/app.js"):
            assert server.ask("GET", path)[0] == 404


def test_an_answer_is_streamed_and_kept(page):
    say(page, "Good morning", {"max_tokens": "24", "temperature": "0", "seed": "1"})
    done(page, 1)
    told = texts(page)
    assert told[0] == "Good morning" and len(told) == 2 and told[1]
    rates = page.run("document.querySelector('.rates').textContent")
    assert "24 tokens" in rates and "tokens/s" in rates and "first after" in rates
    assert page.run("document.querySelector('#spoken').textContent").startswith("The answer is there")
    page.ask("Page.reload")
    page.wait("document.querySelectorAll('#messages > li').length === 2")
    assert texts(page) == told
    assert page.run("document.querySelector('#conversations .name').textContent") == "Good morning"


def test_an_answer_can_be_stopped(adit, opened, smollm2, tmp_path):
    with Server(adit, smollm2, tmp_path, "--kv-tokens", "4096") as server:
        server.wait_ready()
        opened.open(server.url + "/")
        opened.wait("document.querySelector('#model').value !== ''")
        say(opened, "Tell me a very long story", {"max_tokens": "3000", "temperature": "0"})
        opened.wait("document.querySelector('#messages .assistant .text')?.innerText.length > 20")
        opened.press("Escape", 27)
        done(opened, 1)
        assert "Stopped." in opened.run("document.querySelector('#messages .assistant').innerText")
        server.wait(server.idle, "it goes on for nobody")


def test_an_answer_can_be_made_again_and_asked_for_otherwise(page):
    say(page, "Go on", {"max_tokens": "20", "temperature": "1", "seed": "1"})
    done(page, 1)
    before = texts(page)[1]
    page.run("document.querySelector('#field-max_tokens').value = 8; "
             "document.querySelector('#field-max_tokens').dispatchEvent(new Event('change'))")
    page.click("[data-action=again]")
    page.wait("document.querySelector('.rates')?.textContent.includes('8 tokens')")
    assert texts(page)[1] != before
    page.click("[data-action=edit]")
    page.run("document.querySelector('#messages textarea').value = 'Something else'")
    page.enter()
    page.wait("document.querySelector('#messages .user .text')?.innerText === 'Something else'")
    done(page, 1)
    assert len(texts(page)) == 2


def test_what_people_and_models_write_stays_text(page):
    nasty = "<img src=x onerror='window.hit=1'><script>window.hit=1</script><b>bold</b>"
    say(page, nasty, {"max_tokens": "4"})
    done(page, 1)
    assert texts(page)[0] == nasty
    written = "\n\n".join([
        nasty, "[a](javascript:window.hit=1)", "[b](JaVaScRiPt&#58;alert(1))", "[c](data:text/html,<script>1</script>)",
        "[d](vbscript:x)", "[e](https://example.org/?a=1&b=2 \"t\")", "![f](https://example.org/p.png)",
        "<https://example.org/x>", "https://example.org/\"onmouseover=\"window.hit=1", "```html\n<script>window.hit=1</script>\n```",
        "`<img src=x onerror=1>`", "| <b>x</b> | y |\n|---|---|\n| <svg onload=window.hit=1> | z |", "> <iframe src=//example.org>",
        "- <style>*{display:none}</style>", "[g](\tjava\nscript:1)", "[<img src=x onerror=window.hit=1>](https://example.org)",
        "*" * 4000, "[" * 4000, "`" * 4001, "> " * 300 + "x", "- " * 300 + "x", "_a" * 3000])
    found = page.run(f"""import(location.origin + '/ui/markdown.js').then(({{ render }}) => {{
        const place = document.createElement('div');
        document.body.append(place);
        const began = performance.now();
        place.append(render({json.dumps(written)}));
        const all = [...place.querySelectorAll('*')];
        const told = {{
          tags: [...new Set(all.map((e) => e.tagName))],
          links: all.filter((e) => e.href).map((e) => e.href),
          attributes: [...new Set(all.flatMap((e) => [...e.attributes].map((a) => a.name)))],
          text: place.textContent, ms: performance.now() - began }};
        place.remove();
        return told; }})""")
    assert page.run("window.hit === undefined")
    assert set(found["tags"]) <= {"P", "A", "DIV", "SPAN", "BUTTON", "PRE", "CODE", "TABLE", "THEAD", "TBODY", "TR", "TH", "TD",
                                  "BLOCKQUOTE", "UL", "OL", "LI", "STRONG", "EM", "BR", "HR", "DEL"}
    assert all(href.startswith("https://example.org") for href in found["links"]) and len(found["links"]) >= 5
    assert not any(name.startswith("on") or name in ("src", "style") for name in found["attributes"])
    assert "<script>window.hit=1</script>" in found["text"] and found["ms"] < 2000


def test_markdown_is_shown_as_such(page):
    html = page.run("""import(location.origin + '/ui/markdown.js').then(({ render }) => {
        const place = document.createElement('div');
        place.append(render('# One\\n\\nA **bold** and *soft* `x < y`\\nline\\n\\n1. a\\n2. b\\n   - c\\n\\n'
          + '| h | i |\\n|---|---|\\n| 1 | 2 |\\n\\n```py\\nif a:\\n  b\\n```\\nsnake_case_name 2 * 3 * 4'));
        return place.innerHTML; })""")
    assert "<h3>One</h3>" in html and "<strong>bold</strong>" in html and "<em>soft</em>" in html
    assert "<code>x &lt; y</code><br>line" in html and "<ol><li>a</li><li>b<ul><li>c</li></ul></li></ol>" in html
    assert "<td>2</td>" in html and "<code>if a:\n  b</code>" in html and "snake_case_name 2 * 3 * 4" in html


def test_text_files_go_along(page, tmp_path):
    (tmp_path / "notes.txt").write_text("seven swans")
    (tmp_path / "picture.bin").write_bytes(b"\x89PNG\0\xff")
    node = page.ask("DOM.getDocument")["root"]["nodeId"]
    field = page.ask("DOM.querySelector", nodeId=node, selector="#file")["nodeId"]
    page.ask("DOM.setFileInputFiles", nodeId=field, files=[str(tmp_path / "notes.txt"), str(tmp_path / "picture.bin")])
    page.wait("document.querySelector('#attachments li')?.innerText.includes('notes.txt')")
    assert "picture.bin is no UTF-8 text" in page.run("document.querySelector('#notice').textContent")
    say(page, "What is in it?", {"max_tokens": "4"})
    done(page, 1)
    assert "notes.txt" in page.run("document.querySelector('#messages .user').innerText")
    sent = page.run("import(location.origin + '/ui/chat.js').then(({ wholeText }) => wholeText("
                    "JSON.parse(localStorage['adit.conversations'])[0].messages[0]))")
    assert sent == "File notes.txt:\n```\nseven swans\n```\n\nWhat is in it?"


def test_the_dashboard_tells_of_the_server(page):
    say(page, "Count", {"max_tokens": "40"})
    done(page, 1)
    page.click("#to-dashboard")
    page.wait("[...document.querySelectorAll('.card h2')].some((h) => h.textContent === 'Tokens made')")
    cards = page.run("Object.fromEntries([...document.querySelectorAll('.card')].map((c) => "
                     "[c.querySelector('h2').textContent, c.querySelector('.value').textContent]))")
    assert {"Running", "Waiting", "Cache pages", "Prefix hits", "First token", "Between tokens", "Memory", "Steps"} <= set(cards)
    assert cards["Running"] == "0"
    assert page.run("document.querySelector('#chat').hidden && location.hash === '#dashboard'")
    page.click("#to-chat")
    page.wait("!document.querySelector('#chat').hidden")


def test_it_can_be_used_without_a_mouse_and_without_sight(page):
    page.run("document.querySelector('#open-settings').click()")
    for role, name in page.tree():
        if role in ("button", "link", "textbox", "combobox", "spinbutton", "searchbox", "checkbox", "list"):
            assert name or role == "list", (role, name)
    page.press("Escape", 27)
    assert page.run("document.querySelector('#settings').hidden && document.activeElement.id === 'open-settings'")
    page.open(page.run("location.origin") + "/ui?again")
    page.run("document.querySelector('.skip').focus()")
    order = []
    for _ in range(8):
        page.press("Tab", 9)
        order.append(page.run("document.activeElement.id || document.activeElement.className"))
        outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", order
    assert [name for name in order if name in ("to-chat", "to-dashboard", "model", "open-settings", "new-chat")] == \
        ["to-chat", "to-dashboard", "model", "open-settings", "new-chat"]


@pytest.mark.parametrize("width,height,dark", [(1200, 800, False), (1200, 800, True), (360, 700, False), (360, 700, True)])
def test_it_fits(page, width, height, dark):
    page.size(width, height, dark)
    say(page, "A rather long word: " + "x" * 60, {"max_tokens": "30"})
    done(page, 1)
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    assert page.run("document.querySelector('#send').getBoundingClientRect().right <= innerWidth")
    dark_ground = page.run("getComputedStyle(document.body).backgroundColor") == "rgb(21, 25, 27)"
    assert dark_ground == dark
    if width < 600:
        page.click("#menu")
        assert page.run("document.querySelector('#sidebar').getBoundingClientRect().left === 0")
        page.press("Escape", 27)
        assert page.run("getComputedStyle(document.querySelector('#sidebar')).display === 'none'")
    if os.environ.get("ADIT_PICTURES"):
        page.picture(f"{os.environ['ADIT_PICTURES']}/ui-{width}-{'dark' if dark else 'light'}.png")


def test_a_key_is_asked_for_where_one_is_needed(adit, opened, tiny_gguf, tmp_path):
    (tmp_path / "template.jinja").write_text(TEMPLATE)
    with Server(adit, tiny_gguf, tmp_path, "--api-key", "boss", "--alias", "tiny", "--chat-template",
                tmp_path / "template.jinja") as server:
        server.wait_ready({"x-api-key": "boss"})
        opened.size(1200, 800)
        opened.open(server.url + "/")
        opened.wait("!document.querySelector('#key-form').hidden && document.activeElement.id === 'key'")
        opened.type("wrong")
        opened.enter()
        opened.wait("document.querySelector('#key-form label').textContent === 'This key does not do for that'")
        opened.type("boss")
        opened.enter()
        opened.wait("document.querySelector('#model').value === 'tiny'")
        assert opened.run("document.querySelector('#key-form').hidden && localStorage.getItem('adit.key') === null")
        say(opened, "Hello", {"max_tokens": "4"})
        done(opened, 1)
