// Follows a stream of server-sent events (HTML Standard §9.2), as a client that keeps everything it receives.
import { get, type IncomingMessage } from "node:http";
import type { OneServer, TestCaller } from "./test-server.ts";

export interface FollowedStream<Data> {
  status: number;
  headers: IncomingMessage["headers"];
  text: () => string;
  /** Returns the parsed data of each event so far. */
  told: () => Data[];
  isOver: () => boolean;
  stop: () => void;
}

/** Opens a stream and returns it once its status is known. @param options `after` is sent as Last-Event-ID */
export function followStream<Data>(
  from: Pick<OneServer, "url">,
  { key, cookie, projectId }: TestCaller,
  { path = "", after }: { path?: string; after?: string | undefined },
): Promise<FollowedStream<Data>> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(projectId === undefined ? {} : { "x-project-id": projectId }),
      ...(after === undefined ? {} : { "last-event-id": after }),
    };
    const request = get(`${from.url}${path}`, { headers, agent: false }, (response) => {
      let text = "";
      let isOver = false;
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("close", () => (isOver = true)).on("error", () => undefined);
      const told = () =>
        [...text.matchAll(/^data: (\{".*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Data);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        told,
        isOver: () => isOver,
        stop: () => request.destroy(),
      });
    }).on("error", reject);
  });
}
