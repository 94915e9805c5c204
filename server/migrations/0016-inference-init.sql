-- Chat completions that were asked to be stored.
create schema inference;

-- Ids sort by time, so a day is a range of ids: old days go as whole partitions, and a lookup by id prunes.
create table inference.completion (
  id text collate "C" not null,
  project_id text not null,
  created_at timestamptz not null,
  -- The snapshot that answered.
  model text not null,
  request_id text not null,
  metadata jsonb not null,
  -- The request, without what has a column of its own.
  asked json not null,
  messages json not null,
  completion json not null,
  -- Of the three texts above together: pages are bounded by it.
  bytes integer not null,
  primary key (id)
) partition by range (id);
create index completion_of_project on inference.completion (project_id, id);
create table inference.completion_other partition of inference.completion default;
