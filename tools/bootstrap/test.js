// `npm test`: installs Node.js 24 and the packages if they are missing, then runs the checks and all tests, or only the tests of the named files.
import { begin } from "./begin.js";

begin(`npm test                    the checks of npm run check, then all tests (about 14 minutes on two cores)
npm test -- <file> …        only the tests of these files (a part of the path is enough), without the checks

Other arguments go to Vitest: npm test -- contacts.test.ts -t "part of a title". The tests bring their own PostgreSQL and Chromium.
`);
const { buildDashboard } = await import("./build-dashboard.js");
const { prepare } = await import("./prepare.js");
const { runAll, runTestsOf } = await import("./run-checks.js");

const node = await prepare();
const args = process.argv.slice(2);
const build = () => buildDashboard(node);
process.exitCode = args.length === 0 ? await runAll(node, build) : await runTestsOf(node, build, args);
