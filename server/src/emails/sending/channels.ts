// Gives each project with transports of its own a channel: emails in hand, connections and destination limits that no other project shares.
// Kept in memory, without database, clock or transport.
import { createDestinationLimits, type Echo } from "./destination-limits.ts";
import type { Ready } from "../rows/prepared.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";
import { PROJECT_CONNECTIONS } from "../../transports/own/url.ts";
import { createSenderState, type SenderState } from "./sender-state.ts";

export type Channel = SenderState<ClaimedRow, Ready>;

/** The channel of a project. */
interface Own {
  channel: Channel;
  /** Emails being submitted. */
  active: number;
  /** Emails that were submitted since it was created. */
  sent: number;
  /** Whether it claims nothing, because other projects wait for a channel. */
  isLeaving: boolean;
}

export interface Started {
  channel: Channel;
  mail: Ready;
  answered: (echo: Echo) => void;
}

export interface Channels {
  /** The channel of all projects without transports of their own. */
  common: Channel;
  /** Returns the channel of a project with transports of its own, or null while too many channels are busy. */
  of(projectId: string): Channel | null;
  /** Returns the next email to submit, if there is one. The caller must call `answered` and then `ended` of its channel. */
  next(): Started | undefined;
  /** Counts a prepared email of a channel. Without room, no further email is claimed for channels that hold some. */
  hold(channel: Channel, mail: Ready): void;
  /** Ends counting an email. */
  letGo(mail: Ready): void;
  /** Whether a channel may claim email. */
  hasRoom(channel: Channel): boolean;
  restOwn(): void;
  claimOwn(): void;
  stop(): void;
  isIdle(): boolean;
  /** Returns whether there was a fault in any channel since the last call. */
  takeFault(): boolean;
  inHand(): string[];
}

/** Emails claimed for a channel at a time. */
export const CHANNEL_CLAIM = 20;
/** Bounds the memory of channels. While further projects wait, the channels that sent most claim nothing until they are empty, and are removed. */
const MAX_CHANNELS = 100;
/** Channels that make room at a time. */
const MAX_LEAVING = 10;
/** Connections of all channels together. Each channel may have one beyond, so that slow servers never take the last one of another project. */
const MAX_CHANNEL_CONNECTIONS = 50;
/** Bounds the memory of all channels, except for one claim of each. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Fewer than in the common channel: one claim in preparation, and as many emails waiting. */
const CHANNEL_SIZE = { preparation: 2 * CHANNEL_CLAIM, waiting: CHANNEL_CLAIM };

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createChannels(options: {
  connections: number;
  destinationConnections?: number | undefined;
}): Channels {
  const { connections, destinationConnections = Infinity } = options;
  const limitsFor = (count: number) => createDestinationLimits(Math.min(destinationConnections, count));
  const common: Channel = createSenderState(connections, limitsFor(connections));
  /** In the order in which they get their next turn. */
  const own = new Map<string, Own>();
  /** Bytes of the messages that channels hold, by email, because they are released before the email ends. */
  const sizes = new Map<string, number>();
  let heldBytes = 0;
  let active = 0;
  let isStopping = false;

  const isFree = ({ channel }: Own) => channel.inHand().length === 0 && channel.isIdle();

  function remove(projectId: string, { channel }: Own): void {
    // What it did not requeue yet is requeued for the common channel.
    if (channel.takeFault()) common.noteFault();
    own.delete(projectId);
  }

  /** Lets the channel that sent most make room, if not enough others do. */
  function makeRoom(): void {
    const [most, ...others] = [...own.values()]
      .filter(({ isLeaving }) => !isLeaving)
      .toSorted((a, b) => b.sent - a.sent);
    if (most !== undefined && others.length >= MAX_CHANNELS - MAX_LEAVING) most.isLeaving = true;
  }

  function create(projectId: string): Channel | null {
    if (own.size >= MAX_CHANNELS) {
      const free = [...own].find(([, one]) => isFree(one));
      if (free === undefined) {
        makeRoom();
        return null;
      }
      remove(...free);
    }
    const channel: Channel = createSenderState(
      PROJECT_CONNECTIONS,
      limitsFor(PROJECT_CONNECTIONS),
      CHANNEL_SIZE,
    );
    if (isStopping) channel.stop();
    own.set(projectId, { channel, active: 0, sent: 0, isLeaving: false });
    return channel;
  }

  /** Returns the channel of a project. One that is empty and should leave is created anew, if no other project took its place. */
  function of(projectId: string): Channel | null {
    const found = own.get(projectId);
    if (found?.isLeaving === true && isFree(found)) remove(projectId, found);
    return own.get(projectId)?.channel ?? create(projectId);
  }

  function nextOwn(): Started | undefined {
    // The channel with the fewest connections comes first, so that slow servers don't take a free connection back again and again.
    for (const [projectId, entry] of [...own].toSorted(([, a], [, b]) => a.active - b.active)) {
      if (entry.active > 0 && active >= MAX_CHANNEL_CONNECTIONS) continue;
      const taken = entry.channel.next();
      if (taken === undefined) continue;
      entry.active += 1;
      entry.sent += 1;
      active += 1;
      // The others get their turn first.
      own.delete(projectId);
      own.set(projectId, entry);
      return {
        channel: entry.channel,
        mail: taken.mail,
        answered(echo) {
          entry.active -= 1;
          active -= 1;
          taken.answered(echo);
        },
      };
    }
    return undefined;
  }

  const ownChannels = (): Channel[] => [...own.values()].map(({ channel }) => channel);
  const all = (): Channel[] => [common, ...ownChannels()];
  return {
    common,
    of,
    next() {
      const taken = common.next();
      return taken === undefined ? nextOwn() : { channel: common, ...taken };
    },
    hold(channel, { row, message }) {
      if (channel === common) return;
      sizes.set(row.id, message.raw.length);
      heldBytes += message.raw.length;
    },
    letGo({ row }) {
      heldBytes -= sizes.get(row.id) ?? 0;
      sizes.delete(row.id);
    },
    hasRoom: (channel) =>
      !channel.hasEnough() &&
      ![...own.values()].some((one) => one.channel === channel && one.isLeaving) &&
      (heldBytes < MAX_HELD_BYTES || channel.inHand().length === 0),
    restOwn: () => ownChannels().forEach((channel) => channel.rest()),
    claimOwn: () => ownChannels().forEach((channel) => channel.claim()),
    stop() {
      isStopping = true;
      for (const channel of all()) channel.stop();
    },
    isIdle: () => all().every((channel) => channel.isIdle()),
    takeFault: () =>
      all()
        .map((channel) => channel.takeFault())
        .includes(true),
    inHand: () => all().flatMap((channel) => channel.inHand()),
  };
}
