-- Calls to the endpoints of users, and the secrets they are signed with.

-- One secret a project, made when it is needed first. The one before signs as well for a while after a rotation.
-- owner: webhooks
create table webhook_secrets (
  project_id     uuid         primary key references projects (id) on delete cascade,
  sealed         bytea        not null,
  former_sealed  bytea,
  made_at        timestamptz  not null default now()
);

-- What is to be called, and what came of it. A call that is claimed is due again when its lease is over.
-- owner: webhooks
create table webhook_calls (
  project_id       uuid         not null references projects (id) on delete cascade,
  id               uuid         not null,
  -- On whose behalf; `owner_ref` means something to the owner alone.
  owner_kind       text         not null check (owner_kind in ('workflow')),
  owner_id         uuid         not null,
  owner_ref        text         not null,
  url              text         not null,
  method           text         not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  headers          jsonb        not null,
  body             text,
  state            text         not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  -- Tries that ended; one whose process died is none.
  tries            smallint     not null default 0,
  due_at           timestamptz  default now() check ((due_at is null) = (state <> 'waiting')),
  claim_id         uuid,
  -- Of the last try.
  response_status  smallint,
  response_body    text,
  is_cut           boolean      not null default false,
  error            text,
  created_at       timestamptz  not null default now(),
  ended_at         timestamptz,
  primary key (project_id, id)
);
create index webhook_calls_due on webhook_calls (project_id, due_at) where state = 'waiting';
create index webhook_calls_ended on webhook_calls (ended_at) where ended_at is not null;
