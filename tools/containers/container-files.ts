// Finds mistakes in Dockerfile and compose.yaml from their texts alone: missing paths, unknown settings, a root user. Pure.
import { parse } from "yaml";

export interface ContainerFiles {
  dockerfile: string;
  /** Contents of .dockerignore. */
  ignored: string;
  compose: string;
  /** Names of the program's settings. */
  settings: ReadonlySet<string>;
  /** Returns whether a path is in the repository. */
  exists: (path: string) => boolean;
}

/** Variables for Node.js, which are not our settings. */
const OF_NODE = new Set(["NODE_ENV"]);
const LIMIT_OF_INSTRUCTIONS = 100;

/** Returns mistakes as sentences. */
export function faultsOfContainers(files: ContainerFiles): string[] {
  return [...faultsOfDockerfile(files), ...faultsOfCompose(files)];
}

interface Instruction {
  word: string;
  text: string;
}

/** Returns the instructions of all stages in order, with continued lines joined. */
export function instructionsOf(dockerfile: string): Instruction[] {
  return dockerfile
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, LIMIT_OF_INSTRUCTIONS)
    .map((line) => {
      const [, word = "", text = ""] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { word, text };
    });
}

function faultsOfDockerfile({ dockerfile, ignored, settings, exists }: ContainerFiles): string[] {
  const all = instructionsOf(dockerfile);
  const faults: string[] = [];
  const of = (word: string) => all.filter((one) => one.word === word).map(({ text }) => text);
  for (const text of of("FROM"))
    if (!/^\S+:[\w.-]+(@sha256:[\da-f]{64})?( AS \w+)?$/.test(text) || text.includes(":latest"))
      faults.push(`FROM ${text}: name a version.`);
  for (const text of of("COPY").filter((one) => !one.startsWith("--from=")))
    for (const path of text.split(/\s+/).slice(0, -1))
      if (!exists(path) || !isSent(path, ignored)) faults.push(`COPY ${path}: it is not there to be copied.`);
  for (const text of of("ENV"))
    for (const [, name = ""] of text.matchAll(/([A-Z_]+)=/g))
      if (!settings.has(name) && !OF_NODE.has(name)) faults.push(`ENV ${name}: no setting of the program.`);
  const user = of("USER").at(-1);
  if (user === undefined || user === "root" || user === "0") faults.push("USER: it runs as root.");
  if (of("HEALTHCHECK").length === 0) faults.push("HEALTHCHECK: nothing asks whether it lives.");
  const started = /"(\S+\.ts)"/.exec(of("CMD").at(-1) ?? "")?.[1] ?? "";
  if (!exists(started)) faults.push(`CMD ${started}: there is no such program.`);
  return faults;
}

/** Returns whether .dockerignore, which excludes everything first, includes a path again. */
function isSent(path: string, ignored: string): boolean {
  const lines = ignored.split("\n");
  return (
    lines[0] === "**" &&
    lines.some((line) => line.startsWith("!") && `${path}/`.startsWith(`${line.slice(1)}/`))
  );
}

interface Service {
  image?: string;
  build?: string;
  depends_on?: Record<string, { condition?: string }>;
  volumes?: string[];
  environment?: Record<string, string>;
  healthcheck?: object;
}

function faultsOfCompose({ compose, settings }: ContainerFiles): string[] {
  const { services = {}, volumes = {} } = parse(compose) as {
    services?: Record<string, Service>;
    volumes?: Record<string, unknown>;
  };
  const faults: string[] = [];
  for (const [name, service] of Object.entries(services)) {
    if (service.build === undefined && !/:[\w.-]+$/.test(service.image ?? ""))
      faults.push(`${name}: name a version of its image.`);
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {}))
      if (condition === "service_healthy" && services[other]?.healthcheck === undefined)
        faults.push(`${name}: waits for ${other} to be healthy, which nothing asks.`);
    for (const volume of service.volumes ?? []) {
      const source = volume.split(":")[0] ?? "";
      if (!(source in volumes)) faults.push(`${name}: there is no volume ${source}.`);
    }
    if (service.build === undefined) continue;
    for (const setting of Object.keys(service.environment ?? {}))
      if (!settings.has(setting)) faults.push(`${name}: ${setting} is no setting of the program.`);
  }
  if (!Object.values(services).some(({ build }) => build !== undefined))
    faults.push("compose.yaml: nothing is built from the Dockerfile.");
  return faults;
}
