// `npm run build-dashboard`: brings Node.js 24 and the packages if they are missing (prepare.js), then builds (build-dashboard.js).
import { buildDashboard } from "./build-dashboard.js";
import { prepare } from "./prepare.js";

await buildDashboard(await prepare());
