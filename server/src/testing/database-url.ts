// Writes the URL of a test database for programs that read DATABASE_URL.
import type { PoolConfig } from "pg";

/** Returns the URL of a connection, also if its host is the folder of a socket. */
export function databaseUrlOf({ host, port, user, password, database }: PoolConfig): string {
  const login = password === undefined ? `${user}` : `${user}:${encodeURIComponent(String(password))}`;
  return `postgres://${login}@127.0.0.1:${port}/${database}?host=${encodeURIComponent(String(host))}`;
}
