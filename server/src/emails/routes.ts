// HTTP for mails: endpoint → verb → answer.
import * as contract from "@postloft/contract/emails.ts";
import type { Database } from "../platform/database.ts";
import { ok, route, type Route } from "../platform/http-route.ts";
import { readPage } from "../platform/page.ts";
import { getEmail, listEmails } from "./emails.ts";
import { readPausedDestinations, releaseDestinations } from "./paused-destinations.ts";
import { resolveEmail } from "./resolve-emails.ts";
import { listReturnedMessages } from "./returned-messages.ts";

export interface EmailRouteParts {
  database: Database;
  /** A mail waits again: look now. */
  wakeSender: () => void;
}

export function emailRoutes({ database, wakeSender }: EmailRouteParts): Route[] {
  return [
    route(contract.listEmails, async ({ projectId, query }) => {
      const { since, ...plain } = query;
      const filter = { ...plain, since: since === undefined ? undefined : new Date(since) };
      return ok(await listEmails(database, projectId, filter, readPage("emails", query)));
    }),
    route(contract.listPausedDestinations, async ({ projectId }) =>
      ok({ data: await readPausedDestinations(database, { projectId, campaignId: null }) }),
    ),
    route(contract.releaseListMail, async ({ projectId, body, commit }) =>
      commit(async (tx) => {
        const key = { projectId, campaignId: null };
        await releaseDestinations(tx, key, body.destination ?? null);
        return ok({ data: await readPausedDestinations(tx, key) });
      }),
    ),
    route(contract.getEmail, async ({ projectId, params }) =>
      ok(await getEmail(database, projectId, params.id)),
    ),
    route(contract.resolveEmail, async ({ projectId, params, body, userId, commit }) => {
      const resolve = await resolveEmail(database, projectId, params.id, body.as, userId);
      const answer = await commit(async (tx) => ok(await resolve(tx)));
      if (body.as === "retry") wakeSender();
      return answer;
    }),
    route(contract.listReturnedMessages, async ({ projectId, params }) =>
      ok({ data: await listReturnedMessages(database, projectId, params.id) }),
    ),
  ];
}
