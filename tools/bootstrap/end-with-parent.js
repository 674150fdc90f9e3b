// Preloaded into npm by prepare.js. Ends npm when the bootstrap dies in any way, because npm would otherwise keep writing to node_modules
// during the next start.
process.on("disconnect", () => process.exit(1));
process.channel?.unref();
