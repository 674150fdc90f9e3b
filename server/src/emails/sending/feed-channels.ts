// Claims email of projects with transports of their own, one claim for each channel in turn. Never waits for a channel, so that a slow server
// delays no other project.
import type { ProjectSource } from "../../platform/database/cluster.ts";
import type { Database } from "../../platform/database/database.ts";
import type { WakeUp } from "../../platform/background/wake-up.ts";
import type { Log } from "../../platform/log.ts";
import type { Lease } from "../lease/lease.ts";
import { inTurn } from "./claims.ts";
import { CHANNEL_CLAIM, type Channel, type Channels } from "./channels.ts";
import { haveOwnTransports } from "./own-transport-queries.ts";
import type { ProjectRate } from "./project-rate.ts";
import { listDueQueues, type DueQueue } from "./due-queue-queries.ts";

export interface ChannelFeeder extends ProjectSource {
  database: Database;
  channels: Channels;
  lease: Pick<Lease, "isHeld" | "liveSenders">;
  rate: ProjectRate;
  wakeUp: WakeUp;
  /** Claims emails of a queue for a channel and returns their number. */
  take: (channel: Channel, due: DueQueue, limit: number) => Promise<number>;
  /** Requeues the emails of this sender that it does not know of, after a fault. */
  requeueUnknown: () => Promise<void>;
  log: Log;
}

const POLL_MS = 2_000;
/** Shortest time between two polls while a project is at its rate limit. */
const SHORTEST_WAIT_MS = 50;
const ERROR_PAUSE_MS = 2_000;

/** Runs until the channels stop. */
export async function feedChannels(feeder: ChannelFeeder): Promise<void> {
  const { database, channels, lease, rate, wakeUp, log } = feeder;
  const { isStopping } = channels.common;
  /** Whether any project has transports of its own, read once for each poll. */
  let known = { any: false, untilMs: 0 };

  async function isNeeded(): Promise<boolean> {
    const atMs = performance.now();
    if (atMs >= known.untilMs)
      known = { any: await haveOwnTransports(database, feeder.listProjects), untilMs: atMs + POLL_MS };
    return known.any;
  }

  async function feed(): Promise<boolean> {
    if (!lease.isHeld() || !(await isNeeded())) return false;
    let claimed = 0;
    rate.shareAmong(lease.liveSenders());
    for (const due of inTurn(await listDueQueues(database, true, feeder.listProjects))) {
      if (isStopping() || !lease.isHeld()) return false;
      const channel = channels.of(due.projectId);
      if (channel === null || !channels.hasRoom(channel)) continue;
      const limit = Math.min(CHANNEL_CLAIM, rate.allowance(due.projectId, due.sendingRate));
      if (limit > 0) claimed += await feeder.take(channel, due, limit);
    }
    return claimed > 0;
  }

  while (!isStopping()) {
    try {
      await feeder.requeueUnknown();
      if (await feed()) continue;
      channels.restOwn();
      const limitedMs = lease.isHeld() ? rate.takeWaitMs() : SHORTEST_WAIT_MS;
      await wakeUp.wait(Math.min(POLL_MS, Math.max(SHORTEST_WAIT_MS, limitedMs)));
      channels.claimOwn();
    } catch (error) {
      channels.common.noteFault();
      log.warn({ err: error }, "the sender failed to claim email of projects with transports, retrying");
      await wakeUp.pause(ERROR_PAUSE_MS);
    }
  }
}
