-- The counts of mails take half the room: a dimension is a number, and so is its value; what it stands for is kept once a project
-- (docs/decisions/0086-reports-in-two-statements.md).

-- The values of the dimensions of mails, numbered in each project as they come: a kind, a provider, an id.
-- owner: events
create table count_values (
  project_id uuid     not null references projects (id) on delete cascade,
  -- 1 kind, 2 campaign, 3 template, 4 workflow, 5 provider.
  dimension  smallint not null check (dimension between 1 and 5),
  id         integer  not null,
  value      text     not null,
  primary key (project_id, dimension, id),
  unique (project_id, dimension, value)
);

create temp table mail_counts_by_text on commit drop as select * from mail_counts;
analyze mail_counts_by_text;
drop table mail_counts;

insert into count_values (project_id, dimension, id, value)
select project_id, dimension, row_number() over (partition by project_id, dimension order by first, value), value from (
  select project_id, array_position(array['kind', 'campaign', 'template', 'workflow', 'provider'], dimension) as dimension, value,
    min(quarter) as first
  from mail_counts_by_text group by 1, 2, 3
) named;

-- As before (0035), narrow ones first: a row has no gaps.
-- owner: events
create table mail_counts (
  project_id      uuid        not null,
  quarter         timestamptz not null,
  -- Of count_values.
  value           integer     not null,
  sent            integer     not null default 0,
  delivered       integer     not null default 0,
  opened          integer     not null default 0,
  clicked         integer     not null default 0,
  machine_opened  integer     not null default 0,
  machine_clicked integer     not null default 0,
  bounced         integer     not null default 0,
  soft_bounced    integer     not null default 0,
  complained      integer     not null default 0,
  dimension       smallint    not null,
  primary key (project_id, dimension, quarter, value),
  foreign key (project_id, dimension, value) references count_values (project_id, dimension, id) on delete cascade
) with (fillfactor = 90);

insert into mail_counts (project_id, dimension, quarter, value, sent, delivered, opened, clicked, machine_opened, machine_clicked,
  bounced, soft_bounced, complained)
select c.project_id, v.dimension, c.quarter, v.id, c.sent, c.delivered, c.opened, c.clicked, c.machine_opened, c.machine_clicked,
  c.bounced, c.soft_bounced, c.complained
from mail_counts_by_text c join count_values v on v.project_id = c.project_id and v.value = c.value
  and v.dimension = array_position(array['kind', 'campaign', 'template', 'workflow', 'provider'], c.dimension)
order by c.project_id, v.dimension, c.quarter, v.id;

alter table count_values alter column project_id set (n_distinct = 10);
alter table mail_counts alter column project_id set (n_distinct = 10);
