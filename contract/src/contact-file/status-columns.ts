// Recognizes subscription columns by their names, and interprets their words in the exports of services.
import { plainName } from "./column-names.ts";
import { EVERY_OTHER, type ImportStatus } from "./mapping.ts";

/**
 * `status`: words such as active or bounced. `consent`: yes means subscribed. `refusal`: yes means unsubscribed. `block`: yes means
 * suppressed. `left` and `gone`: the time at which a person unsubscribed or an address bounced.
 */
export type StatusKind = "status" | "consent" | "refusal" | "block" | "left" | "gone";

const listOf = (names: string): Set<string> => new Set(names.trim().split(/\s+/).map(plainName));

const NAMES: ReadonlyArray<readonly [StatusKind, ReadonlySet<string>]> = [
  [
    "status",
    listOf(`statusfilename subscriptionstatus subscriberstatus contactstatus memberstatus emailstatus statusemail mailstatus marketingstatus
      marketingcontactstatus emailmarketingstatus emailsubscriptionstatus subscribestatus optinstatus newsletterstatus
      newslettersubscriptionstatus emailpermissionstatus permissionstatus globalstatus globalemailstatus consentstatus
      emailconsentstatus emailmarketingconsentstate audiencestatus statutabonnement statutdabonnement statutemail abostatus
      abonnementstatus anmeldestatus estadodesuscripcion estadosuscripcion statoiscrizione statusassinatura`),
  ],
  [
    "consent",
    listOf(`subscribed issubscribed subscribedtoemails subscribedtoemail subscribedtonewsletter emailsubscribed newsletter
      newslettersubscribed newslettersubscription newsletteroptin issubscribedtonewsletter optin optedin emailoptin hasoptedin
      marketingoptin marketingemailoptin doubleoptin acceptsmarketing acceptsemailmarketing buyeracceptsmarketing
      emailmarketingconsent marketingconsent emailconsent consent consentgiven gdprconsent consentmarketing
      marketingemails emailmarketing marketingallowed allowmarketing allowemail allowemails canemail emailallowed emailpermission
      permission permissiontoemail agreedtomarketing agreestomarketing wantsnewsletter receiveemails receivesemails receivenewsletter
      confirmed isconfirmed active isactive abonniert angemeldet newsletterangemeldet einwilligung werbeeinwilligung abonne inscrit
      consentement accepteemails suscrito inscrito consentimiento aceptamarketing iscritto consenso ingeschreven toestemming inscrito`),
  ],
  [
    "refusal",
    listOf(`unsubscribed isunsubscribed hasunsubscribed unsubscribedfromallemail unsubscribedfromallemails unsubscribedfromemails
      unsubscribedfromemail unsubscribedglobally globallyunsubscribed unsubscribe unsub optout optedout isoptedout hasoptedout hasoptedoutofemail
      emailoptout emailoptedout optedoutofemail optedoutofemails emailblacklisted blacklisted isblacklisted emailblocklisted blocklisted
      isblocklisted emaildisabled emailsdisabled donotcontact donotemail donotmail donotbulkemail donotsendemail dnc dne isexcluded
      excluded excludedfromcampaigns isexcludedfromcampaigns isexcludedfromemails blocked isblocked banned noemail noemails
      nonewsletter abgemeldet abbestellt gesperrt desabonne desinscrit desuscrito dadodebaja debaja disiscritto uitgeschreven descadastrado`),
  ],
  [
    "block",
    listOf(`suppressed issuppressed emailsuppressed bounced isbounced hasbounced hardbounced hardbounce ishardbounced emailbounced
      emailhardbounced cleaned iscleaned complained hascomplained spamcomplaint isspam markedasspam reportedspam reportedasspam
      invalidemail emailinvalid`),
  ],
  [
    "left",
    listOf(`unsubtime unsubdate unsubscribetime unsubscribedate unsubscribedat unsubscribedtime unsubscribeddate unsubscribedon
      unsubscribeat dateunsubscribed timeunsubscribed unsubscriptiondate unsubscriptiontime optouttime optoutdate optoutat optedoutat
      optedouton dateoptedout leftat deletedat abgemeldetam abmeldedatum datedesinscription datededesinscription datedesabonnement
      fechadebaja datadisiscrizione`),
  ],
  [
    "gone",
    listOf(`cleantime cleanedat cleaneddate datecleaned bouncetime bouncedate bouncedat bouncedon datebounced hardbouncedat
      complainedat complaintdate complainttime datecomplained suppressedat suppressiondate`),
  ],
];
const KIND_BY_NAME: ReadonlyMap<string, StatusKind> = new Map(
  NAMES.flatMap(([kind, names]) => [...names].map((name) => [name, kind] as const)),
);
/** These names also describe other things, so the words in the column decide. */
const WEAK_NAMES = listOf("status state statut estado estatus stato zustand");
/** Columns next to which `Status` refers to a payment. */
const BILLING_NAMES =
  listOf(`delinquent totalspend totalspent plan cardid paymentcount refundedvolume mrr subscriptionid
  nextbilling billingcycle trialend invoice ordertotal ordernumber`);
const OTHER_CHANNELS =
  /(?:^|[^a-z])(?:sms|whatsapp|phone|call|calls|push|post|fax|line|telegram|viber)(?:[^a-z]|$)/i;

/** Returns the kind of status that a column's name means; null for other names. */
export function statusKindOf(name: string): StatusKind | null {
  if (OTHER_CHANNELS.test(name.replaceAll("_", " "))) return null;
  return KIND_BY_NAME.get(plainName(name)) ?? null;
}

/** Returns whether a name such as `Status` may refer to the subscription. */
export function mayNameStatus(name: string): boolean {
  return WEAK_NAMES.has(plainName(name));
}

/** Returns whether other columns of the file show that `Status` is about payments. */
export function isAboutBilling(names: readonly string[]): boolean {
  return names.filter((name) => BILLING_NAMES.has(plainName(name))).length > 1;
}

export function isOtherChannel(name: string): boolean {
  return OTHER_CHANNELS.test(name.replaceAll("_", " "));
}

const NOTHING = /^(?:null|n\/a|#n\/a|none|nil|undefined|-+|–|—|\(null\))$/i;
/** A date and time of zeros, as MySQL writes a missing one. */
const ZERO_DATE = "0000-00-00";
const CHARACTERS_OF_ZERO_DATES = /^[0\s:/.\-TZ]+$/i;
const DECIMAL_FLAG = /^([01])[.,]0+$/;

const wordsOf = (words: string): string[] =>
  words
    .split(/[,\n]/)
    .map(plainWord)
    .filter((word) => word !== "");

const YES: ReadonlySet<string> = new Set(
  wordsOf(
    "true, t, yes, y, 1, on, x, ok, checked, ja, j, oui, o, vrai, si, sí, s, verdadero, vero, sim, verdadeiro, wahr, tak, да, はい, 是, 예, ✓, ✔",
  ),
);
const NO: ReadonlySet<string> = new Set(
  wordsOf(
    "false, f, no, n, 0, off, unchecked, nein, non, faux, falso, não, nao, falsch, nee, nie, нет, いいえ, 否, 아니요, ✗, ✘",
  ),
);

const WORDS: ReadonlyMap<string, ImportStatus> = new Map([
  ...wordsOf(`subscribed, subscriber, active, activated, enabled, confirmed, opted in, optin, opt in, opted-in, double opt in, single opt in,
    explicit opt in, implicit opt in, marketing contact, consented, granted, accepted, allowed, agreed, deliverable, abonniert, angemeldet, aktiv, bestätigt,
    abonné, abonnée, inscrit, inscrite, actif, suscrito, suscrita, activo, confirmado, iscritto, iscritta, attivo, inscrito, ativo, ingeschreven, actief`).map(
    (word) => [word, "subscribed"] as const,
  ),
  ...wordsOf(`unsubscribed, unsubscribe, unsub, not subscribed, non subscribed, nonsubscribed, never subscribed, inactive, disabled, deactivated, cancelled,
    canceled, opted out, optout, opt out, opted-out, unconfirmed, not confirmed, pending, awaiting confirmation, pending confirmation, transactional, archived,
    deleted, removed, excluded, non marketing contact, not opted in, no consent, denied, refused, declined, withdrawn, revoked, rejected, expired, left, paused,
    blacklisted, blocklisted, blocked, banned, suspended, globally unsubscribed, do not contact, do not email, dnc, redacted, abgemeldet, abbestellt,
    inaktiv, unbestätigt, gesperrt, gelöscht, désabonné, désabonnée, désinscrit, désinscrite, inactif, en attente, desuscrito, dado de baja, de baja, baja, inactivo, pendiente,
    disiscritto, disiscritta, inattivo, cancelado, descadastrado, inativo, uitgeschreven, inactief`).map(
    (word) => [word, "unsubscribed"] as const,
  ),
  ...wordsOf(`cleaned, bounced, bounce, hard bounce, hard bounced, hardbounce, hard, soft bounced, soft bounce, invalid, undeliverable, complained, complaint, complainer, spam, spam complaint,
    spam report, marked as spam, reported as spam, junk, abuse, suppressed, hygiene suppressed, unmailable, rebotado, rebond, unzustellbar`).map(
    (word) => [word, "suppressed"] as const,
  ),
]);
/** Words that only ever describe a subscription. */
const SUBSCRIPTION_WORDS: ReadonlySet<string> = new Set(
  wordsOf(`subscribed, unsubscribed, not subscribed, non subscribed, nonsubscribed, never subscribed, opted in, opted out, opt in, opt out, cleaned, bounced,
    hard bounced, unconfirmed, complained, abonniert, abgemeldet, désabonné, désinscrit, suscrito, desuscrito, disiscritto, marketing contact, non marketing contact`),
);

/** Returns a status word without case, `_` and `-`, so that `NEVER_SUBSCRIBED` is `never subscribed`. Empty for NULL and similar words. */
export function plainWord(cell: string): string {
  const text = cell.trim();
  if (NOTHING.test(text) || (text.includes(ZERO_DATE) && CHARACTERS_OF_ZERO_DATES.test(text))) return "";
  const word = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\s_-]+/g, " ")
    .trim();
  return DECIMAL_FLAG.exec(word)?.[1] ?? word;
}

/** Returns the usual status for a word in a column of this kind, or undefined. */
export function statusOfWord(kind: StatusKind, word: string): ImportStatus | undefined {
  if (kind === "left") return "unsubscribed";
  if (kind === "gone") return "suppressed";
  const isYes = YES.has(word);
  if (isYes || NO.has(word)) {
    if (kind === "status" || kind === "consent") return isYes ? "subscribed" : "unsubscribed";
    if (!isYes) return "subscribed";
    return kind === "block" ? "suppressed" : "unsubscribed";
  }
  const meant = WORDS.get(word);
  // A reason in an opt-out column, such as "Hard bounce", is an opt-out regardless of the word.
  if (kind === "refusal" && meant !== "suppressed") return "unsubscribed";
  if (kind === "block") return "suppressed";
  return meant;
}

/** Returns the status for a word in a column of unknown kind, such as one that a caller chose. */
export function usualStatus(name: string, word: string): ImportStatus | undefined {
  return statusOfWord(statusKindOf(name) ?? "status", word);
}

/** Returns whether all words of a column describe a subscription and at least one describes nothing else. */
export function describeSubscriptions(words: readonly string[]): boolean {
  return words.some((word) => SUBSCRIPTION_WORDS.has(word)) && words.every((word) => WORDS.has(word));
}

/** Returns the status for unknown words in kinds where all such words mean the same. */
export function statusOfOtherWords(kind: StatusKind): Readonly<Record<string, ImportStatus>> {
  if (kind === "left" || kind === "refusal") return { [EVERY_OTHER]: "unsubscribed" };
  return kind === "gone" || kind === "block" ? { [EVERY_OTHER]: "suppressed" } : {};
}
