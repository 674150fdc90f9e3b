// Creates the database user of the program after the last step of embedded-postgres.ts. It owns the database but has no rights on the
// server, so injected SQL cannot read files, run programs or create users.
import { createHmac } from "node:crypto";
import { Client, type ClientConfig } from "pg";

const ROLE = "postloft_app";

/** Returns the program's connection. Its password is derived from the superuser's, which cannot be derived back. */
export function asApplication<Connection extends ClientConfig>(superuser: Connection): Connection {
  const password = createHmac("sha256", String(superuser.password)).update(ROLE).digest("base64url");
  return { ...superuser, user: ROLE, password };
}

/** Changes the owner of everything that an older version created as the superuser. Otherwise does nothing. */
const GIVE_ALL = `do $$
declare
  statement text;
begin
  for statement in
    select format('alter %s %s owner to ${ROLE}', case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end, c.oid::regclass)
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'S') and c.relowner <> '${ROLE}'::regrole
      -- Sequences of columns belong to their table, and objects of extensions to the extension.
      and not exists (select 1 from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i', 'e'))
    union all
    select format('alter routine %s owner to ${ROLE}', p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proowner <> '${ROLE}'::regrole
      and not exists (select 1 from pg_depend d where d.objid = p.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e')
    union all
    select format('alter database %I owner to ${ROLE}', datname)
    from pg_database where datname = current_database() and datdba <> '${ROLE}'::regrole
    union all
    select 'alter schema public owner to ${ROLE}'
    from pg_namespace where nspname = 'public' and nspowner <> '${ROLE}'::regrole
  loop
    execute statement;
  end loop;
end $$`;

/** Creates the program's user or sets its password, and gives it all objects. Safe to repeat. */
export async function prepareApplicationRole(superuser: ClientConfig): Promise<void> {
  const client = new Client(superuser);
  await client.connect();
  try {
    const { rows } = await client.query<{ standby: boolean }>("select pg_is_in_recovery() as standby");
    // A standby only has what its primary has.
    if (rows[0]?.standby === true) return;
    const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [ROLE]);
    const password = client.escapeLiteral(String(asApplication(superuser).password));
    const verb = rowCount === 0 ? "create" : "alter";
    await client.query(`${verb} role ${ROLE} login nosuperuser nocreatedb nocreaterole password ${password}`);
    await client.query(GIVE_ALL);
  } finally {
    await client.end();
  }
}
