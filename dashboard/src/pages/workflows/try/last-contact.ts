// Remembers in this browser the contact with which workflows of a project were tried last.
const STORED_AS = "postloft.tried.";

export function rememberTried(projectId: string, contactId: string): void {
  localStorage.setItem(STORED_AS + projectId, contactId);
}

export function lastTried(projectId: string): string | null {
  return localStorage.getItem(STORED_AS + projectId);
}
