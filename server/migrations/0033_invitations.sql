-- People without an account who were asked to join a project; the row is gone once they came or the invitation is over.
-- owner: projects
create table invitations (
  project_id  uuid         not null references projects (id) on delete cascade,
  id          uuid         not null,
  email       text         not null,
  role        text         not null check (role in ('ADMIN', 'MEMBER')),
  -- Of the token in the link; the token itself is nowhere.
  token_hash  bytea        not null,
  created_at  timestamptz  not null default now(),
  expires_at  timestamptz  not null,
  primary key (project_id, id),
  unique (project_id, email)
);
create index invitations_token on invitations (token_hash);
create index invitations_expiry on invitations (expires_at);
