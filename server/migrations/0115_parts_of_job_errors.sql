-- What an error of a job says, by code and with what it names; null where it has no code, or is older.
alter table job_errors add column parts jsonb;
