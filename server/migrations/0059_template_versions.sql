-- What templates said before (docs/decisions/0062-blocks.md).

-- owner: templates
create table template_versions (
  project_id  uuid        not null,
  template_id uuid        not null,
  id          uuid        not null,
  subject     text        not null,
  body        text        not null,
  design      jsonb,
  -- Since when, and until when, it was what the template said.
  saved_at    timestamptz not null,
  replaced_at timestamptz not null default now(),
  primary key (project_id, template_id, id),
  foreign key (project_id, template_id) references templates (project_id, id) on delete cascade
);
alter table template_versions alter column project_id set (n_distinct = 10);
