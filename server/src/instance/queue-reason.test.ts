// Tests the reason that the installation page shows for a queue.
import { expect, test } from "vitest";
import type { QueueReason } from "@postloft/contract/installation.ts";
import { reasonOf } from "./queue-reason.ts";

type Queue = Parameters<typeof reasonOf>[0];
const SENDING: Queue = {
  isDisabled: false,
  isOpen: true,
  sendingRate: null,
  campaignState: null,
  due: 1,
  held: false,
  isDeferred: false,
  isRetry: false,
};
const HEALTHY = { hasProcess: true, isOut: false };

test.for<[Partial<Queue>, Partial<typeof HEALTHY>, QueueReason | null]>([
  [{}, {}, null],
  [{ campaignState: "OPEN", held: true, isDeferred: true }, {}, null],
  [{ isDisabled: true, isOpen: false, due: 0 }, {}, "PROJECT_DISABLED"],
  [{ isOpen: false, campaignState: "PAUSED" }, {}, "PROJECT_CLOSED"],
  [{ campaignState: "PAUSED", due: 0, held: true }, {}, "CAMPAIGN_PAUSED"],
  [{ campaignState: "CLOSED" }, {}, "CAMPAIGN_CLOSED"],
  [{ due: 0, held: true, isDeferred: true }, {}, "HELD"],
  [{ due: 0, isDeferred: true }, { hasProcess: false }, "DOMAIN_THROTTLED"],
  [{ due: 0 }, { hasProcess: false }, "LATER"],
  [{ due: 0, isRetry: true, held: true }, {}, "RETRY"],
  [{ due: 0, isRetry: true }, { isOut: true }, "TRANSPORT_OUTAGE"],
  [{ due: 0, isDeferred: true }, { isOut: true }, "DOMAIN_THROTTLED"],
  [{ sendingRate: 5 }, { hasProcess: false, isOut: true }, "NO_PROCESS"],
  [{ sendingRate: 5 }, { isOut: true }, "TRANSPORT_OUTAGE"],
  [{ sendingRate: 5 }, {}, "SENDING_RATE"],
])("names the first reason of %j with %j", ([queue, sending, reason]) => {
  expect(reasonOf({ ...SENDING, ...queue }, { ...HEALTHY, ...sending })).toBe(reason);
});
