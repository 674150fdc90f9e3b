// Detects links that make filters and readers suspicious: shorteners, IP addresses, and text that shows another host. Data and pure rules.

/** Services that hide the target of a link. Blocklists occasionally list their domains, which affects every link on them. */
export const LINK_SHORTENERS: readonly string[] = [
  "adf.ly",
  "bit.do",
  "bit.ly",
  "bitly.com",
  "bl.ink",
  "buff.ly",
  "clck.ru",
  "cutt.ly",
  "dlvr.it",
  "fb.me",
  "goo.gl",
  "goo.su",
  "ht.ly",
  "is.gd",
  "j.mp",
  "lnkd.in",
  "ow.ly",
  "qr.ae",
  "rb.gy",
  "rebrand.ly",
  "s.id",
  "short.gy",
  "short.io",
  "shorturl.at",
  "snip.ly",
  "soo.gd",
  "surl.li",
  "t.co",
  "t.ly",
  "tiny.cc",
  "tiny.one",
  "tinyurl.com",
  "trib.al",
  "u.to",
  "urlz.fr",
  "v.gd",
  "vk.cc",
  "wp.me",
  "x.gd",
];

/** Top-level labels that are file endings more often than hosts, so that text such as `prices.pdf` is not read as a domain. */
const FILE_ENDINGS = new Set(
  "csv css doc docx exe gif htm html ics jpeg jpg js json md mov mp3 mp4 pdf php png ppt pptx py rar rs sh svg ts txt xls xlsx xml zip".split(
    " ",
  ),
);
const SHORTENERS = new Set(LINK_SHORTENERS);
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Browsers also read these as an IPv4 address. */
const NUMERIC_HOST = /^(?:0x[0-9a-f]+|\d+)$/i;
const HOST =
  /^(?:https?:\/\/)?(?:[^/?#@\s]*@)?((?:[\p{L}\p{N}_-]{1,63}\.){1,8}\p{L}[\p{L}\p{N}-]{1,62})\.?(?::\d{1,5})?(?:[/?#]\S*)?$/iu;
/** Maximum length of link text that is checked. */
const SHOWN_MAX_CHARACTERS = 200;

interface HostFault {
  code: "link_shortened" | "link_to_ip_address";
  values: Readonly<Record<string, string>>;
}

/** Returns the problem with the host of a link, or null. */
export function hostFault(host: string): HostFault | null {
  const name = host.toLowerCase().replace(/\.$/, "");
  if (SHORTENERS.has(name.replace(/^www\./, ""))) return { code: "link_shortened", values: { host: name } };
  if (name.startsWith("[") || IPV4.test(name) || NUMERIC_HOST.test(name))
    return { code: "link_to_ip_address", values: {} };
  return null;
}

/**
 * Returns the different host shown in a link's text, such as `bank.example` on a link to `track.example`.
 * Returns null if the text shows no host, or a parent or subdomain of the target.
 */
export function otherHostShown(text: string, host: string): string | null {
  const shown = hostShownBy(text);
  if (shown === null) return null;
  const [one, other] = [withoutWww(shown), withoutWww(host)];
  const isNear = one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
  return isNear ? null : shown;
}

function hostShownBy(text: string): string | null {
  const words = text.slice(0, SHOWN_MAX_CHARACTERS).trim().split(/\s+/);
  // Among other words only explicit URLs count, because "Node.js" and "e.g.this" are not hosts.
  const word = words.length === 1 ? words[0] : words.find((one) => /^(?:https?:\/\/|www\.)/i.test(one));
  const isPlain = word !== undefined && /^(?:https?:\/\/|www\.)/i.test(word);
  if (word === undefined || (!isPlain && word.includes("@"))) return null;
  const host = HOST.exec(word.replace(/[.,;:!?)\]]+$/, ""))?.[1]?.toLowerCase();
  if (host === undefined) return null;
  const ending = host.slice(host.lastIndexOf(".") + 1);
  return isPlain || !FILE_ENDINGS.has(ending) ? host : null;
}

const withoutWww = (host: string) =>
  host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^www\./, "");

const EXAMPLE_HOSTS = new Set(["example.com", "www.example.com"]);

/** Returns whether a host is reserved for examples (RFC 2606). */
export function isExampleHost(host: string): boolean {
  return EXAMPLE_HOSTS.has(host.toLowerCase().replace(/\.$/, ""));
}

/** Words for unsubscribing in the most common newsletter languages. */
const UNSUBSCRIBE =
  /unsubscrib|opt[ -]?out|abmeld|abbestell|austrag|désabonn|désinscri|desabonn|desinscri|darse de baja|cancelar (?:la |tu )?suscri|cancelar (?:a )?inscri|descadastr|disiscri|annulla l.iscrizione|uitschrijv|afmeld|avregistrer|avprenumer|wypisz|отпис|配信停止|退订|取消订阅|إلغاء الاشتراك/i;

/** Returns whether the text of a link offers to unsubscribe. */
export function saysUnsubscribe(text: string): boolean {
  return UNSUBSCRIBE.test(text);
}
