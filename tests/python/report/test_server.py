"""scripts/view.py: one folder, one machine, reading only."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from howquick.errors import ROOT
from howquick.report.server import LOOPBACK, QVIS, Results
from patience import HANG_S

QLOG = (
    '\x1e{"qlog_version": "0.3", "qlog_format": "JSON-SEQ", '
    '"trace": {"vantage_point": {"type": "client"}}}\n'
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Results]:
    folder = tmp_path / "results"
    (folder / "report").mkdir(parents=True)
    (folder / "report" / "index.html").write_text("the page")
    (folder / "runs").mkdir()
    (folder / "runs" / "a.html").write_text("<script>1</script>")
    (folder / "runs" / "a b%.sqlog").write_text(QLOG)
    (tmp_path / "secret").write_text("secret")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "in").symlink_to(folder / "report" / "index.html")
    with Results(folder) as made:
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()


def ask(
    server: Results, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=HANG_S)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def test_the_page_is_at_the_address_that_is_told(server: Results) -> None:
    status, headers, body = ask(server, urlsplit(server.address).path)
    assert (status, body) == (200, b"the page")
    assert headers["Content-Type"].startswith("text/html")
    assert server.server_address[0] == LOOPBACK
    assert ask(server, urlsplit(server.address).path, "HEAD")[::2] == (200, b"")


@pytest.mark.parametrize(
    "path",
    ["/", "/report/index.html", "/{t}", "/{t}/", "/{t}/report", "/{t}/report/", "/{t}/runs",
     "/{t}/../secret", "/{t}/%2e%2e/secret", "/{t}/report/..%2f..%2f..%2fsecret", "/{t}/out",
     "/{t}/up/secret", "/{t}//etc/passwd", "/{t}/%2fetc%2fpasswd", "/{t}/report/index.html%00",
     "/{t}x/report/index.html", "/{t}/qvis/report/index.html", "/{t}/qvis/../secret"],
)  # fmt: skip
def test_nothing_else_is_answered(server: Results, path: str) -> None:
    status, _, body = ask(server, path.format(t=server.token))
    assert (status, body) == (404, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_it_only_reads(server: Results, method: str) -> None:
    assert ask(server, urlsplit(server.address).path, method)[0] == 501


def test_a_foreign_name_that_leads_here_is_refused(server: Results) -> None:
    assert ask(server, urlsplit(server.address).path, Host="evil.example")[0] == 404


def test_a_link_within_the_folder_is_followed(server: Results) -> None:
    assert ask(server, f"/{server.token}/in")[2] == b"the page"


def test_what_a_program_left_cannot_act(server: Results) -> None:
    _, headers, _ = ask(server, f"/{server.token}/runs/a.html")
    assert headers["Content-Type"].startswith("text/plain")
    assert headers["Content-Security-Policy"].startswith("sandbox")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


def test_qvis_alone_may_read_qlogs(server: Results) -> None:
    status, headers, body = ask(server, f"/{server.token}/qvis/runs/a%20b%25.sqlog")
    assert status == 200 and b'"qlog_version":"0.3"' in body
    assert headers["Access-Control-Allow-Origin"] == QVIS
    assert len(body) == int(headers["Content-Length"])


def test_qvis_tells_by_the_first_bytes_what_a_document_became(server: Results) -> None:
    """It looks for both names there where the file is not called .sqlog, and stops at a log out of order."""
    late = {
        "time": 9,
        "name": "transport:packet_received",
        "data": {"header": {"packet_type": "1RTT"}},
    }
    first = {
        "time": 2,
        "name": "transport:packet_sent",
        "data": {"header": {"packet_type": "1RTT"}},
    }
    trace = {"vantage_point": {"type": "server"}, "events": [late, first]}
    document = {"traces": [trace], "qlog_version": "0.4", "title": "x" * 2000}
    (server.folder / "runs" / "a.qlog").write_text(json.dumps(document))
    status, _, body = ask(server, f"/{server.token}/qvis/runs/a.qlog")
    assert status == 200
    assert b'"qlog_version":"0.3"' in body[:1024] and b'"JSON-SEQ"' in body[:1024]
    head, *events = [json.loads(record) for record in body.split(b"\x1e") if record.strip()]
    assert head["trace"]["common_fields"] == {"time_format": "relative", "reference_time": 0}
    assert [event["time"] for event in events] == [0, 7]
    assert all("group_id" not in event for event in events)


def test_without_a_report_one_sentence(tmp_path: Path) -> None:
    argv = [sys.executable, str(ROOT / "scripts/view.py"), str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"howquick: {tmp_path}/report/index.html: not there. Make it: ./enter snakemake -j8 report\n"
    )


def test_the_program_prints_its_address_and_ends_gently(server: Results) -> None:
    argv = [sys.executable, str(ROOT / "scripts/view.py"), str(server.folder)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    address = urlsplit(process.stdout.readline().strip())
    connection = http.client.HTTPConnection(LOOPBACK, address.port or 0, timeout=HANG_S)
    connection.request("GET", address.path)
    assert connection.getresponse().read() == b"the page"
    process.send_signal(2)
    process.communicate(timeout=HANG_S)
    assert process.returncode == 130
