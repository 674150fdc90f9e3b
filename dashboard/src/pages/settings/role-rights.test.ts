// Compares the matrix of roles with the endpoints of the contract.
import { expect, test } from "vitest";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { ROLE_RIGHTS } from "./role-rights.ts";

const RIGHTS = Object.entries(ROLE_RIGHTS);

test.each(RIGHTS)("%s requires the role of its endpoints", (_name, { least, endpoints }) => {
  const required = endpoints.map((name) => ENDPOINTS.find((endpoint) => endpoint.name === name)?.leastRole);
  expect(required).toEqual(endpoints.map(() => least));
});

test("every endpoint above the role of a member belongs to a noun of the matrix", () => {
  const nouns = new Set(RIGHTS.flatMap(([, { endpoints }]) => endpoints.map((name) => name.split(".")[0])));
  const others = ENDPOINTS.filter(({ leastRole }) => leastRole !== "MEMBER")
    .filter(({ name }) => !nouns.has(name.split(".")[0]))
    .map(({ name }) => name);
  expect(others).toEqual(["uploads.deleteUnused"]);
});
