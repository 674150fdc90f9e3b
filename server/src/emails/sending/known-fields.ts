// Asks which words after `??` are fields of the project: `there` in `{{firstName ?? there}}` is text unless contacts have it.
import { fallbackWords } from "../../rendering/template-variables.ts";
import type { Content } from "./load-contents.ts";

interface FieldReader {
  findFields?(projectId: string, names: readonly string[]): Promise<string[]>;
}

/** Returns the fields of a project that its contents name after `??`. Asks nothing if they name none. */
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
