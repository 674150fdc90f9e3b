// Static knowledge about domains: mailbox providers, forwarding services, disposable domains and frequent typos. A test checks an example
// of each kind and that no lists contradict each other.
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";

/** The list of the npm package disposable-email-domains (CC0). A new release brings new domains. */
export const DISPOSABLE_DOMAINS: ReadonlySet<string> = disposableEmailBlocklistSet();

/** Services that provide forwarding addresses. Many give each user a subdomain, so subdomains count too. */
export const FORWARDING_DOMAINS = domainsByName({
  SimpleLogin:
    "simplelogin.com simplelogin.co simplelogin.fr simplelogin.io aleeas.com slmail.me slmails.com 8alias.com 8shield.net dralias.com",
  "Proton Pass": "passmail.net passmail.com passinbox.com passfwd.com",
  "addy.io": "addy.io addymail.com anonaddy.com anonaddy.me mailer.me 4wrd.cc",
  "Firefox Relay": "mozmail.com relay.firefox.com",
  DuckDuckGo: "duck.com",
  "Apple Hide My Email": "privaterelay.appleid.com",
  StartMail: "use.startmail.com",
  "33mail": "33mail.com",
  Cloaked: "cloaked.id",
  "erine.email": "erine.email",
  "Forward Email": "forwardemail.net",
  ManyMe: "manyme.com",
  Pobox: "pobox.com",
  Sneakemail: "sneakemail.com snkmail.com",
  Spamgourmet: "spamgourmet.com spamgourmet.net spamgourmet.org",
});

/** Public mailbox providers by operator. Only the domain itself counts, because `x.gmail.com` is not a mailbox of Gmail. */
export const PERSONAL_DOMAINS = domainsByName({
  Google: "gmail.com googlemail.com",
  Microsoft: `outlook.com outlook.at outlook.be outlook.cl outlook.co.id outlook.co.il outlook.co.th outlook.com.ar
    outlook.com.au outlook.com.br outlook.com.gr outlook.com.hr outlook.com.pe outlook.com.tr outlook.com.vn outlook.cz
    outlook.de outlook.dk outlook.es outlook.fr outlook.hu outlook.ie outlook.in outlook.it outlook.jp outlook.kr
    outlook.lv outlook.my outlook.ph outlook.pt outlook.sa outlook.sg outlook.sk
    hotmail.com hotmail.at hotmail.be hotmail.ca hotmail.ch hotmail.cl hotmail.co.id hotmail.co.il hotmail.co.jp
    hotmail.co.kr hotmail.co.nz hotmail.co.th hotmail.co.uk hotmail.co.za hotmail.com.ar hotmail.com.au hotmail.com.br
    hotmail.com.hk hotmail.com.tr hotmail.com.tw hotmail.com.vn hotmail.cz hotmail.de hotmail.dk hotmail.es hotmail.fi
    hotmail.fr hotmail.gr hotmail.hu hotmail.it hotmail.jp hotmail.my hotmail.nl hotmail.no hotmail.ph hotmail.rs
    hotmail.se hotmail.sg hotmail.sk
    live.com live.at live.be live.ca live.ch live.cl live.cn live.co.kr live.co.uk live.co.za live.com.ar live.com.au
    live.com.mx live.com.my live.com.pt live.com.sg live.de live.dk live.fi live.fr live.hk live.ie live.in live.it
    live.jp live.nl live.no live.ph live.ru live.se msn.com passport.com windowslive.com`,
  Yahoo: `yahoo.com yahoo.at yahoo.be yahoo.ca yahoo.ch yahoo.cl yahoo.co.id yahoo.co.il yahoo.co.in yahoo.co.jp
    yahoo.co.kr yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.cn
    yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.pe yahoo.com.ph yahoo.com.sg yahoo.com.tr
    yahoo.com.tw yahoo.com.ve yahoo.com.vn yahoo.cz yahoo.de yahoo.dk yahoo.es yahoo.fi yahoo.fr yahoo.gr yahoo.hu
    yahoo.ie yahoo.in yahoo.it yahoo.nl yahoo.no yahoo.pl yahoo.pt yahoo.ro yahoo.se ymail.com rocketmail.com
    myyahoo.com aol.com aol.co.uk aol.de aol.fr aol.it aim.com netscape.net`,
  Apple: "icloud.com me.com mac.com",
  Proton: "proton.me protonmail.com protonmail.ch pm.me",
  "GMX, WEB.DE and mail.com": `gmx.de gmx.net gmx.at gmx.ch gmx.com gmx.co.uk gmx.es gmx.eu gmx.fr gmx.info gmx.li gmx.org
    gmx.us web.de mail.com email.com usa.com post.com consultant.com engineer.com europe.com dr.com writeme.com iname.com
    myself.com caramail.com`,
  "Privacy first": `fastmail.com fastmail.fm sent.com hushmail.com hush.com tuta.com tuta.io tutanota.com tutanota.de tutamail.com
    keemail.me mailbox.org posteo.de posteo.net posteo.at posteo.eu posteo.org startmail.com runbox.com mailfence.com
    disroot.org riseup.net countermail.com kolabnow.com hey.com zoho.com zoho.eu zohomail.com zohomail.eu
    zohomail.in inbox.com lycos.com rediffmail.com mail.ee inbox.lv`,
  Germany:
    "t-online.de freenet.de arcor.de online.de kabelmail.de vodafonemail.de unitybox.de magenta.de ok.de",
  "Austria and Switzerland": "aon.at chello.at a1.net bluewin.ch hispeed.ch sunrise.ch",
  France: `orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr cegetel.net numericable.fr bbox.fr aliceadsl.fr
    club-internet.fr voila.fr`,
  "Britain and Ireland": `btinternet.com btopenworld.com talktalk.net sky.com virginmedia.com ntlworld.com blueyonder.co.uk
    tiscali.co.uk plus.com o2.co.uk eircom.net`,
  "Italy, Spain and Portugal": `libero.it virgilio.it alice.it tin.it tim.it tiscali.it fastwebnet.it iol.it inwind.it
    poste.it email.it telefonica.net terra.es ono.com sapo.pt`,
  "Benelux and the North": `ziggo.nl kpnmail.nl planet.nl home.nl hetnet.nl xs4all.nl upcmail.nl telenet.be skynet.be
    proximus.be telia.com bredband.net comhem.se online.no`,
  "Central and Eastern Europe": `wp.pl o2.pl onet.pl onet.eu op.pl interia.pl interia.eu gazeta.pl tlen.pl poczta.onet.pl
    seznam.cz email.cz post.cz centrum.cz volny.cz centrum.sk azet.sk zoznam.sk freemail.hu citromail.hu abv.bg
    mail.bg ukr.net i.ua meta.ua mail.ru bk.ru inbox.ru list.ru internet.ru rambler.ru yandex.ru yandex.com yandex.by
    yandex.kz yandex.ua ya.ru`,
  "North America": `comcast.net xfinity.com verizon.net att.net sbcglobal.net bellsouth.net ameritech.net pacbell.net
    cox.net charter.net spectrum.net roadrunner.com rr.com earthlink.net mindspring.com juno.com netzero.net
    optonline.net optimum.net frontier.com frontiernet.net windstream.net centurylink.net centurytel.net suddenlink.net
    embarqmail.com q.com rogers.com shaw.ca sympatico.ca bell.net telus.net videotron.ca cogeco.ca`,
  "Latin America": "uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com prodigy.net.mx",
  "Asia and Oceania": `qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com 139.com 189.cn
    naver.com daum.net hanmail.net nate.com kakao.com docomo.ne.jp ezweb.ne.jp au.com softbank.ne.jp i.softbank.jp
    nifty.com biglobe.ne.jp bigpond.com bigpond.net.au optusnet.com.au iinet.net.au tpg.com.au xtra.co.nz walla.co.il
    walla.com`,
});

/** Targets for typo suggestions, most used first. The first of several equally close ones is suggested. */
export const TYPO_TARGETS: readonly string[] =
  words(`gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com
  live.com msn.com protonmail.com proton.me googlemail.com gmx.de web.de gmx.net t-online.de freenet.de hotmail.co.uk
  yahoo.co.uk hotmail.fr orange.fr wanadoo.fr free.fr laposte.net yahoo.fr hotmail.de yahoo.de outlook.de libero.it
  hotmail.it yahoo.it hotmail.es yahoo.es yahoo.com.br hotmail.com.br uol.com.br yahoo.co.in rediffmail.com comcast.net
  verizon.net att.net sbcglobal.net bellsouth.net cox.net btinternet.com rocketmail.com ymail.com fastmail.com
  mail.ru yandex.ru naver.com seznam.cz bluewin.ch`);

/** Misspellings of these are registered to catch mail. They count as misspellings even if they accept mail. */
export const SQUATTED_TARGETS: ReadonlySet<string> = new Set(
  words("gmail.com yahoo.com hotmail.com outlook.com icloud.com googlemail.com protonmail.com"),
);

/** Domains one letter away from a target that are legitimate. */
export const NOT_MISSPELT: ReadonlySet<string> = new Set(words("grail.com"));

/** Endings that are not top-level domains (IANA's list), and their corrections. */
export const MISTYPED_ENDINGS: ReadonlyMap<string, string> = new Map([
  ...words("con cmo ocm comm coom ccom coml copm comn cpm clm cim vom xom vcom c0m").map(
    (ending) => [ending, "com"] as const,
  ),
  ...words("nte ner nett nrt").map((ending) => [ending, "net"] as const),
  ...words("ogr orgg rog prg orgn").map((ending) => [ending, "org"] as const),
]);

function words(text: string): string[] {
  return text.split(/\s+/);
}

/** Maps each domain to its list name. */
function domainsByName(lists: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(lists).flatMap(([name, domains]) =>
      words(domains).map((domain) => [domain, name] as const),
    ),
  );
}
