// Defines every metric that Prometheus reads at /metrics. Code that counts uses the instance built in main.ts.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  readonly httpSeconds: Histogram<"method" | "route" | "status">;
  readonly requestsLeftOut: Counter;
  readonly submissions: Counter<"code">;
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
const LOOP_DELAY_POLL_MS = 50;

export function createMetrics(): Metrics {
  const registry = new Registry();
  // Sampling more often would be half of the cost of an idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_POLL_MS });
  const registers = [registry];
  return {
    registry,
    ...createWorkflowMetrics(registers),
    ...createLoopMetrics(registry),
    ...createSubmissionMetrics(registers),
    requestsLeftOut: new Counter({
      name: "postloft_requests_left_out_total",
      help: "API requests left out of their project's log because there were too many in a second.",
      registers,
    }),
    httpSeconds: new Histogram({
      name: "postloft_http_request_seconds",
      help: "Duration of HTTP requests.",
      labelNames: ["method", "route", "status"],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    emailOutcomes: new Counter({
      name: "postloft_email_attempts_total",
      help: "Attempts to submit an email by outcome. Emails that failed or were skipped before an attempt have no transport.",
      labelNames: ["outcome", "kind", "transport"],
      registers,
    }),
    handoversPerSecond: new Gauge({
      name: "postloft_email_handovers_per_second",
      help: "Emails this process submitted per second, over the last ten seconds.",
      registers,
    }),
    emailsQueued: new Gauge({
      name: "postloft_emails_due",
      help: "Queued emails that are due (counted up to 10,000 per kind).",
      labelNames: ["kind"],
      registers,
    }),
    oldestQueuedSeconds: new Gauge({
      name: "postloft_oldest_due_email_seconds",
      help: "How long the oldest due email of a kind has been due.",
      labelNames: ["kind"],
      registers,
    }),
    emailsUnconfirmed: new Gauge({
      name: "postloft_emails_unconfirmed",
      help: "Emails submitted without a reply, which a person has to resolve.",
      registers,
    }),
    leasesLost: new Counter({
      name: "postloft_sender_leases_lost_total",
      help: "Times a sender found that its lease was lost.",
      registers,
    }),
    campaignsPaused: new Counter({
      name: "postloft_campaigns_paused_total",
      help: "Campaigns that were paused automatically.",
      registers,
    }),
    unbalancedCampaigns: new Gauge({
      name: "postloft_unbalanced_campaigns",
      help: "Campaigns whose emails do not add up to their recipients. Any value but 0 is a bug, please report it.",
      registers,
    }),
  };
}

/** Creates the metrics of workflows and the endpoints that they call. */
function createSubmissionMetrics(registers: Registry[]) {
  return {
    submissions: new Counter({
      name: "postloft_smtp_submissions_total",
      help: "Messages accepted over SMTP (code 250), and refused commands by reply code.",
      labelNames: ["code"],
      registers,
    }),
  };
}

function createWorkflowMetrics(registers: Registry[]) {
  return {
    webhookTries: new Counter({
      name: "postloft_webhook_tries_total",
      help: "Tries of outgoing webhooks by outcome: done, retry (another try follows), failed (the last try).",
      labelNames: ["outcome"],
      registers,
    }),
    executionsMoved: new Counter({
      name: "postloft_workflow_executions_moved_total",
      help: "Times a workflow execution advanced, by any number of steps.",
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
      help: "Finished runs of a background loop, including failed runs.",
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
