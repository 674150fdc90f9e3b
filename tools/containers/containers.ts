// `npm run containers`: looks at Dockerfile and compose.yaml, then builds and starts them, asks /ready, and takes them away again. Where no
// container tool runs it says so and has only looked.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { ROOT } from "../generate/generated-files.ts";
import { faultsOfContainers } from "./container-files.ts";
import { readContainerFiles } from "./read-files.ts";

const PROJECT = "postloft-check";
const URL_OF_IT = "http://127.0.0.1:3000";
const BUILD_MS = 15 * 60_000;
const SECRET_BYTES = 32;

const secret = () => randomBytes(SECRET_BYTES).toString("hex");

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const faults = faultsOfContainers(readContainerFiles());
  faults.forEach(say);
  if (faults.length > 0) return 1;
  say("Dockerfile and compose.yaml name only what is there.");
  if (spawnSync("docker", ["info"], { stdio: "ignore" }).status !== 0) {
    say("No container tool runs here (docker info): neither was built or started.");
    return 0;
  }
  const env = { ...process.env, APP_SECRET: secret(), POSTGRES_PASSWORD: secret() };
  const compose = (...args: string[]) =>
    spawnSync("docker", ["compose", "-p", PROJECT, ...args], {
      cwd: ROOT,
      env,
      stdio: "inherit",
      timeout: BUILD_MS,
    }).status;
  try {
    if (compose("up", "--detach", "--build", "--wait") !== 0) {
      compose("logs", "--tail", "50");
      return 1;
    }
    const response = await fetch(`${URL_OF_IT}/ready`);
    say(`/ready answers ${response.status}: ${await response.text()}`);
    return response.ok ? 0 : 1;
  } finally {
    compose("down", "--volumes", "--timeout", "30");
  }
}

process.exitCode = await main();
