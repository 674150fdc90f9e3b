-- Opt-outs of addresses that no contact has (docs/decisions/0107-opt-outs-of-addresses.md).

-- An address that opted out and is no contact's now: its contact was deleted or got another address, or there never was one. A contact
-- that gets the address begins unsubscribed and takes the row with it, so a contact and a row never speak of the same address.
-- owner: contacts
create table opt_outs (
  project_id    uuid         not null references projects (id) on delete cascade,
  -- The first 128 bits of an HMAC over project and address, under a key derived from the application secret: nobody reads the address from it.
  address_hash  uuid         not null,
  created_at    timestamptz  not null default now(),
  primary key (project_id, address_hash)
);
alter table opt_outs alter column project_id set (n_distinct = 10);

-- owner: contacts
alter table consent_changes
  -- How a contact began when nobody said whether it is subscribed: not subscribed because a transactional email went to it is no opt-out.
  -- False for contacts that began before this column.
  add column by_default boolean not null default false,
  drop constraint consent_changes_source_check,
  add constraint consent_changes_source_check check (source in
    ('page', 'one-click', 'api', 'import', 'bulk', 'bounce', 'complaint', 'dashboard', 'workflow', 'inbound', 'opt-out'));
