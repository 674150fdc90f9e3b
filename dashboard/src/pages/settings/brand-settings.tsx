// The brand of a project: logo, colors, font and footer of new emails and public pages. Sends only changed fields.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { Brand } from "@postloft/contract/brand.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Select, TextArea } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { withoutSaved } from "../../ui/typed.ts";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { ImageSource } from "../images/image-source.tsx";
import { COLOUR_INPUTS, ColourFields } from "../templates/blocks/color-field.tsx";
import { FONT_OPTIONS } from "../templates/blocks/fonts.ts";
import { ALIGNMENTS } from "../templates/blocks/parts-of-forms.tsx";
import { changeOf, draftOf, type BrandDraft } from "./brand-draft.ts";
import { BrandPreview } from "./brand-preview.tsx";

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function BrandSettings({ project }: { project: Project }) {
  const stored = draftOf(project);
  const [typed, setTyped] = useState<Partial<BrandDraft>>({});
  const draft: BrandDraft = { ...stored, ...typed };
  const queries = useQueryClient();
  const toast = useToast();
  const appError = whyNot(project, "ADMIN");
  const isChanged = Object.keys(changeOf(stored, draft)).length > 0;
  useLeaveWarning(isChanged);
  const saving = useMutation({
    mutationFn: (sent: Partial<BrandDraft>) =>
      call(api.projects.update, { projectId: project.id, body: changeOf(stored, { ...stored, ...sent }) }),
    onSuccess: async (_saved, sent) => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      setTyped((now) => withoutSaved(now, sent));
      toast(t("Brand saved"), t("Emails that exist keep their colors and font."));
    },
  });
  const change = (changed: Partial<BrandDraft>) => setTyped((old) => ({ ...old, ...changed }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(typed);
  };
  const form = { draft, disabled: appError !== undefined, error: saving.error, change };
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <form onSubmit={submit} noValidate className="flex min-w-0 flex-col gap-5">
        <p className="text-sm text-soft">{t("For new emails and your unsubscribe pages.")}</p>
        {appError !== undefined && <p className="text-sm text-soft">{appError}</p>}
        {saving.isError && <Failure error={saving.error} atInputs={INPUTS} />}
        <LookCard {...form} projectId={project.id} />
        <FooterCard {...form} />
        <div className="flex justify-end gap-2">
          <Button look="quiet" disabled={!isChanged} onClick={() => setTyped({})}>
            {t("Discard")}
          </Button>
          <Button
            look="primary"
            type="submit"
            busy={saving.isPending}
            disabled={appError !== undefined || !isChanged}
            title={appError}
          >
            {t("Save brand")}
          </Button>
        </div>
      </form>
      <BrandPreview project={project} draft={draft} />
    </div>
  );
}

/** The fields of a request that show their errors themselves. */
const INPUTS = ["logoUrl", "postalAddress", ...COLOUR_INPUTS];

interface FormProps {
  draft: BrandDraft;
  disabled: boolean;
  error: unknown;
  change: (changed: Partial<BrandDraft>) => void;
}

function LookCard({ projectId, draft, disabled, error, change }: FormProps & { projectId: string }) {
  return (
    <Card className="flex flex-col gap-5 p-5">
      <h2 className="font-semibold">{t("Look")}</h2>
      <ImageSource
        projectId={projectId}
        label={t("Logo")}
        url={draft.logoUrl}
        disabled={disabled}
        error={problemWith(error, "logoUrl")}
        onType={(logoUrl) => change({ logoUrl })}
        onUploaded={(logoUrl) => change({ logoUrl })}
        onChoose={({ url }) => change({ logoUrl: url })}
      />
      <ColourFields values={draft} disabled={disabled} error={error} onChange={change} />
      <Select
        label={t("Font")}
        options={FONT_OPTIONS}
        value={draft.font}
        disabled={disabled}
        onChange={({ target }) => change({ font: target.value as Brand["font"] })}
      />
    </Card>
  );
}

function FooterCard({ draft, disabled, error, change }: FormProps) {
  return (
    <Card className="flex flex-col gap-5 p-5">
      <h2 className="font-semibold">{t("Marketing footer")}</h2>
      <TextArea
        label={t("Postal address")}
        rows={4}
        help={t("Many countries require it in marketing email.")}
        value={draft.postalAddress}
        disabled={disabled}
        error={problemWith(error, "postalAddress")}
        onChange={({ target }) => change({ postalAddress: target.value })}
      />
      <Select
        label={t("Alignment")}
        options={ALIGNMENTS}
        value={draft.footerAlign}
        disabled={disabled}
        onChange={({ target }) => change({ footerAlign: target.value as Brand["footerAlign"] })}
      />
      <Checkbox
        label={t("Show logo in footer")}
        checked={draft.footerLogo}
        disabled={disabled}
        onChange={({ target }) => change({ footerLogo: target.checked })}
      />
    </Card>
  );
}
