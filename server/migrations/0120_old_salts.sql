-- Hashes of passwords whose salt is not that of their account's address: docs/decisions/0098-signing-up-tells-nothing.md.
-- Of those that are there nobody knows; each is hashed anew when its account logs in.
alter table users add column has_old_salt boolean not null default false;
update users set has_old_salt = true where password_hash is not null;
create index users_old_salts on users (id) where has_old_salt;
