-- Workflows: graphs in versions, executions of them, and who waits for which events.

-- Which events somebody reacts to, written by those who do; `*` is any change of a contact.
-- owner: reactions
create table event_subscriptions (
  project_id uuid not null references projects (id) on delete cascade,
  event_name text not null,
  subscriber text not null,
  primary key (project_id, event_name, subscriber)
);

-- What happened that somebody waits for: a row for each subscriber, gone when it has reacted.
-- owner: reactions
create table event_reactions (
  project_id uuid not null,
  subscriber text not null,
  id uuid not null,
  contact_id uuid not null,
  -- null: the contact changed without an event.
  event_name text,
  -- The event; of `email.sent`, which has no row of its own, the mail.
  event_id uuid,
  email_id uuid,
  primary key (project_id, subscriber, id)
);

insert into event_subscriptions (project_id, event_name, subscriber)
select distinct s.project_id, cause, 'segments' from segments s, unnest(s.causes) cause
where s.track_membership and s.type = 'DYNAMIC';
insert into event_reactions (project_id, subscriber, id, contact_id, event_name)
select project_id, 'segments', id, contact_id, cause from contact_changes;
drop table contact_changes;

-- owner: workflows
create table workflows (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  enabled boolean not null default false,
  trigger_type text not null default 'EVENT'
    check (trigger_type in ('EVENT', 'SEGMENT_ENTRY', 'SEGMENT_EXIT', 'SCHEDULE', 'MANUAL')),
  trigger_config jsonb not null default '{}',
  -- The event that starts it, whatever the type of its trigger; null when none does.
  trigger_event text,
  allow_reentry boolean not null default false,
  -- The version of its graph that new executions get.
  version integer not null default 1,
  -- Executions that started until then were cancelled all together.
  cancelled_until timestamptz,
  -- Of an enabled SCHEDULE.
  next_run_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id)
);
create index workflows_by_trigger on workflows (project_id, trigger_event) where enabled and trigger_event is not null;
create index workflows_scheduled on workflows (next_run_at) where next_run_at is not null;

-- A graph never changes once an execution has started on it.
-- owner: workflows
create table workflow_versions (
  project_id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  graph jsonb not null,
  -- Names of events that its waits wait for.
  wait_names text[] not null default '{}',
  -- Whether an execution has started on it.
  is_used boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (project_id, workflow_id, version),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade
);

-- owner: workflows
create table workflow_executions (
  project_id uuid not null,
  id uuid not null,
  workflow_id uuid not null,
  contact_id uuid,
  -- 0 where the contact may enter once, ever; otherwise different for each entry.
  entry bigint not null,
  version integer not null,
  status text not null default 'RUNNING'
    check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
  -- Where it stands; null after its end.
  step_id uuid,
  -- When it is looked at next; null while it waits for nothing but an event or an answer, and after its end.
  due_at timestamptz,
  -- The event it waits for.
  waits_for text,
  -- What it was started with: the data of the event, or what a caller gave.
  context jsonb,
  -- What later steps may use: `{steps: {<name>: …}}`.
  results jsonb,
  -- Of the webhook it waits for, when that has ended.
  answer jsonb,
  -- What its steps did so far, in order.
  trace jsonb not null default '[]',
  exit_reason text,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (project_id, id),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade,
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete set null (contact_id)
);
create unique index workflow_executions_once on workflow_executions (project_id, contact_id, workflow_id, entry);
create unique index workflow_executions_active on workflow_executions (project_id, workflow_id, contact_id)
  where status in ('RUNNING', 'WAITING');
create index workflow_executions_due on workflow_executions (project_id, due_at) where due_at is not null;
create index workflow_executions_waiting on workflow_executions (project_id, contact_id, waits_for)
  where waits_for is not null;
create index workflow_executions_left on workflow_executions (project_id)
  where contact_id is null and status in ('RUNNING', 'WAITING');
create index workflow_executions_listed on workflow_executions (project_id, workflow_id, id);

-- Counted in the transaction in which executions go on.
-- owner: workflows
create table workflow_step_counts (
  project_id uuid not null,
  workflow_id uuid not null,
  step_id uuid not null,
  entered bigint not null default 0,
  passed bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  -- Executions that ended here by being cancelled.
  cancelled bigint not null default 0,
  primary key (project_id, workflow_id, step_id),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade
);

alter table emails add column workflow_id uuid, add column workflow_step_id uuid;
create index emails_by_workflow_step on emails (project_id, workflow_step_id, status, came_back)
  where workflow_step_id is not null;
