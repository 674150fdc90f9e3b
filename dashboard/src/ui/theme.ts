// Light and dark themes, following the system or the choice on this device.

export const THEMES = ["light", "dark", "system"] as const;
export type Theme = (typeof THEMES)[number];

/** The key of the choice in `localStorage`. */
export const THEME_KEY = "postloft.theme";

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(THEME_KEY);
  return THEMES.find((one) => one === stored) ?? "system";
}

export function showTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset["theme"];
  else dataset["theme"] = theme;
}

/** Stores and applies the theme on this device. */
export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(THEME_KEY);
  else localStorage.setItem(THEME_KEY, theme);
  showTheme(theme);
}
