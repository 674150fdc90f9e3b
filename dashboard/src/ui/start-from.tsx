// Lets the user choose what something new starts from.
import { t } from "../text/t.ts";

interface Choice {
  key: string;
  label: string;
  about: string;
}

interface StartFromProps {
  choices: readonly Choice[];
  /** The key of a choice. */
  chosen: string;
  onChoose: (key: string) => void;
}

export function StartFrom({ choices, chosen, onChoose }: StartFromProps) {
  return (
    <fieldset className="mb-4 grid gap-2 sm:grid-cols-2">
      <legend className="mb-1.5 text-sm font-medium">{t("Start from")}</legend>
      {choices.map(({ key, label, about }) => (
        <label
          key={key}
          className="flex cursor-pointer gap-2.5 rounded-md border border-line p-3 text-sm has-checked:border-accent has-checked:bg-accent-wash has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="starting-point"
            value={key}
            checked={key === chosen}
            onChange={() => onChoose(key)}
            className="mt-0.5 accent-accent-fill"
          />
          <span>
            <span className="block font-medium">{label}</span>
            <span className="text-soft">{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
