// Heat map of opens by hour of the week.
import { plural, t, locale } from "../../text/t.ts";

const HOURS_A_DAY = 24;
/** A Monday. */
const MONDAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;
const WEEKDAY = new Intl.DateTimeFormat(locale(), { weekday: "short", timeZone: "UTC" });
const HOUR = new Intl.DateTimeFormat(locale(), { hour: "numeric", timeZone: "UTC" });
/** Hours have too little room for a name each. */
const NAMED_EVERY = 6;

interface WeekHour {
  weekday: number;
  hour: number;
  opens: number;
}

const dayName = (weekday: number) => WEEKDAY.format(MONDAY_MS + (weekday - 1) * DAY_MS);
const hourName = (hour: number) => HOUR.format(MONDAY_MS + hour * 3_600_000);

export function WeekHours({ hours }: { hours: readonly WeekHour[] }) {
  const most = Math.max(...hours.map(({ opens }) => opens));
  const best = hours.find(({ opens }) => opens === most);
  if (best === undefined || most === 0) return <p className="text-soft">{t("No opens in this period.")}</p>;
  return (
    <>
      <p className="mb-3 text-sm">
        {t("Most opens: {weekday}, {hour}", { weekday: dayName(best.weekday), hour: hourName(best.hour) })}
      </p>
      <div className="overflow-x-auto">
        {/* Without a fixed layout, hours without a visible name would have no width. */}
        <table className="w-full min-w-160 table-fixed border-separate border-spacing-0.5 text-xs text-faint">
          <thead>
            <tr>
              <td className="w-10" />
              {Array.from({ length: HOURS_A_DAY / NAMED_EVERY }, (_unused, at) => (
                <th key={at} scope="colgroup" colSpan={NAMED_EVERY} className="pb-1 text-left font-normal">
                  {hourName(at * NAMED_EVERY)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: 7 }, (_unused, day) => (
              <tr key={day}>
                <th scope="row" className="w-10 pr-2 text-left font-normal">
                  {dayName(day + 1)}
                </th>
                {hours
                  .filter(({ weekday }) => weekday === day + 1)
                  .map(({ hour, opens }) => (
                    <Cell key={hour} hour={hour} opens={opens} share={opens / most} />
                  ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Cell({ hour, opens, share }: { hour: number; opens: number; share: number }) {
  const says = `${hourName(hour)}: ${plural(opens, "{n} open", "{n} opens")}`;
  return (
    <td className="relative h-5 overflow-hidden rounded-sm bg-hover p-0" title={says}>
      <span className="absolute inset-0 bg-accent" style={{ opacity: share }} />
      <span className="sr-only">{says}</span>
    </td>
  );
}
