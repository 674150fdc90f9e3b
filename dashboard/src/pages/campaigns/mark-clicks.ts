// Marks the links of a rendered email with their clicks.

/** A link of an email, as its author wrote it, with the recipients who clicked it. */
export interface ClickedLink {
  url: string;
  uniqueClicks: number;
}

export interface MarkedEmail {
  html: string;
  /** Links that the rendered email doesn't contain, such as those of a condition that isn't met. */
  missing: ClickedLink[];
}

const VARIABLE = /\{\{\{?[^}]*\}?\}\}/;
const BADGE =
  "display:inline-block;margin:0 0 0 4px;padding:0 5px;border-radius:8px;background:#4a4fd6;color:#fff;font:600 11px/16px sans-serif;letter-spacing:0;text-decoration:none;text-transform:none;vertical-align:middle;white-space:nowrap";
const NO_CLICKS = `${BADGE};background:#5b5e69`;

/**
 * Adds a badge to each tracked link, and an outline. The parsed document runs no scripts and loads nothing.
 * @param labelOf returns the text of a badge
 */
export function markClicks(
  html: string,
  links: readonly ClickedLink[],
  labelOf: (link: ClickedLink) => string,
): MarkedEmail {
  const page = new DOMParser().parseFromString(html, "text/html");
  const found = new Set<ClickedLink>();
  for (const anchor of page.querySelectorAll("a[href]")) {
    const href = anchor.getAttribute("href")?.trim() ?? "";
    const link = links.find(({ url }) => url === href) ?? links.find(({ url }) => couldBe(href, url));
    if (link === undefined) continue;
    found.add(link);
    const badge = page.createElement("span");
    badge.textContent = labelOf(link);
    badge.setAttribute("style", link.uniqueClicks === 0 ? NO_CLICKS : BADGE);
    anchor.append(badge);
  }
  return { html: page.documentElement.outerHTML, missing: links.filter((link) => !found.has(link)) };
}

/** The beginning of a URL with a host. A variable in place of it could be any link of the email. */
const WITH_HOST = /^https?:\/\/[^/{]/i;

/** Returns whether an address could be a URL whose variables have values. The parts between them occur in order. */
export function couldBe(address: string, url: string): boolean {
  const [start = "", ...others] = url.split(VARIABLE);
  const end = others.pop();
  if (end === undefined) return address === url;
  if (!WITH_HOST.test(start) || !address.startsWith(start) || !address.endsWith(end)) return false;
  let from = start.length;
  for (const part of others) {
    const at = address.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return from <= address.length - end.length;
}
