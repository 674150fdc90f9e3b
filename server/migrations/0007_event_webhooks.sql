-- Webhook endpoints that receive the numbered events of a project (docs/decisions/0129-event-deliveries.md).

-- owner: stream
create table webhook_endpoints (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  -- Its credentials are encrypted one by one (docs/decisions/0115-credentials-of-webhook-steps.md).
  url text not null,
  description text,
  -- Names of events, `email.*` or `*`.
  event_types text[] not null,
  enabled boolean not null default true,
  -- Why the service disabled it. Null if a person did.
  disabled_reason text,
  ordered boolean not null,
  sealed bytea not null,
  -- The previous secret, which also signs for a while after a rotation.
  former_sealed bytea,
  secret_made_at timestamptz not null default now(),
  -- Events up to this number have a delivery or do not match.
  position bigint not null,
  -- The last number with a delivery, or the position at the creation. It is `previous` of the next delivery.
  previous bigint not null,
  -- The first failure since the last success.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id)
);

-- Events for webhook endpoints. The payload is read from `event_log`, so that deleting a contact redacts it.
-- owner: stream
create table event_deliveries (
  project_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null,
  number bigint not null,
  -- The number before this one that the endpoint was to receive.
  previous bigint not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  -- Finished attempts. An attempt whose process died does not count.
  tries integer not null default 0,
  -- The next attempt, or the end of the lease of the current one.
  due_at timestamptz default now() check ((due_at is null) = (state <> 'waiting')),
  claim_id uuid,
  first_failed_at timestamptz,
  -- The result of the last attempt.
  response_status smallint,
  response_body text,
  error text,
  duration_ms integer,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (project_id, id),
  foreign key (project_id, endpoint_id) references webhook_endpoints (project_id, id) on delete cascade,
  foreign key (project_id, number) references event_log (project_id, number) on delete cascade
);
create index event_deliveries_waiting on event_deliveries (project_id, endpoint_id, number) where state = 'waiting';
create index event_deliveries_due on event_deliveries (project_id, endpoint_id, due_at) where state = 'waiting';
create index event_deliveries_listed on event_deliveries (project_id, endpoint_id, state, id);
-- Deleting an event deletes its deliveries.
create index event_deliveries_number on event_deliveries (project_id, number);
create index event_deliveries_ended on event_deliveries (ended_at) where ended_at is not null;

-- See the end of 0001_initial.sql.
alter table webhook_endpoints alter column project_id set (n_distinct = 10);
alter table event_deliveries alter column project_id set (n_distinct = 10);
