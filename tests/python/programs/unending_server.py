"""aioquic's server, but no stream with an object's bytes is ever ended.

Arguments: the folder of aioquic's server. Environment: docs/formats.md, section 2. The HTML is answered as
always. Of another object all bytes are sent; who asks for the rest of it is told that there is none.
"""

import sys

sys.path.insert(0, sys.argv[1])

import server
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import H3Event, HeadersReceived


def answer(self: server.PageServer, http: H3Connection, event: H3Event) -> None:
    """Send head and body, and the end of the HTML's stream alone."""
    if not isinstance(event, HeadersReceived):
        return
    asked = dict(event.headers)
    headers, body = self.content.response(asked[b":path"].decode())
    if b"range" in asked:
        http.send_headers(event.stream_id, [(b":status", b"416")], end_stream=True)
        return
    http.send_headers(event.stream_id, headers)
    http.send_data(event.stream_id, body, end_stream=asked[b":path"].endswith(b".html"))


server.PageServer._answer = answer

if __name__ == "__main__":
    server.main()
