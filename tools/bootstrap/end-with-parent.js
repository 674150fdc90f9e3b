// Loaded into npm by prepare.js: when the bootstrap dies in any way, npm must not go on writing into node_modules behind the back of
// the next start.
process.on("disconnect", () => process.exit(1));
process.channel?.unref();
