-- The cells of a faulty row of an imported file, so that errors.csv can be corrected and imported again; null in older imports.
alter table job_errors add column cells jsonb;
