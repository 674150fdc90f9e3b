-- Words that group workflows across folders, without repeats.
alter table workflows add column tags text[] not null default '{}';
