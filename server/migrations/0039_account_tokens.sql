-- What somebody proves who opens a link in a mail: that the address is theirs, or that they may set a new password.
alter table users add column verified_at timestamptz;
-- Of accounts from before nobody knows.

-- owner: users
create table account_tokens (
  -- SHA-256 of what stands in the link: whoever reads the table opens nothing.
  hash        bytea       primary key,
  user_id     uuid        not null references users (id) on delete cascade,
  purpose     text        not null check (purpose in ('VERIFY', 'RESET')),
  -- The address that is proved; it becomes the account's.
  email       text        not null,
  expires_at  timestamptz not null,
  created_at  timestamptz not null default now()
);
create index account_tokens_user on account_tokens (user_id, purpose);
