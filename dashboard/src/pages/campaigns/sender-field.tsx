// From which address a campaign comes: a name of its own, at one of the domains that are verified. Before it: content-step.tsx.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { t } from "../../text/t.ts";
import { Field, Select } from "../../ui/field.tsx";
import { domainsQuery } from "../domains/domains-query.ts";

interface SenderFieldProps {
  projectId: string;
  /** The whole address. */
  value: string;
  onChange: (address: string) => void;
  error: string | undefined;
}

export function SenderField({ projectId, value, onChange, error }: SenderFieldProps) {
  const domains = useQuery(domainsQuery(projectId));
  const at = value.lastIndexOf("@");
  const [local, domain] = at < 0 ? [value, ""] : [value.slice(0, at), value.slice(at + 1)];
  const verified = (domains.data ?? []).filter((one) => one.verified).map((one) => one.domain);
  const isKnown = domains.data === undefined || verified.includes(domain);
  const options = [...verified, ...(verified.includes(domain) ? [] : [domain])];
  return (
    <div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={t("From")}
          value={local}
          onChange={({ target }) =>
            // A whole address may be pasted.
            onChange(target.value.includes("@") ? target.value.trim() : `${target.value}@${domain}`)
          }
          error={error}
        />
        <Select
          label={t("At the domain")}
          options={options.map((name) => ({ value: name, label: `@${name}` }))}
          value={domain}
          onChange={({ target }) => onChange(`${local}@${target.value}`)}
        />
      </div>
      {!isKnown && (
        <p className="mt-1.5 text-sm text-warn">
          {t("This domain is not verified, so nothing can be sent from it.")}{" "}
          <Link to="/$projectId/domains" params={{ projectId }} className="underline">
            {t("Look at the domains")}
          </Link>
        </p>
      )}
    </div>
  );
}
