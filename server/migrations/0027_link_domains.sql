-- The domain that a project's links, images and public pages use instead of the installation's (docs/decisions/0159-link-domains.md).
-- owner: link-domains
create table link_domains (
  project_id uuid not null references projects (id) on delete cascade,
  domain text not null,
  -- A former domain is not used any more, but still serves the links of emails that were sent with it.
  is_current boolean not null default true,
  -- VERIFIED: DNS proves that it belongs to the project and leads to this installation. ACTIVE: it also responds, so emails use it.
  status text not null default 'PENDING' check (status in ('PENDING', 'VERIFIED', 'ACTIVE')),
  -- Whether it was ever active, so that emails have links with it.
  was_active boolean not null default false,
  -- The last response of DNS. Null before the first one.
  found_alias text[],
  -- Whether the alias leads to this installation, by name or by address.
  leads_here boolean not null default false,
  found_proof text[],
  -- Why the last check did not succeed, as a code, with the error of DNS or of the connection.
  problem text,
  problem_detail text,
  -- Counted failed checks in a row, and the time of the last one.
  failed_checks smallint not null default 0,
  failed_at timestamptz,
  status_changed_at timestamptz not null default now(),
  last_checked_at timestamptz,
  -- A process claims the check by moving this time.
  next_check_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (project_id, domain)
);
create unique index link_domains_current on link_domains (project_id) where is_current;
create index link_domains_domain on link_domains (domain);
create index link_domains_next_check_at on link_domains (next_check_at) where is_current;

-- See the end of 0001_initial.sql.
alter table link_domains alter column project_id set (n_distinct = 10);
