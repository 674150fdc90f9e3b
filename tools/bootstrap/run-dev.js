// The two processes of `npm run dev`: the server, restarted when its sources change, and Vite's development server, which forwards every
// request outside /app to it.
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { watch } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { ROOT } from "./prepare.js";
import { exitCodeOf, forwardSignals, nodeArguments, startServer, watchParents } from "./run-server.js";

const DEFAULT_PORT = "3000";
const WATCHED = ["server/src", "server/migrations", "contract/src"];
/** An editor and `git switch` write several files at once. */
const SETTLE_MS = 100;
const END_WITH_PARENT = new URL("end-with-parent.js", import.meta.url).href;

/**
 * Runs both until a signal ends them, or until Vite ends because it can't listen.
 *
 * @param {string} node full path of the Node.js to run them with
 * @returns {Promise<number>} 0 after a signal, otherwise the exit code of Vite
 */
export async function runDev(node) {
  const { PORT: port = DEFAULT_PORT, ...given } = process.env;
  const serverPort = String(await freePort());
  const vite = startVite(node, { port, serverUrl: `http://127.0.0.1:${serverPort}` });
  const server = keepServer(node, {
    DATA_DIR: path.join(ROOT, ".data-dev"),
    BASE_URL: `http://localhost:${port}`,
    ...given,
    HOST: "127.0.0.1",
    PORT: serverPort,
  });
  let isStopping = false;
  const stop = () => {
    isStopping = true;
    vite.kill("SIGTERM");
  };
  forwardSignals(stop);
  watchParents(stop);
  const code = await exitCodeOf(vite);
  await server.stop();
  return isStopping ? 0 : code;
}

function startVite(node, { port, serverUrl }) {
  const vite = path.join(ROOT, "node_modules", "vite", "bin", "vite.js");
  const args = [vite, path.join(ROOT, "dashboard"), "--port", port, "--strictPort", "--logLevel", "warn"];
  return spawn(node, ["--import", END_WITH_PARENT, ...args, "--clearScreen", "false"], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: "development", POSTLOFT_SERVER: serverUrl },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** Runs the server and restarts it after each change of its sources, even if it failed. */
function keepServer(node, environment) {
  const options = nodeArguments(environment.ROLES);
  const changes = new EventEmitter();
  let isStopping = false;
  let hasChanged = false;
  let settled;
  let child;

  async function run() {
    while (!isStopping) {
      hasChanged = false;
      child = startServer(node, { options, environment });
      const code = await exitCodeOf(child);
      if (isStopping || hasChanged) continue;
      say(`The server ended with code ${code}. It starts again after the next change.`);
      await once(changes, "change");
    }
  }

  function restart() {
    hasChanged = true;
    child.kill("SIGTERM");
    changes.emit("change");
  }

  const watchers = WATCHED.map((folder) =>
    watch(path.join(ROOT, folder), { recursive: true }, (_event, name) => {
      if (name === null || !/\.(ts|sql|json)$/.test(name) || name.endsWith(".test.ts")) return;
      clearTimeout(settled);
      settled = setTimeout(() => {
        say(`Restarting the server because ${path.join(folder, name)} changed.`);
        restart();
      }, SETTLE_MS);
    }),
  );
  const running = run();
  return {
    async stop() {
      isStopping = true;
      clearTimeout(settled);
      for (const watcher of watchers) watcher.close();
      restart();
      await running;
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
