// `npm run admin`, `doctor`, `backup`, `restore`: installs Node.js 24 and the packages if they are missing, then runs the server program
// named by the first argument. Programs use the server's settings and print their own help.
import { begin } from "./begin.js";

begin();
const { prepare } = await import("./prepare.js");
const { runServer } = await import("./run-server.js");

const node = await prepare();
const [program, ...args] = process.argv.slice(2);
process.exitCode = await runServer(node, args, program);
