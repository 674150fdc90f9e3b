-- Opens and clicks: where the links of a content lead, who followed which, and how often.

-- owner: emails
alter table email_contents
  -- False: whoever sent it wants neither opens nor clicks looked at, whatever the project says.
  add column tracked boolean not null default true;

-- The links of a content that lead through us, one row a content, beside each other: a row a link would take four times the
-- room. A number is a hash of the address, so it means the same in whatever order and by whichever release links are found.
-- owner: emails
create table content_links (
  project_id  uuid       not null,
  content_id  uuid       not null,
  numbers     integer[]  not null,
  -- Of a link with variables as the template says it; where it leads stands signed in each mail.
  urls        text[]     not null,
  primary key (project_id, content_id),
  foreign key (project_id, content_id) references email_contents (project_id, id) on delete cascade
);

-- That a link of a mail was followed by a person: one row, however often.
-- owner: deliveries
create table link_clicks (
  project_id  uuid     not null,
  email_id    uuid     not null,
  number      integer  not null,
  primary key (project_id, email_id, number),
  foreign key (project_id, email_id) references emails (project_id, id) on delete cascade
);

-- How often the links of a content were followed, and how often it was opened.
-- owner: deliveries
create table tracking_counts (
  project_id   uuid     not null,
  content_id   uuid     not null,
  -- Of the link; 0 stands for the pixel.
  number       integer  not null,
  -- Campaigns may say the same; 00000000-0000-0000-0000-000000000000 for mails of none.
  campaign_id  uuid     not null,
  -- By people: every time, and the mails in which it was the first time.
  total        integer  not null default 0,
  mails        integer  not null default 0,
  -- By machines, every time.
  machine      integer  not null default 0,
  primary key (project_id, content_id, number, campaign_id),
  foreign key (project_id, content_id) references email_contents (project_id, id) on delete cascade
)
-- A row is written by every batch that touches the link.
with (fillfactor = 50);
