// Remembers the last open project in this browser, so that /app opens it.
const KEY = "postloft.project";

export function rememberProject(id: string): void {
  localStorage.setItem(KEY, id);
}

export function lastProject(): string | null {
  return localStorage.getItem(KEY);
}
