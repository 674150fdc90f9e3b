// HTTP routes of /v1.
import * as contract from "@postloft/contract/v1.ts";
import { verify, type Verification } from "@postloft/contract/verify.ts";
import type { Database } from "../platform/database/database.ts";
import type { GroupCommit } from "../platform/background/group-commit.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { VIA_PUBLIC_KEY, viaApi } from "../contacts/consent.ts";
import { getContact } from "../contacts/contacts.ts";
import type { RecentSends } from "./recent-sends.ts";
import type { SendResponse, SendRequest } from "./send.ts";
import type { TrackResponse, TrackRequest } from "./track.ts";

export function v1Routes(endpoints: {
  database: Database;
  tracker: GroupCommit<TrackRequest, TrackResponse>;
  send: (request: SendRequest) => Promise<SendResponse>;
  recentSends: Pick<RecentSends, "note">;
  verify: (email: string) => Promise<Verification>;
}): Route[] {
  return [
    route(contract.track, async ({ projectId, userId, byPublicKey, body, bodyBytes, storedResponse }) => {
      const { email, event, subscribed, data } = body;
      const via = byPublicKey ? VIA_PUBLIC_KEY : viaApi(userId);
      return ok(
        await endpoints.tracker.submit({
          projectId,
          email,
          event,
          subscribed,
          data,
          bodyBytes,
          storedResponse,
          via,
        }),
      );
    }),
    route(contract.trackEvent, async ({ projectId, userId, body, bodyBytes, storedResponse }) => {
      const { event = body.name ?? "", contactId, subscribed, data } = body;
      const email = body.email ?? (await getContact(endpoints.database, projectId, contactId ?? "")).email;
      const via = viaApi(userId);
      return ok(
        await endpoints.tracker.submit({
          projectId,
          email,
          event,
          subscribed,
          data,
          bodyBytes,
          storedResponse,
          via,
        }),
      );
    }),
    route(
      contract.send,
      async ({ projectId, userId, isTest, body, bodyBytes, storedResponse, requestId, unknownFields }) => {
        const via = viaApi(userId);
        const answer = await endpoints.send({
          projectId,
          isTest,
          body,
          bodyBytes,
          storedResponse,
          via,
          unknownFields,
        });
        endpoints.recentSends.note({ requestId, projectId, answer });
        return ok(answer);
      },
    ),
    route(verify, async ({ body, storedResponse, commit }) => {
      const response = ok(await endpoints.verify(body.email));
      // DNS is queried outside of a transaction, which is needed only to store the response.
      return storedResponse === null ? response : commit(async () => response);
    }),
  ];
}
