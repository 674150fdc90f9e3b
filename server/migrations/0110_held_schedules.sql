-- When a schedule was to run that is held because the database went back to an earlier state; null: none is held.
alter table workflows add column held_run_at timestamptz;
