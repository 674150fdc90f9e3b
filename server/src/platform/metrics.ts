// Defines every metric that Prometheus reads at /metrics. Code that counts uses the instance built in main.ts.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  readonly httpSeconds: Histogram<"method" | "route" | "status">;
  readonly requestsLeftOut: Counter;
  readonly emailOutcomes: Counter<"outcome" | "kind" | "transport">;
  readonly handoversPerSecond: Gauge;
  readonly emailsQueued: Gauge<"kind">;
  readonly oldestQueuedSeconds: Gauge<"kind">;
  readonly emailsUnconfirmed: Gauge;
  readonly leasesLost: Counter;
  readonly campaignsPaused: Counter;
  readonly unbalancedCampaigns: Gauge;
  readonly webhookTries: Counter<"outcome">;
  readonly executionsMoved: Counter;
  readonly loopRuns: Counter<"loop">;
  readonly loopErrors: Counter<"loop">;
  readonly loopSeconds: Counter<"loop">;
  readonly loopLastRun: Gauge<"loop">;
}

/** How often the event loop delay is sampled, which is also the smallest delay that can be reported. */
const LOOP_DELAY_LOOK_MS = 50;

export function createMetrics(): Metrics {
  const registry = new Registry();
  // Sampling more often would be half of the cost of an idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_LOOK_MS });
  const registers = [registry];
  return {
    registry,
    ...createWorkflowMetrics(registers),
    ...createLoopMetrics(registry),
    requestsLeftOut: new Counter({
      name: "postloft_requests_left_out_total",
      help: "API requests that are not in the log of their project, since there were too many in a second.",
      registers,
    }),
    httpSeconds: new Histogram({
      name: "postloft_http_request_seconds",
      help: "Time to answer an HTTP request.",
      labelNames: ["method", "route", "status"],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    emailOutcomes: new Counter({
      name: "postloft_email_attempts_total",
      help: "Attempts to hand a mail over, by how they ended; failed and skipped before one without a transport.",
      labelNames: ["outcome", "kind", "transport"],
      registers,
    }),
    handoversPerSecond: new Gauge({
      name: "postloft_email_handovers_per_second",
      help: "Mails this process handed over a second, over the last ten seconds.",
      registers,
    }),
    emailsQueued: new Gauge({
      name: "postloft_emails_due",
      help: "Mails that wait and could be sent now (at most 10,000 of a kind are counted).",
      labelNames: ["kind"],
      registers,
    }),
    oldestQueuedSeconds: new Gauge({
      name: "postloft_oldest_due_email_seconds",
      help: "How long the mail of a kind that waits longest has been due.",
      labelNames: ["kind"],
      registers,
    }),
    emailsUnconfirmed: new Gauge({
      name: "postloft_emails_unconfirmed",
      help: "Mails handed over without an answer, which wait for a person.",
      registers,
    }),
    leasesLost: new Counter({
      name: "postloft_sender_leases_lost_total",
      help: "Times a sender found that it no longer held its mails.",
      registers,
    }),
    campaignsPaused: new Counter({
      name: "postloft_campaigns_paused_total",
      help: "Campaigns that were paused automatically.",
      registers,
    }),
    unbalancedCampaigns: new Gauge({
      name: "postloft_unbalanced_campaigns",
      help: "Campaigns whose mails do not add up to their recipients. Anything but 0 is a bug: tell us.",
      registers,
    }),
  };
}

/** Creates the metrics of workflows and the endpoints that they call. */
function createWorkflowMetrics(registers: Registry[]) {
  return {
    webhookTries: new Counter({
      name: "postloft_webhook_tries_total",
      help: "Tries of outgoing webhooks: done, retry (it is tried again), failed (it was the last).",
      labelNames: ["outcome"],
      registers,
    }),
    executionsMoved: new Counter({
      name: "postloft_workflow_executions_moved_total",
      help: "Times an execution of a workflow was moved on, however many steps that were.",
      registers,
    }),
  };
}

/** Creates the metrics that `startLoop` (background.ts) records for each loop. */
function createLoopMetrics(registry: Registry) {
  const common = { labelNames: ["loop"] as const, registers: [registry] };
  return {
    loopRuns: new Counter({
      name: "postloft_loop_runs_total",
      help: "Runs of a background loop that ended, failed ones included.",
      ...common,
    }),
    loopErrors: new Counter({
      name: "postloft_loop_errors_total",
      help: "Runs of a background loop that failed.",
      ...common,
    }),
    loopSeconds: new Counter({
      name: "postloft_loop_seconds_total",
      help: "Time spent in runs of a background loop.",
      ...common,
    }),
    loopLastRun: new Gauge({
      name: "postloft_loop_last_run_timestamp_seconds",
      help: "When the last run of a background loop ended, seconds since 1970.",
      ...common,
    }),
  };
}
