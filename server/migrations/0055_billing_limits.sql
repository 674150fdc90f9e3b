-- How many mails of each kind a project may send in a calendar month (docs/decisions/0055-caps.md).

-- owner: billing
create table billing_limits (
  project_id    uuid        primary key references projects (id) on delete cascade,
  transactional integer     check (transactional > 0),
  campaigns     integer     check (campaigns > 0),
  workflows     integer     check (workflows > 0),
  updated_at    timestamptz not null default now()
);
alter table billing_limits alter column project_id set (n_distinct = 10);
