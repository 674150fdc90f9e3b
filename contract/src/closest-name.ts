// Finds the most likely correct name for a misspelled one. Pure.

/** A typing error changes up to two letters and at most a third of the word. */
export const MAX_SLIPS = 2;
export const SLIP_SHARE = 3;
/** Shorter names are part of too many other names: `to` is part of `customEmail`. */
const MIN_PART_LENGTH = 4;
/** Comparing takes length times length, and callers choose the length of a name. */
const MAX_NAME_LENGTH = 100;

/** Returns the number of letters to change, add or remove (Levenshtein). Case is ignored. */
export function slipsOf(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (let column = 1; column <= b.length; column++)
      next.push(
        Math.min(
          (row[column] ?? 0) + 1,
          (next[column - 1] ?? 0) + 1,
          (row[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Returns a name without case and separators, so that `Reply-To`, `reply_to` and `replyTo` are the same. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Field names of other services in their plain form, with the matching name here. */
const OTHER_SERVICES: Readonly<Record<string, string>> = {
  sendat: "scheduledFor",
  sendtime: "scheduledFor",
  deliverat: "scheduledFor",
  starttime: "scheduledFor",
  html: "body",
  htmlbody: "body",
  htmlcontent: "body",
  content: "body",
  title: "name",
  list: "segmentId",
  listid: "segmentId",
  ids: "contactIds",
};

/** Returns the most similar known name, or null if none is similar. */
export function closestName(input: string, known: readonly string[]): string | null {
  if (input.length > MAX_NAME_LENGTH) return null;
  const plain = plainName(input);
  const elsewhere = OTHER_SERVICES[plain];
  if (elsewhere !== undefined && known.includes(elsewhere)) return elsewhere;
  const near = known
    .map((name) => ({ name, slips: slipsOf(plain, plainName(name)) }))
    .filter(({ name, slips }) => slips <= MAX_SLIPS && slips * SLIP_SHARE <= name.length)
    .toSorted((a, b) => a.slips - b.slips)[0];
  if (near !== undefined) return near.name;
  if (plain.length < MIN_PART_LENGTH) return null;
  return known.find((name) => isPartOf(plain, plainName(name))) ?? null;
}

function isPartOf(one: string, other: string): boolean {
  return other.length >= MIN_PART_LENGTH && (other.includes(one) || one.includes(other));
}
