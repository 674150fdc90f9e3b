// Looks up which words after `??` are fields of the project. In `{{firstName ?? there}}`, `there` is text unless contacts have such a
// field.
import { fallbackWords } from "../../rendering/template-variables.ts";
import type { Content } from "./load-contents.ts";

interface FieldReader {
  findFields?(projectId: string, names: readonly string[]): Promise<string[]>;
}

/** Returns the project's fields that the contents use after `??`. Runs no query if there are none. */
export async function readKnownFields(
  { findFields }: FieldReader,
  projectId: string | undefined,
  mails: ReadonlyArray<{ content: Content }>,
): Promise<string[]> {
  const contents = new Set(mails.map(({ content }) => content));
  const words = [...new Set([...contents].flatMap(fallbackWords))];
  if (projectId === undefined || words.length === 0 || findFields === undefined) return [];
  return findFields(projectId, words);
}
