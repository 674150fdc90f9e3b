// Determines the sender of each call: its `from`, or else its template's, or else the project's default. Only verified domains are allowed.
import { domainOf, parseMailbox } from "@postloft/contract/address.ts";
import type { SendBody } from "@postloft/contract/v1.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../platform/database/database.ts";
import { invalidField } from "../platform/app-error.ts";
import type { Mailbox } from "../emails/outbox/emails.ts";
import { readDefaultSenders } from "../projects/default-senders.ts";
import type { Domains } from "../domains/domains.ts";
import { notVerified } from "../domains/errors.ts";
import type { Draft } from "./draft-content.ts";

interface SendingCall {
  projectId: string;
  body: SendBody;
  template: Draft["template"];
}

/** Returns one sender or error per call. Calls with an error keep it. */
export async function resolveSenders(
  tx: Tx,
  calls: ReadonlyArray<SendingCall | Error>,
  domains: Domains,
): Promise<Array<Mailbox | Error>> {
  const silent = calls.flatMap((call) =>
    call instanceof Error || call.body.from !== undefined || (call.template?.fromAddress ?? null) !== null
      ? []
      : [call.projectId],
  );
  const defaults = await readDefaultSenders(tx, [...new Set(silent)]);
  const senders = calls.map((call) => {
    if (call instanceof Error) return call;
    const sender = senderOf(call, defaults.get(call.projectId));
    if (sender instanceof Error) return sender;
    return { sender, projectId: call.projectId, domain: domainOf(sender.address) };
  });
  const keys = await domains.findSigningKeys(
    senders.flatMap((one) => (one instanceof Error ? [] : [one])),
    tx,
  );
  return senders.map((one) => {
    if (one instanceof Error) return one;
    const { sender, projectId, domain } = one;
    const key = keys.get(`${projectId} ${domain}`);
    if (key !== undefined && key.kind !== "refused") return sender;
    return notVerified(domain);
  });
}

function senderOf({ body, template }: SendingCall, projectDefault: string | undefined): Mailbox | Error {
  if (body.from !== undefined)
    return { address: body.from.address, name: body.from.name ?? body.name ?? null };
  const name = template?.fromName ?? null;
  const address = template?.fromAddress ?? null;
  if (address !== null) return { address, name: name ?? body.name ?? null };
  const parsed = projectDefault === undefined ? null : parseMailbox(projectDefault);
  if (parsed?.ok !== true) {
    const silent = template === null ? "the project has" : "neither the template nor the project has";
    const ending = template === null ? "no default sender" : "a sender";
    return invalidField(
      "from",
      "required",
      withValues("Required because {silent} {ending}.", { silent, ending }),
    );
  }
  return { address: parsed.address, name: name ?? parsed.name ?? body.name ?? null };
}
