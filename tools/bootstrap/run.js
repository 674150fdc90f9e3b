// `npm run bench`, `faults`, `seed`, `generate`: brings Node.js 24 and the packages if they are missing (prepare.js), then runs the file named
// first. Nothing is imported before the check, so that an old Node.js says one clear sentence.
if (Number.parseInt(process.versions.node, 10) < 20) {
  process.stderr.write(
    `Postloft needs Node.js 20 or newer; this is ${process.version}. Get one at https://nodejs.org.\n`,
  );
  process.exit(1);
}
const { prepare } = await import("./prepare.js");
const { runFile } = await import("./run-file.js");

const node = await prepare();
process.exitCode = await runFile(node, process.argv.slice(2));
