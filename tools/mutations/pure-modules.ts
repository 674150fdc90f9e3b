// Lists the pure modules that `npm run mutations -- --pure` changes. Their tests are next to them and take milliseconds.

/** Paths from the root, without `.ts`. */
export const PURE_MODULES: readonly string[] = [
  "server/src/deliveries/reputation-rules",
  "server/src/emails/results/booking",
  "server/src/emails/rows/rules",
  "server/src/segments/rules",
  "server/src/templates/rules",
  "server/src/v1/send-rules",
  "server/src/workflows/schedule",
];
