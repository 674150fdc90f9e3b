// Defines the routes of the dashboard.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { accountQuery, projectsQuery } from "../session/queries.ts";
import { lastProject } from "../session/last-project.ts";
import { readActivitySearch } from "./activity/search.ts";
import { readCampaignSearch, readCampaignsSearch } from "./campaigns/search.ts";
import { readContactSearch, readContactsSearch, readImportSearch } from "./contacts/search.ts";
import { NotFoundPage, PageFailure } from "./not-found-page.tsx";
import { ProjectShell } from "./project-shell.tsx";
import { readEmailsSearch } from "./emails/search.ts";
import { readReportsSearch } from "./reports/search.ts";
import { readSettingsSearch } from "./settings/search.ts";
import { readTemplateSearch, readTemplatesSearch } from "./templates/search.ts";
import { readWorkflowSearch, readWorkflowsSearch } from "./workflows/search.ts";

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

type Raw = Record<string, unknown>;

/** Drops search parameters that a page does not read, because the router would otherwise merge them with the parsed ones. */
const only =
  <Search extends object>(read: (search: Raw) => Search) =>
  (search: Raw): Search => ({
    ...Object.fromEntries(Object.keys(search).map((key) => [key, undefined])),
    ...read(search),
  });

const readFrom = (search: Record<string, unknown>): { from?: string } =>
  typeof search["from"] === "string" && search["from"].startsWith("/") ? { from: search["from"] } : {};

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: only(readFrom),
  component: lazyRouteComponent(() => import("./account/sign-in-page.tsx"), "SignInPage"),
});
const forgottenPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgotten-password",
  component: lazyRouteComponent(
    () => import("./account/forgotten-password-page.tsx"),
    "ForgottenPasswordPage",
  ),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$token",
  component: lazyRouteComponent(() => import("./account/invitation-page.tsx"), "InvitationPage"),
});
/** For developers; shows no user data. */
const components = createRoute({
  getParentRoute: () => root,
  path: "/_components",
  component: lazyRouteComponent(() => import("./components/components-page.tsx"), "ComponentsPage"),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  component: lazyRouteComponent(() => import("./account/sign-in-page.tsx"), "SignUpPage"),
});

/** Parent of all routes that require a signed-in user. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Outlet,
  beforeLoad: async ({ context, location }) => {
    const account = await context.queries.ensureQueryData(accountQuery);
    if (account === null) throw redirect({ to: "/sign-in", search: { from: location.href } });
  },
});

const start = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  beforeLoad: async ({ context }) => {
    const projects = await context.queries.ensureQueryData(projectsQuery);
    const open = projects.find(({ id }) => id === lastProject()) ?? projects[0];
    if (open === undefined) throw redirect({ to: "/new-project" });
    throw redirect({ to: "/$projectId", params: { projectId: open.id } });
  },
});
const newProject = createRoute({
  getParentRoute: () => signedIn,
  path: "/new-project",
  component: lazyRouteComponent(() => import("./projects/new-project-page.tsx"), "NewProjectPage"),
});
const installation = createRoute({
  getParentRoute: () => signedIn,
  path: "/installation",
  component: lazyRouteComponent(() => import("./installation/installation-page.tsx"), "InstallationPage"),
});

const project = createRoute({
  getParentRoute: () => signedIn,
  path: "/$projectId",
  component: ProjectShell,
  loader: ({ context }) => context.queries.ensureQueryData(projectsQuery),
});
const home = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyRouteComponent(() => import("./projects/home-page.tsx"), "HomePage"),
});
const account = createRoute({
  getParentRoute: () => project,
  path: "/account",
  component: lazyRouteComponent(() => import("./account/account-page.tsx"), "AccountPage"),
});
const contacts = createRoute({
  getParentRoute: () => project,
  path: "/contacts",
  validateSearch: only(readContactsSearch),
  component: lazyRouteComponent(() => import("./contacts/contacts-page.tsx"), "ContactsPage"),
});
const contact = createRoute({
  getParentRoute: () => project,
  path: "/contacts/$contactId",
  validateSearch: only(readContactSearch),
  component: lazyRouteComponent(() => import("./contacts/contact-page.tsx"), "ContactPage"),
});
const importContacts = createRoute({
  getParentRoute: () => project,
  path: "/contacts/import",
  validateSearch: only(readImportSearch),
  component: lazyRouteComponent(() => import("./contacts/import/import-page.tsx"), "ImportPage"),
});
const segments = createRoute({
  getParentRoute: () => project,
  path: "/segments",
  component: lazyRouteComponent(() => import("./segments/segments-page.tsx"), "SegmentsPage"),
});
const newSegment = createRoute({
  getParentRoute: () => project,
  path: "/segments/new",
  component: lazyRouteComponent(() => import("./segments/segment-page.tsx"), "NewSegmentPage"),
});
const segment = createRoute({
  getParentRoute: () => project,
  path: "/segments/$segmentId",
  component: lazyRouteComponent(() => import("./segments/segment-page.tsx"), "SegmentPage"),
});
const templates = createRoute({
  getParentRoute: () => project,
  path: "/templates",
  validateSearch: only(readTemplatesSearch),
  component: lazyRouteComponent(() => import("./templates/templates-page.tsx"), "TemplatesPage"),
});
const template = createRoute({
  getParentRoute: () => project,
  path: "/templates/$templateId",
  validateSearch: only(readTemplateSearch),
  component: lazyRouteComponent(() => import("./templates/template-page.tsx"), "TemplatePage"),
});
const campaigns = createRoute({
  getParentRoute: () => project,
  path: "/campaigns",
  validateSearch: only(readCampaignsSearch),
  component: lazyRouteComponent(() => import("./campaigns/campaigns-page.tsx"), "CampaignsPage"),
});
const campaign = createRoute({
  getParentRoute: () => project,
  path: "/campaigns/$campaignId",
  validateSearch: only(readCampaignSearch),
  component: lazyRouteComponent(() => import("./campaigns/campaign-page.tsx"), "CampaignPage"),
});
const workflows = createRoute({
  getParentRoute: () => project,
  path: "/workflows",
  validateSearch: only(readWorkflowsSearch),
  component: lazyRouteComponent(() => import("./workflows/workflows-page.tsx"), "WorkflowsPage"),
});
const workflow = createRoute({
  getParentRoute: () => project,
  path: "/workflows/$workflowId",
  validateSearch: only(readWorkflowSearch),
  component: lazyRouteComponent(() => import("./workflows/workflow-page.tsx"), "WorkflowPage"),
});
const execution = createRoute({
  getParentRoute: () => project,
  path: "/workflows/$workflowId/executions/$executionId",
  component: lazyRouteComponent(() => import("./workflows/executions/execution-page.tsx"), "ExecutionPage"),
});
const activity = createRoute({
  getParentRoute: () => project,
  path: "/activity",
  validateSearch: only(readActivitySearch),
  component: lazyRouteComponent(() => import("./activity/activity-page.tsx"), "ActivityPage"),
});
const reports = createRoute({
  getParentRoute: () => project,
  path: "/reports",
  validateSearch: only(readReportsSearch),
  component: lazyRouteComponent(() => import("./reports/reports-page.tsx"), "ReportsPage"),
});
const emails = createRoute({
  getParentRoute: () => project,
  path: "/emails",
  validateSearch: only(readEmailsSearch),
  component: lazyRouteComponent(() => import("./emails/emails-page.tsx"), "EmailsPage"),
});
const email = createRoute({
  getParentRoute: () => project,
  path: "/emails/$emailId",
  component: lazyRouteComponent(() => import("./emails/email-page.tsx"), "EmailPage"),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  validateSearch: only(readSettingsSearch),
  component: lazyRouteComponent(() => import("./settings/settings-page.tsx"), "SettingsPage"),
});
const domains = createRoute({
  getParentRoute: () => project,
  path: "/domains",
  component: lazyRouteComponent(() => import("./domains/domains-page.tsx"), "DomainsPage"),
});
const keys = createRoute({
  getParentRoute: () => project,
  path: "/keys",
  component: lazyRouteComponent(() => import("./keys/keys-page.tsx"), "KeysPage"),
});

const tree = root.addChildren([
  signIn,
  signUp,
  forgottenPassword,
  invitation,
  components,
  signedIn.addChildren([
    start,
    newProject,
    installation,
    project.addChildren([
      home,
      account,
      contacts,
      contact,
      importContacts,
      segments,
      newSegment,
      segment,
      templates,
      template,
      campaigns,
      campaign,
      workflows,
      workflow,
      execution,
      activity,
      reports,
      emails,
      email,
      domains,
      keys,
      settings,
    ]),
  ]),
]);

export function createDashboardRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: "/app",
    context: { queries },
    defaultErrorComponent: PageFailure,
    defaultPreload: "intent",
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
