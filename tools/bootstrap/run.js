// `npm run bench`, `faults`, `seed`, `generate`, `containers`, `screens`: installs Node.js 24 and the packages if they are missing, then
// runs the file given as the first argument. Each program prints its own help.
import { begin } from "./begin.js";

begin();
const { prepare } = await import("./prepare.js");
const { runFile } = await import("./run-file.js");

const node = await prepare();
process.exitCode = await runFile(node, process.argv.slice(2));
