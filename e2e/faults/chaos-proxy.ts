// Stands between a program and its database, and does to their connections what networks do: slow, narrow, or silent without a word.
import { createServer, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** How the network is from now on, for open connections and new ones. */
export interface Weather {
  /** Each way. */
  latencyMs?: number;
  /** Each way of each connection. */
  bytesPerSecond?: number;
  /** Nothing gets through and nobody is told; when it ends, what was under way arrives. */
  isBlackhole?: boolean;
}

export interface ChaosProxy {
  readonly port: number;
  /** Where new connections lead from now on. */
  setTarget(port: number): void;
  setWeather(weather: Weather): void;
  /** The most connections that clients had open at once. */
  peakConnectionCount(): number;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** How often a blackhole is looked at for its end. */
const LOOK_MS = 20;

/** Listens on a free port of this machine; `targetPort` is on this machine too. */
export async function startChaosProxy(targetPort: number): Promise<ChaosProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const clients = new Set<Socket>();
  const state = { target: targetPort, weather: {} as Weather, peak: 0, isClosed: false };

  async function serve(client: Socket): Promise<void> {
    clients.add(client);
    state.peak = Math.max(state.peak, clients.size);
    client.on("error", () => undefined).on("close", () => clients.delete(client));
    // Heard from the beginning: a client that gives up in the meantime is no open connection any more.
    const heard = arrivals(client);
    await blackholeOver();
    if (client.destroyed || state.isClosed) return void client.destroy();
    const server = connect({ port: state.target, host: HOST, noDelay: true });
    server.on("error", () => undefined);
    const pair = [client, server] as const;
    pairs.add(pair);
    await Promise.all([pump(heard, server), pump(arrivals(server), client)]);
    client.destroy();
    server.destroy();
    pairs.delete(pair);
  }

  async function blackholeOver(): Promise<void> {
    while (state.weather.isBlackhole === true && !state.isClosed) await delay(LOOK_MS);
  }

  /** Passes on what comes, each piece when its time has come, until the one side has nothing more or the other is gone. */
  async function pump(from: AsyncIterable<Arrival>, to: Socket): Promise<void> {
    for await (const { chunk, atMs } of from) {
      const { latencyMs = 0, bytesPerSecond } = state.weather;
      await delay(Math.max(0, atMs + latencyMs - performance.now()));
      if (bytesPerSecond !== undefined) await delay((chunk.length / bytesPerSecond) * 1000);
      await blackholeOver();
      if (to.destroyed) return;
      to.write(chunk);
    }
    await blackholeOver();
    // Broken or ended: either way the other side sees an end.
    to.end();
  }

  const server = createServer({ noDelay: true }, (socket) => void serve(socket));
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("the proxy has no port"));
      else resolve(address.port);
    });
  });
  return {
    port,
    setTarget: (next) => void (state.target = next),
    setWeather: (weather) => void (state.weather = weather),
    peakConnectionCount: () => state.peak,
    close() {
      state.isClosed = true;
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}

interface Arrival {
  chunk: Buffer;
  atMs: number;
}

/** What a socket sends from now on, with when it came; ends when the socket does, however it does. */
function arrivals(socket: Socket): AsyncIterable<Arrival> {
  const waiting: Arrival[] = [];
  let isOver = false;
  let wake: (() => void) | null = null;
  socket.on("data", (chunk: Buffer) => {
    waiting.push({ chunk, atMs: performance.now() });
    wake?.();
  });
  for (const end of ["end", "close"])
    socket.on(end, () => {
      isOver = true;
      wake?.();
    });
  async function* inOrder(): AsyncGenerator<Arrival> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return inOrder();
}

/** The same address of a database, by way of the proxy. */
export function throughProxy(databaseUrl: string, proxy: ChaosProxy): string {
  const url = new URL(databaseUrl);
  url.host = `${HOST}:${proxy.port}`;
  return url.href;
}
