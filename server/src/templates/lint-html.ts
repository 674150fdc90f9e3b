// Walks the HTML of an email and notes elements that mail clients do not display as intended, and unfinished content. Pure.
import { Parser } from "htmlparser2";
import type { AdviceValues } from "@postloft/contract/advice.ts";
import { MUSTACHE_NAMES } from "@postloft/contract/merge-tags/dialects.ts";
import type { ContentWarningCode } from "@postloft/contract/content-warnings.ts";
import { scanTemplate } from "../rendering/scan-template.ts";
import { hostFault, isExampleHost, otherHostShown, saysUnsubscribe } from "./link-rules.ts";
import { isPlaceholder } from "./placeholder-rules.ts";

export interface HtmlNote {
  code: ContentWarningCode;
  /** The values in the warning's sentence. */
  values: AdviceValues;
  /** Position of the element. */
  offset: number;
}

export interface HtmlFindings {
  notes: HtmlNote[];
  /** Whether the email starts with preview text, which is hidden and shown only next to the subject. */
  hasPreviewText: boolean;
  hasText: boolean;
  hasImage: boolean;
  /** The end of the visible text, where senders put their name and address. */
  lastText: string;
}

/** Replaces the output of a mustache, so that its quotes and brackets are not read as HTML. A noncharacter (Unicode 3.4, D14). */
const VALUE = "\uFDD0";

const UNSEEN = new Set(["head", "style", "script", "title", "template"]);
const UNSUPPORTED = new Set(["script", "form", "iframe", "object", "embed", "video", "audio"]);
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const HIDING =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|max-height\s*:\s*0|opacity\s*:\s*0\s*(?:;|$|!)|mso-hide\s*:\s*all)/i;

/** Length of the visible text that is kept. */
const LAST_TEXT_CHARACTERS = 20_000;
/** Length of the text of one link that is kept. */
const LINK_TEXT_CHARACTERS = 200;

/** Invisible characters that pad previews. */
const INVISIBLE = /\u00AD|\u034F|[\u200B-\u200D]|\uFEFF/g;

/**
 * Lints a document or fragment, with or without variables. Never throws.
 * @param known variables that have a value for at least some contacts
 */
export function lintHtml(html: string, known: ReadonlySet<string>): HtmlFindings {
  const walk = new HtmlWalk();
  const parser = new Parser({
    onopentag: (name, attributes) =>
      walk.open(name, attributes, parser.startIndex, () =>
        hasUnknownAddress(html.slice(parser.startIndex, parser.endIndex), known),
      ),
    onclosetag: (name) => walk.close(name),
    ontext: (text) => walk.text(text, parser.startIndex),
  });
  parser.end(withoutMustaches(html));
  return walk;
}

/** Number of characters of a tag in which its URL is searched. */
const TAG_CHARACTERS = 5_000;
const VARIABLE_ADDRESS =
  /\shref\s{0,9}=\s{0,9}["']?\s{0,9}\{\{\{?\s{0,9}([\w.]{1,200})\s{0,9}\}\}\}?\s{0,9}(?=["'\s>]|$)/i;

/** Returns whether the URL of a tag is a single variable without a value for any contact. */
function hasUnknownAddress(tag: string, known: ReadonlySet<string>): boolean {
  const path = VARIABLE_ADDRESS.exec(tag.slice(0, TAG_CHARACTERS))?.[1];
  // Merge tags have a separate warning.
  if (path === undefined || Object.hasOwn(MUSTACHE_NAMES, path)) return false;
  const [first = "", second] = path.split(".");
  return !known.has(first === "data" && second !== undefined ? second : first);
}

/** Masks mustaches without changing the length, so that positions stay the same. Mustaches that print nothing become spaces. */
function withoutMustaches(html: string): string {
  if (!html.includes("{{")) return html;
  let masked = "";
  let copied = 0;
  for (const { kind, start, end } of scanTemplate(html).pieces) {
    if (kind === "content" || kind === "escape") continue;
    masked += html.slice(copied, start) + (kind === "value" ? VALUE : " ").repeat(end - start);
    copied = end;
  }
  return masked + html.slice(copied);
}

interface OpenLink {
  host: string | null;
  /** The link's title and label, followed from `shownFrom` on by the visible text. */
  text: string;
  shownFrom: number;
  offset: number;
  /** Whether the link has no URL, and whether it may have none once variables are filled in. */
  isEmpty: boolean;
  mayBeEmpty: boolean;
}

class HtmlWalk implements HtmlFindings {
  readonly notes: HtmlNote[] = [];
  hasPreviewText = false;
  hasText = false;
  hasImage = false;
  lastText = "";
  /** The currently open link. */
  private shownLink: OpenLink | null = null;
  private depth = 0;
  /** Depth of the outermost non-rendered element, and of the outermost one hidden by style; 0 outside of such elements. */
  private unseenFrom = 0;
  private hiddenFrom = 0;

  open(
    name: string,
    attributes: Readonly<Record<string, string>>,
    offset: number,
    hasUnknownTarget: () => boolean,
  ): void {
    this.depth += 1;
    if (this.unseenFrom === 0 && UNSEEN.has(name)) this.unseenFrom = this.depth;
    const isHidden = Object.hasOwn(attributes, "hidden") || HIDING.test(attributes["style"] ?? "");
    if (this.hiddenFrom === 0 && isHidden && !VOID.has(name)) this.hiddenFrom = this.depth;
    if (UNSUPPORTED.has(name)) this.note("unsupported_element", offset, { element: `<${name}>` });
    if (name === "html" && !attributes["lang"]?.trim()) this.note("html_without_language", offset);
    if (name === "a") this.link(attributes, offset, hasUnknownTarget);
    if (name === "img") this.image(attributes, offset);
  }

  close(name: string): void {
    if (name === "a") this.endLink();
    this.depth -= 1;
    if (this.depth < this.unseenFrom) this.unseenFrom = 0;
    if (this.depth < this.hiddenFrom) this.hiddenFrom = 0;
  }

  text(text: string, offset: number): void {
    if (this.unseenFrom > 0) return;
    if (this.shownLink !== null && this.shownLink.text.length < LINK_TEXT_CHARACTERS)
      this.shownLink.text += text.slice(0, LINK_TEXT_CHARACTERS);
    if (this.hiddenFrom === 0) this.keepText(text);
    if (isPlaceholder(text)) this.note("placeholder_text", offset, { text: text.trim() });
    if (this.hasText || text.replace(INVISIBLE, "").trim() === "") return;
    if (this.hiddenFrom > 0) this.hasPreviewText = true;
    else this.hasText = true;
  }

  /** Cuts only occasionally because a body may consist of many short texts. */
  private keepText(text: string): void {
    this.lastText += `${text} `;
    if (this.lastText.length > 2 * LAST_TEXT_CHARACTERS)
      this.lastText = this.lastText.slice(-LAST_TEXT_CHARACTERS);
  }

  private link(
    attributes: Readonly<Record<string, string>>,
    offset: number,
    hasUnknownTarget: () => boolean,
  ): void {
    this.endLink();
    const address = attributes["href"];
    const isAnchor = address === undefined && (attributes["name"] ?? attributes["id"]) !== undefined;
    const fault = isAnchor ? null : addressFault(address ?? "");
    const host = hostOf((address ?? "").trim());
    const isEmpty = fault === "without_address";
    if (fault !== null && !isEmpty) this.note(`link_${fault}`, offset);
    const text = `${attributes["title"] ?? ""} ${attributes["aria-label"] ?? ""} `;
    const mayBeEmpty = isEmpty || (address !== undefined && address.startsWith(VALUE) && hasUnknownTarget());
    this.shownLink = {
      host,
      text: text.trimStart(),
      offset,
      isEmpty,
      mayBeEmpty,
      shownFrom: text.trimStart().length,
    };
    const ofHost = host === null || fault === "to_this_machine" ? null : hostFault(host);
    if (ofHost !== null) this.note(ofHost.code, offset, ofHost.values);
    if (host !== null && isExampleHost(host)) this.note("link_to_example", offset, { host });
  }

  private endLink(): void {
    if (this.shownLink === null) return;
    const { host, text, offset, isEmpty, mayBeEmpty, shownFrom } = this.shownLink;
    this.shownLink = null;
    if (mayBeEmpty && saysUnsubscribe(text))
      this.note("unsubscribe_link_nowhere", offset, { unsubscribe: "{{unsubscribeUrl}}" });
    else if (isEmpty) this.note("link_without_address", offset);
    const shown = host === null ? null : otherHostShown(text.slice(shownFrom).replace(INVISIBLE, ""), host);
    if (shown !== null && host !== null) this.note("link_text_elsewhere", offset, { shown, host });
  }

  private image(attributes: Readonly<Record<string, string>>, offset: number): void {
    this.hasImage = true;
    const source = attributes["src"] ?? "";
    if (/^data:/i.test(source.trim())) this.note("image_embedded", offset);
    else if (!/^cid:/i.test(source.trim())) {
      const fault = addressFault(source);
      if (fault !== null) this.note(`image_${fault}`, offset);
    }
    if (attributes["alt"] === undefined) this.note("image_without_alt", offset);
  }

  private note(code: ContentWarningCode, offset: number, values: AdviceValues = {}): void {
    this.notes.push({ code, values, offset });
  }
}

type AddressFault = "without_address" | "not_absolute" | "not_https" | "to_this_machine";

const LOCAL_HOST = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\])$/i;

const WEB = /^(https?):\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^:/?#]*)/i;

/** Returns the host of a link as written, or null if the link has none or a variable determines it. */
function hostOf(address: string): string | null {
  const host = WEB.exec(address)?.[2] ?? "";
  return host === "" || host.includes(VALUE) ? null : host;
}

/** Returns the problem with a URL in an email, or null if there is none or a variable determines the URL. */
function addressFault(written: string): AddressFault | null {
  const address = written.trim();
  if (address === "" || address === "#" || /^javascript:/i.test(address)) return "without_address";
  if (address.startsWith("#") || address.startsWith(VALUE)) return null;
  const web = WEB.exec(address);
  if (web !== null) {
    if (LOCAL_HOST.test(web[2] ?? "")) return "to_this_machine";
    return web[1]?.toLowerCase() === "http" ? "not_https" : null;
  }
  return /^[a-z][a-z0-9+.-]*:/i.test(address) ? null : "not_absolute";
}
