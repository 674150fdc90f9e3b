// `npm run dev`: installs Node.js 24 and the packages if they are missing, then runs the server and the dashboard with reload.
import { begin } from "./begin.js";

begin(`npm run dev

Runs the server and the dashboard for development, both at http://localhost:3000. The server restarts when a file of server/ or
contract/ changes; the dashboard reloads in the browser. Data is kept in .data-dev: delete that folder to start from scratch.

PORT chooses another port. Other settings come from the environment (docs/settings.md); the file .env is not read, because it
belongs to npm start. Ctrl-C stops both.
`);
const { prepare } = await import("./prepare.js");
const { runDev } = await import("./run-dev.js");

process.exitCode = await runDev(await prepare());
