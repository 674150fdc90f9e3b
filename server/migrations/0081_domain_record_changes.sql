-- What DNS had of each record of a sender domain, and since when (docs/decisions/0078-drift-and-causes.md).

-- Written by a check that found another value or status than the one before. Of each record the last few are kept.
-- owner: domains
create table domain_record_changes (
  project_id uuid        not null,
  domain_id  uuid        not null,
  purpose    text        not null,
  name       text        not null,
  changed_at timestamptz not null default now(),
  status     text        not null,
  -- null: DNS has none.
  found      text,
  primary key (project_id, domain_id, purpose, name, changed_at),
  foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);
alter table domain_record_changes alter column project_id set (n_distinct = 10);
