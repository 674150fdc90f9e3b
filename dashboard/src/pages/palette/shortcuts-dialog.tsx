// Lists the keyboard shortcuts and lets users turn off single letters.
import { useState } from "react";
import { t } from "../../text/t.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { PLACES } from "../places.ts";
import { areLettersOn, turnLetters } from "./shortcuts.ts";

const KEYS = [
  { keys: ["⌘", "K"], does: t("Search and commands (also Ctrl K)") },
  { keys: ["/"], does: t("Focus the search field") },
  { keys: ["?"], does: t("Show keyboard shortcuts") },
  ...PLACES.map(({ letter, label }) => ({ keys: ["g", letter], does: label })),
];

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areLettersOn());
  return (
    <Dialog title={t("Keyboard shortcuts")} open onClose={onClose}>
      <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-y-1.5 text-sm">
        {KEYS.map(({ keys, does }) => (
          <div key={keys.join(" ")} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="grid h-5.5 min-w-5.5 place-items-center rounded-sm border border-line-strong px-1 font-mono text-xs text-soft"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="mt-5 border-t border-line pt-4">
        <Checkbox
          label={t("Single-key shortcuts")}
          help={t("Turn off if you use voice control or trigger shortcuts by accident.")}
          checked={isOn}
          onChange={({ target }) => {
            turnLetters(target.checked);
            setOn(target.checked);
          }}
        />
      </div>
    </Dialog>
  );
}
