"""A server that speaks the protocol of the Hugging Face hub, with the faults that networks and servers have."""
import hashlib
import http.server
import json
import re
import ssl
import threading
import time
import urllib.parse


class Faults:
    """What goes wrong, and how often: each is counted down where it strikes."""

    def __init__(self):
        self.cut_after = {}  # path of a file: [bytes after which an answer breaks off, ...]
        self.unavailable = 0  # answers 503
        self.ignore_ranges = False
        self.slow_bytes_per_s = 0
        self.wrong_hash = set()  # files whose listing tells another one


class Hub:
    """Repositories of files at http://127.0.0.1:PORT; large ones come from a second server, as the hub's do."""

    def __init__(self, page=1000, tls=None):
        """`tls`: files of a certificate for localhost and of its key."""
        self.repositories = {}
        self.gated = set()
        self.tokens = {}  # repository: the token that it wants
        self.faults = Faults()
        self.page = page
        self.requests = []  # (server, method, path, authorization, range)
        self.lock = threading.Lock()
        self.servers = [self.start("hub", tls), self.start("store", tls)]
        self.url, self.store_url = (f"http{'s' if tls else ''}://localhost:{server.server_address[1]}"
                                    for server in self.servers)

    def start(self, role, tls):
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with hub.lock:
                    hub.requests.append((role, self.path, self.headers.get("Authorization"), self.headers.get("Range")))
                hub.answer(self, role)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def add(self, repository, files, revision="main"):
        commit = hashlib.sha1((repository + revision + str(sorted(files))).encode()).hexdigest()
        self.repositories.setdefault(repository, {})[revision] = (commit, files)
        return commit

    def files_at(self, repository, revision):
        for name, (commit, files) in self.repositories[repository].items():
            if revision in (name, commit):
                return commit, files
        return None, None

    def answer(self, request, role):
        with self.lock:
            if self.faults.unavailable > 0:
                self.faults.unavailable -= 1
                return self.send(request, 503, b"busy")
        path, _, query = request.path.partition("?")
        path = urllib.parse.unquote(path)
        if role == "store":
            _, repository_a, repository_b, commit, name = path.split("/", 4)
            return self.send_file(request, f"{repository_a}/{repository_b}", commit, name)
        match = re.fullmatch(r"/api/models/([^/]+/[^/]+)/(revision|tree)/(.+)", path)
        resolve = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if not match and not resolve:
            return self.send(request, 404, b'{"error":"no such route"}')
        repository = (match or resolve)[1]
        refusal = self.refusal(request, repository)
        if refusal:
            return self.send(request, *refusal)
        commit, files = self.files_at(repository, match[3] if match else resolve[2])
        if files is None:
            return self.send(request, 404, b'{"error":"Invalid rev id"}', {"X-Error-Code": "RevisionNotFound"})
        if resolve:
            if repository in self.gated:
                return self.send(request, 403, b"{}", {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access restricted"})
            if resolve[3] not in files:
                return self.send(request, 404, b"{}", {"X-Error-Code": "EntryNotFound"})
            if self.is_large(files[resolve[3]]):
                target = f"{self.store_url}/{repository}/{commit}/{urllib.parse.quote(resolve[3])}?signature=x"
                return self.send(request, 302, b"", {"Location": target})
            return self.send_file(request, repository, commit, resolve[3])
        if match[2] == "revision":
            return self.send(request, 200, json.dumps({"id": repository, "sha": commit}).encode())
        return self.send_tree(request, files, urllib.parse.parse_qs(query))

    @staticmethod
    def is_large(data):
        return len(data) > 1000

    def refusal(self, request, repository):
        if repository not in self.repositories:
            return 401, b'{"error":"Invalid username or password."}', {"X-Error-Code": "RepoNotFound"}
        wanted = self.tokens.get(repository)
        if wanted and request.headers.get("Authorization") != f"Bearer {wanted}":
            return 401, b'{"error":"Invalid credentials"}'
        return None

    def send_tree(self, request, files, query):
        entries = [{"type": "directory", "path": "folder", "oid": "0" * 40, "size": 0}]
        for name, data in files.items():
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            entry = {"type": "file", "path": name, "size": len(data), "oid": blob}
            if self.is_large(data):
                sha256 = hashlib.sha256(data).hexdigest()
                if name in self.faults.wrong_hash:
                    sha256 = sha256[::-1]
                entry["lfs"] = {"oid": sha256, "size": len(data), "pointerSize": 130}
            entries.append(entry)
        begin = int(query.get("cursor", ["0"])[0])
        headers = {}
        if begin + self.page < len(entries):
            path = request.path.partition("?")[0]
            headers["Link"] = f'<{self.url}{path}?recursive=true&cursor={begin + self.page}>; rel="next"'
        self.send(request, 200, json.dumps(entries[begin:begin + self.page]).encode(), headers)

    def send_file(self, request, repository, commit, name):
        _, files = self.files_at(repository, commit)
        data = files[name]
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
        status, headers = 200, {}
        if wanted and not self.faults.ignore_ranges:
            begin, end = int(wanted[1]), int(wanted[2]) + 1
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
            status, data = 206, data[begin:end]
        with self.lock:
            cuts = self.faults.cut_after.get(name, [])
            cut = cuts.pop(0) if cuts else None
        self.send(request, status, data, headers, cut)

    def send(self, request, status, data, headers={}, cut=None):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        try:
            if cut is not None:
                data = data[:cut]
            rate = self.faults.slow_bytes_per_s
            step = max(1, rate // 20) if rate else len(data) or 1
            for begin in range(0, len(data), step):
                request.wfile.write(data[begin:begin + step])
                if rate:
                    time.sleep(step / rate)
        except OSError:
            pass
        if cut is not None:
            request.close_connection = True

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
