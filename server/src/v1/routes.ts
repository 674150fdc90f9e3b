// HTTP routes of /v1.
import * as contract from "@postloft/contract/v1.ts";
import { verify, type Verification } from "@postloft/contract/verify.ts";
import type { Database } from "../platform/database/database.ts";
import type { GroupCommit } from "../platform/background/group-commit.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { VIA_PUBLIC_KEY, viaApi } from "../contacts/consent.ts";
import { getContact } from "../contacts/contacts.ts";
import type { RecentSends } from "./recent-sends.ts";
import type { SendAnswer, SendRequest } from "./send.ts";
import type { TrackAnswer, TrackRequest } from "./track.ts";

export function v1Routes(doors: {
  database: Database;
  tracker: GroupCommit<TrackRequest, TrackAnswer>;
  send: (request: SendRequest) => Promise<SendAnswer>;
  recentSends: Pick<RecentSends, "note">;
  verify: (email: string) => Promise<Verification>;
}): Route[] {
  return [
    route(contract.track, async ({ projectId, userId, byPublicKey, body, bodyBytes, receipt }) => {
      const { email, event, subscribed, data } = body;
      const via = byPublicKey ? VIA_PUBLIC_KEY : viaApi(userId);
      return ok(
        await doors.tracker.submit({ projectId, email, event, subscribed, data, bodyBytes, receipt, via }),
      );
    }),
    route(contract.trackEvent, async ({ projectId, userId, body, bodyBytes, receipt }) => {
      const { event = body.name ?? "", contactId, subscribed, data } = body;
      const email = body.email ?? (await getContact(doors.database, projectId, contactId ?? "")).email;
      const via = viaApi(userId);
      return ok(
        await doors.tracker.submit({ projectId, email, event, subscribed, data, bodyBytes, receipt, via }),
      );
    }),
    route(
      contract.send,
      async ({ projectId, userId, isTest, body, bodyBytes, receipt, requestId, unknownFields }) => {
        const via = viaApi(userId);
        const answer = await doors.send({ projectId, isTest, body, bodyBytes, receipt, via, unknownFields });
        doors.recentSends.note({ requestId, projectId, answer });
        return ok(answer);
      },
    ),
    route(verify, async ({ body, receipt, commit }) => {
      const answer = ok(await doors.verify(body.email));
      // DNS is queried outside of a transaction, which is needed only to store the response.
      return receipt === null ? answer : commit(async () => answer);
    }),
  ];
}
