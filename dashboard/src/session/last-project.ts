// The project that was open last in this browser, so that /app leads there.
const KEY = "postloft.project";

export function rememberProject(id: string): void {
  localStorage.setItem(KEY, id);
}

export function lastProject(): string | null {
  return localStorage.getItem(KEY);
}
