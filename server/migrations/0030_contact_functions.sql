-- Functions for statements on many projects, because a distributed database accepts no query for each row of them.

-- The keys of running deletions that a contact still has the values of, see `shownData` in contacts/.
create function outdated_keys(deletions jsonb, changed_at timestamptz) returns text[] language sql immutable parallel safe as $$
  select array(
    select d ->> 'key' from jsonb_array_elements(deletions) d
    where (d ->> 'isUnused')::boolean or extract(epoch from changed_at) < (d ->> 'since')::numeric)
$$;

-- The texts of a JSON array.
create function jsonb_texts(list jsonb) returns text[] language sql immutable parallel safe as $$
  select array(select jsonb_array_elements_text(list))
$$;
