// Reads Dockerfile, .dockerignore and compose.yaml of this repository, with the settings and paths to compare them with.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { SETTINGS } from "../../server/src/platform/settings/config.ts";
import { ROOT } from "../generate/generated-files.ts";
import type { ContainerFiles } from "./container-files.ts";

const read = (name: string) => readFileSync(path.join(ROOT, name), "utf8");

export function readContainerFiles(): ContainerFiles {
  return {
    dockerfile: read("Dockerfile"),
    ignored: read(".dockerignore"),
    compose: read("compose.yaml"),
    settings: new Set(Object.keys(SETTINGS)),
    exists: (name) => name !== "" && existsSync(path.join(ROOT, name)),
  };
}
