// What Prometheus reads at /metrics. Every measure is named here once; the code that counts imports it from the value built in main.ts.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  readonly httpSeconds: Histogram<"method" | "route" | "status">;
  readonly emailOutcomes: Counter<"outcome" | "transport">;
  readonly emailsQueued: Gauge;
  readonly oldestQueuedSeconds: Gauge;
  readonly leasesLost: Counter;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    httpSeconds: new Histogram({
      name: "postloft_http_request_seconds",
      help: "Time to answer an HTTP request.",
      labelNames: ["method", "route", "status"],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    emailOutcomes: new Counter({
      name: "postloft_email_attempts_total",
      help: "Attempts to hand a mail over, by how they ended.",
      labelNames: ["outcome", "transport"],
      registers,
    }),
    emailsQueued: new Gauge({
      name: "postloft_emails_due",
      help: "Mails that wait and could be sent now (at most 10,000 are counted).",
      registers,
    }),
    oldestQueuedSeconds: new Gauge({
      name: "postloft_oldest_due_email_seconds",
      help: "Age of the mail that waits longest.",
      registers,
    }),
    leasesLost: new Counter({
      name: "postloft_sender_leases_lost_total",
      help: "Times a sender found that it no longer held its mails.",
      registers,
    }),
  };
}
