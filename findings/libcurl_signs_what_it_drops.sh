#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: curl and libcurl 7.88.1, from Debian 12
# expected: "Expect:" without a value, which is how libcurl is told not to send that
#   header, changes nothing in a signature of AWS (CURLOPT_AWS_SIGV4): what is signed
#   is what is sent
# seen: the header is named among those that are signed, and is not sent. A server
#   cannot compute the signature, and refuses the request.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

python=${PYTHON:-python3}
"$python" -c "import http.server" 2>/dev/null || skip "no Python"
install_debian 'curl=7.88.1-10+deb12u*' 'libcurl4=7.88.1-10+deb12u*'
cat >"$folder/server.py" <<'END'
import http.server
import re


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        signed = re.search("SignedHeaders=([^,]+)",
                           self.headers["Authorization"])[1].split(";")
        missing = [name for name in signed if name not in self.headers]
        print("signed and not sent:", *(missing or ["nothing"]), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
for _ in range(2):
    server.handle_request()
END
coproc SERVER { "$python" "$folder/server.py"; }
read -r port <&"${SERVER[0]}"
seen=
for header in "X-Some: value" "Expect:"; do
  curl -s --aws-sigv4 aws:amz:us-east-1:s3 -u key:secret -H "$header" \
    "http://127.0.0.1:$port/bucket/object"
  read -r line <&"${SERVER[0]}"
  seen+="$line"$'\n'
done
same "${seen%$'\n'}" "signed and not sent: nothing
signed and not sent: expect"
