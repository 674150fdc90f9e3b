// Saved views of the contacts list: named search parameters that can be saved, renamed and deleted, each with undo.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Bookmark, Ellipsis } from "lucide-react";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useUndoToast } from "../use-undo.ts";
import { isSameView, searchOfView, viewQueryOf, type ContactsSearch, type ViewQuery } from "./search.ts";

const route = getRouteApi("/signed-in/$projectId/contacts");
type View = ApiResponse<typeof api.contacts.listViews>["data"][number];
/** The tab that shows all contacts. */
const EVERYBODY = "";

/** Returns a view's stored query. The server has validated its filter. */
const questionOf = (view: View) => view.query as ViewQuery;

function viewsQuery(projectId: string) {
  return query(api.contacts.listViews, { projectId });
}

interface ViewsProps {
  projectId: string;
  search: ContactsSearch;
}

export function ContactViews({ projectId, search }: ViewsProps) {
  const listed = useQuery(viewsQuery(projectId));
  const navigate = route.useNavigate();
  const [asked, setAsked] = useState<"new" | "rename" | null>(null);
  const views = listed.data?.data ?? [];
  const open = views.find(({ id }) => id === search.view);
  const shown = viewQueryOf(search);
  const isChanged = !isSameView(shown, open?.query ?? {});
  const show = (id: string) => {
    const view = views.find((one) => one.id === id);
    void navigate({ search: view === undefined ? {} : searchOfView(view) });
  };
  return (
    <div className="mb-4 flex flex-wrap items-end justify-end gap-x-4 border-b border-line">
      {/* Reserve the space before the views load, so that the layout does not shift. */}
      <Choices
        look="tabs"
        label={t("Saved views")}
        className="min-w-0 flex-1"
        options={[
          { value: EVERYBODY, label: t("Everyone") },
          ...views.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={open?.id ?? EVERYBODY}
        onChoose={show}
      />
      <div className="flex h-9 items-center gap-1">
        {isChanged && open !== undefined && <SaveChanges projectId={projectId} view={open} search={search} />}
        {isChanged && (
          <Button look="quiet" onClick={() => setAsked("new")}>
            <Bookmark size={14} aria-hidden /> {open === undefined ? t("Save view") : t("Save as new view")}
          </Button>
        )}
        {open !== undefined && (
          <ViewMenu projectId={projectId} view={open} onRename={() => setAsked("rename")} />
        )}
      </div>
      {asked === "new" && (
        <NewViewDialog projectId={projectId} search={search} onClose={() => setAsked(null)} />
      )}
      {asked === "rename" && open !== undefined && (
        <RenameDialog projectId={projectId} view={open} onClose={() => setAsked(null)} />
      )}
    </div>
  );
}

/** Returns a function that refetches the saved views. */
function useViewsAgain(projectId: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: viewsQuery(projectId).queryKey });
}

function SaveChanges({ projectId, view, search }: ViewsProps & { view: View }) {
  const again = useViewsAgain(projectId);
  const done = useUndoToast(projectId);
  const toast = useToast();
  const change = (to: ViewQuery) =>
    call(api.contacts.updateView, { projectId, params: { id: view.id }, body: { query: to } });
  const saving = useMutation({
    mutationFn: () => change(viewQueryOf(search)),
    onSuccess: async () => {
      await again();
      done(t("View updated"), { description: view.name, undo: () => change(questionOf(view)) });
    },
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  return (
    <Button busy={saving.isPending} onClick={() => saving.mutate()}>
      {t("Save changes")}
    </Button>
  );
}

interface ViewMenuProps {
  projectId: string;
  view: View;
  onRename: () => void;
}

function ViewMenu({ projectId, view, onRename }: ViewMenuProps) {
  const navigate = route.useNavigate();
  const again = useViewsAgain(projectId);
  const done = useUndoToast(projectId);
  const toast = useToast();
  const { id, name } = view;
  const deleting = useMutation({
    mutationFn: () => call(api.contacts.deleteView, { projectId, params: { id } }),
    onSuccess: async () => {
      await navigate({ search: {} });
      await again();
      // Nothing refers to a view's id, so undo can create an equal one.
      const undo = async () => {
        const made = await call(api.contacts.createView, {
          projectId,
          body: { name, query: questionOf(view) },
        });
        await navigate({ search: searchOfView(made) });
      };
      done(t("View deleted"), { description: name, undo });
    },
    onError: (error) => toast(t("Couldn't delete"), error.message),
  });
  return (
    <Menu
      label={t("Actions for {name}", { name })}
      className="grid size-8 place-items-center rounded-md text-soft hover:bg-hover hover:text-ink"
      button={<Ellipsis size={16} aria-hidden />}
    >
      <MenuItem onSelect={onRename}>{t("Rename")}</MenuItem>
      <MenuItem onSelect={() => deleting.mutate()}>{t("Delete view")}</MenuItem>
    </Menu>
  );
}

function NewViewDialog({ projectId, search, onClose }: ViewsProps & { onClose: () => void }) {
  const navigate = route.useNavigate();
  const again = useViewsAgain(projectId);
  const toast = useToast();
  const [name, setName] = useState("");
  const saving = useMutation({
    mutationFn: () =>
      call(api.contacts.createView, { projectId, body: { name, query: viewQueryOf(search) } }),
    onSuccess: async (view) => {
      await again();
      onClose();
      await navigate({ search: searchOfView(view), replace: true });
      toast(t("View saved"), name);
    },
  });
  return (
    <Dialog
      title={t("Save view")}
      description={t("Saves the search, filters, sort order and columns for all project members.")}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Name")}
        value={name}
        onChange={setName}
        action={t("Save view")}
        asking={saving}
      />
    </Dialog>
  );
}

function RenameDialog({ projectId, view, onClose }: { projectId: string; view: View; onClose: () => void }) {
  const again = useViewsAgain(projectId);
  const done = useUndoToast(projectId);
  const [name, setName] = useState(view.name);
  const rename = (to: string) =>
    call(api.contacts.updateView, { projectId, params: { id: view.id }, body: { name: to } });
  const saving = useMutation({
    mutationFn: () => rename(name),
    onSuccess: async () => {
      await again();
      onClose();
      done(t("View renamed"), { description: name, undo: () => rename(view.name) });
    },
  });
  return (
    <Dialog title={t("Rename view")} open onClose={onClose}>
      <OneFieldForm label={t("Name")} value={name} onChange={setName} action={t("Rename")} asking={saving} />
    </Dialog>
  );
}
