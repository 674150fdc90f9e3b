// Finds a free port, for tests that need the port number before anything listens on it.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Systems give other programs the ports above 32,767, so no other test gets this one in the meantime. */
const PORTS = { from: 10_000, below: 32_000 };

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.below);
    if (await isFree(port)) return port;
  }
}

/** Returns whether a program can listen on the port, on any address. */
function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
