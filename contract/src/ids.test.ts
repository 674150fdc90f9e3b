// Tests that ids in upper case are converted to lower case, in every part of a request.
import { expect, test } from "vitest";
import { z } from "zod";
import { ENDPOINTS } from "./endpoints.ts";

const ID = "0198c0de-0000-7abc-8def-0123456789ab";

/** Returns all schemas within a schema, with their paths. */
function schemasIn(schema: z.core.$ZodType, path: string): Array<{ path: string; schema: z.core.$ZodType }> {
  const inner = (value: unknown, name: string): Array<{ path: string; schema: z.core.$ZodType }> => {
    if (value instanceof z.core.$ZodType) return schemasIn(value, `${path}${name}`);
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, child]) => inner(child, `${name}.${key}`));
  };
  return [{ path, schema }, ...PARTS.flatMap((part) => inner(defOf(schema)[part], ""))];
}

const PARTS = ["shape", "element", "innerType", "options", "items", "in", "valueType", "left", "right"];
const defOf = (schema: z.core.$ZodType) => schema._zod.def as unknown as Record<string, unknown>;
const read = (schema: z.core.$ZodType) => z.safeParse(schema, ID.toUpperCase());

const asked = ENDPOINTS.flatMap(({ name, params, query, body }) =>
  Object.entries({ params, query, body }).flatMap(([part, schema]) => schemasIn(schema, `${name} ${part}`)),
);

test("reads every id in a query or body in lower case", () => {
  const ids = asked.filter(({ schema }) => defOf(schema)["format"] === "uuid");
  expect(ids.length).toBeGreaterThan(20);
  expect(ids.filter(({ schema }) => read(schema).data !== ID).map(({ path }) => path)).toEqual([]);
});

test("reads every id in a path in lower case and keeps names, addresses and keys unchanged", () => {
  const fields = asked.filter(({ path }) => / params\./.test(path));
  const kept = fields
    .filter(({ schema }) => read(schema).data === ID.toUpperCase())
    .map(({ path }) => path.split(".").at(-1));
  expect(fields.filter(({ schema }) => read(schema).data === ID).length).toBeGreaterThan(50);
  expect([...new Set(kept)].toSorted()).toEqual([
    "address",
    "eventName",
    "field",
    "index",
    "key",
    "locale",
    "provider",
    "token",
    "version",
  ]);
});
