// Causes of rejected email with their category, explanation and advice. Source of docs/answers.md.

/**
 * Category of a reply. Temporary ones are retried: `temporary` (this message later), `throttled` (too much or too fast) and `unavailable`
 * (the server or our account there).
 * The other four end the email. `hard-bounce` means the address is gone, and `soft-bounce` that the mailbox did not accept the message.
 * `policy` is about our identity, sending behavior or login, and `message` about size or format.
 */
export type Meaning =
  | "temporary"
  | "throttled"
  | "unavailable"
  | "hard-bounce"
  | "soft-bounce"
  | "policy"
  | "message";

interface CauseRow {
  meaning: Meaning;
  /** The meaning of the server's reply. */
  says: string;
  /** Advice for the user. */
  advice: string;
}

const LEAVE = "Nothing: the contact is unsubscribed.";

export const CAUSES = {
  "unknown-user": { meaning: "hard-bounce", says: "There is no such mailbox.", advice: LEAVE },
  "no-such-domain": {
    meaning: "hard-bounce",
    says: "The domain does not exist, or has no mail server.",
    advice: LEAVE,
  },
  moved: { meaning: "hard-bounce", says: "The person has another address now.", advice: LEAVE },
  "takes-no-mail": {
    meaning: "hard-bounce",
    says: "The domain takes no mail at all (RFC 7505).",
    advice: LEAVE,
  },
  "mailbox-full": {
    meaning: "soft-bounce",
    says: "The mailbox is full.",
    advice: "Nothing: later mail may arrive. Whoever never reads should leave the list one day.",
  },
  "mailbox-closed": {
    meaning: "soft-bounce",
    says: "The mailbox is there, but disabled, locked or suspended.",
    advice: "Nothing at first: a mailbox can be opened again. When it stays so, unsubscribe the contact.",
  },
  "recipient-refuses": {
    meaning: "soft-bounce",
    says: "The recipient, a filter or a group does not want this mail, or mail from this sender.",
    advice: "Ask the recipient to allow your address, or leave them alone.",
  },
  "not-delivered": {
    meaning: "soft-bounce",
    says: "Something broke on the recipient's side: a program, a forwarding, a loop, a disk.",
    advice: "Nothing: it is for the recipient's postmaster to mend.",
  },
  expired: {
    meaning: "soft-bounce",
    says: "Nobody answered there, or only “later”, until the mail was given up.",
    advice: "Nothing: later mail may arrive.",
  },
  "not-told": {
    meaning: "soft-bounce",
    says: "It was refused and nothing tells why.",
    advice: "Read the answer; ask the recipient's postmaster when it happens often.",
  },
  reputation: {
    meaning: "policy",
    says: "The IP address or domain that sends is on a blocklist or has a bad name.",
    advice:
      "Find the list that the answer names, mend the cause, ask to be taken off. Sign up with the provider's postmaster pages.",
  },
  authentication: {
    meaning: "policy",
    says: "SPF, DKIM or DMARC did not pass.",
    advice: "Look at the domain's records: `GET /domains` shows what is missing.",
  },
  "reverse-dns": {
    meaning: "policy",
    says: "The IP address that sends has no name, or a name that does not lead back, or HELO gives another one.",
    advice: "Set a PTR record for the sending server and greet with that name.",
  },
  "sender-refused": {
    meaning: "policy",
    says: "The sender's address or domain is refused: it could not be verified, or is not allowed there.",
    advice: "Check that the domain of the sender takes mail (MX record) and that the address exists.",
  },
  relaying: {
    meaning: "policy",
    says: "The server does not take mail for that domain from us.",
    advice: "Check the settings of your mail server and its login; else the recipient's MX record is wrong.",
  },
  content: {
    meaning: "policy",
    says: "The text looks like spam, or carries a virus or a link that is listed.",
    advice: "Change the text, its links or attachments; do not send the same again.",
  },
  policy: {
    meaning: "policy",
    says: "A rule of the server forbids it.",
    advice: "Read the answer: it often has a page that says what to do. Else ask the recipient's postmaster.",
  },
  protocol: {
    meaning: "policy",
    says: "The server did not understand or not want a command.",
    advice: "Look at the mail server between, if there is one; else report it to us.",
  },
  rate: {
    meaning: "throttled",
    says: "Too many messages, recipients or connections for now.",
    advice: "Nothing: it goes on, slower. If it happens often, send fewer an hour or ask for a higher limit.",
  },
  "too-large": {
    meaning: "message",
    says: "The message is larger than the server takes.",
    advice: "Send a link instead of the attachment.",
  },
  form: {
    meaning: "message",
    says: "The server cannot take a message of this form, or an address in these letters.",
    advice: "Simplify the message, its attachments or the address.",
  },
  busy: { meaning: "temporary", says: "Not now.", advice: "Nothing: it is tried again." },
  unreachable: {
    meaning: "unavailable",
    says: "The server is away, or does not accept our login or encryption.",
    advice: "Check the address, login and encryption of your transport.",
  },
} as const satisfies Record<string, CauseRow>;

export type Cause = keyof typeof CAUSES;
