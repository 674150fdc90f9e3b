// Records the responses about an email that waits for its time.
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import type { Story } from "./answer-story.ts";

const DAY_MS = 86_400_000;

export async function scheduledEmails({ ask }: Story): Promise<void> {
  const scheduledFor = new Date(Date.now() + DAY_MS).toISOString();
  const body = { ...EXAMPLE_BODIES["v1.send"], scheduledFor };
  const { emails } = await ask<{ emails: Array<{ email: string }> }>("v1.send", { body });
  const params = { id: emails[0]?.email ?? "" };
  await ask("emails.reschedule", { params, body: { scheduledFor } });
  await ask("emails.cancel", { params });
}
