// `npm run sharded`: runs the tests of the server on a Citus cluster. Not part of `npm test`, because Citus is in none of the registries.
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { begin } from "./begin.js";

begin(`npm run sharded -- <DATABASE_URL> [file …]   the tests of the server on a Citus cluster (docs/scaling.md)
npm run sharded -- <DATABASE_URL> --faults [--size large]   a campaign while a worker is killed three times

DATABASE_URL is a database of the coordinator that lists the workers. The tests create and drop their own databases, test_… and
postloft_template, on every node. --faults restarts a worker, which must run on this machine. At the end: how many different statements ran, and those that the cluster refused.
`);
const { prepare, ROOT } = await import("./prepare.js");
const { runFile } = await import("./run-file.js");
const { runTestsOf } = await import("./run-checks.js");

const [url, ...files] = process.argv.slice(2);
if (url === undefined || !/^postgres(ql)?:\/\//.test(url)) {
  process.stderr.write(
    "npm run sharded needs the DATABASE_URL of a coordinator, such as postgres://user@host:5432/app.\n",
  );
  process.exit(2);
}
const node = await prepare();
process.env.SHARDED_DATABASE_URL = url;
if (files[0] === "--faults")
  process.exit(await runFile(node, ["e2e/faults/cluster-faults.ts", ...files.slice(1)]));
const results = path.join(ROOT, "node_modules/.sharded");
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
const code = await runTestsOf(node, async () => {}, [
  "--project",
  "tests",
  ...(files.length > 0 ? files : ["server/src"]),
]);
await runFile(node, ["tools/sharded/report-results.ts"]);
process.exitCode = code;
