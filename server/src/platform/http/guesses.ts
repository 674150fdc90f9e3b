// Suggests what a rejected caller probably meant, such as a similar path, or a field that other services name differently.
import { MAX_SLIPS, SLIP_SHARE, slipsOf } from "@postloft/contract/closest-name.ts";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import { withValues } from "@postloft/contract/translation.ts";

/** Longer paths are not typos, and comparing costs the product of the lengths. */
const MAX_PATH_LENGTH = 100;

/** Names that other services use for our fields. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  body: ["html", "htmlBody", "html_body", "content", "message", "text"],
  to: ["recipient", "recipients", "email"],
  from: ["sender", "fromEmail", "from_email"],
  subject: ["title"],
  email: ["address", "to", "mail"],
  event: ["name", "eventName", "event_name"],
  domain: ["name", "host", "hostname"],
  name: ["title", "label"],
};
const MAX_KEYS = 200;

/** Returns the endpoint with the most similar path, such as `POST /v1/send`, or null. */
export function nearestPath(endpoints: readonly Endpoint[], path: string): string | null {
  if (path.length > MAX_PATH_LENGTH) return null;
  const given = path.split("/").filter((part) => part !== "");
  const near = endpoints
    .map(({ path: own }) => ({ own, slips: slipsBetween(own.split("/").slice(1), given) }))
    .filter((one): one is { own: string; slips: number } => one.slips !== null)
    .toSorted((a, b) => a.slips - b.slips || parametersOf(a.own) - parametersOf(b.own))[0];
  if (near === undefined) return null;
  const methods = endpoints.filter(({ path: own }) => own === near.own).map(({ method }) => method);
  return `${[...new Set(methods)].join(" or ")} ${near.own}`;
}

function parametersOf(path: string): number {
  return path.split("/:").length;
}

/** Returns the number of typos between an endpoint's path and a requested path, or null if they are too different. */
function slipsBetween(own: readonly string[], given: readonly string[]): number | null {
  if (own.length !== given.length) return null;
  let slips = 0;
  let letters = 0;
  for (const [at, part] of own.entries()) {
    if (part.startsWith(":")) continue;
    const asked = given[at] ?? "";
    if (Math.abs(part.length - asked.length) > MAX_SLIPS) return null;
    slips += slipsOf(part, asked);
    letters += part.length;
  }
  return slips <= MAX_SLIPS && slips * SLIP_SHARE <= letters ? slips : null;
}

/** Adds to errors about missing fields which other field was sent in its place. */
export function withGuesses(faults: readonly FieldError[], input: unknown): FieldError[] {
  return faults.map((fault) => {
    const other = fault.code === "required" ? sentInPlaceOf(fault.field, input) : null;
    if (other === null) return fault;
    const { field, message: said } = fault;
    return {
      ...fault,
      ...withValues("{said} `{other}` was sent: did you mean `{field}`?", { said, other, field }),
    };
  });
}

/** Returns the field that was sent in place of a missing one. Only checks the top level, where names of other services appear. */
function sentInPlaceOf(field: string, input: unknown): string | null {
  if (typeof input !== "object" || input === null || field.includes(".")) return null;
  const sent = Object.keys(input).slice(0, MAX_KEYS);
  const known = OTHER_NAMES[field]?.find((name) => sent.includes(name));
  if (known !== undefined) return known;
  const slip = sent.find(
    (name) =>
      name !== field &&
      Math.abs(name.length - field.length) <= MAX_SLIPS &&
      slipsOf(name, field) * SLIP_SHARE < field.length,
  );
  return slip ?? null;
}
