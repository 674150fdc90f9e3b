-- What programs asked of the API lately, and how it was answered (docs/decisions/0053-request-log.md).

-- owner: requests
create table api_requests (
  project_id  uuid        not null references projects (id) on delete cascade,
  id          uuid        not null,
  -- As the answer said it in x-request-id; a caller may choose it.
  request_id  text        not null,
  at          timestamptz not null,
  method      text        not null,
  -- Without what stands behind `?`.
  path        text        not null,
  route       text        not null,
  status      smallint    not null,
  error_code  text,
  duration_ms integer     not null,
  -- `secret`, `public`, or the id of a scoped key.
  key         text        not null,
  ip          text,
  user_agent  text,
  -- Redacted before it came here.
  body        jsonb,
  body_bytes  integer     not null,
  -- Requests of the project before this one that are not here, since there were too many in their second.
  left_out    integer     not null default 0,
  primary key (project_id, id)
);
alter table api_requests alter column project_id set (n_distinct = 10);
create index api_requests_by_request on api_requests (project_id, request_id);
create index api_requests_failed on api_requests (project_id, id) where status >= 400;
create index api_requests_old on api_requests (at);
