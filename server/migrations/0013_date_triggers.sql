-- The trigger DATE of workflows (docs/decisions/0138-date-triggers.md).
-- All changes are quick: adding the columns rewrites nothing, and a project has few workflows.
alter table workflows drop constraint workflows_trigger_type_check;
alter table workflows add constraint workflows_trigger_type_check
  check (trigger_type in ('EVENT', 'SEGMENT_ENTRY', 'SEGMENT_EXIT', 'SCHEDULE', 'DATE', 'MANUAL'));
alter table workflows
  -- When an enabled trigger DATE was enabled or changed. Earlier times start nothing. Null for the others.
  add column dates_since timestamptz;
create index workflows_dated on workflows (project_id) where dates_since is not null;

-- The next time at which a contact enters a workflow with the trigger DATE. Contacts without a later time have no row.
-- owner: workflows
create table workflow_dates (
  project_id uuid not null,
  workflow_id uuid not null,
  contact_id uuid not null,
  -- The date, in a yearly trigger that of the next year. A day is midnight UTC.
  occurs_at timestamptz not null,
  due_at timestamptz not null,
  -- `workflows.dates_since` of the trigger for which the row was computed. A row of an earlier trigger starts nothing.
  since timestamptz not null,
  -- See `event_reactions.from_public_key`.
  from_public_key boolean,
  primary key (project_id, contact_id, workflow_id),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade,
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
);
create index workflow_dates_due on workflow_dates (project_id, due_at);
create index workflow_dates_by_workflow on workflow_dates (project_id, workflow_id, since);

-- See the end of 0001_initial.sql.
alter table workflow_dates alter column project_id set (n_distinct = 10);
