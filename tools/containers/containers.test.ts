// Tests Dockerfile and compose.yaml without Docker. `npm run containers` builds and starts them.
import { expect, test } from "vitest";
import { faultsOfContainers } from "./container-files.ts";
import { readContainerFiles } from "./read-files.ts";

const files = readContainerFiles();
const faults = (changes: Partial<typeof files>) => faultsOfContainers({ ...files, ...changes });

test("finds no mistakes in the repository's files", () => expect(faults({})).toEqual([]));

test.each([
  ["USER node\n", "USER root\n", "USER: it runs as root."],
  ["USER node\n", "", "USER: it runs as root."],
  ["COPY server server", "COPY servers server", "COPY servers: it is not there to be copied."],
  ["COPY contract contract", "COPY docs contract", "COPY docs: it is not there to be copied."],
  ["DATA_DIR=/data", "DATA_FOLDER=/data", "ENV DATA_FOLDER: no setting of the program."],
  ["server/src/main.ts", "server/main.ts", "CMD server/main.ts: there is no such program."],
  ["HEALTHCHECK", "LABEL", "HEALTHCHECK: nothing asks whether it lives."],
  ["FROM node:24-bookworm-slim\n", "FROM node\n", "FROM node: name a version."],
])("rejects a Dockerfile with %j changed to %j", (from, to, fault) => {
  expect(files.dockerfile).toContain(from);
  expect(faults({ dockerfile: files.dockerfile.replace(from, to) })).toEqual([fault]);
});

test.each([
  [" BASE_URL:", " BASE_URI:", "postloft: BASE_URI is no setting of the program."],
  ["- data:/data", "- date:/data", "postloft: there is no volume date."],
  ["postgres:18-bookworm", "postgres", "database: name a version of its image."],
  ["    healthcheck:", "    labels:", "postloft: waits for database to be healthy, which nothing asks."],
])("rejects a compose.yaml with %j changed to %j", (from, to, fault) => {
  expect(files.compose).toContain(from);
  expect(faults({ compose: files.compose.replace(from, to) })).toEqual([fault]);
});
