// Tests the status server of a sending process: alive, ready, metrics, and nothing else.
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import * as instance from "@postloft/contract/instance.ts";
import { useTestServer, type OneServer } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

async function startWorker(settings: Readonly<Record<string, string>> = {}): Promise<OneServer> {
  const worker = await server.startAnother({ ROLES: "worker", ...settings });
  onTestFinished(() => worker.stop());
  return worker;
}

test("a worker reports that it is alive and ready, and the state of each loop", async () => {
  const { call } = await startWorker();
  expect(await call(instance.getHealth)).toMatchObject({ status: 200, body: { status: "ok" } });
  expect(await call(instance.getReadiness)).toMatchObject({ status: 200, body: { status: "ready" } });
  const loops = async () => {
    const { status, text } = await call(instance.getMetrics);
    expect(status).toBe(200);
    return [...text.matchAll(/^postloft_loop_runs_total\{loop="([^"]+)"\} [1-9]/gm)].map(([, name]) => name);
  };
  await expect
    .poll(loops)
    .toEqual(
      expect.arrayContaining([
        "jobs",
        "notices",
        "campaigns",
        "segment changes",
        "segment members",
        "rates",
        "hints",
      ]),
    );
});

test("serves no other paths and methods", async () => {
  const { call } = await startWorker();
  const told = async (method: string, path: string) => {
    const { status, body } = await call(method, path);
    return `${status} ${body.error.code}`;
  };
  expect(await told("GET", "/config")).toBe("404 RESOURCE_NOT_FOUND");
  expect(await told("GET", "/contacts")).toBe("404 RESOURCE_NOT_FOUND");
  expect(await told("POST", "/health")).toBe("405 METHOD_NOT_ALLOWED");
});

test("METRICS_ACCESS restricts metrics and a local proxy does not count as its client", async () => {
  const open = await startWorker();
  const relayed = { headers: { "x-forwarded-for": "203.0.113.9" } };
  expect((await open.call(instance.getMetrics, relayed)).status).toBe(403);
  expect((await open.call(instance.getHealth, relayed)).status).toBe(200);
  const closed = await startWorker({ METRICS_ACCESS: "token:a-token-of-16-characters" });
  const refused = await closed.call(instance.getMetrics);
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
    401,
    'Basic realm="Postloft", Bearer',
  ]);
  const bearer = { headers: { authorization: "Bearer a-token-of-16-characters" } };
  expect((await closed.call(instance.getMetrics, bearer)).status).toBe(200);
});

test("fails to start when the given port is taken", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  await expect(server.startAnother({ ROLES: "worker", STATUS_PORT: String(port) })).rejects.toThrow(
    "EADDRINUSE",
  );
});
