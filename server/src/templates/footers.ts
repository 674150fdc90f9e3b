// Renders the footers of marketing emails in the language of each recipient, for the placeholder from with-footer.ts.
import type { FooterLook } from "@postloft/contract/footer-frame.ts";
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { footersOf, type Footer, type FooterProject } from "../contacts/pages/footer.ts";
import { chooseLocale } from "../contacts/pages/locale.ts";
import type { MergeTagFacts } from "./lint-variables.ts";
import { findProjectsById } from "./queries.ts";

export interface FooterRecipient {
  projectId: string;
  /** `data.locale` of the contact. If the language is not supported, the project's language applies. */
  locale: unknown;
  unsubscribeUrl: string;
  manageUrl: string;
  /** The colors of the email, from `footerLookOf`. */
  look: FooterLook | null;
}

/** Returns what merge tags of other services may say about a project. Its postal address is also in its footers. */
export async function readMergeTagFacts(database: Database, projectId: string): Promise<MergeTagFacts> {
  const [row] = await findProjectsById(database, [projectId]);
  return {
    projectName: row?.name ?? "",
    postalAddress: row?.postalAddress ?? null,
    year: now().getUTCFullYear(),
  };
}

const NO_PROJECT: FooterProject = { name: "" };

/** Returns one footer per recipient, in order, with a single statement for all recipients. */
export async function readFooters(
  database: Database,
  recipients: readonly FooterRecipient[],
): Promise<Footer[]> {
  const ids = [...new Set(recipients.map(({ projectId }) => projectId))];
  const rows = ids.length === 0 ? [] : await findProjectsById(database, ids);
  const projects = new Map(rows.map((row) => [row.id, row]));
  const known = new Map<string, ReturnType<typeof footersOf>>();
  return recipients.map(({ projectId, locale, look, ...links }) => {
    const project = projects.get(projectId);
    const language = chooseLocale(locale, project?.language);
    const key = `${projectId} ${language} ${look?.ink} ${look?.align}`;
    const footers = known.get(key) ?? footersOf(language, project ?? NO_PROJECT, look);
    known.set(key, footers);
    return footers(links);
  });
}
