// Headers of a response of server-sent events (HTML Standard §9.2).

/** Disables buffering in proxies, which would delay a live stream. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};
