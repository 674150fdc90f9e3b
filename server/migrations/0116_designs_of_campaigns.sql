-- The blocks that make the body of a campaign, as templates have them.
alter table campaigns add column design jsonb;
