// Tests that each invalid field is reported once, up to a limit, none hides another, and messages carry their values.
import { expect, test } from "vitest";
import { z } from "zod";
import { issue } from "@postloft/contract/field.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { AppError } from "../app-error.ts";
import { errorEnvelope, fieldErrors } from "./errors.ts";

const schema = z.object({ templates: z.array(z.object({})), segments: z.array(z.string()) });

test("a field with more errors than are reported hides no other field", () => {
  const body = { templates: Array.from({ length: 5_000 }, () => "x"), segments: "" };
  const { error } = schema.safeParse(body);
  const errors = fieldErrors(error?.issues ?? [], body, "body");
  expect(errors).toHaveLength(1_001);
  expect(errors.at(0)).toMatchObject({ field: "templates.0", code: "invalid_type" });
  expect(errors.at(-1)).toMatchObject({ field: "segments", code: "invalid_type" });
});

const few = issue(
  withValues("Must have at most {most} kB, not {size}.", { most: 5, size: 1200 }),
  "too_big",
  0,
);
const MESSAGES: Array<
  [title: string, schema: z.ZodType, input: unknown, message: string, translation: unknown]
> = [
  [
    "a limit of Zod",
    z.string().max(1500),
    "x".repeat(1501),
    "Too big: expected string to have <=1500 characters",
    { key: "Too big: expected string to have <={limit} characters", values: { limit: 1500 } },
  ],
  [
    "a minimum of Zod with our wording",
    z.number().min(3, "Must be 3 or more."),
    2,
    "Must be 3 or more.",
    { key: "Must be {limit} or more.", values: { limit: 3 } },
  ],
  ["our wording without the limit", z.number().min(3, "Is too small."), 2, "Is too small.", undefined],
  [
    "an issue of our own",
    z.unknown().superRefine((_input, context) => context.addIssue(few)),
    0,
    "Must have at most 5 kB, not 1200.",
    { key: "Must have at most {most} kB, not {size}.", values: { most: 5, size: 1200 } },
  ],
  ["a missing field", z.string().max(3), undefined, "Required.", undefined],
];

test.each(MESSAGES)("the message of %s carries its values", (_title, form, input, message, translation) => {
  const { error } = form.safeParse(input);
  const [fault] = fieldErrors(error?.issues ?? [], input, "body");
  expect({ message: fault?.message, translation: fault?.translation }).toEqual({ message, translation });
});

test("values are filled in once, and the envelope carries them", () => {
  const said = withValues('The segment "{name}" uses this one, {count} times.', {
    name: "{count} $&",
    count: 1000,
  });
  const { message, error } = errorEnvelope(new AppError("CONFLICT", said), "id", null);
  expect(message).toBe('The segment "{count} $&" uses this one, 1000 times.');
  expect(error).toMatchObject({ message, translation: said.translation });
  expect(JSON.stringify(errorEnvelope(new AppError("CONFLICT"), "id", null))).not.toContain("translation");
});
