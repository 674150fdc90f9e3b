-- The numbers of emails stay when their contact is deleted (docs/decisions/0152-numbers-outlive-contacts.md).

-- Counts of events that were deleted with their contact. A recount can't verify them, so they have rows of their own.
alter table mail_counts add column of_deleted boolean not null default false;
alter table mail_counts drop constraint mail_counts_pkey;
alter table mail_counts add primary key (project_id, dimension, quarter, value, of_deleted);

-- Sent emails count with and without a contact, so the index has both.
drop index emails_sent;
create index emails_sent on emails (project_id, sent_event_id(id, sent_at)) where sent_at is not null;

-- Counts the sent emails of contacts that were deleted before this upgrade, by counting all sent emails again. Some of them are counted
-- already, because a deletion subtracted only what retention of events had kept.
with counted as materialized (
  select e.project_id, date_bin('15 minutes', e.sent_at, timestamptz 'epoch') as quarter, d.dimension, d.value, count(*)::integer as sent
  from emails e
  join count_positions p on p.project_id = e.project_id
  cross join lateral (values
    (1::smallint, (array['TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN'])[e.priority]), (2::smallint, e.campaign_id::text),
    (3::smallint, e.template_id::text), (4::smallint, e.workflow_id::text)
  ) d (dimension, value)
  where e.sent_at is not null and e.is_test is null and d.value is not null
    and e.project_id <> '00000000-0000-7000-8000-000000000000' and sent_event_id(e.id, e.sent_at) < p.position
  group by 1, 2, 3, 4
), fresh as (
  insert into count_values (project_id, dimension, id, value)
  select n.project_id, n.dimension, coalesce(
      (select max(x.id) from count_values x where x.project_id = n.project_id and x.dimension = n.dimension), 0
    ) + row_number() over (partition by n.project_id, n.dimension order by n.value), n.value
  from (select distinct project_id, dimension, value from counted) n
  where not exists (
    select 1 from count_values x where x.project_id = n.project_id and x.dimension = n.dimension and x.value = n.value)
  returning project_id, dimension, value, id
), numbered as (
  select project_id, dimension, value, id from count_values union all select project_id, dimension, value, id from fresh
)
insert into mail_counts (project_id, dimension, quarter, value, sent)
select g.project_id, g.dimension, g.quarter, n.id, g.sent
from counted g join numbered n on n.project_id = g.project_id and n.dimension = g.dimension and n.value = g.value
on conflict (project_id, dimension, quarter, value, of_deleted) do update set sent = excluded.sent;

-- By provider, the others are those that no provider counts, because the addresses are erased.
with missing as materialized (
  select project_id, quarter, sum(case dimension when 1 then sent else -sent end)::integer as sent
  from mail_counts where dimension in (1, 5) group by 1, 2
  having sum(case dimension when 1 then sent else -sent end) > 0
), fresh as (
  insert into count_values (project_id, dimension, id, value)
  select m.project_id, 5, coalesce(
    (select max(x.id) from count_values x where x.project_id = m.project_id and x.dimension = 5), 0) + 1, 'other'
  from (select distinct project_id from missing) m
  where not exists (select 1 from count_values x where x.project_id = m.project_id and x.dimension = 5 and x.value = 'other')
  returning project_id, id
), others as (
  select project_id, id from count_values where dimension = 5 and value = 'other' union all select project_id, id from fresh
)
insert into mail_counts as c (project_id, dimension, quarter, value, sent)
select m.project_id, 5, m.quarter, o.id, m.sent from missing m join others o on o.project_id = m.project_id
on conflict (project_id, dimension, quarter, value, of_deleted) do update set sent = c.sent + excluded.sent;
