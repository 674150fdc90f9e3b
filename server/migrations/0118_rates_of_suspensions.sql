-- What a suspension was for, as numbers: whoever looks is told in their own language. Earlier ones have their sentences alone.
alter table project_suspensions add column rates jsonb not null default '[]';
