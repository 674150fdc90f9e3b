// `npm run check`: installs Node.js 24 and the packages if they are missing, then runs the checks that need neither a database nor a browser.
import { begin } from "./begin.js";

begin(`npm run check

Checks formatting, lint rules, unused code, types, house rules, the dashboard's texts and the generated files. It needs no database
and takes less than a minute. npm test runs it first.
`);
const { prepare } = await import("./prepare.js");
const { runFastChecks } = await import("./run-checks.js");

process.exitCode = await runFastChecks(await prepare());
