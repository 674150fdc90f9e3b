// A process of its own that takes mail as fast as it comes and says how much it took, for benchmarks of the sender.
// Before it: deliver.ts, fairness.ts fork it. After it: the port and the counts.
import { startSmtpSink } from "../server/src/testing/smtp-sink.ts";

const sink = await startSmtpSink({ advertise: { pipelining: true }, keepRaw: false });
process.on("message", () => process.send?.({ taken: sink.journal.length }));
process.on("disconnect", () => process.exit(0));
process.send?.({ port: sink.port });
