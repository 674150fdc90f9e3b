// Resets or deletes a project after the user types its name.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";

type Removal = "reset" | "delete";
const POLL_EVERY_MS = 3_000;

const WORDS: Record<Removal, { title: string; about: string; action: string; done: string }> = {
  reset: {
    title: t("Reset project"),
    about: t(
      "Deletes all contacts, events, emails, templates, segments, campaigns and workflows. Keeps members, keys, settings, domains, the suppression list and the audit log.",
    ),
    action: t("Reset project"),
    done: t("Resetting project"),
  },
  delete: {
    title: t("Delete project"),
    about: t("Deletes everything, including API keys. Apps that use them stop working immediately."),
    action: t("Delete project"),
    done: t("Deleting project"),
  },
};

export function DangerSettings({ project }: { project: Project }) {
  const [asked, setAsked] = useState<Removal | null>(null);
  const appError = whyNot(project, "ADMIN");
  return (
    <Card className="divide-y divide-line">
      {project.removal !== null && <Running project={project} />}
      {(["reset", "delete"] as const).map((removal) => (
        <div key={removal} className="flex flex-wrap items-center justify-between gap-4 px-5 py-4">
          <div className="min-w-60 flex-1">
            <h2 className="font-medium">{WORDS[removal].title}</h2>
            <p className="max-w-160 text-sm text-soft">{WORDS[removal].about}</p>
          </div>
          <Button
            look="danger"
            disabled={appError !== undefined || project.removal !== null}
            title={appError}
            onClick={() => setAsked(removal)}
          >
            {WORDS[removal].action}
          </Button>
        </div>
      ))}
      {asked !== null && <TypedDialog project={project} removal={asked} onClose={() => setAsked(null)} />}
    </Card>
  );
}

/** The job continues on the server. Poll the projects to see when it is done. */
function Running({ project }: { project: Project }) {
  useQuery({ ...projectsQuery, refetchInterval: POLL_EVERY_MS });
  return (
    <p role="status" className="px-5 py-4 text-sm text-warn">
      {project.removal === "DELETE"
        ? t("We're deleting this project. It no longer sends email.")
        : t("We're resetting this project. It can't send until that's done.")}
    </p>
  );
}

interface TypedProps {
  project: Project;
  removal: Removal;
  onClose: () => void;
}

function TypedDialog({ project, removal, onClose }: TypedProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const [typed, setTyped] = useState("");
  const words = WORDS[removal];
  const removing = useMutation({
    mutationFn: () =>
      call(removal === "reset" ? api.projects.reset : api.projects.delete, {
        projectId: project.id,
        body: { confirm: typed },
      }),
    onSuccess: async () => {
      toast(words.done);
      onClose();
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
    },
  });
  return (
    <Dialog title={words.title} description={words.about} open onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          removing.mutate();
        }}
      >
        {removing.isError && <Failure error={removing.error} />}
        <p className="text-sm">{t("This can't be undone. Type the project name to confirm:")}</p>
        <p className="font-mono text-xs whitespace-pre-wrap select-all">{project.name}</p>
        <Field
          label={t("Project name")}
          autoFocus
          autoComplete="off"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="danger" type="submit" busy={removing.isPending} disabled={typed !== project.name}>
            {words.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
