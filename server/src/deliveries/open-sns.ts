// Creates the SNS endpoint for production, which fetches keys and confirmations from Amazon.
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { NoticeStore } from "./notices.ts";
import { createSnsEndpoint, type SnsEndpoint } from "./sns.ts";
import { createSnsKeys } from "./sns-keys.ts";
import { createSnsRequests } from "./sns-requests.ts";

export function openSnsEndpoint(parts: {
  database: Database;
  notices: NoticeStore;
  topics: readonly string[];
  log: Log;
}): SnsEndpoint {
  const { database, notices, topics, log } = parts;
  const fetchText = createSnsRequests();
  return createSnsEndpoint({
    database,
    notices,
    topics,
    keys: createSnsKeys(fetchText, log),
    fetchText,
    log,
  });
}
