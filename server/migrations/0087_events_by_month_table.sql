-- The third step: the table that there was becomes the first partition of the new one, with its indexes and its foreign key as they are. What was
-- validated says that every row belongs there, so none is read.
do $$
declare
  bound uuid;
  first_partition text;
begin
  select substring(pg_get_constraintdef(oid) from '[0-9a-f]{8}-[0-9a-f-]{27}')::uuid into strict bound
  from pg_constraint where conrelid = 'events'::regclass and conname = 'events_by_month';
  first_partition := 'events_to_' || to_char(
    to_timestamp(('x' || left(replace(bound::text, '-', ''), 12))::bit(48)::bigint / 1000) at time zone 'UTC', 'YYYY_MM');
  execute format('alter table events rename to %I', first_partition);
  execute format('alter index events_pkey rename to %I', first_partition || '_pkey');
  execute format('alter index events_by_contact rename to %I', first_partition || '_by_contact');
  execute format('alter index events_by_email rename to %I', first_partition || '_by_email');
  execute format('alter index events_by_name rename to %I', first_partition || '_by_name');

  execute format('create table events (like %I including defaults including storage including compression) partition by range (id)',
    first_partition);
  alter table events alter column project_id set (n_distinct_inherited = 10);
  alter table events add primary key (project_id, id);
  alter table events add constraint events_project_id_contact_id_fkey
    foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade;
  create index events_by_contact on events (project_id, contact_id, name, created_at);
  create index events_by_email on events (project_id, email_id) where email_id is not null;
  create index events_by_name on events (project_id, name, created_at, contact_id);

  execute format('alter table events attach partition %I for values from (minvalue) to (%L)', first_partition, bound);
  execute format('alter table %I drop constraint events_by_month', first_partition);
  alter table events attach partition events_later default;
end $$;
