-- Which of several processes have looked at a database that is another one than it was: until then nobody claims.

-- owner: platform
alter table installation add column incarnation_since timestamptz not null default now();

-- Of the installation, as this sender knows it.
-- owner: emails
alter table senders add column incarnation integer not null default 0;
