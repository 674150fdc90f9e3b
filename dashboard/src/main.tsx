// Starts the dashboard.
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { deleteOldKeptDrafts } from "./pages/campaigns/kept-drafts.ts";
import { createDashboardRouter } from "./pages/router.tsx";
import { createQueries } from "./session/queries.ts";
import { forgetWithOtherTabs } from "./session/clear-browser.ts";
import { joinTabs } from "./session/tabs.ts";
import { LANGUAGE } from "./text/t.ts";
import { watchHistory } from "./ui/hold-history.ts";
import { chosenTheme, showTheme } from "./ui/theme.ts";
import { Toasts } from "./ui/toasts.tsx";

const queries = createQueries();
joinTabs(queries);
forgetWithOtherTabs();
deleteOldKeptDrafts();
watchHistory();
const router = createDashboardRouter(queries);

document.documentElement.lang = LANGUAGE;
showTheme(chosenTheme());
const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
);
