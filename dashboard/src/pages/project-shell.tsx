// The layout around every project page: project switcher, navigation and user menu.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import {
  BookOpen,
  Check,
  CircleUser,
  ChevronsUpDown,
  Inbox,
  LogOut,
  Menu as MenuIcon,
  Plus,
  Search,
  X,
} from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { rememberProject } from "../session/last-project.ts";
import { accountQuery, configQuery, projectsQuery, type Project } from "../session/queries.ts";
import { LanguageItems } from "./language-items.tsx";
import { t } from "../text/t.ts";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";
import { Mark } from "./mark.tsx";
import { isNew, useShortcuts, type Opened } from "./palette/shortcuts.ts";
import { PLACES } from "./places.ts";
import { NotFoundPage } from "./not-found-page.tsx";
import { SessionRenewal } from "./session-renewal.tsx";
import { TabNotes } from "./tab-notes.tsx";
import { useSignOut } from "./use-sign-out.ts";

const loadPalette = () => import("./palette/palette.tsx");
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));
/** Preloads the palette once the page is loaded, so that opening it loses no typed letter. */
const PALETTE_AFTER_MS = 1_500;
const ShortcutsDialog = lazy(async () => ({
  default: (await import("./palette/shortcuts-dialog.tsx")).ShortcutsDialog,
}));
const NewThing = lazy(async () => ({ default: (await import("./palette/new-thing.tsx")).NewThing }));
const route = getRouteApi("/signed-in/$projectId");
const ITEM =
  "flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm font-medium whitespace-nowrap text-soft transition-colors hover:bg-hover hover:text-ink aria-[current=page]:bg-press aria-[current=page]:text-ink";
const ICON = { size: 15, strokeWidth: 1.9, "aria-hidden": true } as const;

/** Returns the open project. */
export function useProject(): Project {
  const { projectId } = route.useParams();
  const projects = useQuery(projectsQuery);
  const project = projects.data?.find(({ id }) => id === projectId);
  if (project === undefined) throw new Error("a page of a project is open without one");
  return project;
}

export function ProjectShell() {
  const { projectId } = route.useParams();
  const projects = useQuery(projectsQuery);
  const project = projects.data?.find(({ id }) => id === projectId);
  useEffect(() => {
    if (project !== undefined) rememberProject(project.id);
  }, [project]);
  const { pathname } = useLocation();
  const [isNavOpen, setNavOpen] = useState(false);
  const [opened, setOpened] = useState<Opened>(null);
  useShortcuts(projectId, setOpened);
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette(), PALETTE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => setNavOpen(false), [pathname]);
  useFocusAfterNavigation(pathname);
  if (project === undefined) return <NotFoundPage />;
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14.5rem_1fr]">
      <SkipLink />
      <aside className="flex flex-col border-line bg-side max-md:border-b md:sticky md:top-0 md:h-dvh md:border-r">
        <div className="flex items-center gap-1 p-2.5 md:pb-1.5">
          <ProjectMenu project={project} projects={projects.data ?? []} />
          <button
            type="button"
            aria-expanded={isNavOpen}
            aria-controls="navigation"
            aria-label={t("Menu")}
            onClick={() => setNavOpen(!isNavOpen)}
            className="grid size-10 shrink-0 place-items-center rounded-md text-soft hover:bg-hover md:hidden"
          >
            {isNavOpen ? <X size={18} aria-hidden /> : <MenuIcon size={18} aria-hidden />}
          </button>
        </div>
        <SearchButton onOpen={() => setOpened("palette")} />
        <Navigation projectId={project.id} isOpen={isNavOpen} />
        <TabNotes />
        <div className="p-2.5 max-md:hidden">
          <AccountMenu projectId={project.id} />
        </div>
      </aside>
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        <Outlet />
      </main>
      <SessionRenewal />
      <Suspense>
        {opened === "palette" && (
          <Palette
            project={project}
            projects={projects.data ?? []}
            onOpen={setOpened}
            onClose={() => setOpened(null)}
          />
        )}
        {opened === "shortcuts" && <ShortcutsDialog onClose={() => setOpened(null)} />}
        {isNew(opened) && <NewThing what={opened} project={project} onClose={() => setOpened(null)} />}
      </Suspense>
    </div>
  );
}

/** Moves the focus past the navigation. */
function SkipLink() {
  return (
    <a
      href="#content"
      // The browser would add an entry to its history that the router doesn't know.
      onClick={(event) => {
        event.preventDefault();
        document.querySelector<HTMLElement>("#content")?.focus();
      }}
      className="fixed top-2 left-2 z-40 -translate-y-16 rounded-md opacity-0 focus:opacity-100 bg-raised px-3 py-2 shadow-float focus:translate-y-0"
    >
      {t("Skip to content")}
    </a>
  );
}

/** Moves keyboard focus to the new page's content when the focused control is gone. */
function useFocusAfterNavigation(pathname: string): void {
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current !== pathname && document.activeElement === document.body)
      document.getElementById("content")?.focus({ preventScroll: true });
    before.current = pathname;
  }, [pathname]);
}

function SearchButton({ onOpen }: { onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      aria-keyshortcuts="Meta+K Control+K"
      className="mx-2.5 flex h-8 items-center gap-2.5 rounded-md border border-line px-2.5 text-sm text-soft hover:border-line-strong hover:text-ink max-md:mb-2.5"
    >
      <Search size={14} aria-hidden />
      <span className="flex-1 text-left">{t("Search")}</span>
      <kbd className="font-sans text-xs max-md:hidden" aria-hidden>
        ⌘K
      </kbd>
    </button>
  );
}

/** A sidebar; on phones it opens from the menu button. */
function Navigation({ projectId, isOpen }: { projectId: string; isOpen: boolean }) {
  const config = useQuery(configQuery);
  return (
    <nav
      id="navigation"
      aria-label={t("Project")}
      className={`flex-1 flex-col gap-0.5 p-2.5 pt-1 md:flex md:overflow-y-auto ${isOpen ? "flex" : "hidden"}`}
    >
      {PLACES.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          params={{ projectId }}
          activeOptions={{ exact: to === "/$projectId", includeSearch: false }}
          className={ITEM}
        >
          <Icon {...ICON} /> {label}
        </Link>
      ))}
      <span className="md:flex-1" />
      {config.data?.features.email.provider === "mailbox" && (
        <a href="/mailbox" className={ITEM}>
          <Inbox {...ICON} /> {t("Mailbox")}
        </a>
      )}
      <a href="/docs" className={ITEM}>
        <BookOpen {...ICON} /> {t("API docs")}
      </a>
    </nav>
  );
}

function ProjectMenu({ project, projects }: { project: Project; projects: readonly Project[] }) {
  const navigate = useNavigate();
  return (
    <Menu
      label={t("Project {name}. Switch project", { name: project.name })}
      className="flex h-10 min-w-0 flex-1 items-center gap-2.5 rounded-md px-1.5 text-left hover:bg-hover data-popup-open:bg-hover"
      button={
        <>
          <Mark size={26} />
          <span className="min-w-0 flex-1 truncate text-sm font-semibold">{project.name}</span>
          <ChevronsUpDown size={14} className="mr-1 text-faint" aria-hidden />
        </>
      }
    >
      {projects.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => void navigate({ to: "/$projectId", params: { projectId: id } })}>
          <span className="min-w-0 max-w-64 flex-1 truncate">{name}</span>
          {id === project.id && <Check size={14} className="text-accent" aria-label={t("current")} />}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onSelect={() => void navigate({ to: "/new-project" })}>
        <Plus size={14} className="text-faint" aria-hidden /> {t("New project")}
      </MenuItem>
      <div className="md:hidden">
        <AccountItem projectId={project.id} />
        <LanguageItems />
        <SignOutItem />
      </div>
    </Menu>
  );
}

function AccountMenu({ projectId }: { projectId: string }) {
  const account = useQuery(accountQuery);
  const email = account.data?.email ?? "";
  return (
    <Menu
      label={t("Signed in as {email}", { email })}
      side="top"
      className="flex h-9 w-full items-center gap-2.5 rounded-md px-2 text-left text-sm text-soft hover:bg-hover data-popup-open:bg-hover"
      button={
        <>
          <span
            data-letter={email.slice(0, 1)}
            className="grid size-5.5 place-items-center rounded-full bg-accent-wash text-xs font-semibold text-accent uppercase before:content-[attr(data-letter)]"
          />
          <span className="min-w-0 flex-1 truncate">{email}</span>
        </>
      }
    >
      <AccountItem projectId={projectId} />
      <LanguageItems />
      <SignOutItem />
    </Menu>
  );
}

function AccountItem({ projectId }: { projectId: string }) {
  const navigate = useNavigate();
  return (
    <>
      <MenuItem onSelect={() => void navigate({ to: "/$projectId/account", params: { projectId } })}>
        <CircleUser size={14} className="text-faint" aria-hidden /> {t("Your account")}
      </MenuItem>
      <MenuLine />
    </>
  );
}

function SignOutItem() {
  const signOut = useSignOut();
  return (
    <MenuItem onSelect={() => void signOut()}>
      <LogOut size={14} className="text-faint" aria-hidden /> {t("Sign out")}
    </MenuItem>
  );
}
