// Replies of the inbound SMTP server that reject a recipient or a message.

export class SmtpRejection extends Error {
  readonly responseCode: number;
  constructor(responseCode: number, text: string) {
    super(text);
    this.responseCode = responseCode;
  }
}

export const NOT_OURS = new SmtpRejection(550, "5.7.1 This server accepts no mail for that address");
export const LOST_DOMAIN = new SmtpRejection(
  450,
  "4.3.5 The DNS records of that domain are incomplete, try again later",
);
export const TOO_MANY_RECIPIENTS = new SmtpRejection(
  452,
  "4.5.3 Too many recipients, send the rest in a separate message",
);
const TOO_MANY_CONNECTIONS = new SmtpRejection(421, "4.7.0 Too many connections from your address");
const NO_SLOT = new SmtpRejection(421, "4.3.2 Too many connections, try again in a moment");
export const TOO_MANY_MESSAGES = new SmtpRejection(
  450,
  "4.7.1 Too many messages to that address for now, try again later",
);
export const TOO_MUCH = new SmtpRejection(
  450,
  "4.7.1 Too much mail from your network for now, try again later",
);
export const NO_ROOM = new SmtpRejection(450, "4.3.1 Too many messages are waiting here, try again later");
export const HEADER_TOO_LARGE = new SmtpRejection(552, "5.3.4 The header of the message is too large");
export const TOO_LARGE = new SmtpRejection(552, "5.3.4 The message is too large");
export const REFUSED_SLOTS = { taken: null, "network-full": TOO_MANY_CONNECTIONS, full: NO_SLOT };
export const NOT_NOW = new SmtpRejection(451, "4.3.0 The message could not be stored, try again later");
