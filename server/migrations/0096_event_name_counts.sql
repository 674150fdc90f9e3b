-- How many events each name has, so that nobody has to count them when somebody asks (docs/decisions/0090-counts-of-names.md).

-- Events and sent mails by their name, of all that stand below count_positions.position and, of events, from kept_from on.
-- owner: events
create table event_name_counts (
  project_id uuid   not null references projects (id) on delete cascade,
  name       text   not null,
  -- In which the id falls, by UTC: the month of its partition.
  month      date   not null,
  count      bigint not null,
  primary key (project_id, name, month)
) with (fillfactor = 80);
alter table event_name_counts alter column project_id set (n_distinct = 10);

with gone as (
  select project_id, input ->> 'name' as name, max((input ->> 'until')::timestamptz) as until
  from jobs where kind = 'events.delete' and state in ('waiting', 'active') group by 1, 2
), counted as (
  select v.project_id, v.name, v.id from count_positions p
  join events v on v.project_id = p.project_id and v.id < p.position and v.id >= p.kept_from
  left join gone g on g.project_id = v.project_id and g.name = v.name
  where g.until is null or v.created_at > g.until
  union all
  select e.project_id, 'email.sent', sent_event_id(e.id, e.sent_at) from count_positions p
  join emails e on e.project_id = p.project_id and sent_event_id(e.id, e.sent_at) < p.position
  where e.sent_at is not null and e.contact_id is not null
)
insert into event_name_counts (project_id, name, month, count)
select project_id, name,
  date_trunc('month', to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000) at time zone 'UTC')::date,
  count(*)
from counted group by 1, 2, 3;
