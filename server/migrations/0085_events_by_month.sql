-- `events` becomes a table of months (docs/decisions/0082), in three steps, so that nobody waits while all its rows are read. First what
-- the rows that are there have in common is said: ids of this month or the next at the latest.

-- Events of months that have no table of their own.
-- owner: events
create table events_later (like events including defaults including storage including compression);
alter table events_later alter column project_id set (n_distinct = 10);

do $$
declare
  bound uuid := sent_event_id('00000000-0000-0000-0000-000000000000',
    (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
begin
  -- Of a clock that was wrong.
  with stray as (delete from events where id >= bound returning *)
  insert into events_later select * from stray;
  execute format('alter table events add constraint events_by_month check (id < %L) not valid', bound);
end $$;
