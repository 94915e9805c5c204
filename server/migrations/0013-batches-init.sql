-- Batches: files of requests, carried out within 24 hours.
create schema batches;

create table batches.batch (
  id text collate "C" primary key,
  org_id text not null,
  project_id text not null,
  -- Who made it: its usage is on this key.
  key_id text not null,
  endpoint text not null,
  input_file_id text not null,
  metadata json,
  output_expires_seconds integer,
  status text not null default 'validating' check (status in
    ('validating', 'in_progress', 'finalizing', 'cancelling', 'completed', 'failed', 'expired', 'cancelled')),
  -- How it ends, from when that is settled.
  outcome text check (outcome in ('completed', 'failed', 'expired', 'cancelled')),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  in_progress_at timestamptz,
  finalizing_at timestamptz,
  cancelling_at timestamptz,
  ended_at timestamptz,
  model text,
  -- What it has queued, as the limits count: until it ends.
  limit_group text,
  queued_tokens bigint not null default 0,
  lines_total integer not null default 0,
  errors json,
  -- Sums over its results, kept when it ends and they go.
  totals json,
  output_file_id text,
  error_file_id text,
  -- Its last step is submitted.
  finishing boolean not null default false,
  attempt integer not null default 0,
  generation integer not null default 0,
  stalls integer not null default 0,
  moved_at timestamptz not null default clock_timestamp(),
  -- Lines, results and chunks of it are gone.
  cleared_at timestamptz,
  check ((ended_at is null) = (status in ('validating', 'in_progress', 'finalizing', 'cancelling')))
);
create index batch_newest on batches.batch (project_id, id);
create index batch_due on batches.batch (expires_at) where status in ('validating', 'in_progress');
create index batch_moving on batches.batch (moved_at) where ended_at is null and (finishing or status = 'validating');
create index batch_queued on batches.batch (org_id, limit_group) where ended_at is null and queued_tokens > 0;
create index batch_to_clear on batches.batch (ended_at) where ended_at is not null and cleared_at is null;

-- Where each line lies in the input file.
create table batches.line (
  batch_id text collate "C" not null,
  -- Of the file, counted from 1. Blank lines are counted and have no row.
  n integer not null,
  custom_id text not null,
  byte_offset bigint not null,
  bytes integer not null,
  primary key (batch_id, n)
);

-- About a hundred lines: what one durable step works on.
create table batches.chunk (
  batch_id text collate "C" not null,
  n integer not null,
  project_id text not null,
  first_line integer not null,
  last_line integer not null,
  -- Waiting: its turn has not come. Submitted: a step works on it or is about to.
  status text not null default 'waiting' check (status in ('waiting', 'submitted', 'done')),
  attempt integer not null default 0,
  generation integer not null default 0,
  stalls integer not null default 0,
  moved_at timestamptz not null default clock_timestamp(),
  -- Sums over its results, once it is done.
  totals json,
  primary key (batch_id, n)
) with (fillfactor = 70);
create index chunk_moving on batches.chunk (moved_at) where status = 'submitted';
create index chunk_open on batches.chunk (project_id, batch_id, n) where status <> 'done';

-- How each line ended. Written once, never changed.
create table batches.result (
  batch_id text collate "C" not null,
  n integer not null,
  id text not null,
  ok boolean not null,
  -- Of the reply that a client would have got.
  status_code integer not null,
  request_id text not null,
  body text not null,
  body_bytes integer not null,
  input_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  primary key (batch_id, n)
);
