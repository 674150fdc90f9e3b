// A proxy between a program and its database that makes connections slow, narrow or silent.
import { createServer, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Network conditions for open and new connections. */
export interface NetworkConditions {
  /** Latency in each direction. */
  latencyMs?: number;
  /** Bandwidth of each connection in each direction. */
  bytesPerSecond?: number;
  /** Nothing gets through and no error is reported. Delayed data arrives when it ends. */
  isBlackhole?: boolean;
}

export interface ChaosProxy {
  readonly port: number;
  /** Sets the destination of new connections. */
  setTarget(port: number): void;
  setWeather(weather: NetworkConditions): void;
  /** The maximum number of simultaneous client connections. */
  peakConnectionCount(): number;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Interval for checking whether a blackhole has ended. */
const POLL_MS = 20;

/** Listens on a free local port and forwards to the local `targetPort`. */
export async function startChaosProxy(targetPort: number): Promise<ChaosProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const clients = new Set<Socket>();
  const state = { target: targetPort, weather: {} as NetworkConditions, peak: 0, isClosed: false };

  async function serve(client: Socket): Promise<void> {
    clients.add(client);
    state.peak = Math.max(state.peak, clients.size);
    client.on("error", () => undefined).on("close", () => clients.delete(client));
    // Read from the start, so that a client that gives up is noticed.
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
    while (state.weather.isBlackhole === true && !state.isClosed) await delay(POLL_MS);
  }

  /** Forwards each chunk when its time has come, until either side closes. */
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
    // The other side always sees an end, whether the connection broke or ended.
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

/** Yields a socket's data with arrival times, and ends when the socket closes for any reason. */
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

/** Returns the database URL with the proxy's address. */
export function throughProxy(databaseUrl: string, proxy: ChaosProxy): string {
  const url = new URL(databaseUrl);
  url.host = `${HOST}:${proxy.port}`;
  return url.href;
}
