-- Passkeys of accounts (docs/decisions/0074-passkeys.md), and when a session was last used.

-- owner: users
create table passkeys (
  id            uuid        primary key,
  user_id       uuid        not null references users (id) on delete cascade,
  -- As the authenticator names it. Unique over all accounts: whoever shows it is found by it alone.
  credential_id bytea       not null unique,
  -- COSE, as it was registered.
  public_key    bytea       not null,
  -- What the authenticator counted when it was used last; 0 for ever where it does not count.
  sign_count    bigint      not null,
  transports    text[]      not null,
  name          text        not null,
  created_at    timestamptz not null default now(),
  last_used_at  timestamptz
);
create index passkeys_user on passkeys (user_id, id);

-- owner: users
create table passkey_challenges (
  -- SHA-256 of the challenge: whoever reads the table can answer none.
  hash       bytea       primary key,
  -- Who registers a passkey with it; null: somebody signs in, nobody knows who.
  user_id    uuid        references users (id) on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_user on passkey_challenges (user_id);
create index passkey_challenges_expiry on passkey_challenges (expires_at);

-- Of sessions from before nobody knows.
alter table sessions add column last_used_at timestamptz;
