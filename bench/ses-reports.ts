// Reports of Amazon SES about sent mails, as many of each kind as a mailing gets, in the form and size SES gives them.
import { newId } from "../server/src/platform/ids.ts";

/** Of a hundred reports. */
export const SHARES = { Delivery: 60, Bounce: 10, Open: 30 } as const;
export type Kind = keyof typeof SHARES;

export interface Mail {
  projectId: string;
  id: string;
  address: string;
}

export const random = (below: number) => Math.floor(Math.random() * below);

export function shuffle<Item>(items: Item[]): Item[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random(at + 1);
    [items[at], items[other]] = [items[other] as Item, items[at] as Item];
  }
  return items;
}

export interface ToldReport {
  mail: Mail;
  kind: Kind;
  message: string;
}

export function reportsAbout(mails: readonly Mail[], count: number): ToldReport[] {
  return (Object.keys(SHARES) as Kind[]).flatMap((kind) =>
    shuffle([...mails])
      .slice(0, Math.floor((count * SHARES[kind]) / 100))
      .map((mail) => ({ mail, kind, message: JSON.stringify(sesEvent(mail, kind)) })),
  );
}

/** As large as those of SES. */
function sesEvent({ projectId, id, address }: Mail, kind: Kind) {
  const timestamp = new Date().toISOString();
  const part = {
    Delivery: {
      timestamp,
      processingTimeMillis: 546,
      recipients: [address],
      smtpResponse: "250 2.6.0 Message received",
    },
    Bounce: {
      timestamp,
      feedbackId: newId(),
      bounceType: "Permanent",
      bounceSubType: "General",
      bouncedRecipients: [
        { emailAddress: address, status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" },
      ],
    },
    Open: { timestamp, ipAddress: "192.0.2.1", userAgent: "Mozilla/5.0 (X11; Linux x86_64) ".repeat(3) },
  }[kind];
  return {
    eventType: kind,
    mail: {
      timestamp,
      source: "News <news@sender.example>",
      messageId: `ses-${id}`,
      destination: [address],
      headersTruncated: false,
      headers: Array.from({ length: 12 }, (_, at) => ({
        name: `X-Header-${at}`,
        value: "a value of some length",
      })),
      commonHeaders: {
        from: ["News <news@sender.example>"],
        messageId: `<${id}@sender.example>`,
        subject: "News",
      },
      tags: { "postloft-email": [id], "postloft-project": [projectId], "ses:configuration-set": ["all"] },
    },
    [kind.toLowerCase()]: part,
  };
}
