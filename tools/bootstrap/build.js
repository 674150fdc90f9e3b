// `npm run build-dashboard`: installs Node.js 24 and the packages if they are missing, and builds the dashboard if it changed.
import { begin } from "./begin.js";

begin(`npm run build-dashboard

Builds the dashboard into dashboard/dist if its sources changed. npm start does the same first.
`);
const { buildDashboard } = await import("./build-dashboard.js");
const { prepare } = await import("./prepare.js");

await buildDashboard(await prepare());
