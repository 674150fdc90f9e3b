// Assigns requests of an ingest endpoint to shards. The same text always gets the same shard, and large requests have a separate one.

/** Bytes above which a request is heavy, thousands of times the usual size. */
const HEAVY_BYTES = 128 * 1024;
/** Number of data keys above which a request is heavy, because each may be a new field. */
const HEAVY_KEYS = 100;
/** Bytes in a batch of heavy requests. A larger request is processed alone. */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** Properties of a request that determine its shard. */
export interface ShardRequest {
  projectId: string;
  /** Requests of a project with the same text stay in order. */
  text: string;
  bodyBytes: number;
  data: Readonly<Record<string, unknown>> | undefined;
  /** Whether the request has several emails, which makes it heavy. */
  isBatch?: boolean;
}

export interface Shards {
  count: number;
  shardOf(request: ShardRequest): number;
  /** Submits a request. While a heavy request of a project is in flight, all requests of the project use the heavy shard. */
  during<Result>(request: ShardRequest, submit: () => Promise<Result>): Promise<Result>;
}

/**
 * Returns `count` shards for light requests and one for heavy ones, so that large requests only delay each other. Other requests of the
 * same project join them, so that they wait for its row locks there.
 */
export function createShards(count: number): Shards {
  const heavy = new Map<string, number>();
  return {
    count: count + 1,
    shardOf: (request) =>
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

function isHeavy({ bodyBytes, data, isBatch = false }: ShardRequest): boolean {
  return isBatch || bodyBytes > HEAVY_BYTES || (data !== undefined && Object.keys(data).length > HEAVY_KEYS);
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return Math.abs(hash);
}

/** Returns `{ [name]: value }`, or an empty object for undefined, because an omitted key differs from any value. */
export function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: Value });
}
