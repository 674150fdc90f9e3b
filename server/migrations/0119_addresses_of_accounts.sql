-- An address may be that of several accounts until one proves it: docs/decisions/0098-signing-up-tells-nothing.md.
alter table users drop constraint users_email_key;
create unique index users_proven_email on users (email) where verified_at is not null;
create index users_email on users (email);
