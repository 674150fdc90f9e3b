// Statements on `content_links`: what the links of a content are called and where they lead.
import { sql } from "kysely";
import type { Database } from "../../platform/database.ts";
import type { ContentLink } from "../../rendering/renderer.ts";

export interface LinkedContent {
  projectId: string;
  contentId: string;
  /** Of the mail that is about to leave: what was stored while the queue of its project was another one may be gone since. */
  queueVersion: string;
  links: readonly ContentLink[];
}

/**
 * Stores the links of contents. Of one that has some already only new ones are added: another release may find more, and
 * the links of mails that have left keep leading where they led.
 */
export async function upsertContentLinks(
  database: Database,
  contents: readonly LinkedContent[],
): Promise<void> {
  // Arrays of arrays have one length for all in SQL: as JSON they need not.
  const links = contents.map((content) => ({
    numbers: content.links.map((link) => link.number),
    urls: content.links.map((link) => link.url),
  }));
  await sql`
    insert into content_links as known (project_id, content_id, numbers, urls)
    select project_id, content_id,
      array(select n.value::integer from jsonb_array_elements_text(links -> 'numbers') with ordinality as n (value, at) order by n.at),
      array(select u.value from jsonb_array_elements_text(links -> 'urls') with ordinality as u (value, at) order by u.at)
    from unnest(
      ${contents.map((content) => content.projectId)}::uuid[],
      ${contents.map((content) => content.contentId)}::uuid[],
      ${links.map((link) => JSON.stringify(link))}::jsonb[]
    ) as i (project_id, content_id, links)
    on conflict (project_id, content_id) do update
      set numbers = known.numbers || excluded.numbers, urls = known.urls || excluded.urls
      where not known.numbers @> excluded.numbers`.execute(database);
}
