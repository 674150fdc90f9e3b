// Every URL of the dashboard. Before it: main.tsx. After it: one file per page.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { accountQuery, projectsQuery } from "../session/queries.ts";
import { lastProject } from "../session/last-project.ts";
import { ContactPage } from "./contact-page.tsx";
import { ContactsPage, readContactsSearch } from "./contacts-page.tsx";
import { DomainsPage } from "./domains-page.tsx";
import { ForgottenPasswordPage } from "./forgotten-password-page.tsx";
import { HomePage } from "./home-page.tsx";
import { InvitationPage } from "./invitation-page.tsx";
import { KeysPage } from "./keys-page.tsx";
import { NewProjectPage } from "./new-project-page.tsx";
import { NotFoundPage, PageFailure } from "./not-found-page.tsx";
import { ProjectShell } from "./project-shell.tsx";
import { SignInPage, SignUpPage } from "./sign-in-page.tsx";

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const readFrom = (search: Record<string, unknown>): { from?: string } =>
  typeof search["from"] === "string" && search["from"].startsWith("/") ? { from: search["from"] } : {};

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: readFrom,
  component: SignInPage,
});
const forgottenPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgotten-password",
  component: ForgottenPasswordPage,
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$token",
  component: InvitationPage,
});
const signUp = createRoute({ getParentRoute: () => root, path: "/sign-up", component: SignUpPage });

/** Everything below it needs somebody who is signed in. */
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
  component: NewProjectPage,
});

const project = createRoute({
  getParentRoute: () => signedIn,
  path: "/$projectId",
  component: ProjectShell,
  loader: ({ context }) => context.queries.ensureQueryData(projectsQuery),
});
const home = createRoute({ getParentRoute: () => project, path: "/", component: HomePage });
const contacts = createRoute({
  getParentRoute: () => project,
  path: "/contacts",
  validateSearch: readContactsSearch,
  component: ContactsPage,
});
const contact = createRoute({
  getParentRoute: () => project,
  path: "/contacts/$contactId",
  component: ContactPage,
});
const domains = createRoute({ getParentRoute: () => project, path: "/domains", component: DomainsPage });
const keys = createRoute({ getParentRoute: () => project, path: "/keys", component: KeysPage });

const tree = root.addChildren([
  signIn,
  signUp,
  forgottenPassword,
  invitation,
  signedIn.addChildren([start, newProject, project.addChildren([home, contacts, contact, domains, keys])]),
]);

export function createDashboardRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: "/app",
    context: { queries },
    defaultErrorComponent: PageFailure,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
