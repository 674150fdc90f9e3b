// Tests over real sockets that an oversized body is read within bounds, so that the client gets the response.
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { useTestServer } from "../../testing/test-server.ts";
import { drainBody } from "./drain.ts";

const server = useTestServer({ ROLES: "api" });
const MEGABYTE = 1024 * 1024;

function upload(bytes: number): FormData {
  const form = new FormData();
  form.set("file", new Blob([`email\n${"a".repeat(bytes)}`], { type: "text/csv" }), "a.csv");
  return form;
}

test(
  "delivers the error for an oversized body to fetch, twenty times out of twenty",
  { timeout: 60_000 },
  async () => {
    const headers = { authorization: `Bearer ${server.project.secretKey}` };
    for (let time = 0; time < 20; time++) {
      const [path, body, type] =
        time % 2 === 0
          ? ["/contacts/import", upload(6.5 * MEGABYTE), null]
          : ["/v1/track", "x".repeat(3 * MEGABYTE), "application/json"];
      const reply = await fetch(server.url + path, {
        method: "POST",
        body,
        headers: type === null ? headers : { ...headers, "content-type": type },
      });
      expect([reply.status, ((await reply.json()) as { error: { code: string } }).error.code]).toEqual([
        413,
        "PAYLOAD_TOO_LARGE",
      ]);
    }
  },
);

test("responds to requests after an oversized body on one connection, with and without a length", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = `POST /v1/track HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.project.secretKey}\r\ncontent-type: application/json\r\n`;
  const large = Buffer.alloc(3 * MEGABYTE, "x");
  socket.write(`${head}content-length: ${large.length}\r\n\r\n`);
  socket.write(large);
  socket.write(`${head}transfer-encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n`);
  socket.write(large);
  socket.write("\r\n0\r\n\r\n");
  socket.write("GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const responses = (await text(socket)).match(/HTTP\/1\.1 \d+/g);
  expect(responses).toEqual(["HTTP/1.1 413", "HTTP/1.1 413", "HTTP/1.1 200"]);
});

test.for([
  ["more bytes than that", { bytes: 1_000, ms: 60_000 }, "y".repeat(2_000)],
  ["a client that stops sending", { bytes: 1_000_000, ms: 50 }, "y"],
] as const)("stops draining at %s", async ([, bounds, part]) => {
  const drained = Promise.withResolvers<boolean>();
  const http = createServer((request: IncomingMessage) => {
    void drainBody(request, bounds).then(drained.resolve);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const socket = connect((http.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n${part}`);
  expect(await drained.promise).toBe(false);
  socket.destroy();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});
