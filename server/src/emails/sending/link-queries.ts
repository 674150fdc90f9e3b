// Queries on `content_links`, the numbers and targets of a content's links.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { ContentLink } from "../../rendering/renderer.ts";

export interface LinkedContent {
  projectId: string;
  contentId: string;
  /** The queue version of the email to be sent. Links stored under another version may have been deleted since. */
  queueVersion: string;
  links: readonly ContentLink[];
}

/**
 * Stores the links of contents. Only adds new links to an existing content, because another release may find more, and links in sent emails
 * must keep their targets.
 */
export async function upsertContentLinks(
  database: Database,
  contents: readonly LinkedContent[],
): Promise<void> {
  // SQL arrays of arrays must have equal lengths, so the lists are passed as JSON.
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
