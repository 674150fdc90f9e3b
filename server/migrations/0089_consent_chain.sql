-- The consent log as a chain of hashes (docs/decisions/0083-consent-chain.md).

-- The order in which rows came, over all projects: given out by a sequence, so that whoever writes waits for nobody.
alter table consent_changes add column position bigint generated always as identity;
create index consent_changes_position_idx on consent_changes (position);

-- That rows went with their contacts: which ones, and nothing of what they said. In the same order as the rows.
-- owner: contacts
create table consent_erasures (
  project_id uuid        not null references projects (id) on delete cascade,
  position   bigint      not null default nextval('consent_changes_position_seq'),
  positions  bigint[]    not null,
  at         timestamptz not null default clock_timestamp(),
  primary key (project_id, position)
);
create index consent_erasures_position_idx on consent_erasures (position);

-- Each covers some rows of a project by their digests, and the seal before it.
-- owner: contacts
create table consent_seals (
  project_id uuid        not null references projects (id) on delete cascade,
  -- From 1, without a gap.
  number     integer     not null,
  -- In whole milliseconds, as it is hashed.
  at         timestamptz not null,
  -- All rows up to this instant are sealed, here or before; null: more of them follow in the next seal.
  complete_to timestamptz,
  positions  bigint[]    not null,
  -- Of each of them, 32 bytes.
  digests    bytea       not null,
  hash       bytea       not null,
  primary key (project_id, number)
);
-- Digests do not get smaller.
alter table consent_seals alter column digests set storage external;

-- The newest seal of each project.
-- owner: contacts
create table consent_heads (
  project_id uuid    primary key references projects (id) on delete cascade,
  number     integer not null,
  hash       bytea   not null
);

-- What is sealed, of all projects: rows up to this position. One row; its lock lines up the processes that seal.
-- owner: contacts
create table consent_sealed (
  is_only  boolean primary key default true check (is_only),
  position bigint  not null
);
insert into consent_sealed (position) values (0);

do $$ declare name text; begin
  foreach name in array array['consent_erasures', 'consent_heads', 'consent_seals'] loop
    execute format('alter table %I alter column project_id set (n_distinct = 10)', name);
  end loop;
end $$;
