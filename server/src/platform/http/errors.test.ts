// Tests that each invalid field is reported once, up to a limit, and none hides another.
import { expect, test } from "vitest";
import { z } from "zod";
import { fieldErrors } from "./errors.ts";

const schema = z.object({ templates: z.array(z.object({})), segments: z.array(z.string()) });

test("a field with more errors than are reported hides no other field", () => {
  const body = { templates: Array.from({ length: 5_000 }, () => "x"), segments: "" };
  const { error } = schema.safeParse(body);
  const errors = fieldErrors(error?.issues ?? [], body, "body");
  expect(errors).toHaveLength(1_001);
  expect(errors.at(0)).toMatchObject({ field: "templates.0", code: "invalid_type" });
  expect(errors.at(-1)).toMatchObject({ field: "segments", code: "invalid_type" });
});
