// Language choices in the user menu.
import { Check } from "lucide-react";
import { call } from "../api/call.ts";
import { api } from "../api/endpoints.ts";
import { chooseLanguage, LANGUAGE, LANGUAGES, t, type Language } from "../text/t.ts";
import { MenuItem, MenuLine } from "../ui/menu.tsx";

/** Also sets the language of account emails. If that fails, the dashboard still switches. */
async function speak(language: Language): Promise<void> {
  await call(api.users.update, { body: { language } }).catch(() => undefined);
  chooseLanguage(language);
}

export function LanguageItems() {
  return (
    <>
      {(Object.keys(LANGUAGES) as Language[]).map((code) => (
        <MenuItem key={code} onSelect={() => void speak(code)}>
          <span lang={code} className="flex-1">
            {LANGUAGES[code]}
          </span>
          {code === LANGUAGE && <Check size={14} className="text-accent" aria-label={t("selected")} />}
        </MenuItem>
      ))}
      <MenuLine />
    </>
  );
}
