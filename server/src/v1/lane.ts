// Which lane of a door a request takes: the same text always the same one, different texts spread; large ones have a lane apart.

/** A request with a larger body is heavy, bytes: thousands of times what most have. */
const HEAVY_BYTES = 128 * 1024;
/** And one with more keys of data: each may be a field that is new. */
const HEAVY_KEYS = 100;
/** What a batch of heavy requests may hold, bytes; a larger one goes alone. */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** What is known of a request when its lane is chosen. */
export interface LaneRequest {
  projectId: string;
  /** Requests of a project with the same text stay in order. */
  text: string;
  bodyBytes: number;
  data: Readonly<Record<string, unknown>> | undefined;
}

export interface Lanes {
  count: number;
  laneOf(request: LaneRequest): number;
  /** Submits a request; while a heavy one of a project is in flight, all of the project take the lane of heavy ones. */
  during<Result>(request: LaneRequest, submit: () => Promise<Result>): Promise<Result>;
}

/**
 * `count` lanes for what is light, and one for what is heavy: whoever sends a megabyte waits for others that do, and nobody
 * else waits for it. Nor for a row that it locks: its project's other requests wait in the same lane.
 */
export function createLanes(count: number): Lanes {
  const heavy = new Map<string, number>();
  return {
    count: count + 1,
    laneOf: (request) =>
      isHeavy(request) || heavy.has(request.projectId)
        ? count
        : hashOf(request.projectId + request.text) % count,
    async during(request, submit) {
      const { projectId } = request;
      if (!isHeavy(request)) return submit();
      heavy.set(projectId, (heavy.get(projectId) ?? 0) + 1);
      try {
        return await submit();
      } finally {
        const left = (heavy.get(projectId) ?? 1) - 1;
        if (left === 0) heavy.delete(projectId);
        else heavy.set(projectId, left);
      }
    },
  };
}

function isHeavy({ bodyBytes, data }: LaneRequest): boolean {
  return bodyBytes > HEAVY_BYTES || (data !== undefined && Object.keys(data).length > HEAVY_KEYS);
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return Math.abs(hash);
}

/** `{ [name]: value }`, or nothing when the value was left out: omitted is not the same as any value. */
export function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value });
}
