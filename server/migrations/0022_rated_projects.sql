-- So that it costs a few rows to see, every second, who has sent lately and of whose mail enough has come back.
-- Neither index has a column that a mail that is sent changes.
-- owner: emails
create index sending_hours_by_hour on sending_hours (hour);
create index sending_hours_bad on sending_hours (project_id) where refused + bounced + complained > 0;
