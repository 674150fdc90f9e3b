-- What kept a check from deciding is kept as what it is, and said in the words of whoever reads it: 'TAKEN' where another project has proved
-- the domain, otherwise what DNS said instead of an answer. Sentences of before go; the next check, within minutes, writes it anew.
-- owner: domains
update domains set check_problem = null where check_problem is not null;
