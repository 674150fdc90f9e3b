// Shows a project's keys, scoped keys and code samples. Members don't see the secret key.
import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { t } from "../../text/t.ts";
import { Card, Page } from "../../ui/page.tsx";
import { CopyButton, mask } from "../../ui/snippet.tsx";
import { useProject } from "../project-shell.tsx";
import { FirstProgram } from "./first-program.tsx";
import { ReplaceKeys } from "./replace-keys.tsx";
import { ScopedKeys } from "./scoped-keys.tsx";

export function KeysPage() {
  const project = useProject();
  return (
    <Page title={t("API keys")} about={t("Keys your app uses to call the API.")}>
      <Card className="divide-y divide-line">
        {project.secret === null ? (
          <p className="px-5 py-4 text-sm text-soft">
            {t("Only owners and admins can see the secret key. Create a scoped key for your app.")}
          </p>
        ) : (
          <Key
            title={t("Secret key")}
            about={t("Full access to this project. Keep it on your servers.")}
            value={project.secret}
            isSecret
          />
        )}
        <Key
          title={t("Public key")}
          about={t("Can only record events with /v1/track. Safe to use in browsers and apps.")}
          value={project.public}
        />
        <ReplaceKeys project={project} />
      </Card>
      <ScopedKeys project={project} />
      <section className="mt-8">
        <h2 className="font-semibold">{t("Send your first email")}</h2>
        <FirstProgram project={project} />
      </section>
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
            aria-label={isShown ? t("Hide secret key") : t("Show secret key")}
            onClick={() => setShown(!isShown)}
            className="ml-1 inline-grid size-7 place-items-center rounded-sm text-faint hover:bg-hover hover:text-ink"
          >
            {isShown ? <EyeOff size={14} /> : <Eye size={14} />}
          </button>
        )}
        <CopyButton text={value} label={t("Copy {what}", { what: title })} />
      </div>
    </div>
  );
}
