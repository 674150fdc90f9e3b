// Ids in capitals: whatever part of a request an id comes in, it is read as it is stored.
import { expect, test } from "vitest";
import { z } from "zod";
import { ENDPOINTS } from "./endpoints.ts";

const ID = "0198c0de-0000-7abc-8def-0123456789ab";

/** Everything that a schema is made of, with the names that lead to it. */
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

test("every id in a query and in a body is read in lower case", () => {
  const ids = asked.filter(({ schema }) => defOf(schema)["format"] === "uuid");
  expect(ids.length).toBeGreaterThan(20);
  expect(ids.filter(({ schema }) => read(schema).data !== ID).map(({ path }) => path)).toEqual([]);
});

test("every id in a path is read in lower case; names, addresses and keys stay as they are", () => {
  const fields = asked.filter(({ path }) => / params\./.test(path));
  const kept = fields
    .filter(({ schema }) => read(schema).data === ID.toUpperCase())
    .map(({ path }) => path.split(".").at(-1));
  expect(fields.filter(({ schema }) => read(schema).data === ID).length).toBeGreaterThan(50);
  expect([...new Set(kept)].toSorted()).toEqual([
    "address",
    "eventName",
    "field",
    "key",
    "provider",
    "token",
    "version",
  ]);
});
