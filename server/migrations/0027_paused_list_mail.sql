-- Destinations that refuse list mail which belongs to no campaign: a row without a campaign, for all such mail of the project.
-- owner: emails
alter table paused_destinations
  drop constraint paused_destinations_pkey,
  alter column campaign_id drop not null,
  add primary key (project_id, number),
  add unique nulls not distinct (project_id, campaign_id, destination),
  add foreign key (project_id) references projects (id) on delete cascade;
