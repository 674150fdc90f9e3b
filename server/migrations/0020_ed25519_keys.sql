-- A DKIM key of a second kind, which signs beside the RSA key once DNS publishes it.

-- ed25519_published: as the last check found it.
-- owner: domains
alter table domains
  add column ed25519_selector text,
  add column ed25519_public_key text,
  add column ed25519_private_key bytea,
  add column ed25519_published boolean not null default false,
  add constraint domains_ed25519_key
    check (num_nonnulls(ed25519_selector, ed25519_public_key, ed25519_private_key) in (0, 3)
      and (ed25519_selector is not null or not ed25519_published));
