-- How many keys the data of a contact may have, and how many a project: numbers of contract/src/limits.ts.

-- The data as it is to be, unless it has more keys than it may and more than before. Small data costs nothing: 2,000 keys take
-- at least 16,000 bytes.
create function bounded_data(given jsonb, before jsonb) returns jsonb language plpgsql immutable parallel safe as $$
declare
  keys bigint;
begin
  if pg_column_size(given) < 16000 then return given; end if;
  select count(*) into keys from jsonb_object_keys(given);
  if keys > 2000 and keys > (select count(*) from jsonb_object_keys(before)) then
    raise exception 'too many keys' using errcode = 'check_violation', constraint = 'contacts_data_keys';
  end if;
  return given;
end
$$;

-- owner: contacts
alter table contact_fields
  -- Which of the project's fields it was when it came: 0 for those that came before this was counted.
  add column number integer not null default 0 constraint contact_fields_number check (number <= 2000);
