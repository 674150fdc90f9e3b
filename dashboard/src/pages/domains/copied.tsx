// A line of a DNS record with a button that copies its value.
import { CopyButton } from "../../ui/snippet.tsx";

/** Three cells of a grid: label, value and button. `copy` names the button. */
export function Copied({ label, copy, value }: { label: string; copy: string; value: string }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="truncate font-mono text-xs" title={value}>
        {value}
      </dd>
      <dd>
        <CopyButton text={value} label={copy} />
      </dd>
    </>
  );
}
