// Edits a campaign's sender address: a local part at a verified domain.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../../text/t.ts";
import { Field, Select } from "../../ui/field.tsx";
import { domainsQuery } from "../domains/domains-query.ts";

interface SenderFieldProps {
  projectId: string;
  /** The full address. */
  value: string;
  onChange: (address: string) => void;
  error: string | undefined;
  autoFocus: boolean;
}

function partsOf(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf("@");
  return at < 0
    ? { local: address, domain: "" }
    : { local: address.slice(0, at), domain: address.slice(at + 1).trim() };
}

/** Lets users type or paste a full address into the local part field. The part after the @ then selects the domain. */
function useWholeAddress(domain: string, verified: readonly string[], onChange: (address: string) => void) {
  /** The part from the @ on, kept in the field until it loses focus. */
  const [typed, setTyped] = useState<string | null>(null);
  const chosenBy = (begun: string) => {
    const name = begun.toLowerCase();
    if (name === "") return domain;
    return verified.find((one) => one === name) ?? verified.find((one) => one.startsWith(name));
  };
  const type = (text: string) => {
    const input = partsOf(text);
    const isWhole = typed === null && input.domain !== "";
    setTyped(text.includes("@") && !isWhole ? text : null);
    onChange(isWhole ? text.trim() : `${input.local}@${chosenBy(input.domain) ?? domain}`);
  };
  const end = () => {
    if (typed === null) return;
    const input = partsOf(typed);
    setTyped(null);
    onChange(`${input.local}@${chosenBy(input.domain) ?? input.domain}`);
  };
  return { typed, type, end };
}

export function SenderField({ projectId, value, onChange, error, autoFocus }: SenderFieldProps) {
  const domains = useQuery(domainsQuery(projectId));
  const { local, domain } = partsOf(value);
  const verified = (domains.data ?? []).filter((one) => one.verified).map((one) => one.domain);
  const isKnown = domains.data === undefined || verified.includes(domain);
  const options = [...verified, ...(verified.includes(domain) ? [] : [domain])];
  const { typed, type, end } = useWholeAddress(domain, verified, onChange);
  return (
    <div>
      <div className="grid gap-4 @sm:grid-cols-2">
        <Field
          label={t("From")}
          value={typed ?? local}
          onChange={({ target }) => type(target.value)}
          onBlur={end}
          error={error}
          autoFocus={autoFocus}
        />
        <Select
          label={t("Domain")}
          options={options.map((name) => ({ value: name, label: `@${name}` }))}
          value={domain}
          onChange={({ target }) => onChange(`${local}@${target.value}`)}
        />
      </div>
      {!isKnown && (
        <p className="mt-1.5 text-sm text-warn">
          {t("This domain isn't verified, so you can't send from it.")}{" "}
          <Link to="/$projectId/domains" params={{ projectId }} className="underline">
            {t("View domains")}
          </Link>
        </p>
      )}
    </div>
  );
}
