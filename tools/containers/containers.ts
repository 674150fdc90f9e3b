// `npm run containers`: checks Dockerfile and compose.yaml, builds and starts the containers, requests /ready, and removes them.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { ROOT } from "../generate/generated-files.ts";
import { faultsOfContainers } from "./container-files.ts";
import { readContainerFiles } from "./read-files.ts";

const USAGE = `npm run containers

Checks Dockerfile and compose.yaml, builds the image, starts it with PostgreSQL, requests /ready, runs npm run doctor in it and removes both.
Without Docker it only checks the files.
`;
const PROJECT = "postloft-check";
const URL_OF_IT = "http://127.0.0.1:3000";
const BUILD_MS = 15 * 60_000;
const SECRET_BYTES = 32;

const secret = () => randomBytes(SECRET_BYTES).toString("hex");

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  if (process.argv.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const faults = faultsOfContainers(readContainerFiles());
  faults.forEach(say);
  if (faults.length > 0) return 1;
  say("Dockerfile and compose.yaml are consistent with the repository.");
  if (spawnSync("docker", ["info"], { stdio: "ignore" }).status !== 0) {
    say("Docker does not run here (docker info), so nothing was built or started.");
    return 0;
  }
  const env = { ...process.env, APP_SECRET: secret(), POSTGRES_PASSWORD: secret() };
  const compose = (...args: string[]): number =>
    spawnSync("docker", ["compose", "-p", PROJECT, ...args], {
      cwd: ROOT,
      env,
      stdio: "inherit",
      timeout: BUILD_MS,
    }).status ?? 1;
  try {
    if (compose("up", "--detach", "--build", "--wait") !== 0) {
      compose("logs", "--tail", "50");
      return 1;
    }
    const response = await fetch(`${URL_OF_IT}/ready`);
    say(`/ready returned ${response.status}: ${await response.text()}`);
    if (!response.ok) return 1;
    return compose("exec", "-T", "postloft", "npm", "run", "doctor");
  } finally {
    compose("down", "--volumes", "--timeout", "30");
  }
}

process.exitCode = await main();
