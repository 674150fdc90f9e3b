-- Mails that the recipient's server refused at once: they bounce and never left, so rates of bounces are shares of these and of the sent ones.
alter table mail_counts add column refused integer not null default 0;

-- The events of such bounces say so from now on.
update events v set data = coalesce(v.data, '{}') || '{"atOnce": true}'
from emails e
where v.name = 'email.bounce' and e.project_id = v.project_id and e.id = v.email_id and e.status = 'FAILED' and e.sent_at is null;

-- The providers of domains, as they are known today (transports/destinations.ts).
create temp table provider_domains (domain text primary key, provider text not null) on commit drop;
insert into provider_domains (domain, provider) values
  ('gmail.com', 'gmail'), ('googlemail.com', 'gmail'), ('outlook.com', 'microsoft'), ('hotmail.com', 'microsoft'),
  ('live.com', 'microsoft'), ('msn.com', 'microsoft'), ('passport.com', 'microsoft'), ('windowslive.com', 'microsoft'),
  ('hotmail.co.uk', 'microsoft'), ('hotmail.de', 'microsoft'), ('hotmail.es', 'microsoft'), ('hotmail.fr', 'microsoft'),
  ('hotmail.it', 'microsoft'), ('hotmail.com.br', 'microsoft'), ('hotmail.be', 'microsoft'), ('hotmail.nl', 'microsoft'),
  ('live.co.uk', 'microsoft'), ('live.de', 'microsoft'), ('live.fr', 'microsoft'), ('live.it', 'microsoft'),
  ('live.nl', 'microsoft'), ('live.be', 'microsoft'), ('live.ca', 'microsoft'), ('live.com.au', 'microsoft'),
  ('live.dk', 'microsoft'), ('live.no', 'microsoft'), ('live.se', 'microsoft'), ('outlook.at', 'microsoft'),
  ('outlook.be', 'microsoft'), ('outlook.com.au', 'microsoft'), ('outlook.com.br', 'microsoft'),
  ('outlook.co.id', 'microsoft'), ('outlook.cz', 'microsoft'), ('outlook.de', 'microsoft'), ('outlook.dk', 'microsoft'),
  ('outlook.es', 'microsoft'), ('outlook.fr', 'microsoft'), ('outlook.ie', 'microsoft'), ('outlook.in', 'microsoft'),
  ('outlook.it', 'microsoft'), ('outlook.jp', 'microsoft'), ('outlook.pt', 'microsoft'), ('yahoo.com', 'yahoo'),
  ('ymail.com', 'yahoo'), ('rocketmail.com', 'yahoo'), ('myyahoo.com', 'yahoo'), ('yahoo.ca', 'yahoo'),
  ('yahoo.co.id', 'yahoo'), ('yahoo.co.in', 'yahoo'), ('yahoo.co.nz', 'yahoo'), ('yahoo.co.uk', 'yahoo'),
  ('yahoo.com.ar', 'yahoo'), ('yahoo.com.au', 'yahoo'), ('yahoo.com.br', 'yahoo'), ('yahoo.com.hk', 'yahoo'),
  ('yahoo.com.mx', 'yahoo'), ('yahoo.com.ph', 'yahoo'), ('yahoo.com.sg', 'yahoo'), ('yahoo.com.tr', 'yahoo'),
  ('yahoo.com.tw', 'yahoo'), ('yahoo.com.vn', 'yahoo'), ('yahoo.de', 'yahoo'), ('yahoo.es', 'yahoo'), ('yahoo.fr', 'yahoo'),
  ('yahoo.gr', 'yahoo'), ('yahoo.ie', 'yahoo'), ('yahoo.in', 'yahoo'), ('yahoo.it', 'yahoo'), ('yahoo.pl', 'yahoo'),
  ('yahoo.ro', 'yahoo'), ('yahoo.se', 'yahoo'), ('aol.com', 'yahoo'), ('aol.co.uk', 'yahoo'), ('aol.de', 'yahoo'),
  ('aol.fr', 'yahoo'), ('aim.com', 'yahoo'), ('verizon.net', 'yahoo'), ('netscape.net', 'yahoo'), ('icloud.com', 'apple'),
  ('me.com', 'apple'), ('mac.com', 'apple'), ('proton.me', 'proton'), ('protonmail.com', 'proton'),
  ('protonmail.ch', 'proton'), ('pm.me', 'proton'), ('gmx.de', 'gmx'), ('gmx.net', 'gmx'), ('gmx.at', 'gmx'),
  ('gmx.ch', 'gmx'), ('gmx.com', 'gmx'), ('gmx.us', 'gmx'), ('web.de', 'gmx'), ('mail.com', 'gmx'), ('yandex.ru', 'yandex'),
  ('yandex.com', 'yandex'), ('yandex.by', 'yandex'), ('yandex.kz', 'yandex'), ('yandex.com.tr', 'yandex'), ('ya.ru', 'yandex'),
  ('narod.ru', 'yandex'), ('mail.ru', 'mail.ru'), ('bk.ru', 'mail.ru'), ('inbox.ru', 'mail.ru'), ('list.ru', 'mail.ru'),
  ('internet.ru', 'mail.ru');

update mail_counts c set refused = r.refused
from (
  select e.project_id, d.dimension, date_bin('15 minutes', v.created_at, 'epoch') as quarter, n.id as value, count(*) as refused
  from events v
  join count_positions q on q.project_id = v.project_id and v.id < q.position
  join emails e on e.project_id = v.project_id and e.id = v.email_id
  left join provider_domains p on p.domain = substring(e.to_address from '[^@]*$')
  cross join lateral (values (1::smallint, (array['TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN'])[e.priority]), (2::smallint, e.campaign_id::text),
    (3::smallint, e.template_id::text), (4::smallint, e.workflow_id::text), (5::smallint, coalesce(p.provider, 'other'))) d (dimension, value)
  join count_values n on n.project_id = e.project_id and n.dimension = d.dimension and n.value = d.value
  where v.name = 'email.bounce' and e.is_test is null and v.data -> 'atOnce' = 'true'
  group by 1, 2, 3, 4
) r
where c.project_id = r.project_id and c.dimension = r.dimension and c.quarter = r.quarter and c.value = r.value;
