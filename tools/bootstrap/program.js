// `npm run admin`, `backup`, `restore`: brings Node.js 24 and the packages if they are missing (prepare.js), then runs the program of
// server/src named first, with the settings of the server (run-server.js).
// Nothing is imported before the check, so that an old Node.js says one clear sentence.
if (Number.parseInt(process.versions.node, 10) < 20) {
  process.stderr.write(
    `Postloft needs Node.js 20 or newer; this is ${process.version}. Get one at https://nodejs.org.\n`,
  );
  process.exit(1);
}
const { prepare } = await import("./prepare.js");
const { runServer } = await import("./run-server.js");

const node = await prepare();
const [program, ...args] = process.argv.slice(2);
process.exitCode = await runServer(node, args, program);
