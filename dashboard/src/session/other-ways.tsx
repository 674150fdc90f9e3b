// Links to external sign-in services. Links, because the whole page leaves for the service.
import { t } from "../text/t.ts";
import { buttonClass } from "../ui/button.tsx";
import { useOtherWays } from "./oauth.ts";

/** Shows one button per service, or nothing if none is enabled. */
export function OtherWays({ next, note }: { next: string; note?: string }) {
  const ways = useOtherWays();
  if (ways.length === 0) return null;
  return (
    <>
      <p className="my-5 flex items-center gap-3 text-sm text-faint">
        <span className="h-px flex-1 bg-line" />
        {t("or")}
        <span className="h-px flex-1 bg-line" />
      </p>
      {note !== undefined && <p className="mb-3 text-sm text-soft">{note}</p>}
      <ul className="flex flex-col gap-2">
        {ways.map(({ name, title, beginAt }) => (
          <li key={name}>
            <a href={beginAt(next)} className={buttonClass("plain", "w-full")}>
              {t("Continue with {service}", { service: title })}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
