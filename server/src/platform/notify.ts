// Runs what follows a commit outside the database: notifies loops of new work, writes a log line, counts.

/** Work that loops take from the database. Each loop subscribes to one topic; hints.ts passes topics on to other processes. */
export type Topic =
  | "emails"
  | "notices"
  | "campaigns"
  | "jobs"
  | "segments"
  | "workflows"
  | "webhooks"
  | "stream"
  | "link-domains"
  | "billing";

/** The subscribers of one process. */
export interface NotificationHub {
  /** Runs the callbacks of this process, then passes the topic on to the other processes. */
  notify(topic: Topic): void;
  /** Runs the callbacks of this process only. */
  deliver(topic: Topic): void;
  /** Adds a callback, which must not throw. Returns a function that removes it. */
  subscribe(topic: Topic, callback: () => void): () => void;
  /** Returns the topics that have a subscriber. */
  topics(): Topic[];
  /** Sets what passes topics on to other processes; null passes none on. */
  relayTo(relay: ((topic: Topic) => void) | null): void;
}

/** What a database or a transaction does about its effects: a database runs them immediately, a transaction after its commit. */
export interface Effects {
  readonly hub: NotificationHub;
  notify(topic: Topic): void;
  run(effect: () => void): void;
}

/** The effects that a transaction has recorded. */
export interface RecordedEffects extends Effects {
  /** Returns a function that withdraws what was recorded since, for a part of the transaction that is rolled back alone. */
  mark(): () => void;
  /** Runs the recorded effects, each topic once. Call it after the commit. */
  release(): void;
}

interface WithEffects {
  readonly effects: Effects;
}

/**
 * Notifies the loops that wait for `topic`: after the commit of a transaction, and never if it is rolled back. Given a database, it notifies
 * immediately, because a single statement has committed when it returns.
 */
export function notify(within: WithEffects, topic: Topic): void {
  within.effects.notify(topic);
}

/** Runs `effect` when the transaction has committed, and never if it is rolled back. It must not throw. */
export function afterCommit(within: WithEffects, effect: () => void): void {
  within.effects.run(effect);
}

/** Calls `callback`, which must not throw, when there may be work of this topic. Returns a function that ends the subscription. */
export function subscribe(database: WithEffects, topic: Topic, callback: () => void): () => void {
  return database.effects.hub.subscribe(topic, callback);
}

/** Returns the effects of a database, with a hub of its own. */
export function createEffects(): Effects {
  const hub = createHub();
  return { hub, notify: hub.notify, run: (effect) => effect() };
}

/** Returns the effects of a transaction that has just begun. */
export function recordEffects(hub: NotificationHub): RecordedEffects {
  let topics = new Set<Topic>();
  let effects: Array<() => void> = [];
  return {
    hub,
    notify: (topic) => void topics.add(topic),
    run: (effect) => void effects.push(effect),
    mark() {
      const before = { topics: new Set(topics), effects: [...effects] };
      return () => {
        ({ topics, effects } = before);
      };
    },
    release() {
      for (const effect of effects) effect();
      for (const topic of topics) hub.notify(topic);
    },
  };
}

function createHub(): NotificationHub {
  const callbacks = new Map<Topic, Set<() => void>>();
  let relay: ((topic: Topic) => void) | null = null;
  const deliver = (topic: Topic) => callbacks.get(topic)?.forEach((callback) => callback());
  return {
    deliver,
    notify(topic) {
      deliver(topic);
      relay?.(topic);
    },
    subscribe(topic, callback) {
      const subscribed = callbacks.get(topic) ?? new Set();
      callbacks.set(topic, subscribed.add(callback));
      return () => {
        subscribed.delete(callback);
        if (subscribed.size === 0 && callbacks.get(topic) === subscribed) callbacks.delete(topic);
      };
    },
    topics: () => [...callbacks.keys()],
    relayTo(next) {
      relay = next;
    },
  };
}
