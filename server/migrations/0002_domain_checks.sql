-- Sender domains are checked by the clock, lose their proof only after several failed checks, and can change their DKIM key.
-- dkim_found is not read any more: it stays for processes of the version before, and goes with a later one.

-- owner: domains
alter table domains
  -- What DNS said last, name → TXT records: [] where there are none; a name that nobody ever answered for is not in it.
  add column dns_found               jsonb       not null default '{}',
  -- Why the last check decided nothing.
  add column check_problem           text,
  -- When a check is due. Whoever checks moves it on first: that is the claim.
  add column next_check_at           timestamptz not null default now() + interval '5 minutes',
  -- Failed checks in a row that counted, and when the last of them was. They stay when the domain turns pending by them.
  add column failed_checks           smallint    not null default 0,
  add column failed_at               timestamptz,
  add column status_changed_at       timestamptz not null default now(),
  -- The second key: the next one with its private half, or the former one with the instant until which it stays published.
  add column second_dkim_selector    text,
  add column second_dkim_public_key  text,
  add column second_dkim_private_key bytea,
  add column second_dkim_until       timestamptz,
  add constraint domains_second_dkim_key check (
    case when second_dkim_selector is null
      then num_nonnulls(second_dkim_public_key, second_dkim_private_key, second_dkim_until) = 0
      else second_dkim_public_key is not null and num_nonnulls(second_dkim_private_key, second_dkim_until) = 1
    end
  );
create index domains_next_check on domains (next_check_at);
