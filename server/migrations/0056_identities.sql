-- Accounts that log in through another service (docs/decisions/0059-sign-in-through-others.md).

-- Null: the account logs in through another service alone, until a password is set by mail.
alter table users alter column password_hash drop not null;

-- owner: users
create table identities (
  id         uuid        primary key,
  -- The service, by the address that it calls itself: whoever is 17 at one is another one at the next.
  issuer     text        not null,
  -- The id there. Never the address: that passes from hand to hand.
  subject    text        not null,
  user_id    uuid        not null references users (id) on delete cascade,
  -- The address as the service said it when it was connected, to be shown.
  email      text        not null,
  created_at timestamptz not null default now(),
  unique (issuer, subject)
);
create index identities_user on identities (user_id);
