// Provides messages as other mail servers send them to us in tests: bounces, complaints, and replies from people and machines.

export interface IncomingMail {
  from?: string;
  to?: string;
  subject?: string;
  messageId?: string;
  headers?: readonly string[];
  text?: string;
}

function lines(...parts: readonly string[]): Buffer {
  return Buffer.from(parts.join("\r\n"));
}

/** Returns a message from a person. */
export function personalMail({
  from,
  to,
  subject,
  messageId,
  headers = [],
  text,
}: IncomingMail = {}): Buffer {
  return lines(
    `From: ${from ?? "Ada <ada@example.com>"}`,
    `To: ${to ?? "us@in.example"}`,
    `Subject: ${subject ?? "A question"}`,
    `Message-ID: <${messageId ?? `${crypto.randomUUID()}@example.com`}>`,
    ...headers,
    "",
    text ?? "Where is my order?",
    "",
  );
}

/** Returns a report (RFC 3462) with a text, a machine-readable part and the headers of the reported email. */
function report(type: string, part: string, original: readonly string[], messageId: string): Buffer {
  return lines(
    "From: Mail Delivery System <mailer-daemon@mx.example.com>",
    "Subject: About your mail",
    `Message-ID: <${messageId}@mx.example.com>`,
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    `Content-Type: multipart/report; report-type=${type}; boundary="=_part"`,
    "",
    "--=_part",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "Something happened to your mail.",
    "",
    "--=_part",
    `Content-Type: message/${type}`,
    "",
    part,
    "",
    "--=_part",
    "Content-Type: text/rfc822-headers",
    "",
    ...original,
    "",
    "--=_part--",
    "",
  );
}

/** Returns a delivery status notification (RFC 3464). */
export function bounceMail({
  recipient = "ada@example.com",
  action = "failed",
  status = "5.1.1",
  diagnostic = "smtp; 550 5.1.1 user unknown",
  messageId = crypto.randomUUID(),
  original = [],
}: {
  recipient?: string;
  action?: string;
  status?: string;
  diagnostic?: string;
  messageId?: string;
  original?: readonly string[];
} = {}): Buffer {
  const part = [
    "Reporting-MTA: dns; mx.example.com",
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
  ].join("\r\n");
  return report("delivery-status", part, ["Subject: Hello", ...original], messageId);
}

/** Returns a complaint of a feedback loop (RFC 5965). */
export function complaintMail({
  type = "abuse",
  mailFrom,
  original = [],
  messageId = crypto.randomUUID(),
}: {
  type?: string;
  mailFrom?: string;
  original?: readonly string[];
  messageId?: string;
} = {}): Buffer {
  const part = [
    `Feedback-Type: ${type}`,
    "User-Agent: ExampleLoop/1.0",
    "Version: 1",
    ...(mailFrom === undefined ? [] : [`Original-Mail-From: <${mailFrom}>`]),
  ].join("\r\n");
  return report("feedback-report", part, ["Subject: Hello", ...original], messageId);
}
