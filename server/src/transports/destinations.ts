// Maps a recipient to a destination, which is its domain or the provider behind that domain. Used for everything counted per destination.
// Pure.
import { domainOf } from "@postloft/contract/address.ts";

/** Domains that share mail servers, which count our email to all of them together. */
const PROVIDERS: Readonly<Record<string, string>> = {
  gmail: "gmail.com googlemail.com",
  microsoft: `outlook.com hotmail.com live.com msn.com passport.com windowslive.com
    hotmail.co.uk hotmail.de hotmail.es hotmail.fr hotmail.it hotmail.com.br hotmail.be hotmail.nl
    live.co.uk live.de live.fr live.it live.nl live.be live.ca live.com.au live.dk live.no live.se
    outlook.at outlook.be outlook.com.au outlook.com.br outlook.co.id outlook.cz outlook.de outlook.dk outlook.es
    outlook.fr outlook.ie outlook.in outlook.it outlook.jp outlook.pt`,
  // yahoo.co.jp is a different company.
  yahoo: `yahoo.com ymail.com rocketmail.com myyahoo.com yahoo.ca yahoo.co.id yahoo.co.in yahoo.co.nz yahoo.co.uk
    yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.hk yahoo.com.mx yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw
    yahoo.com.vn yahoo.de yahoo.es yahoo.fr yahoo.gr yahoo.ie yahoo.in yahoo.it yahoo.pl yahoo.ro yahoo.se
    aol.com aol.co.uk aol.de aol.fr aim.com verizon.net netscape.net`,
  apple: "icloud.com me.com mac.com",
  proton: "proton.me protonmail.com protonmail.ch pm.me",
  gmx: "gmx.de gmx.net gmx.at gmx.ch gmx.com gmx.us web.de mail.com",
  yandex: "yandex.ru yandex.com yandex.by yandex.kz yandex.com.tr ya.ru narod.ru",
  "mail.ru": "mail.ru bk.ru inbox.ru list.ru internet.ru",
};

const DOMAINS = new Map(Object.entries(PROVIDERS).map(([name, domains]) => [name, domains.split(/\s+/)]));
const PROVIDER_DOMAINS = [...DOMAINS].flatMap(([provider, domains]) =>
  domains.map((domain) => ({ domain, provider })),
);
const PROVIDER_BY_DOMAIN = new Map(PROVIDER_DOMAINS.map(({ domain, provider }) => [domain, provider]));

/** Returns the destination of an address in canonical form. */
export function destinationOf(address: string): string {
  return destinationOfDomain(domainOf(address));
}

export function destinationOfDomain(domain: string): string {
  return PROVIDER_BY_DOMAIN.get(domain) ?? domain;
}

/** Returns the domains of a destination. */
export function domainsOf(destination: string): readonly string[] {
  return DOMAINS.get(destination) ?? [destination];
}

/** Returns every domain of the providers that have several. */
export function providerDomains(): ReadonlyArray<{ domain: string; provider: string }> {
  return PROVIDER_DOMAINS;
}
