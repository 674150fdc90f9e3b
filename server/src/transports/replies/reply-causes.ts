// Causes of rejected email with their category, explanation and advice. Source of docs/answers.md.

/**
 * Category of a reply. Temporary ones are retried: `temporary` (this message later), `throttled` (too much or too fast) and `unavailable`
 * (the server or our account there).
 * The other four end the email. `hard-bounce` means the address is gone, and `soft-bounce` that the mailbox did not accept the message.
 * `policy` is about our identity, sending behavior or login, and `message` about size or format.
 */
export type Category =
  | "temporary"
  | "throttled"
  | "unavailable"
  | "hard-bounce"
  | "soft-bounce"
  | "policy"
  | "message";

interface CauseRow {
  meaning: Category;
  /** The meaning of the server's reply. */
  says: string;
  /** Advice for the user. */
  advice: string;
}

const LEAVE = "No action needed. The contact was unsubscribed.";

export const CAUSES = {
  "unknown-user": { meaning: "hard-bounce", says: "The mailbox does not exist.", advice: LEAVE },
  "no-such-domain": {
    meaning: "hard-bounce",
    says: "The domain does not exist or has no mail server.",
    advice: LEAVE,
  },
  moved: { meaning: "hard-bounce", says: "The recipient has a new address.", advice: LEAVE },
  "takes-no-mail": {
    meaning: "hard-bounce",
    says: "The domain does not accept email (RFC 7505).",
    advice: LEAVE,
  },
  "mailbox-full": {
    meaning: "soft-bounce",
    says: "The mailbox is full.",
    advice: "No action needed. Later email may arrive. Consider removing contacts that never open email.",
  },
  "mailbox-closed": {
    meaning: "soft-bounce",
    says: "The mailbox exists but is disabled, locked or suspended.",
    advice:
      "No action needed at first, because the mailbox may be reopened. If the error persists, unsubscribe the contact.",
  },
  "recipient-refuses": {
    meaning: "soft-bounce",
    says: "The recipient, a filter or a group rejects this email or its sender.",
    advice: "Ask the recipient to allow your address, or stop sending to this contact.",
  },
  "not-delivered": {
    meaning: "soft-bounce",
    says: "Something failed on the recipient's side, such as a program, a forwarding rule, a mail loop or a disk.",
    advice: "No action needed. The recipient's postmaster has to fix it.",
  },
  expired: {
    meaning: "soft-bounce",
    says: "The server did not respond, or only deferred the email, until we gave up.",
    advice: "No action needed. Later email may arrive.",
  },
  "not-told": {
    meaning: "soft-bounce",
    says: "The server rejected the email without a reason.",
    advice: "Read the server's reply. If it happens often, ask the recipient's postmaster.",
  },
  reputation: {
    meaning: "policy",
    says: "The sending IP address or domain is on a blocklist or has a poor reputation.",
    advice:
      "Find the blocklist named in the reply, fix the cause and request removal. Sign up for the provider's postmaster tools.",
  },
  authentication: {
    meaning: "policy",
    says: "SPF, DKIM or DMARC failed.",
    advice: "Check the domain's DNS records. `GET /domains` shows what is missing.",
  },
  "reverse-dns": {
    meaning: "policy",
    says: "The sending IP address has no reverse DNS name, or the name does not match the address or HELO.",
    advice: "Set a PTR record for the sending server and use that name in HELO.",
  },
  "sender-refused": {
    meaning: "policy",
    says: "The sender's address or domain could not be verified or is not allowed.",
    advice: "Check that the sender's domain accepts email (MX record) and that the address exists.",
  },
  relaying: {
    meaning: "policy",
    says: "The server does not accept email for that domain from us.",
    advice:
      "Check the settings of your mail server and its login. If they are correct, the recipient's MX record is wrong.",
  },
  content: {
    meaning: "policy",
    says: "The content looks like spam, or contains a virus or a blocklisted link.",
    advice: "Change the text, links or attachments before sending again.",
  },
  policy: {
    meaning: "policy",
    says: "A policy of the server forbids the email.",
    advice:
      "Read the server's reply, which often links to instructions. Otherwise ask the recipient's postmaster.",
  },
  protocol: {
    meaning: "policy",
    says: "The server rejected or did not understand a command.",
    advice: "Check any mail server in between. Otherwise report the problem to us.",
  },
  rate: {
    meaning: "throttled",
    says: "Too many messages, recipients or connections at the moment.",
    advice:
      "No action needed. Sending continues at a lower rate. If it happens often, send less per hour or request a higher limit.",
  },
  "too-large": {
    meaning: "message",
    says: "The message exceeds the server's size limit.",
    advice: "Send a link instead of the attachment.",
  },
  form: {
    meaning: "message",
    says: "The server does not support the format of the message or the characters of an address.",
    advice: "Simplify the message, its attachments or the address.",
  },
  busy: {
    meaning: "temporary",
    says: "The server is busy.",
    advice: "No action needed. The email is retried.",
  },
  unreachable: {
    meaning: "unavailable",
    says: "The server is unreachable, or does not accept our login or encryption.",
    advice: "Check the address, login and encryption of your transport.",
  },
} as const satisfies Record<string, CauseRow>;

export type Cause = keyof typeof CAUSES;
