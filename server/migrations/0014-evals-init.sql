-- Evals: a schema of test items and graders, and runs of them over many rows.
create schema evals;

create table evals.eval (
  id text collate "C" primary key,
  org_id text not null,
  project_id text not null,
  name text not null,
  metadata json not null,
  data_source_config json not null,
  testing_criteria json not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- Nobody sees it any more; its runs go with it.
  deleted_at timestamptz
);
create index eval_newest on evals.eval (project_id, id) where deleted_at is null;
create index eval_touched on evals.eval (project_id, updated_at, id) where deleted_at is null;
create index eval_deleted on evals.eval (deleted_at) where deleted_at is not null;

create table evals.run (
  id text collate "C" primary key,
  eval_id text not null,
  org_id text not null,
  project_id text not null,
  -- Who made it: its usage is on this key.
  key_id text not null,
  name text not null,
  metadata json not null,
  -- Of the samples; null when the rows bring them.
  model text,
  data_source json not null,
  status text not null default 'queued' check (status in ('queued', 'in_progress', 'completed', 'failed', 'canceled')),
  error json,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Its rows are all there.
  loaded boolean not null default false,
  rows_total integer not null default 0,
  -- Sums over its results, kept when it ends.
  totals json,
  attempt integer not null default 0,
  generation integer not null default 0,
  stalls integer not null default 0,
  moved_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  check ((ended_at is null) = (status in ('queued', 'in_progress')))
);
create index run_of_eval on evals.run (eval_id, id) where deleted_at is null;
create index run_loading on evals.run (moved_at) where ended_at is null and not loaded;
create index run_deleted on evals.run (deleted_at) where deleted_at is not null;

-- What is to be graded. Written once, in the order of the source.
create table evals.row (
  run_id text collate "C" not null,
  -- Counted from 0.
  n integer not null,
  item json not null,
  -- An output that the source brings.
  sample json,
  -- Why the row cannot be graded: its line is not in order.
  error json,
  primary key (run_id, n)
);

-- About a hundred rows: what one durable step works on.
create table evals.chunk (
  run_id text collate "C" not null,
  n integer not null,
  project_id text not null,
  first_row integer not null,
  last_row integer not null,
  status text not null default 'waiting' check (status in ('waiting', 'submitted', 'done')),
  attempt integer not null default 0,
  generation integer not null default 0,
  stalls integer not null default 0,
  moved_at timestamptz not null default clock_timestamp(),
  -- Sums over its results, once it is done.
  totals json,
  primary key (run_id, n)
) with (fillfactor = 70);
create index chunk_moving on evals.chunk (moved_at) where status = 'submitted';
create index chunk_open on evals.chunk (project_id, run_id, n) where status <> 'done';

-- How each row ended. Written once, never changed.
create table evals.result (
  run_id text collate "C" not null,
  n integer not null,
  status text not null check (status in ('pass', 'fail', 'error')),
  created_at timestamptz not null default clock_timestamp(),
  -- By criterion, in the order of the eval. Null where that one could not be judged.
  passed boolean[] not null,
  sample json not null,
  results json not null,
  -- One entry for each model: [name, calls, prompt, completion, cached].
  usage json not null,
  primary key (run_id, n)
);
create index result_by_status on evals.result (run_id, status, n);
