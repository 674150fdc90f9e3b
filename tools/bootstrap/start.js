// `npm start`: installs Node.js 24 and the packages if they are missing, builds the dashboard if it changed, and runs the server. Other
// modules are imported after the version check, because an old Node.js could not parse them.
import { begin } from "./begin.js";

begin(`npm start

Starts Postloft: the API, the dashboard and the sender, on an embedded PostgreSQL unless DATABASE_URL names another one.
Installs Node.js 24 and the packages if they are missing, and builds the dashboard if its sources changed.
Settings come from the environment or from the file .env in this folder: docs/settings.md lists them.
Ctrl-C or SIGTERM stops it after the work in progress is finished (20 s at most).
`);
const { buildDashboard } = await import("./build-dashboard.js");
const { prepare } = await import("./prepare.js");
const { runServer } = await import("./run-server.js");

const node = await prepare();
await buildDashboard(node);
process.exitCode = await runServer(node, process.argv.slice(2));
