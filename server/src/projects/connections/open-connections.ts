// Limits the open streams of a process, and ends those whose caller lost access (docs/decisions/0111-open-streams.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { AppError } from "../../platform/app-error.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import { getOwnerId } from "../projects.ts";
import { createStreamAccess } from "./stream-access.ts";
import type { StreamCaller } from "./stream-caller.ts";

export interface OpenConnections {
  /**
   * Counts a connection, and calls `end` once its caller has lost access. Returns the function that releases it.
   * @throws AppError RATE_LIMIT_EXCEEDED if the project, the person or the process has too many
   */
  open(caller: StreamCaller, end: () => void): Promise<() => void>;
}

export function createOpenConnections(deps: { database: Database; log: Log }): OpenConnections {
  const access = createStreamAccess(deps);
  const ofProjects = createCounts();
  const ofPeople = createCounts();
  let open = 0;

  function requireRoom(projectId: string, personId: string): void {
    const isFull = ofProjects.of(projectId) >= LIMITS.liveStreams.value;
    const isPersonFull = ofPeople.of(personId) >= LIMITS.liveStreamsOfPerson.value;
    if (!isFull && !isPersonFull && open < LIMITS.liveStreamsInAll.value) return;
    throw new AppError("RATE_LIMIT_EXCEEDED", {
      message: isFull
        ? "Too many open streams of this project."
        : isPersonFull
          ? "Too many open streams of this user's projects."
          : "Too many open streams of this installation.",
      retryAfterSeconds: LIMITS.liveStreamSeconds.value,
    });
  }

  return {
    async open(caller, end) {
      const { projectId } = caller;
      // Connections of a key count towards the owner of its project, who can have keys of many projects.
      const personId = caller.userId ?? (await getOwnerId(deps.database, projectId));
      requireRoom(projectId, personId);
      const change = (by: 1 | -1) => {
        open += by;
        ofProjects.change(projectId, by);
        ofPeople.change(personId, by);
      };
      change(1);
      const endWatch = access.watch(caller, end);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        endWatch();
        change(-1);
      };
    },
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  const of = (id: string) => counts.get(id) ?? 0;
  return {
    of,
    change(id: string, by: 1 | -1): void {
      const count = of(id) + by;
      if (count === 0) counts.delete(id);
      else counts.set(id, count);
    },
  };
}
