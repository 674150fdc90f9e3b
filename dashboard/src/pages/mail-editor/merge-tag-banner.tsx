// Names the service that an email's merge tags belong to, and converts all of them with an option to undo.
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { MergeTag } from "@postloft/contract/merge-tags/find-merge-tags.ts";
import type { MergeTagContext } from "@postloft/contract/merge-tags/variables.ts";
import { locale, plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { fieldsQuery } from "../contacts/field-queries.ts";
import { useProject } from "../project-shell.tsx";
import { convertedDraft, tagsOfDraft, type WrittenEmail } from "./convert-draft.ts";

interface BannerProps {
  draft: WrittenEmail;
  onChange: (change: WrittenEmail) => void;
}

/** The email before and after a conversion. Undo is offered until the email changes otherwise. */
interface Conversion {
  before: WrittenEmail;
  after: WrittenEmail;
  count: number;
}

export function MergeTagBanner({ draft: { subject, previewText, body, design }, onChange }: BannerProps) {
  const context = useMergeTagContext();
  const [conversion, setConversion] = useState<Conversion | null>(null);
  const draft = useMemo(() => ({ subject, previewText, body, design }), [subject, previewText, body, design]);
  const tags = useMemo(() => (context === null ? [] : tagsOfDraft(draft, context)), [draft, context]);
  const convertible = tags.filter(({ replacement }) => replacement !== null);
  const convert = () => {
    if (context === null) return;
    const after = convertedDraft(draft, context);
    setConversion({ before: draft, after, count: convertible.length });
    onChange(after);
  };
  const undo = ({ before }: Conversion) => {
    setConversion(null);
    onChange(before);
  };
  const isConverted =
    conversion !== null &&
    conversion.after.subject === subject &&
    conversion.after.previewText === previewText &&
    conversion.after.body === body;
  if (tags.length === 0 && !isConverted) return null;
  return (
    <section
      aria-label={t("Merge tags")}
      className="flex flex-wrap items-center justify-between gap-3 rounded-md border border-line bg-side px-3 py-2 text-sm"
    >
      <div role="status" className="min-w-0 flex-1 wrap-anywhere">
        {isConverted && (
          <p>{plural(conversion.count, "{n} merge tag converted.", "{n} merge tags converted.")}</p>
        )}
        {!isConverted && (
          <p>{t("This email contains {services} merge tags.", { services: servicesOf(tags) })}</p>
        )}
        {convertible.length < tags.length && (
          <p className="text-warn">
            {t("Replace or remove these manually: {tags}", { tags: unconvertible(tags) })}
          </p>
        )}
      </div>
      {isConverted && (
        <Button look="quiet" onClick={() => undo(conversion)}>
          {t("Undo")}
        </Button>
      )}
      {!isConverted && convertible.length > 0 && (
        <Button onClick={convert}>{t("Convert to Postloft variables")}</Button>
      )}
    </section>
  );
}

/** Returns null until the project's fields are loaded. */
function useMergeTagContext(): MergeTagContext | null {
  const { id, name, postalAddress } = useProject();
  const { data } = useQuery(fieldsQuery(id));
  return useMemo(() => {
    if (data === undefined) return null;
    const fields = new Set(data.map(({ field }) => field.replace(/^data\./, "")));
    return { fields, projectName: name, postalAddress, year: new Date().getFullYear() };
  }, [data, name, postalAddress]);
}

function servicesOf(tags: readonly MergeTag[]): string {
  const services = [...new Set(tags.map(({ service }) => service))];
  return new Intl.ListFormat(locale(), { type: "conjunction" }).format(services);
}

const SHOWN_TAGS = 5;

function unconvertible(tags: readonly MergeTag[]): string {
  const texts = new Set(tags.filter(({ replacement }) => replacement === null).map(({ text }) => text));
  return [...texts].slice(0, SHOWN_TAGS).join(" ") + (texts.size > SHOWN_TAGS ? " …" : "");
}
