-- Views of the contacts that members keep (docs/decisions/0080-saved-views.md).

-- owner: contacts
create table contact_views (
  project_id uuid        not null references projects (id) on delete cascade,
  id         uuid        not null,
  name       text        not null,
  -- What `GET /contacts` is asked, and which own fields have a column.
  query      jsonb       not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, name)
);
alter table contact_views alter column project_id set (n_distinct = 10);
