// The two keys of a project, what each may do, its scoped ones, and programs that use them.
import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { CopyButton, mask, Snippet } from "../../ui/snippet.tsx";
import { Skeleton } from "../../ui/states.tsx";
import { EXAMPLE_SENDER, NoSender, useSender } from "../domains/sender.tsx";
import { useProject } from "../project-shell.tsx";
import { ReplaceKeys } from "./replace-keys.tsx";
import { ScopedKeys } from "./scoped-keys.tsx";
import { snippetsOf } from "./snippets.ts";

export function KeysPage() {
  const project = useProject();
  return (
    <Page title={t("API keys")} about={t("How your programs prove that they act for this project.")}>
      <Card className="divide-y divide-line">
        <Key
          title={t("Secret key")}
          about={t("May do everything in this project. Keep it on your servers.")}
          value={project.secret}
          isSecret
        />
        <Key
          title={t("Public key")}
          about={t("May only record events with /v1/track. Safe in a browser or an app.")}
          value={project.public}
        />
        <ReplaceKeys project={project} />
      </Card>
      <ScopedKeys project={project} />
      <Examples project={project} />
    </Page>
  );
}

interface KeyProps {
  title: string;
  about: string;
  value: string;
  isSecret?: boolean;
}

function Key({ title, about, value, isSecret = false }: KeyProps) {
  const [isShown, setShown] = useState(!isSecret);
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 px-5 py-4">
      <div className="min-w-56 flex-1">
        <h2 className="font-medium">{title}</h2>
        <p className="text-sm text-soft">{about}</p>
      </div>
      <div className="flex min-w-0 items-center gap-1">
        <code className="truncate font-mono text-xs">{isShown ? value : mask(value)}</code>
        {isSecret && (
          <button
            type="button"
            aria-label={isShown ? t("Hide the secret key") : t("Show the secret key")}
            onClick={() => setShown(!isShown)}
            className="ml-1 inline-grid size-7 place-items-center rounded-sm text-faint hover:bg-hover hover:text-ink"
          >
            {isShown ? <EyeOff size={14} /> : <Eye size={14} />}
          </button>
        )}
        <CopyButton text={value} label={t("Copy: {what}", { what: title })} />
      </div>
    </div>
  );
}

function Examples({ project }: { project: Project }) {
  const { secret } = project;
  const { domains, sender } = useSender(project);
  const programs = snippetsOf(location.origin, secret, sender ?? EXAMPLE_SENDER);
  const [language, setLanguage] = useState("curl");
  return (
    <section className="mt-8">
      <h2 className="font-semibold">{t("Send your first mail")}</h2>
      <div className="mt-3 mb-3 flex flex-wrap gap-1" role="group" aria-label={t("Language")}>
        {Object.keys(programs).map((name) => (
          <Button
            key={name}
            look="quiet"
            aria-pressed={name === language}
            onClick={() => setLanguage(name)}
            className="aria-pressed:bg-press aria-pressed:text-ink"
          >
            {name}
          </Button>
        ))}
      </div>
      {domains.isPending ? (
        <Skeleton className="h-40" />
      ) : (
        <Snippet
          code={programs[language] ?? ""}
          secret={secret}
          label={t("Copy: {what}", { what: language })}
        />
      )}
      {domains.isSuccess && sender === undefined && <NoSender projectId={project.id} />}
    </section>
  );
}
