-- Of the names of a domain's records: when DNS last answered, and which servers were asked.
alter table domains add column dns_lookups jsonb not null default '{}';
