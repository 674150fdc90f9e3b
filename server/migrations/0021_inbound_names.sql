-- The part before the @ of the address at INBOUND_DOMAIN that belongs to a project: random, and changed when its people want it.
-- owner: projects
alter table projects add column inbound_name text;
-- Addresses that are in use stay as they are, until somebody changes them.
update projects set inbound_name = id::text;
alter table projects
  alter column inbound_name set not null,
  -- 80 random bits.
  alter column inbound_name set default left(md5(gen_random_uuid()::text || gen_random_uuid()::text), 20),
  add constraint projects_inbound_name_key unique (inbound_name);
