-- What an account asks for beside its password (docs/decisions/0050-second-factor.md).

-- owner: users
create table second_factors (
  user_id       uuid        primary key references users (id) on delete cascade,
  -- Sealed with the application secret, for this account.
  sealed_secret bytea       not null,
  -- Null until a first code has confirmed it.
  confirmed_at  timestamptz,
  -- The time step of the code that was taken last: each code is taken once.
  last_step     bigint      not null default 0,
  created_at    timestamptz not null default now()
);

-- owner: users
create table recovery_codes (
  user_id uuid  not null references users (id) on delete cascade,
  -- SHA-256 of the code: whoever reads the table has none.
  hash    bytea not null,
  primary key (user_id, hash)
);
